/*
 * What endpoints answer, and what a run makes of it: hello, survey, addresses, status, counters, columns. The first line of
 * the input says which of the points is run; lines that begin with '<' are the sink's, all others the source's.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/monotonic.h"
#include "fuzz.h"
#include "measure/run/repetition.h"
#include "measure/run/run.h"
#include "measure/run/session.h"
#include "measure/spec/spec.h"

static const char spec_text[] = "kblat: 1\nname: fuzz\nsettings: {kernel: oneway, messages: 4, warmup: 2, repetitions: "
				"1, timeout: 100ms}\nmatrix:\n"
				"  - {transport: scripted}\n  - {transport: scripted, t_hw: yes}\n  - {kernel: "
				"pingpong, transport: shmem}\n  - {transport: tcp}\n"
				"  - {kernel: rate, rate: 1kHz, transport: scripted}\n";

static struct spec spec;
static struct run_context context;
static volatile sig_atomic_t interrupted;

static void set_up(void)
{
	char *path = fs_path("%s/spec.yaml", fuzz_folder());
	struct diag d;

	fuzz_write(path, spec_text, strlen(spec_text));
	fuzz_require(!spec_load(path, &(struct spec_overrides){.quick = false}, &spec, &d));
	context = (struct run_context){.path = fs_path("%s/run", fuzz_folder()),
				       .resolved = describe_resolved(&spec),
				       .conversion = {0, 1, 0},
				       .boot_id = "b",
				       .interrupted = &interrupted};
	diag_free(&d);
	free(path);
}

/* Cut the input in two. */
static void share_out(char *text, size_t size, FILE *out[2])
{
	for (char *line = text, *end = text + size, *next; line < end; line = next) {
		const int role = *line == '<' ? ROLE_SINK : ROLE_SOURCE;

		next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next + 1 : end;
		line += role == ROLE_SINK;
		fwrite(line, 1, (size_t)(next - line), out[role]);
	}
}

static void plug_in(struct session *s, char *text, size_t size)
{
	char *part[2];
	size_t length[2];
	FILE *out[2] = {open_memstream(&part[0], &length[0]), open_memstream(&part[1], &length[1])};

	share_out(text, size, out);
	for (int role = 0; role < 2; role++) {
		struct channel *c = &s->peer[role].channel;

		fclose(out[role]);
		wire_init(&c->from, fuzz_descriptor(part[role], length[role]));
		wire_init(&c->errors, fuzz_descriptor("it ended\n", 9));
		c->to = open("/dev/null", O_WRONLY | O_CLOEXEC);
		free(part[role]);
	}
}

/* As channel_greet(), whatever the hello says: else few inputs came further. */
static int greet(struct channel *c, struct err *e)
{
	size_t who;
	int rc = channel_wait((struct channel *const[]){c}, 1, monotonic_ms() + 1000, &who, &c->hello, e);
	struct err ignored = ERR_INIT;

	if (rc <= 0)
		return rc < 0 ? rc : err_set(e, -ETIMEDOUT, STATUS_FAILED, c->name, NULL, "says nothing");
	channel_check_hello(c->hello, c->name, &ignored);
	return 0;
}

static int lead(struct session *s, struct err *e)
{
	bool kept;
	int rc = 0;

	for (size_t i = 0; !rc && i < s->count; i++)
		rc = greet(&s->peer[i].channel, e);
	if (rc)
		return rc;
	json_decref(session_hosts(s));
	rc = session_open(s, e);
	rc = rc ? rc : session_connect(s, e);
	rc = rc ? rc : repetition_run(s, REPETITION_WARM_UP, &kept, e);
	return rc ? rc : repetition_run(s, 0, &kept, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	struct session s;
	char *text;

	if (size < 2)
		return 0;
	if (!spec.point_count)
		set_up();
	text = fuzz_text(data + 2, size - 2);
	fuzz_require(!session_begin(&s, &context, &spec.point[*data % spec.point_count], &e));
	plug_in(&s, text, size - 2);
	if (lead(&s, &e))
		fuzz_require(*e.text);
	session_stop(&s);
	session_end(&s);
	fs_remove_tree(context.path, NULL);
	free(text);
	return 0;
}

static const char *const words[] = {"hello",	 "protocol", "host",   "boot_id", "b",	      "surveyed", "cpus",
				    "told",	 "allowed",  "cores",  "0-1",	  "opened",   "address",  "placement",
				    "connected", "granted",  "armed",  "status",  "progress", "running",  "done",
				    "failure",	 "counters", "posted", "missed",  "unsent",   "device",	  "columns",
				    "messages",	 "t_subm",   "t_recv", "t_comp",  "error",    "text",	  "gives_up_ms",
				    "type",	 NULL};

static size_t mutate_answers(uint8_t *data, size_t size, size_t max, const char *const *list)
{
	if (size < 2 || !fuzz_below(32)) {
		data[0] = (uint8_t)('0' + fuzz_below(5));
		data[1] = '\n';
		return size < 2 ? 2 : size;
	}
	return 2 + mutate_lines(data + 2, size - 2, max - 2, list);
}

FUZZ_MUTATOR(mutate_answers, words)
