#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "common/clean_stream.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "files/rundir/layout.h"
#include "files/rundir/reader.h"
#include "files/rundir/rep.h"
#include "files/rundir/sealed.h"
#include "judge/analysis/explained.h"
#include "judge/analysis/series.h"
#include "judge/analysis/span.h"
#include "judge/analysis/summary_build.h"
#include "judge/observatory/observatory_csv.h"
#include "measure/spec/spec.h"

#define PERFETTO_WORST 100 /* of a flow */

const struct cli_command cmd_export_cli = {
    .name = "export",
    .synopsis =
	"RUN --csv | RUN --samples [--stamps] [--point ID] | RUN --perfetto [--point ID] | RUN… --observatory DIR | "
	"CONFIG --spec [--transport NAME]",
    .summary = "write the numbers of a run in another format, or another program's configuration as a spec",
    .details =
	"--csv: RFC 4180, one row for each point and metric: id, valid, every setting, metric, n, lost, min, "
	"quantiles, max, mean, stdev, p90_p10, over_limit. Times are in nanoseconds; missing values are empty. "
	"The raw stamps need no export: every column is a NumPy file.\n\n--samples: every message of "
	"a point, with its repetition and the time of each series; kblat import csv reads it. With --stamps also its "
	"stamps (t_subm, t_comp, t_recv, …), in nanoseconds since the run's start.\n\n--perfetto: the worst "
	"late messages or requests "
	"(100 of a flow) and what happened meanwhile, as a trace for ui.perfetto.dev or chrome://tracing; of points "
	"measured with 'explain: yes', and of kblat trace.\n\n--observatory: "
	"the files that "
	"Observatory's own programs would write: a CSV file for each operation and direction, with a row for "
	"each repetition, in seconds, operations per second and bytes per second. Existing files are not "
	"overwritten; the export stops at the first one.\n\n--spec: prints a configuration of Observatory "
	"(JSON) as a spec (YAML). docs/observatory.md describes the translation.",
    .min_args = 1,
    .max_args = 64,
};

/*
 * Every sample of a point as CSV: what `kblat import csv` reads. Comments say of which run, boot and time they are, so that
 * runs which were exported and imported are compared as the originals would be.
 */

static void print_remark(FILE *out, const char *key, const char *text)
{
	if (*text)
		fprintf(out, "# %s: %s\n", key, text_shown(text));
}

/* Remarks that an import needs (measure/import/formats.c). */
static int print_remarks(const struct run *run, const struct layout_flow *f, FILE *out, struct err *e)
{
	const struct run_record *r = &run->record;
	const double hz = json_number_value(json_object_get(r->clock, "hz"));
	struct summary *s = summary_of_run(run, e);
	const struct summary_point *p = s ? summary_find_point(s, (json_int_t)f->point) : NULL;

	if (!s)
		return -EINVAL;
	print_remark(out, "name", r->name);
	print_remark(out, "host", r->hosts ? r->host->name : "");
	print_remark(out, "boot", r->hosts && r->host->boot_id ? r->host->boot_id : "");
	fprintf(out, "# started_ns: %" PRId64 "\n# limit_ns: %" JSON_INTEGER_FORMAT "\n", r->t0.realtime_ns,
		f->limit_ns);
	if (hz >= 1 && hz < 1e18)
		fprintf(out, "# clock_hz: %.0f\n", hz);
	if (p && !p->valid)
		print_remark(out, "invalid", json_string_value(json_array_get(p->reasons, 0)) ?: "unknown reason");
	summary_free(s);
	return 0;
}

static void print_sample(const struct rep *r, const struct layout_series *s, size_t i, FILE *out)
{
	const struct span span = series_span(r, s);
	int64_t value;

	fputc(',', out);
	if (i < span.count && span_sample(&span, i, &value))
		fprintf(out, "%" PRId64, s->divide == 2 ? value >> 1 : value);
}

static void print_stamp(const struct npy *column, size_t i, FILE *out)
{
	fputc(',', out);
	if (i < column->count && column->data[i] != NEVER)
		fprintf(out, "%" PRId64, column->data[i]);
}

static void print_reps(const struct layout_flow *f, const struct rep *reps, size_t count, bool stamps, FILE *out)
{
	const unsigned columns = stamps ? f->column_count : 0;

	fputs("rep", out);
	for (unsigned s = 0; s < f->series_count; s++)
		fprintf(out, ",%s", text_shown(f->series[s].name));
	for (unsigned c = 0; c < columns; c++)
		fprintf(out, ",%s", text_shown(f->columns[c]));
	fputc('\n', out);
	for (size_t r = 0; r < count; r++)
		for (size_t i = 0; i < reps[r].columns[0].count; i++) {
			fprintf(out, "%u", reps[r].number);
			for (unsigned s = 0; s < f->series_count; s++)
				print_sample(&reps[r], &f->series[s], i, out);
			for (unsigned c = 0; c < columns; c++)
				print_stamp(&reps[r].columns[c], i, out);
			fputc('\n', out);
		}
}

