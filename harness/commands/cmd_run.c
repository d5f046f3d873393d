#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "commands/import_options.h"
#include "commands/shared_options.h"
#include "common/clean_stream.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/units.h"
#include "files/rundir/layout.h"
#include "judge/analysis/param.h"
#include "judge/analysis/summary_json.h"
#include "judge/analysis/summary_table.h"
#include "judge/claims/claims.h"
#include "measure/run/channel.h"
#include "measure/run/environment.h"
#include "measure/run/forecast.h"
#include "measure/run/preflight.h"
#include "measure/run/run.h"
#include "measure/spec/spec.h"
#include "study/campaign/campaign_folder.h"
#include "study/kinds.h"
#include "study/runner.h"
#include "study/study_record.h"
#include "study/study_run.h"

/* --- --dry-run --- */

static void dry_run_settings(const struct spec *spec, size_t point, bool shared, FILE *out)
{
	const char *key;
	json_t *value;

	json_object_foreach (spec->point[point].params, key, value) {
		if ((json_object_get(spec->differing, key) == NULL) != shared)
			continue;
		char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

		fprintf(out, " %s=%s", key, text);
		free(text);
	}
}

/* Print the settings of a point, by its index, that the spec or the command line names, and that differ between points,
 * each as " rate=1kHz". */
static void dry_run_named_settings(const struct spec *spec, size_t point, FILE *out)
{
	const char *key;
	json_t *value;

	json_object_foreach (spec->point[point].params, key, value) {
		char name[64], text[64];
		enum unit unit = param_name_unit(key, name, sizeof(name));

		if (json_object_get(spec->named_keys, key) && json_object_get(spec->differing, key))
			fprintf(out, " %s=%s", name, param_value_text(value, unit, text, sizeof(text)));
	}
}

static size_t count_former(const struct forecast *each, size_t count)
{
	size_t former = 0;

	for (size_t i = 0; i < count; i++)
		former += each[i].is_former;
	return former;
}

static void print_points(const struct spec *spec, const struct forecast *sum, const struct forecast *each)
{
	char text[FORECAST_TEXT_MAX];

	printf("%zu point%s, %llu messages, %s, %zu as in former runs; settings that all share:\n", spec->point_count,
	       spec->point_count == 1 ? "" : "s", preflight_messages(spec->point, spec->point_count),
	       forecast_sentence(sum, text, sizeof(text)), count_former(each, spec->point_count));
	if (spec->point_count) {
		printf(" ");
		dry_run_settings(spec, 0, true, stdout);
		printf("\n");
	}
	for (size_t i = 0; i < spec->point_count; i++) {
		printf("%4zu: %10s ", i, forecast_text(forecast_seconds(&each[i]), text, sizeof(text)));
		dry_run_settings(spec, i, false, stdout);
		printf("\n");
	}
}

static void print_json(const struct spec *spec, const struct forecast *each)
{
	json_t *points = spec_points_json(spec), *p;
	size_t i;

	json_array_foreach (points, i, p)
		forecast_to_json(&each[i], p);
	json_print(points, stdout);
	json_decref(points);
}

/* `out`: as for --out; former runs are searched for there. */
static void dry_run_show(const struct spec *spec, const char *out, bool json)
{
	struct forecast *each = or_abort(calloc(spec->point_count + 1, sizeof(*each)));
	char *runs = run_parent(spec, out);
	const struct forecast sum = forecast_run(spec, runs, each);

	if (json)
		print_json(spec, each);
	else
		print_points(spec, &sum, each);
	free(runs);
	free(each);
}

/* --- progress --- */

/*
 * What is printed to standard error while it measures: on a terminal one line that is
 * updated, otherwise a line for each point. Nothing goes to standard output.
 *
 * For one run at a time. Not thread-safe; run_progress_print() may be called by a signal handler,
 * because signals are blocked except while a run waits (channel_wait()).
 */

enum verbosity {
	VERBOSITY_QUIET,   /* errors only */
	VERBOSITY_NORMAL,  /* as described above */
	VERBOSITY_VERBOSE, /* a line for each point and repetition, also on a terminal */
};

