#include "commands/run_progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands/dry_run.h"
#include "common/clean_stream.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "files/rundir/layout.h"
#include "measure/run/channel.h"
#include "measure/run/forecast.h"

#define LAST_MAX 160

static struct {
	const struct spec *spec;
	struct forecast *each, sum;
	enum verbosity verbosity;
	bool is_terminal;
	struct progress now;
	char last[LAST_MAX]; /* statistics of the point measured last */
} state;

void run_progress_begin(const struct spec *spec, const char *out, enum verbosity verbosity)
{
	char *runs = run_parent(spec, out);

	state.spec = spec;
	state.verbosity = verbosity;
	state.is_terminal = isatty(STDERR_FILENO);
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

void run_progress_end(void)
{
	clear_line();
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
static void print_settings(const struct progress *p)
{
	if (p->points == 1)
		return;
	fprintf(stderr, ":");
	dry_run_named_settings(state.spec, p->point - 1, stderr);
}

static void print_where(const struct progress *p)
{
	char left[FORECAST_TEXT_MAX];

	fprintf(stderr, "point %zu/%zu", p->point, p->points);
	print_settings(p);
	fprintf(stderr, ", repetition %lld/%lld, %llu of %llu messages, about %s left", p->rep, p->reps,
		(unsigned long long)p->messages, (unsigned long long)p->all_messages,
		forecast_text(left_s(p, p->point - 1), left, sizeof(left)));
}

void run_progress_show(const struct progress *p)
{
	state.now = *p;
	if (has_line()) {
		clear_line();
		print_where(p);
		fprintf(stderr, "%s%s", *state.last ? "; last: " : "", state.last);
		return;
	}
	if (state.verbosity != VERBOSITY_VERBOSE)
		return;
	fprintf(stderr, "kblat: ");
	print_where(p);
	fprintf(stderr, "\n");
}

void run_progress_point_ended(const struct progress *p, enum outcome outcome, const char *why)
{
	char took[FORECAST_TEXT_MAX], left[FORECAST_TEXT_MAX];
	const bool is_completed = outcome == OUTCOME_COMPLETED;

	state.now = *p;
	if (is_completed)
		note_last(p);
	if (is_completed && (has_line() || state.verbosity == VERBOSITY_QUIET))
		return;
	clear_line();
	fprintf(stderr, "kblat: point %zu of %zu: %s", p->point, p->points, outcome_names[outcome]);
	if (!is_completed) {
		fprintf(stderr, ": %s\n", outcome == OUTCOME_INTERRUPTED ? "by a signal" : why);
		return;
	}
	fprintf(stderr, " in %s", forecast_text(seconds_since(p->point_started_ms), took, sizeof(took)));
	print_settings(p);
	fprintf(stderr, "%s%s", *state.last ? "; " : "", state.last);
	if (p->point < p->points)
		fprintf(stderr, "; about %s left", forecast_text(left_s(p, p->point), left, sizeof(left)));
	fprintf(stderr, "\n");
}

void run_progress_warn(const char *text)
{
	clear_line();
	fprintf(stderr, "kblat: %s\n", text);
}

void run_progress_print(void)
{
	const struct progress *p = &state.now;
	char text[FORECAST_TEXT_MAX];

	clear_line();
	if (!state.each || !p->points) {
		fprintf(stderr, "kblat: no point is being measured\n");
		return;
	}
	fprintf(stderr, "kblat: ");
	print_where(p);
	fprintf(stderr, ", running for %s\n", forecast_text(seconds_since(p->started_ms), text, sizeof(text)));
}