static int print_flow(const struct run *run, const struct layout_flow *f, bool stamps, FILE *out, struct err *e)
{
	struct rep *reps = NULL;
	size_t count = 0;
	int rc = rep_open_all(run->path, f, &reps, &count, e);

	if (!rc)
		rc = print_remarks(run, f, out, e);
	if (!rc)
		print_reps(f, reps, count, stamps, out);
	for (size_t i = 0; i < count; i++)
		if (rep_close(&reps[i], e))
			rc = -EIO;
	free(reps);
	if (!rc && ferror(out))
		rc = err_sys(e, -EIO, "standard output", "write");
	return rc;
}

/* The point with that id, or the only one if it is negative: a row for each message, with its repetition and, for each
 * series, its time in the unit that the series' name ends in, with `stamps` also its columns; empty: lost.
 * STATUS_USAGE for a point that the run does not have, or that has several flows. */
static int samples_csv(const struct run *run, long point, bool stamps, FILE *out, struct err *e)
{
	const json_t *points = json_object_get(run->resolved, "points");
	struct layout l;
	int rc;

	if (point < 0 && json_array_size(points) != 1)
		return err_set(e, -EINVAL, STATUS_USAGE, run->path, NULL,
			       "it has %zu points; choose one with --point ID", json_array_size(points));
	rc = point < 0 ? layout_read(run->path, run->resolved, 0, &l, e)
		       : layout_find(run->path, run->resolved, (unsigned)point, &l, e);
	if (rc)
		return rc;
	if (l.flow_count > 1)
		rc = err_set(e, -EINVAL, STATUS_USAGE, run->path, NULL,
			     "point %u has several flows, whose samples are not "
			     "of the same messages; read its columns (docs/run-directory.md)",
			     l.id);
	else
		rc = print_flow(run, &l.flows[0], stamps, out, e);
	layout_free(&l);
	return rc;
}

/*
 * The worst late messages of a run, with what happened meanwhile, for viewers of traces (Perfetto, chrome://tracing): the
 * Trace Event Format, in JSON.
 */

struct explain_tracing {
	json_t *events, *named; /* which tracks and processes have a name */
	size_t worst;
	size_t flows;
	long long processes; /* so far */
};

/*
 * Viewers multiply by 1000, and some of them truncate: 4.015 us, which a double does not hold exactly, becomes 4014 ns. So
 * the number is the nearest one from which both that and rounding make the nanoseconds that it stands for.
 */
static double trace_us(int64_t ns)
{
	double us = (double)ns / 1000;

	while ((int64_t)(us * 1000) != ns)
		us = nextafter(us, ns < 0 ? -INFINITY : INFINITY);
	return us;
}

/* Once for each track, however many messages are on it. */
static void name_track(const struct explain_tracing *t, const char *what, long long process, long long track,
		       const char *name)
{
	char *key = fs_path("%s %lld %lld", what, process, track);

	if (!json_object_get(t->named, key)) {
		json_object_set_new(t->named, key, json_true());
		json_array_append_new(t->events,
				      json_pack("{s:s, s:s, s:I, s:I, s:{s:s}}", "ph", "M", "name", what, "pid",
						(json_int_t)process, "tid", (json_int_t)track, "args", "name", name));
	}
	free(key);
}

/* The parts of a timeline between two times, as slices. */
static void add_slices(const struct explain_tracing *t, const struct explained *x, const struct timeline *line,
		       const struct late_message *m, long long process, long long track)
{
	char text[CAUSE_TEXT_MAX];

	for (size_t i = timeline_find(line, m->from); i < line->count && line->segments[i].from < m->to; i++) {
		const struct timeline_segment *s = &line->segments[i];
		const int64_t from = s->from > m->from ? s->from : m->from, to = s->to < m->to ? s->to : m->to;
		struct cause bare = x->causes.list[s->cause];

		bare.side = CAUSE_NO_SIDE;
		json_array_append_new(t->events, json_pack("{s:s, s:s, s:s, s:f, s:f, s:I, s:I}", "ph", "X", "cat",
							   cause_keys[bare.class], "name",
							   cause_describe(&bare, text, sizeof(text)), "ts",
							   trace_us(from), "dur", trace_us(to - from), "pid",
							   (json_int_t)process, "tid", (json_int_t)track));
	}
}