#define LAST_MAX   160
#define LINE_USUAL 80
#define SAID_MOST  16

static struct {
	const struct spec *spec;
	struct forecast *each, sum;
	enum verbosity verbosity;
	bool is_terminal;
	struct progress now;
	char last[LAST_MAX]; /* statistics of the point measured last */
	struct said {
		enum outcome outcome;
		char why[LAST_MAX];
	} said[SAID_MOST]; /* how points ended that were not completed */
	size_t said_count;
	size_t repeated;  /* points that ended so since */
	bool is_launched; /* elsewhere: what is missing here says nothing */
} state;

/* `out`: as for --out. */
static void run_progress_begin(const struct spec *spec, const char *out, enum verbosity verbosity)
{
	char *runs = run_parent(spec, out);

	state.spec = spec;
	state.verbosity = verbosity;
	state.is_terminal = isatty(STDERR_FILENO);
	state.said_count = 0;
	state.each = or_abort(calloc(spec->point_count + 1, sizeof(*state.each)));
	state.sum = forecast_run(spec, runs, state.each);
	free(runs);
}

/* Is there a line that is updated? Only if nothing else is printed. */
static bool has_line(void)
{
	return state.is_terminal && state.verbosity == VERBOSITY_NORMAL;
}

static void clear_line(void)
{
	if (has_line())
		clean_stream_erase_line();
}

static void say_repeated(void)
{
	if (state.repeated)
		fprintf(stderr, "kblat: %zu more point%s: likewise, for a reason given above\n", state.repeated,
			state.repeated == 1 ? "" : "s");
	state.repeated = 0;
}

static void run_progress_end(void)
{
	clear_line();
	say_repeated();
	free(state.each);
	state.each = NULL;
	state.now.points = 0;
}

/* --- time --- */

/* The remaining time after `done_points` points and the finished repetitions of the next one. */
static double left_s(const struct progress *p, size_t done_points)
{
	struct forecast done = {0}, left = {0};
	double part = done_points < p->point && p->reps ? (double)p->rep / (double)p->reps : 0;

	for (size_t i = 0; i < p->points; i++) {
		const double of_point = i < done_points ? 1 : i == done_points ? part : 0;

		forecast_add(&done, state.each[i], of_point);
		forecast_add(&left, state.each[i], 1 - of_point);
	}
	return forecast_left_s(done, left, (double)(monotonic_ms() - p->started_ms) / 1000);
}

static double seconds_since(int64_t ms)
{
	return (double)(monotonic_ms() - ms) / 1000;
}

/* --- results --- */

/* For the first series with results: "lat_ns p50 1.27 us, p99 3.40 us, max 20.1 us". */
static void describe_metrics(const json_t *metrics, char *buf, size_t size)
{
	static const char *const shown[] = {"p50", "p99", "max"};
	const char *name = json_object_iter_key(json_object_iter((json_t *)metrics));
	const json_t *of = json_object_get(metrics, name ? name : "");
	size_t used = (size_t)snprintf(buf, size, "%.40s", name ? name : "");
	const char *separator = "";

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		const double value = json_number_or_nan(of, shown[i]);
		char text[32];

		if (used >= size || isnan(value))
			continue;
		used += (size_t)snprintf(buf + used, size - used, "%s %s %s", separator, shown[i],
					 unit_human_ns((int64_t)value, text, sizeof(text)));
		separator = ",";
	}
}

/* Record the statistics of the last repetition, which has already been reduced. */
static void note_last(const struct progress *p)
{
	const struct point *point = &state.spec->point[p->point - 1];
	char *dir = layout_rep_dir(p->path, point->id, (unsigned)(p->rep > 0 ? p->rep - 1 : 0), point->flow[0].name);
	char *path = fs_path("%s/data.json", dir);
	struct err ignored = ERR_INIT;
	json_t *data = json_read(path, &ignored);

	describe_metrics(json_object_get(data, "metrics"), state.last, sizeof(state.last));
	json_decref(data);
	free(path);
	free(dir);
}

