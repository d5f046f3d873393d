#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "common/json.h"
#include "common/sysroot.h"
#include "common/table_print.h"
#include "files/state/capture.h"
#include "files/state/diff.h"
#include "files/state/load.h"
#include "files/state/readers.h"
#include "files/state/sources.h"

struct options {
	const char *sysroot, *varying;
	bool json, all, mask;
};

struct action {
	const char *name;
	size_t args;
	bool captures, compares, takes_json; /* which flags the command has */
	const char *usage;
	enum status (*function)(const struct cli_list *args, const struct options *o, struct err *e);
};

const struct cli_command cmd_state_cli = {
    .name = "state",
    .synopsis = "capture DIR [--sysroot DIR] [--mask] | diff A B [--varying NAMES] [--all] [--json] | sources [--json]",
    .summary = "capture the hardware and settings of this machine, or compare two captures",
    .details =
	"capture reads everything known to influence latencies: CPUs, idle states, frequencies, interrupts, PM QoS, "
	"cpusets, RDMA devices and more. It copies the files to their own paths below DIR, and writes their contents "
	"as keys and values to DIR/state.json; for files that are absent or cannot be read, the value is the errno. "
	"Nothing is changed.\n\ndiff shows what differs and how that affects latencies, starting with differences that "
	"are fatal to a comparison. A and B are captures, run directories (the state before the run; RUN/state/HOST "
	"for one host) or state.json files. Exit status 3: a fatal difference that is not under test.\n\nsources lists "
	"what is read: key, class, whether root is needed, how, and where.",
    .min_args = 1,
    .max_args = 3,
};

static enum status capture(const struct cli_list *args, const struct options *o, struct err *e)
{
	struct sysroot root;
	int rc = sysroot_open(&root, o->sysroot, e);

	if (rc)
		return rc == -ENOENT || rc == -ENOTDIR ? STATUS_USAGE : e->status;
	rc = state_capture(&root, args->items[1], &(struct state_options){.mask = o->mask, .sync = true}, e);
	sysroot_close(&root);
	if (rc)
		return e->status;
	printf("%s\n", args->items[1]);
	return STATUS_OK;
}

static json_t *diff_json(json_t *differences)
{
	return json_pack("{s:i, s:I, s:O}", "schema", 1, "fatal", (json_int_t)state_diff_fatal(differences),
			 "differences", differences);
}

static enum status tell(json_t *differences, bool as_json)
{
	enum status status = state_diff_fatal(differences) ? STATUS_NO : STATUS_OK;

	if (as_json) {
		json_t *report = diff_json(differences);

		json_print(report, stdout);
		json_decref(report);
	} else {
		diff_print(differences);
	}
	return status;
}

static enum status diff(const struct cli_list *args, const struct options *o, struct err *e)
{
	json_t *a = state_load(args->items[1], e), *b = a ? state_load(args->items[2], e) : NULL, *differences = NULL;
	int (*compare)(const json_t *, const json_t *, const char *const *, json_t **, struct err *) =
	    o->all ? state_diff_all : state_diff;
	const char **varying;
	enum status status;
	char *copy;

	varying = cli_names(o->varying, &copy);
	status = !b || compare(a, b, varying, &differences, e) ? e->status : tell(differences, o->json);
	free(varying);
	free(copy);
	json_decref(differences);
	json_decref(b);
	json_decref(a);
	return status;
}

/* --- what is read: the table of sources --- */

static const char *how_read(const struct state_source *s)
{
	static const struct {
		state_reader *read;
		const char *how;
	} readers[] = {
#define ROW(name, how) {read_##name, how},
	    EVERY_STATE_READER(ROW)};

	for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++)
		if (s->read == readers[i].read)
			return readers[i].how;
	return "as part of another row"; /* it has no reader */
}

static json_t *source_json(const struct state_source *s)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s*, s:b}", "key", s->key, "group", s->group, "class",
			 state_class_name(s->class), "how", how_read(s), "path", s->path, "needs_root", s->needs_root);
}

