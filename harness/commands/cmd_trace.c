#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "common/clean_stream.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "measure/program/program_run.h"

const struct cli_command cmd_trace_cli = {
    .name = "trace",
    .synopsis = "--stamps | --file FILE | --from PLACE --to PLACE [--id ARG] [options] -- COMMAND… | --pid PID",
    .summary = "measure the requests of another program, and explain the late ones",
    .details =
	"Makes a run directory of a program's requests, with what the kernel did meanwhile: verify, summary, explain, "
	"report, compare, history and export take it as any other. The program either includes kblat_stamp.h "
	"(--stamps), or is not modified and has a probe where a request begins and one where it ends (--from, --to; "
	"PLACE is BINARY:FUNCTION or BINARY:0xADDRESS, with %return where the function returns, or the USDT probe "
	"BINARY:PROVIDER:NAME), or writes its requests into a file (--file). docs/trace.md shows each.\n\nThe program "
	"runs until it ends, or for --for; then one that was started here is sent SIGTERM. Only root, or a group with "
	"access to tracefs, can set probes and "
	"record what the kernel did; stamps are measured without it, and not explained. The last line of standard "
	"output is the path of the run directory. Nothing of the program's data is recorded but what --id names.\n\n"
	"Exit status 0: measured, 1: failed, or the program died by a signal while probes were in it (the first line "
	"says "
	"so; what was measured until then is kept), 3: not valid, 77: not possible here.",
    .min_args = 0,
    .max_args = 4096,
};

struct trace_options {
	const struct cli_list *args;
	struct program_run_request request;
	const char *limit, *length, *untraced, *buffer, *explain;
	long pid;
	bool no_state;
};

static volatile sig_atomic_t trace_interrupted;

static void note_trace_signal(int number)
{
	(void)number;
	trace_interrupted = 1;
}

static int read_trace_time(const char *flag, const char *text, int64_t *ns, struct err *e)
{
	char why[160];

	if (!text || !unit_parse(UNIT_TIME_NS, text, ns, why, sizeof(why)))
		return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, flag, NULL, "%s", why);
}

static int read_trace_buffer(struct trace_options *o, struct err *e)
{
	enum { LEAST = 64 << 10, MOST = 1 << 30 };
	char why[160];

	if (!o->buffer)
		return 0;
	if (unit_parse(UNIT_BYTES, o->buffer, &o->request.buffer_bytes, why, sizeof(why)))
		return err_set(e, -EINVAL, STATUS_USAGE, "--buffer", NULL, "%s", why);
	if (o->request.buffer_bytes < LEAST || o->request.buffer_bytes > MOST)
		return err_set(e, -EINVAL, STATUS_USAGE, "--buffer", NULL, "must be from 64KiB to 1GiB");
	return 0;
}

static int read_explain(struct trace_options *o, struct err *e)
{
	static const char *const words[] = {
	    [PROGRAM_EXPLAIN_YES] = "yes", [PROGRAM_EXPLAIN_NO] = "no", [PROGRAM_EXPLAIN_REQUIRED] = "required"};

	for (size_t i = 0; o->explain && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(o->explain, words[i])) {
			o->request.explain = (enum program_explain)i;
			return 0;
		}
	return o->explain ? err_set(e, -EINVAL, STATUS_USAGE, "--explain", NULL, "must be yes, no or required") : 0;
}

static int check_sources(const struct trace_options *o, struct err *e)
{
	const struct program_run_request *q = &o->request;
	const int sources = q->stamps + (q->file != NULL) + (q->from || q->to);

	if (sources != 1)
		return err_set(
		    e, -EINVAL, STATUS_USAGE, "kblat trace", NULL,
		    "give one of --stamps, --file, and --from with --to: it says when requests begin and end");
	if (!q->from != !q->to)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat trace", NULL, "--from and --to belong together");
	if (q->id && !q->from)
		return err_set(e, -EINVAL, STATUS_USAGE, "--id", NULL, "is for probes (--from, --to)");
	if (!o->pid == !o->args->count)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat trace", NULL,
			       "give a COMMAND after --, or the --pid of a process");
	if (o->pid && q->stamps)
		return err_set(e, -EINVAL, STATUS_USAGE, "--stamps", NULL,
			       "a program takes memory for stamps when it starts: give its COMMAND instead of --pid");
	return 0;
}