/* --- output --- */

/* Print the settings that distinguish the point from the others. */
static void print_settings(const struct progress *p, FILE *out)
{
	if (p->points == 1)
		return;
	fprintf(out, ":");
	dry_run_named_settings(state.spec, p->point - 1, out);
}

static void print_counts(const struct progress *p, FILE *out)
{
	char left[FORECAST_TEXT_MAX];

	fprintf(out, ", repetition %lld/%lld, %llu of %llu messages, about %s left", p->rep, p->reps,
		(unsigned long long)p->messages, (unsigned long long)p->all_messages,
		forecast_text(left_s(p, p->point - 1), left, sizeof(left)));
}

static void print_where(const struct progress *p, FILE *out)
{
	fprintf(out, "point %zu/%zu", p->point, p->points);
	print_settings(p, out);
	print_counts(p, out);
}

/* What is updated takes one line, so that it can be erased: what matters most is first, and the settings, which may be long,
 * are last. */
static void print_line(const struct progress *p)
{
	char *text = NULL;
	size_t size = 0, width = clean_stream_width(stderr, LINE_USUAL) - 1, end = 0;
	FILE *out = or_abort(open_memstream(&text, &size));

	fprintf(out, "point %zu/%zu", p->point, p->points);
	print_counts(p, out);
	if (*state.last)
		fprintf(out, "; last: %s", state.last);
	print_settings(p, out);
	fclose(out);
	while (end < size && text_columns(text, end + 1) <= width)
		end++;
	fprintf(stderr, "%.*s", (int)end, text);
	free(text);
}

/* Callbacks for run_request: show, point_ended and warn. */
static void run_progress_show(const struct progress *p)
{
	state.now = *p;
	if (has_line()) {
		clear_line();
		print_line(p);
		return;
	}
	if (state.verbosity != VERBOSITY_VERBOSE)
		return;
	fprintf(stderr, "kblat: ");
	print_where(p, stderr);
	fprintf(stderr, "\n");
}

/* "source: " and the like, in front of a reason. */
static const char *without_side(const char *why)
{
	for (enum role role = ROLE_SOURCE; role <= ROLE_SINK; role++) {
		const size_t n = strlen(role_names[role]);

		if (!strncmp(why, role_names[role], n) && !strncmp(why + n, ": ", 2))
			return why + n + 2;
	}
	return why;
}

static bool is_among_said(enum outcome outcome, const char *why)
{
	for (size_t i = 0; i < state.said_count; i++)
		if (state.said[i].outcome == outcome && !strncmp(why, state.said[i].why, LAST_MAX - 1))
			return true;
	return false;
}

/* Was it said before? Of a reason that many points have, their number is enough. */
static bool is_said(const struct progress *p, enum outcome outcome, const char *why)
{
	if (outcome == OUTCOME_IMPOSSIBLE && !state.is_launched && preflight_missing(&state.spec->point[p->point - 1]))
		return true;
	if (is_among_said(outcome, without_side(why))) {
		state.repeated++;
		return true;
	}
	if (state.said_count < SAID_MOST) {
		struct said *new = &state.said[state.said_count++];

		new->outcome = outcome;
		snprintf(new->why, sizeof(new->why), "%s", without_side(why));
	}
	return false;
}

static void run_progress_point_ended(const struct progress *p, enum outcome outcome, const char *why)
{
	char took[FORECAST_TEXT_MAX], left[FORECAST_TEXT_MAX];
	const bool is_completed = outcome == OUTCOME_COMPLETED;

	state.now = *p;
	if (is_completed)
		note_last(p);
	if (is_completed && (has_line() || state.verbosity == VERBOSITY_QUIET))
		return;
	clear_line();
	if ((outcome == OUTCOME_FAILED || outcome == OUTCOME_IMPOSSIBLE) && is_said(p, outcome, why))
		return;
	say_repeated();
	fprintf(stderr, "kblat: point %zu (%zu of %zu): %s", p->point - 1, p->point, p->points, outcome_names[outcome]);
	if (!is_completed) {
		fprintf(stderr, ": %s\n", outcome == OUTCOME_INTERRUPTED ? "by a signal" : why);
		return;
	}
	fprintf(stderr, " in %s", forecast_text(seconds_since(p->point_started_ms), took, sizeof(took)));
	print_settings(p, stderr);
	fprintf(stderr, "%s%s", *state.last ? "; " : "", state.last);
	if (p->point < p->points)
		fprintf(stderr, "; about %s left", forecast_text(left_s(p, p->point), left, sizeof(left)));
	fprintf(stderr, "\n");
}

