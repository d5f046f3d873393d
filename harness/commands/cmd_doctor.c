#include <errno.h>
#include <stdio.h>

#include "commands/commands.h"
#include "common/json.h"
#include "common/table_print.h"
#include "common/text.h"
#include "doctor/check.h"
#include "measure/run/channel.h"

#define STOP_MS	      3000
#define FINDING_WIDTH 76
#define NOTE_INDENT   23

const struct cli_command cmd_doctor_cli = {
    .name = "doctor",
    .synopsis = "[--source CMD] [--sink CMD] [--json]",
    .summary = "can this machine measure? clock, CPUs, noise, memory, devices; and other hosts",
    .details =
	"Each check is bad (numbers would be invalid, or a run impossible), warn (a larger error) or ok; the worst "
	"come first, with what was found and what to do about it. This takes under a second, during which two CPUs "
	"spin; nothing "
	"is changed.\n\nWith --source and --sink, as for `kblat run`, the hosts that these commands lead to are "
	"examined, and this host if only one of the two is given: whether they can be reached, have the same "
	"version of kblat, and can measure.\n\nExit status: 3 something is bad; 1 a host cannot be examined.",
};

/* How to report findings, and their number per level. */
struct answer {
	bool json;
	json_t *checks, *hosts; /* of this machine; of other hosts */
	unsigned count[LEVEL_COUNT];
};

/* The worst first, those of a level in the order of the checks. */
static void print_findings(const json_t *checks)
{
	static const struct table_column columns[] = {
	    {.label = "check", .most = TABLE_WHOLE},
	    {.label = "level"},
	    {.label = "finding", .wrap = FINDING_WIDTH},
	};
	static const char *const keys[] = {"name", "level", "finding"};
	struct table t = table_of(columns, 3, 0);
	const json_t *f;
	size_t n;

	for (int level = LEVEL_COUNT - 1; level >= LEVEL_OK; level--)
		json_array_foreach (checks, n, f) {
			size_t row;

			if ((int)finding_level(f) != level)
				continue;
			row = table_row(&t);
			for (size_t i = 0; i < 3; i++)
				table_text(&t, i, row, "%s", json_text(f, keys[i]));
			if (*json_text(f, "advice"))
				table_note(&t, row, "-> %s", json_text(f, "advice"));
		}
	table_print(
	    &t, &(struct table_style){.bare = true, .gap = 1, .note_indent = NOTE_INDENT, .note_width = FINDING_WIDTH},
	    stdout);
	table_free(&t);
}

static void take_finding(const char *name, const struct finding *f, void *context)
{
	struct answer *a = context;

	a->count[f->level]++;
	json_array_append_new(a->checks, finding_json(name, f));
}

/* --- other hosts --- */

static int ask_endpoint(struct channel *c, json_t **reply, struct err *e)
{
	int rc;

	do
		rc = channel_greet(c, e);
	while (rc == -EINTR);
	return rc ? rc : channel_ask(c, json_pack("{s:s}", "type", "doctor"), "findings", reply, e);
}

static void take_findings(struct answer *a, const char *role, const char *host, json_t *checks)
{
	const json_t *f;
	size_t i;

	if (!a->json)
		printf("%s%s: %s\n", json_array_size(a->checks) + json_array_size(a->hosts) ? "\n" : "", role,
		       text_named(host));
	json_array_foreach (checks, i, f)
		a->count[finding_level(f)]++;
	if (!a->json)
		print_findings(checks);
	json_array_append_new(a->hosts, json_pack("{s:s, s:s, s:O}", "role", role, "host", host, "checks", checks));
}

static int diagnose_there(struct answer *a, const char *role, const char *launcher, struct err *e)
{
	struct channel c;
	json_t *reply;
	int rc = channel_start(&c, role, launcher, NULL, e);

	if (!rc)
		rc = ask_endpoint(&c, &reply, e);
	if (!rc) {
		take_findings(a, role, json_text(c.hello, "host"), json_object_get(reply, "checks"));
		json_decref(reply);
	}
	channel_stop(&c, STOP_MS);
	return rc;
}

/* --- the whole answer --- */

struct asked {
	const char *launcher[2];
	bool json;
};

static void print_conclusion(const struct answer *a)
{
	const unsigned *n = a->count;
	enum level worst = n[LEVEL_BAD] ? LEVEL_BAD : n[LEVEL_WARN] ? LEVEL_WARN : LEVEL_OK;
	json_t *report;

	if (!a->json) {
		printf("\n%s: %u ok, %u warn, %u bad\n",
		       worst == LEVEL_BAD ? "not fit to measure as it is" : "fit to measure", n[LEVEL_OK],
		       n[LEVEL_WARN], n[LEVEL_BAD]);
		return;
	}
	report = json_pack("{s:i, s:s, s:O, s:O*}", "schema", 1, "worst", finding_level_name(worst), "checks",
			   a->checks, "hosts", json_array_size(a->hosts) ? a->hosts : NULL);
	json_print(report, stdout);
	json_decref(report);
}

static enum status diagnose(const struct cli_list *args, void *options, struct err *e)
{
	const struct asked *asked = options;
	static const char *const roles[2] = {"source", "sink"};
	struct answer a = {.json = asked->json, .checks = json_array(), .hosts = json_array()};
	int rc = asked->launcher[0] && asked->launcher[1] ? 0 : doctor_examine(take_finding, &a, e);

	(void)args;
	if (!rc && !asked->json)
		print_findings(a.checks);
	for (size_t i = 0; i < 2; i++)
		if (!rc && asked->launcher[i])
			rc = diagnose_there(&a, roles[i], asked->launcher[i], e);
	if (!rc)
		print_conclusion(&a);
	json_decref(a.checks);
	json_decref(a.hosts);
	return rc ? e->status : a.count[LEVEL_BAD] ? STATUS_NO : STATUS_OK;
}

enum status cmd_doctor(int argc, char **argv, struct err *e)
{
	struct asked asked = {.json = false};
	const struct cli_flag flags[] = {
	    {"source", CLI_STRING, &asked.launcher[0], "CMD", "examine the host that this command prefix leads to", 0,
	     0},
	    {"sink", CLI_STRING, &asked.launcher[1], "CMD", "the same for the sink", 0, 0},
	    {"json", CLI_FLAG, &asked.json, NULL, "print the findings as JSON", 0, 0},
	    {.name = NULL},
	};

	return cli_run("kblat", &cmd_doctor_cli, flags, argc, argv, diagnose, &asked, e);
}