static int read_trace_options(struct trace_options *o, struct err *e)
{
	struct program_run_request *q = &o->request;

	q->pid = (pid_t)o->pid;
	q->keeps_state = !o->no_state;
	if (check_sources(o, e) || read_trace_time("--limit", o->limit, &q->limit_ns, e) ||
	    read_trace_time("--for", o->length, &q->for_ns, e) ||
	    read_trace_time("--untraced", o->untraced, &q->untraced_ns, e) || read_trace_buffer(o, e) ||
	    read_explain(o, e))
		return -EINVAL;
	if (q->from && q->untraced_ns)
		return err_set(e, -EINVAL, STATUS_USAGE, "--untraced", NULL,
			       "is for --stamps and --file: probes are "
			       "events themselves");
	return 0;
}

static enum status trace_program(const struct cli_list *args, void *options, struct err *e)
{
	struct trace_options *o = options;
	const struct sigaction stop = {.sa_handler = note_trace_signal};
	const char **command;
	struct program_run_result result;

	o->args = args;
	if (read_trace_options(o, e))
		return e->status;
	command = or_abort(calloc(args->count + 1, sizeof(*command)));
	for (size_t i = 0; i < args->count; i++)
		command[i] = args->items[i];
	o->request.command = args->count ? command : NULL;
	o->request.interrupted = &trace_interrupted;
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	if (!program_run(&o->request, &result, e)) {
		if (*result.died)
			fprintf(stderr, "kblat: %s\n", result.died);
		if (result.status)
			fprintf(stderr, "kblat: the program ended with status %d\n", result.status);
		clean_stream_path(stdout, result.path);
		free(result.path);
	}
	free(command);
	return e->status ? e->status : *result.died ? STATUS_FAILED : result.valid ? STATUS_OK : STATUS_NO;
}

enum status cmd_trace(int argc, char **argv, struct err *e)
{
	struct trace_options o = {.request = {.argc = argc,
					      .argv = argv,
					      .name = "trace",
					      .out = "runs",
					      .limit_ns = 1000000,
					      .buffer_bytes = 32 << 20}};
	const struct cli_flag flags[] = {
	    {"stamps", CLI_FLAG, &o.request.stamps, NULL, "the program includes kblat_stamp.h", 0, 0},
	    {"from", CLI_STRING, &o.request.from, "PLACE", "a probe where a request begins", 0, 0},
	    {"to", CLI_STRING, &o.request.to, "PLACE", "and where it ends", 0, 0},
	    {"id", CLI_STRING, &o.request.id, "ARG",
	     "what tells requests apart that overlap: the number of an argument, or a register (their threads)", 0, 0},
	    {"file", CLI_STRING, &o.request.file, "FILE", "the program writes its requests into this file", 0, 0},
	    {"pid", CLI_INT, &o.pid, "PID", "measure this process, with all its children, instead of a COMMAND", 1,
	     4194304},
	    {"for", CLI_STRING, &o.length, "TIME", "how long (until the program ends)", 0, 0},
	    {"limit", CLI_STRING, &o.limit, "TIME", "over which a request is late (1ms)", 0, 0},
	    {"explain", CLI_STRING, &o.explain, "HOW",
	     "yes: if it is possible; no; required: do not measure without (yes)", 0, 0},
	    {"untraced", CLI_STRING, &o.untraced, "TIME",
	     "record no events for so long at first; what recording costs is seen from that (0)", 0, 0},
	    {"buffer", CLI_STRING, &o.buffer, "SIZE", "for the kernel's events of each CPU (32MiB)", 0, 0},
	    {"out", CLI_STRING, &o.request.out, "DIR", "create the run directory in DIR (runs)", 0, 0},
	    {"name", CLI_STRING, &o.request.name, "NAME", "of the run; compare takes runs of one name (trace)", 0, 0},
	    {"mask", CLI_FLAG, &o.request.mask, NULL, "hide what identifies this machine and the programs on it", 0, 0},
	    {"no-state", CLI_FLAG, &o.no_state, NULL, "do not capture the machine's state before and after", 0, 0},
	    {.name = NULL},
	};

	return cli_run("kblat", &cmd_trace_cli, flags, argc, argv, trace_program, &o, e);
}