static void run_progress_warn(const char *text)
{
	clear_line();
	fprintf(stderr, "kblat: %s\n", text);
}

/* Print what is being measured, the elapsed time and the remaining time. */
static void run_progress_print(void)
{
	const struct progress *p = &state.now;
	char text[FORECAST_TEXT_MAX];

	clear_line();
	if (!state.each || !p->points) {
		fprintf(stderr, "kblat: no point is being measured\n");
		return;
	}
	fprintf(stderr, "kblat: ");
	print_where(p, stderr);
	fprintf(stderr, ", running for %s\n", forecast_text(seconds_since(p->started_ms), text, sizeof(text)));
}

const struct cli_command cmd_run_cli = {
    .name = "run",
    .synopsis =
	"SPEC [--quick] [--out DIR] [--set KEY=VALUE]… [--only KEY=VALUE]… [--device DEV] [--reps N] [--dry-run] "
	"[--quiet|--verbose] [--json]\n"
	"STUDY|--resume CAMPAIGN [--budget TIME] [… as for SPEC]\n"
	"SPEC --hosts HOSTS [--at-once N] [--state] [… as for SPEC]\n"
	"--foreign FORMAT [--base COMMAND] [--environment PROFILE[,PROFILE]] [--reps N] [--out DIR] -- COMMAND…",
    .summary = "run an experiment and seal its run directory",
    .details =
	"There are four forms: one experiment (SPEC), a campaign of several (STUDY), one experiment between all pairs "
	"of "
	"hosts (--hosts), and another program (--foreign).\n\n"
	"SPEC: one experiment. It is a YAML file, a directory with a spec.yaml, the name of an experiment (see `kblat "
	"list "
	"experiments`), or a configuration of Observatory (JSON; docs/observatory.md). The run directory is created in "
	"runs/ next to the spec (in ./runs for an installed experiment, beside the run for a run's spec), or in --out. "
	"Its "
	"path is the last line of "
	"standard output.\n\n"
	"STUDY: a campaign. It is a directory of experiments, all of which are run in sequence, into a directory with "
	"their run directories, study.json and cells.jsonl (what became of each), and a table of claims (claims.tsv). "
	"`kblat run --resume CAMPAIGN` continues a campaign that was interrupted, with its original launchers, which "
	"are "
	"shown; the directory must belong to you. With --budget 8h, experiments are run in order if they are expected "
	"to "
	"end within that time; the others are skipped and listed. An experiment that was started is always "
	"finished.\n\n"
	"SPEC --hosts: all pairs of hosts. One experiment is measured between every two of the hosts, in rounds of "
	"disjoint pairs, and pairs and hosts that stand out are named. In --source and --sink, {host} is the side's "
	"host; "
	"{source} and {sink} are the two hosts, also in --set (docs/cluster.md). --resume works as for a campaign.\n\n"
	"--foreign: another program. COMMAND measures, such as sockperf or cyclictest. It is run --reps times, each "
	"time "
	"into a run directory of its own in --out (runs), with the machine's state before and after, and its samples "
	"are "
	"imported (docs/import.md). With --base, or two environments, two arms take turns, in the folders base and new "
	"of "
	"--out, which kblat compare takes. {file} in a command is a file for its samples. The first run that fails "
	"ends "
	"the experiment; its directory has what the program printed.\n\n"
	"Each side of a point is a process of its own. --source and --sink are commands in front of it: \"ip netns "
	"exec "
	"ns0\", \"numactl -m 0\", \"ssh host\". Both sides talk over standard input and output; nothing listens on a "
	"network "
	"except the data path under test.\n\n"
	"Ctrl-C ends the run early and keeps what was measured. SIGUSR1 makes it print its progress. On a terminal "
	"progress is always shown; elsewhere a line is printed for each point.\n\n"
	"Exit status: 0 measured and valid; 3 measured, but not valid (with the reasons), or a claim fails, or a host "
	"or "
	"pair stands out; 1 a point failed or the run was interrupted; 2 the spec or the command line is wrong; 77 no "
	"point is possible on this machine.",
    .min_args = 0,
    .max_args = 4096,
};