/* Messages overlap, slices of a track must not. */
static void add_message(const struct explain_tracing *t, const struct explained *x, const struct late_message *m,
			long long process)
{
	static const char *const phases[] = {"b", "e"};
	char text[CAUSE_TEXT_MAX], *name = fs_path("%s %zu: %s", x->thread >= 0 ? "request" : "message", m->message,
						   cause_describe(&x->causes.list[m->cause], text, sizeof(text)));

	for (size_t i = 0; i < 2; i++)
		json_array_append_new(t->events, json_pack("{s:s, s:s, s:s, s:I, s:f, s:I, s:I}", "ph", phases[i],
							   "cat", "delayed", "name", name, "id", (json_int_t)m->message,
							   "ts", trace_us(i ? m->to : m->from), "pid",
							   (json_int_t)process, "tid", (json_int_t)0));
	free(name);
}

/* A message's part of a track that an earlier one of the list already shows must not be shown again. */
static bool is_shown(const struct explained *x, const struct late_message *const *list, size_t which)
{
	const struct late_message *m = list[which];

	for (size_t i = 0; i < which; i++)
		if (explained_rep_of(x, list[i]) == explained_rep_of(x, m) && list[i]->thread == m->thread &&
		    list[i]->from < m->to && m->from < list[i]->to)
			return true;
	return false;
}

static void add_tracks(const struct explain_tracing *t, const struct explained *x, const struct late_message *m,
		       long long process)
{
	const struct timeline_thread *thread = explained_thread(x, m);

	for (unsigned side = 0; side < 2; side++) {
		const struct timeline *line = explained_line(x, m, side);
		const long long track = thread ? (long long)m->thread : side + 1;
		char *name = thread ? fs_path("%s %lld", thread->name, track) : fs_path("%s", cause_sides[side]);

		if (line) {
			name_track(t, "thread_name", process, track, name);
			add_slices(t, x, line, m, process, track);
		}
		free(name);
	}
}

static void trace_flow(void *arg, const struct layout_flow *f, const struct explained *x)
{
	struct explain_tracing *t = arg;
	const struct late_message **list = explained_worst(x);

	t->flows++;
	for (size_t i = 0; i < x->count; i++) {
		char *name = fs_path("point %u%s%s, repetition %u", f->point, *f->name ? ", " : "", f->name,
				     x->reps[i].rep->number);

		name_track(t, "process_name", t->processes + (long long)i + 1, 0, name);
		free(name);
	}
	for (size_t i = 0; i < x->late.count && i < t->worst; i++) {
		const long long process = t->processes + (explained_rep_of(x, list[i]) - x->reps) + 1;

		add_message(t, x, list[i], process);
		if (!is_shown(x, list, i))
			add_tracks(t, x, list[i], process);
	}
	t->processes += (long long)x->count;
	free(list);
}

/*
 * {"displayTimeUnit", "traceEvents"}: a process for each flow and repetition, with a track for each side or thread, on
 * which the parts of the worst messages (at most `worst` of a flow) are slices; the messages themselves are asynchronous
 * slices. Times are in us since the run's t0. NULL: -ENODATA and STATUS_NO if nothing was to be explained, or another
 * error.
 */
static json_t *explain_trace(const struct run *run, long long point, size_t worst, struct err *e)
{
	struct explain_tracing t = {.events = json_array(), .named = json_object(), .worst = worst};
	int rc = explained_each(run, point, trace_flow, &t, e);

	json_decref(t.named);
	if (!rc && !t.flows)
		rc = err_set(e, -ENODATA, STATUS_NO, run->path, NULL,
			     "nothing of it was measured with 'explain: yes': there are no events");
	if (!rc)
		return json_pack("{s:s, s:o}", "displayTimeUnit", "ns", "traceEvents", t.events);
	json_decref(t.events);
	return NULL;
}

struct export_options {
	const struct cli_list *args;
	bool csv, samples, stamps, perfetto, spec;
	long point;
	const char *observatory, *transport;
};

static int open_run(const char *path, struct run *run, struct err *e)
{
	int rc = run_open(path, run, e);

	if (!rc && !run->sealed)
		fprintf(stderr, "kblat: %s: not sealed: computed from the data so far\n", path);
	return rc;
}

static enum status export_csv(const char *path, struct err *e)
{
	struct run run;
	struct summary *summary;
	int rc = open_run(path, &run, e);

	if (rc)
		return e->status;
	summary = summary_of_run(&run, e);
	rc = summary ? summary_csv(summary, stdout) : -EINVAL;
	if (rc && summary)
		err_sys(e, rc, "standard output", "write");
	summary_free(summary);
	sealed_unchanged(&run, e);
	run_close(&run);
	return e->status;
}

static enum status export_samples(const struct export_options *o, struct err *e)
{
	struct run run;
	int rc = open_run(o->args->items[0], &run, e);

	if (rc)
		return e->status;
	rc = samples_csv(&run, o->point, o->stamps, stdout, e);
	run_close(&run);
	return rc ? e->status : STATUS_OK;
}

static enum status export_perfetto(const struct export_options *o, struct err *e)
{
	struct run run;
	json_t *trace;