/* {"schema": 1, "sources": [{"key", "group", "class", "how", "path", "needs_root"}, ...]}, a new reference. */
static json_t *sources_list_json(void)
{
	json_t *rows = json_array();

	for (const struct state_source *s = state_sources; s->group; s++)
		json_array_append_new(rows, source_json(s));
	return json_pack("{s:i, s:o}", "schema", 1, "sources", rows);
}

static void sources_list_print(void)
{
	static const struct table_column columns[] = {
	    {.label = "KEY", .least = 44, .most = TABLE_WHOLE},
	    {.label = "CLASS", .least = 11},
	    {.label = "ROOT", .least = 4},
	    {.label = "HOW", .least = 20, .most = TABLE_WHOLE},
	    {.label = "PATH", .most = TABLE_WHOLE},
	};
	struct table t = table_of(columns, sizeof(columns) / sizeof(*columns), 0);

	for (const struct state_source *s = state_sources; s->group; s++) {
		size_t row = table_row(&t);

		table_text(&t, 0, row, "%s.%s", s->group, s->key);
		table_text(&t, 1, row, "%s", state_class_name(s->class));
		table_text(&t, 2, row, "%s", s->needs_root ? "yes" : "no");
		table_text(&t, 3, row, "%s", how_read(s));
		table_text(&t, 4, row, "%s", s->path ? s->path : "");
	}
	table_print(&t, &(struct table_style){.gap = 2}, stdout);
	table_free(&t);
}

static enum status sources(const struct cli_list *args, const struct options *o, struct err *e)
{
	(void)args;
	(void)e;
	if (o->json) {
		json_t *rows = sources_list_json();

		json_print(rows, stdout);
		json_decref(rows);
	} else {
		sources_list_print();
	}
	return STATUS_OK;
}

static const struct action actions[] = {
    {"capture", 1, true, false, false, "capture DIR [--sysroot DIR] [--mask]", capture},
    {"diff", 2, false, true, true, "diff A B [--varying NAMES] [--all] [--json]", diff},
    {"sources", 0, false, false, true, "sources [--json]", sources},
};

static enum status dispatch(const struct cli_list *args, void *options, struct err *e)
{
	const struct options *o = options;

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
		const struct action *a = &actions[i];

		if (strcmp(a->name, args->items[0]))
			continue;
		if (args->count != a->args + 1 || ((o->sysroot || o->mask) && !a->captures) ||
		    ((o->all || o->varying) && !a->compares) || (o->json && !a->takes_json)) {
			err_set(e, -EINVAL, STATUS_USAGE, "state", NULL, "expects: kblat state %s", a->usage);
			return e->status;
		}
		return a->function(args, o, e);
	}
	err_set(e, -EINVAL, STATUS_USAGE, "state", NULL, "expects capture, diff or sources, not '%.48s'",
		args->items[0]);
	return e->status;
}

enum status cmd_state(int argc, char **argv, struct err *e)
{
	struct options o = {.sysroot = NULL};
	const struct cli_flag flags[] = {
	    {"sysroot", CLI_STRING, &o.sysroot, "DIR", "capture a recorded machine below DIR instead of this one", 0,
	     0},
	    {"mask", CLI_FLAG, &o.mask, NULL,
	     "hide serial numbers, hardware addresses, UUIDs and the host's name, also in the raw files", 0, 0},
	    {"varying", CLI_STRING, &o.varying, "NAMES",
	     "what is under test and may therefore differ: groups, keys, patterns of keys, or kernel, microcode, "
	     "mitigations; separated by commas",
	     0, 0},
	    {"all", CLI_FLAG, &o.all, NULL, "also show what changes by itself, such as counters", 0, 0},
	    {"json", CLI_FLAG, &o.json, NULL, "print the differences as JSON", 0, 0},
	    {.name = NULL},
	};

	return cli_run("kblat", &cmd_state_cli, flags, argc, argv, dispatch, &o, e);
}