struct run_options {
	int argc;
	char **argv;
	struct cli_list args;
	struct shared_options shared;
	const char *out, *resume, *hosts;
	long at_once;
	struct verdict_options verdicts;
	bool dry_run, json, quiet, verbose, state, no_state;
	struct foreign_options foreign;
};

static volatile sig_atomic_t interrupted;
static bool is_of_study; /* it was started by one */

static void note_signal(int signal_number)
{
	(void)signal_number;
	if (interrupted++)
		/* second request: end immediately; endpoints notice the end of their input and
		 * clean up */
		_exit(STATUS_FAILED);
}

static void note_question(int signal_number)
{
	(void)signal_number;
	run_progress_print(); /* signals are only unblocked while a run waits, so nothing is interrupted by this */
}

static void catch_signals(void)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction sa = {.sa_handler = note_signal};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
		sigaction(caught[i], &sa, NULL);
		sigaddset(&set, caught[i]);
	}
	sa.sa_handler = note_question;
	sigaction(SIGUSR1, &sa, NULL);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL); /* unblocked while waiting: channel_wait() */
}

static enum status conclude(const struct run_result *r)
{
	if (interrupted || r->count[OUTCOME_FAILED])
		return STATUS_FAILED;
	if (r->count[OUTCOME_IMPOSSIBLE] == r->total)
		return STATUS_IMPOSSIBLE;
	return r->summary->valid ? STATUS_OK : STATUS_NO;
}

static void show_json(const struct summary *summary)
{
	json_t *document = summary_encode(summary);

	json_print(document, stdout);
	json_decref(document);
}

/* A study shows the claims of all its experiments at its end, judged by all of them. */
static void show_tables(const struct run_result *r, const struct claim_verdicts *verdicts)
{
	const struct summary *const one[] = {r->summary};

	if (r->count[OUTCOME_IMPOSSIBLE] == r->total)
		summary_reasons(one, 1, stdout);
	else
		summary_table(one, 1, stdout);
	if (verdicts->count && !is_of_study) {
		printf("\n");
		claims_table(verdicts, stdout);
	}
}

static enum status show_in_format(const struct run_result *r, const struct claim_verdicts *verdicts,
				  const struct verdict_format *format, enum status status, struct err *e)
{
	struct run run;

	if (run_open(r->path, &run, e))
		return err_status(e);
	verdict_format_print(format, verdict_list_of_run(r->summary, verdicts, &run, status));
	run_close(&run);
	return status;
}

/* If a claim of the spec fails, the status is STATUS_NO. */
static enum status show_result(const struct run_result *r, const struct run_options *o, struct err *e)
{
	struct claim_verdicts verdicts = claims_read(r->path);
	enum status status = conclude(r);

	if (status == STATUS_OK && claim_verdicts_status(&verdicts) == STATUS_NO)
		status = STATUS_NO;
	if (o->json)
		show_json(r->summary);
	else if (o->verdicts.format)
		status = show_in_format(r, &verdicts, o->verdicts.format, status, e);
	else
		show_tables(r, &verdicts);
	claim_verdicts_free(&verdicts);
	if (interrupted)
		fprintf(stderr, "kblat: interrupted; the results so far are kept\n");
	/* What is in a format is not followed by anything else. */
	clean_stream_path(o->verdicts.format ? stderr : stdout, r->path);
	return status;
}

