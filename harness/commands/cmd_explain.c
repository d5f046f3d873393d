#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "commands/commands.h"
#include "common/json.h"
#include "common/units.h"
#include "files/rundir/reader.h"
#include "judge/analysis/explain_text.h"

const struct cli_command cmd_explain_cli = {
    .name = "explain",
    .synopsis = "RUN [POINT] [--worst N] [--json]",
    .summary = "show why messages were late: the tail by cause, and the worst messages",
    .details =
	"For points measured with 'explain: yes', shows what delayed the messages over the point's limit, based on "
	"what "
	"the kernel did on the CPUs of source and sink at that time. docs/explain.md describes how causes are found "
	"and "
	"what removes them.\n\nExit status 3: no point of the run was measured with explain, or the given one was not.",
    .min_args = 1,
    .max_args = 2,
};

struct explain_options {
	struct cli_list args;
	long worst;
	bool json;
	long long point; /* -1: all */
};

struct explaining {
	const struct explain_options *o;
	size_t explained; /* number of flows */
	json_t *list;	  /* with --json */
};

static void show_flow(void *arg, const struct layout_flow *f, const struct explained *found)
{
	struct explaining *x = arg;
	json_t *flow;

	x->explained++;
	if (!x->o->json) {
		explain_text(f, found, (size_t)x->o->worst, stdout);
		return;
	}
	flow = explain_json(found, (size_t)x->o->worst);
	json_object_set_new(flow, "point", json_integer(f->point));
	json_object_set_new(flow, "flow", json_string(f->name));
	json_array_append_new(x->list, flow);
}

static enum status explain_run(const struct explain_options *o, struct err *e)
{
	struct run run;
	struct explaining x = {.o = o, .list = json_array()};
	int rc = run_open(o->args.items[0], &run, e);

	if (rc) {
		json_decref(x.list);
		return e->status;
	}
	rc = explained_each(&run, o->point, show_flow, &x, e);
	if (!rc && o->json)
		json_print(x.list, stdout);
	if (!rc && !x.explained)
		err_set(e, -ENODATA, STATUS_NO, o->args.items[0], NULL,
			"%s measured with 'explain: yes'; run it again with --set explain=yes",
			o->point < 0 ? "no point of it was" : "that point was not");
	json_decref(x.list);
	run_close(&run);
	return e->status;
}

static int read_point_number(struct explain_options *o, struct err *e)
{
	int64_t point;
	char why[128];

	o->point = -1;
	if (o->args.count < 2)
		return 0;
	if (unit_parse(UNIT_ONE, o->args.items[1], &point, why, sizeof(why)) || point < 0)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat explain", NULL,
			       "POINT must be the number of a point, as in the table of 'kblat summary', not '%.40s'",
			       o->args.items[1]);
	o->point = point;
	return 0;
}

enum status cmd_explain(int argc, char **argv, struct err *e)
{
	struct explain_options o = {.worst = 5};
	const struct cli_flag flags[] = {
	    {"worst", CLI_INT, &o.worst, "N", "how many of the worst messages are shown (5)", 0, 100000},
	    {"json", CLI_FLAG, &o.json, NULL, "an array: for each point and flow the causes, and the worst messages", 0,
	     0},
	    {.name = NULL},
	};
	bool help;

	if (cli_parse(&cmd_explain_cli, flags, argc, argv, &o.args, &help, e) == 0) {
		if (help)
			cli_help("kblat", &cmd_explain_cli, flags, stdout);
		else if (!read_point_number(&o, e))
			explain_run(&o, e);
	}
	cli_list_free(&o.args);
	return e->status;
}