	if (open_run(o->args->items[0], &run, e))
		return e->status;
	trace = explain_trace(&run, o->point, PERFETTO_WORST, e);
	if (trace)
		json_print(trace, stdout);
	json_decref(trace);
	run_close(&run);
	return trace ? STATUS_OK : e->status;
}

static enum status export_observatory(const struct export_options *o, struct err *e)
{
	struct run *runs = or_abort(calloc(o->args->count, sizeof(*runs)));
	size_t open = 0, skipped = 0;
	int rc = 0;

	while (!rc && open < o->args->count) {
		rc = open_run(o->args->items[open], &runs[open], e);
		open += !rc;
	}
	if (!rc)
		rc = observatory_csv_write(runs, open, o->observatory, &skipped, e);
	if (!rc && skipped)
		fprintf(stderr, "kblat: %zu point%s left out: not measured, or nothing that Observatory measures\n",
			skipped, skipped == 1 ? " is" : "s are");
	for (size_t i = 0; i < open; i++)
		run_close(&runs[i]);
	free(runs);
	return rc ? e->status : STATUS_OK;
}

static enum status export_spec(const struct export_options *o, struct err *e)
{
	char *set = o->transport ? fs_path("transport=%s", o->transport) : NULL;
	const struct spec_overrides overrides = {.set = (const char *const *)&set, .set_count = set ? 1 : 0};
	enum status status = STATUS_USAGE;
	struct spec spec;
	struct diag diag;

	if (spec_load(o->args->items[0], &overrides, &spec, &diag)) {
		diag_print(&diag, stderr);
	} else if (!spec.original) {
		err_set(e, -EINVAL, STATUS_USAGE, o->args->items[0], NULL,
			"it is already a spec; --spec converts configurations of Observatory");
	} else {
		fputs(spec.text, stdout);
		status = STATUS_OK;
	}
	diag_print(&spec.warnings, stderr);
	diag_free(&diag);
	spec_free(&spec);
	free(set);
	return status;
}

static int check_options(const struct export_options *o, struct err *e)
{
	const int formats = o->csv + o->samples + o->perfetto + o->spec + !!o->observatory;

	if (formats != 1)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat export", NULL,
			       "%s; use one of --csv, --samples, --perfetto, --observatory DIR, --spec",
			       formats ? "more than one format is given" : "no format is given");
	if (o->transport && !o->spec)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat export", NULL, "--transport requires --spec");
	if (o->point >= 0 && !o->samples && !o->perfetto)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat export", NULL,
			       "--point requires --samples or --perfetto");
	if (o->stamps && !o->samples)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat export", NULL, "--stamps requires --samples");
	if (o->args->count > 1 && !o->observatory)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat export", NULL,
			       "only --observatory accepts several runs");
	return 0;
}

static enum status export_document(const struct export_options *o, struct err *e)
{
	if (o->samples)
		return export_samples(o, e);
	if (o->perfetto)
		return export_perfetto(o, e);
	return o->spec ? export_spec(o, e) : export_csv(o->args->items[0], e);
}

static enum status export_it(const struct cli_list *args, void *options, struct err *e)
{
	struct export_options *o = options;
	enum status status;

	o->args = args;
	if (check_options(o, e))
		return e->status;
	if (o->observatory)
		return export_observatory(o, e);
	clean_stream_document(stdout, true);
	status = export_document(o, e);
	clean_stream_document(stdout, false);
	return status;
}

enum status cmd_export(int argc, char **argv, struct err *e)
{
	struct export_options o = {.point = -1};
	const struct cli_flag flags[] = {
	    {"csv", CLI_FLAG, &o.csv, NULL, "comma-separated values, to standard output", 0, 0},
	    {"samples", CLI_FLAG, &o.samples, NULL, "every sample of a point, to standard output", 0, 0},
	    {"stamps", CLI_FLAG, &o.stamps, NULL, "with --samples: also when each was submitted, completed, received",
	     0, 0},
	    {"perfetto", CLI_FLAG, &o.perfetto, NULL, "the worst late messages as a trace, to standard output", 0, 0},
	    {"point", CLI_INT, &o.point, "ID", "which point (with --samples the only one, with --perfetto all)", 0,
	     999999},
	    {"observatory", CLI_STRING, &o.observatory, "DIR", "Observatory's result files, into DIR", 0, 0},
	    {"spec", CLI_FLAG, &o.spec, NULL, "a configuration of Observatory as a spec, to standard output", 0, 0},
	    {"transport", CLI_STRING, &o.transport, "NAME", "the transport of that spec (verbs)", 0, 0},
	    {.name = NULL},
	};

	const enum status status = cli_run("kblat", &cmd_export_cli, flags, argc, argv, export_it, &o, e);

	return e->status ? e->status : status;
}