/* Bytes on the wire were to be counted: if that was not possible, print why. */
static void warn_of_wire(const struct summary *summary)
{
	const char *why = NULL;

	for (size_t i = 0; i < summary->point_count; i++) {
		const struct summary_block *wire = summary_find_block(&summary->points[i].results, "", &overhead_block);

		if (wire && number_is_known(wire->numbers[WIRE_RAW_BYTES]))
			return;
		why = why || !wire ? why : wire->why;
	}
	fprintf(stderr, "kblat: warning: the detector is enabled, but no bytes on the wire were counted: %s\n",
		why ? why : "nothing was measured");
}

/* Before anything else, what is known to be impossible, if both sides are on this machine. */
static void say_missing(const struct spec *spec)
{
	const char *why = NULL;
	const size_t missing = preflight_count_missing(spec->point, spec->point_count, &why);

	if (missing)
		fprintf(stderr, "kblat: %zu of %zu point%s %s not possible here: %s\n", missing, spec->point_count,
			spec->point_count == 1 ? "" : "s", spec->point_count == 1 ? "is" : "are", why);
}

static enum verbosity verbosity_of(const struct run_options *o)
{
	return o->quiet ? VERBOSITY_QUIET : o->verbose ? VERBOSITY_VERBOSE : VERBOSITY_NORMAL;
}

static enum status measure(const struct run_options *o, const struct spec *spec, struct err *e)
{
	const struct run_request request = {
	    .spec = spec,
	    .out = o->out,
	    .launcher = {o->shared.source, o->shared.sink},
	    .mask = o->shared.mask,
	    .no_state = o->no_state,
	    .argc = o->argc,
	    .argv = o->argv,
	    .interrupted = &interrupted,
	    .show = run_progress_show,
	    .point_ended = run_progress_point_ended,
	    .warn = run_progress_warn,
	};
	struct run_result result;
	enum status status;
	int rc;

	if (!o->shared.source && !o->shared.sink && !is_of_study)
		say_missing(spec);
	run_progress_begin(spec, o->out, verbosity_of(o));
	state.is_launched = o->shared.source || o->shared.sink;
	catch_signals();
	rc = run_execute(&request, &result, e);
	run_progress_end();
	if (rc && result.path)
		fprintf(stderr, "kblat: the results so far are in %s, not sealed\n", result.path);
	if (!rc && spec->wants_wire)
		warn_of_wire(result.summary);
	status = !rc ? show_result(&result, o, e) : e->status ? e->status : STATUS_FAILED;
	run_result_free(&result);
	return status;
}

/* An experiment that does not fit in the budget is not run at all: if it were interrupted, it would
 * have to begin again at its first point. */
static int check_budget(const struct run_options *o, const struct spec *spec, struct err *e)
{
	struct forecast sum;
	char *runs, given[FORECAST_TEXT_MAX], needed[FORECAST_TEXT_MAX];

	if (!o->shared.budget_ns)
		return 0;
	runs = run_parent(spec, o->out);
	sum = forecast_run(spec, runs, NULL);
	free(runs);
	if (forecast_seconds(&sum) * 1e9 <= (double)o->shared.budget_ns)
		return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, "--budget", NULL,
		       "%s is too short: the experiment needs about %s; allow more time, or reduce the work with "
		       "--quick or --only",
		       forecast_text((double)o->shared.budget_ns / 1e9, given, sizeof(given)),
		       forecast_text(forecast_seconds(&sum), needed, sizeof(needed)));
}

static enum status run_one(const struct run_options *o, struct err *e)
{
	struct spec spec;
	struct diag diag;
	enum status status;
	const int rc = spec_load(o->args.items[0], &o->shared.overrides, &spec, &diag);

	diag_print(&spec.warnings, stderr);
	if (rc) {
		diag_print(&diag, stderr);
		status = STATUS_USAGE;
	} else if (o->dry_run) {
		status = environment_foresee_points(spec.point, spec.point_count, stderr, e) ? e->status : STATUS_OK;
		if (!o->json && !o->shared.source && !o->shared.sink)
			say_missing(&spec);
		if (!status)
			dry_run_show(&spec, o->out, o->json);
	} else {
		status = check_budget(o, &spec, e) ? e->status : measure(o, &spec, e);
	}
	diag_free(&diag);
	spec_free(&spec);
	return status;
}

/* A study of a kind; or to continue one. */
static enum status run_study(const struct run_options *o, const struct study_kind *kind, struct err *e)
{
	const struct study_request request = {
	    .path = o->args.count ? o->args.items[0] : NULL,
	    .resume = o->resume,
	    .hosts = o->hosts,
	    .out = o->out,
	    .source = o->shared.source,
	    .sink = o->shared.sink,
	    .profile_path = o->shared.profile_path,
	    .overrides = o->shared.overrides,
	    .mask = o->shared.mask,
	    .state = o->state,
	    .no_state = o->no_state,
	    .dry_run = o->dry_run,
	    .json = o->json,
	    .format = o->verdicts.format,
	    .quiet = o->quiet,
	    .verbose = o->verbose,
	    .at_once = o->at_once,
	    .budget_s = (double)o->shared.budget_ns / 1e9,
	    .argc = o->argc,
	    .argv = o->argv,
	};

	return study_run(kind, &request, e);
}

/* --hosts is for a single experiment. */
static int check_hosts(const struct run_options *o, struct err *e)
{
	if (!o->hosts && (o->at_once || o->state))
		return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "run: --at-once and --state require --hosts");
	if (!o->hosts)
		return 0;
	if (o->resume || o->shared.budget || !o->args.count || experiments_is(o->args.items[0]))
		return err_set(
		    e, -EINVAL, STATUS_USAGE, "--hosts", NULL,
		    "measures one SPEC between all pairs; it cannot be combined with a study, --resume or --budget");
	return 0;
}

static int check_arguments(const struct run_options *o, struct err *e)
{
	if (o->quiet && o->verbose)
		return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "run: --quiet and --verbose cannot be combined");
	if (check_hosts(o, e))
		return -EINVAL;
	return o->resume || o->args.count ? 0
					  : err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL,
						    "run: no SPEC given; 'kblat list experiments' lists experiments");
}

/* Which kind of study is asked for; NULL: none, but one run. */
static int find_kind(const struct run_options *o, const struct study_kind **kind, struct err *e)
{
	const char *dir = o->resume ? o->resume : o->args.items[0];
	const struct study_kind *there;

	if (o->resume && study_record_trust(dir, e))
		return -EPERM;
	there = study_kind_at(dir);
	if (there && (!o->resume || strcmp(there->command, "kblat run") != 0))
		return err_set(e, -EINVAL, STATUS_USAGE, dir, NULL,
			       "it is a study that was already begun; '%s --resume %s' continues it", there->command,
			       dir);
	*kind = there				   ? there
		: o->hosts			   ? &pairs_kind
		: o->resume			   ? &campaign_kind
		: experiments_is(o->args.items[0]) ? &campaign_kind
						   : NULL;
	return 0;
}

/* What is for specs, or for other programs. */
static int check_foreign(const struct run_options *o, struct err *e)
{
	const struct shared_options *s = &o->shared;
	const struct foreign_options *f = &o->foreign;
	const struct import_options *i = &f->import;
	const bool is_of_spec = o->hosts || o->resume || o->at_once || o->state || o->json || o->verbose ||
				o->verdicts.format || s->set.count || s->only.count || s->source || s->sink ||
				s->device || s->budget || s->quick || s->mask;
	const bool is_foreign = f->base || f->environment || f->samples || f->timeout || i->limit ||
				i->request.column || i->request.unit || i->request.name;

	if (f->format && is_of_spec)
		return err_set(e, -EINVAL, STATUS_USAGE, "--foreign", NULL,
			       "can be combined with --out, --reps, --profile-path, --no-state, --dry-run and --quiet, "
			       "but not with what is for specs");
	if (!f->format && is_foreign)
		return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL,
			       "run: --base, --environment, --samples, --timeout, --name, --column, --unit and --limit "
			       "require --foreign");
	if (!f->format && o->args.count > 1)
		return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "run: too many arguments, from '%.60s' on",
			       o->args.items[1]);
	return 0;
}

static enum status run_foreign(struct run_options *o, struct err *e)
{
	const struct foreign_how how = {.out = o->out,
					.runs = o->shared.reps,
					.no_state = o->no_state,
					.dry_run = o->dry_run,
					.quiet = o->quiet,
					.interrupted = &interrupted,
					.argc = o->argc,
					.argv = o->argv};

	if (shared_options_read(&o->shared, e))
		return e->status;
	catch_signals();
	return foreign_options_run(&o->foreign, &o->args, &how, e);
}

/* The variable is not for what is measured, whose state has all variables. */
static void note_study(void)
{
	is_of_study = getenv(STUDY_VARIABLE);
	unsetenv(STUDY_VARIABLE);
}

static enum status run(const struct cli_list *args, void *options, struct err *e)
{
	struct run_options *o = options;
	const struct study_kind *kind = NULL;

	o->args = *args;
	note_study();
	if (check_foreign(o, e))
		return e->status;
	if (o->foreign.format)
		return run_foreign(o, e);
	if (verdict_options_read(&o->verdicts, o->json, e) || check_arguments(o, e) ||
	    shared_options_read(&o->shared, e))
		return e->status;
	if (!o->resume && shared_options_find(&o->shared, &o->args.items[0], &o->out, e))
		return e->status;
	if (find_kind(o, &kind, e))
		return e->status;
	if (kind)
		return run_study(o, kind, e);
	return run_one(o, e);
}

enum status cmd_run(int argc, char **argv, struct err *e)
{
	struct run_options o = {.argc = argc, .argv = argv};
	enum status status;
	const struct cli_flag flags[] = {
	    {"quick", CLI_FLAG, &o.shared.quick, NULL, "the spec's quick variant: fewer messages, shorter pauses", 0,
	     0},
	    {"out", CLI_STRING, &o.out, "DIR", "create the run directory in DIR", 0, 0},
	    SHARED_OPTIONS_FLAGS(o.shared),
	    {"no-state", CLI_FLAG, &o.no_state, NULL, "do not capture the hosts' states before and after", 0, 0},
	    {"dry-run", CLI_FLAG, &o.dry_run, NULL,
	     "print the points with every setting and the expected duration, and do nothing else", 0, 0},
	    {"quiet", CLI_FLAG, &o.quiet, NULL, "while measuring, print only problems", 0, 0},
	    {"verbose", CLI_FLAG, &o.verbose, NULL, "print a line for each point and repetition", 0, 0},
	    VERDICT_OPTIONS_FLAGS(o.verdicts),
	    {"json", CLI_FLAG, &o.json, NULL, "print JSON instead of a table", 0, 0},
	    CLI_HEADING("A campaign (STUDY):"),
	    {"resume", CLI_STRING, &o.resume, "DIR", "continue this campaign, which must belong to you", 0, 0},
	    {"budget", CLI_STRING, &o.shared.budget, "TIME",
	     "run the experiments that are expected to fit into this time (8h)", 0, 0},
	    CLI_HEADING("All pairs of hosts (--hosts):"),
	    {"hosts", CLI_STRING, &o.hosts, "LIST|FILE",
	     "measure between all pairs of these hosts: n1,n2 or n[1-64], or a file with one host per line", 0, 0},
	    {"at-once", CLI_INT, &o.at_once, "N", "maximum number of pairs measured at once (128)", 1, 1024},
	    {"state", CLI_FLAG, &o.state, NULL, "also capture the state of both hosts of every pair", 0, 0},
	    CLI_HEADING(
		"Another program (--foreign; of those above: --out, --reps, --profile-path, --no-state, --dry-run "
		"and --quiet):"),
	    FOREIGN_OPTIONS_FLAGS(o.foreign),
	    {.name = NULL},
	};

	status = cli_run("kblat", &cmd_run_cli, flags, argc, argv, run, &o, e);
	shared_options_free(&o.shared);
	return verdict_options_exit(argc, argv, status);
}
