#include "judge/analysis/explained.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "common/text.h"
#include "judge/analysis/series.h"
#include "judge/analysis/timeline_build.h"

/* --- recorded data --- */

/* A series between two stamps of the same message: not between two messages, and not of several
 * messages that share an entry. */
static const struct layout_series *explained_series_of(const struct layout_flow *f)
{
	const struct layout_series *s = f->series_count ? &f->series[0] : NULL;

	return s && s->minus >= 0 && !s->lag && f->traits.block <= 1 ? s : NULL;
}

/* Does a side sleep while it waits? Then its sleep is no delay. */
static bool side_sleeps(const struct layout_flow *f)
{
	const char *send = json_text(f->params, "poll_send");

	return strcmp(json_text(f->params, "poll"), "busy") != 0 || (strcmp(send, "busy") && strcmp(send, "same"));
}

static long long count_lost(const json_t *about)
{
	long long lost = 0;
	const char *cpu;
	json_t *n;

	json_object_foreach (json_object_get(about, "lost"), cpu, n)
		if (json_integer_value(n) > 0 && json_integer_value(n) < INT32_MAX)
			lost += json_integer_value(n);
	return lost;
}

/* 1: the side was traced, or should have been; 0: it was not; or a negative errno. */
static int add_side(struct explained *x, const struct layout_flow *f, struct explained_rep *r, unsigned side,
		    struct err *e)
{
	struct trace_file file;
	int rc = !r->rep->dir ? 0 : trace_file_open(r->rep->dir, cause_sides[side], &file, e);

	if (rc <= 0)
		return rc;
	x->lost += count_lost(file.about);
	r->has[side] = !*trace_file_why(&file);
	if (r->has[side] && x->thread >= 0)
		timeline_build_threads(&file, &x->causes, &r->threads);
	else if (r->has[side])
		timeline_build(&file, side, side_sleeps(f), &x->causes, &r->side[side]);
	else if (!*x->why)
		text_clean(trace_file_why(&file), strlen(trace_file_why(&file)), x->why, sizeof(x->why));
	trace_file_close(&file);
	return 1;
}

static int add_sides(struct explained *x, const struct layout_flow *f, struct err *e)
{
	int there = 0;

	for (size_t i = 0; i < x->count; i++)
		for (unsigned side = 0; side < 2; side++) {
			int rc = add_side(x, f, &x->reps[i], side, e);

			if (rc < 0)
				return rc;
			there |= rc;
		}
	return there;
}

/* "…/rep-00/flow" -> "…/untraced/flow": the repetition without the kernel's events. */
static char *untraced_dir(const struct layout_flow *f, const struct rep *r)
{
	const size_t tail = *f->name ? strlen(f->name) + 1 : 0, length = strlen(r->dir);
	size_t end = length > tail ? length - tail : 0;

	while (end && r->dir[end - 1] != '/')
		end--;
	return fs_path("%.*suntraced%s%s", (int)end, r->dir, *f->name ? "/" : "", f->name);
}

static double quantile_ratio(const struct stats *with, const struct stats *without, unsigned q)
{
	return with->has_quantile[q] && without->has_quantile[q] && without->quantile[q] > 0
		   ? (double)with->quantile[q] / (double)without->quantile[q]
		   : 0;
}

static bool has_events(const struct explained *x)
{
	for (size_t i = 0; i < x->count; i++)
		if (x->reps[i].has[0] || x->reps[i].has[1])
			return true;
	return false;
}

/* Compares with `with`, the statistics of all repetitions. If no events were recorded, there is no cost. */
static void find_cost(struct explained *x, const struct layout_flow *f, const struct stats *with)
{
	char *dir = x->count && x->reps[0].rep->dir ? untraced_dir(f, x->reps[0].rep) : NULL;
	struct layout_series whole = *x->series;
	struct stats without;

	whole.divide = 1;
	if (dir && has_events(x) && !fs_is_missing(dir) && !control_stats(dir, f, &whole, &without, NULL)) {
		x->p50_ratio = quantile_ratio(with, &without, Q50);
		x->p99_ratio = quantile_ratio(with, &without, Q99);
	}
	free(dir);
}

static int explained_find_median(struct explained *x, const struct layout_flow *f, struct err *e)
{
	struct span *spans = or_abort(calloc(x->count + 1, sizeof(*spans)));
	struct stats st;
	int rc;

	for (size_t i = 0; i < x->count; i++)
		spans[i] = series_span(x->reps[i].rep, x->series);
	rc = stats_compute(spans, x->count, 0, &st, e);
	free(spans);
	if (rc)
		return rc;
	x->has_median = st.has_quantile[Q50];
	x->median = st.quantile[Q50];
	find_cost(x, f, &st);
	return 0;
}

static unsigned explained_side(const char *clock)
{
	return strcmp(clock, cause_sides[0]) != 0;
}

/* The path is known if the stamps are on different sides, if the series is half of a round trip, or if only the source
 * does something. */
static struct critical_path explained_path(const struct layout_flow *f, const struct layout_series *s, int64_t median)
{
	const unsigned first = explained_side(f->clocks[s->minus]), last = explained_side(f->clocks[s->column]);
	const unsigned visits = f->traits.alone ? 1 : first != last ? 2 : s->divide == 2 ? 3 : 0;

	return (struct critical_path){
	    .visits = visits, .side = {first, !first, first}, .visit_ns = visits && median > 0 ? median / visits : 0};
}

static void explain_rep(struct explained *x, const struct layout_flow *f, struct explained_rep *r)
{
	struct attribution_input in = {
	    .span = series_span(r->rep, x->series),
	    .divide = x->series->divide,
	    .limit = f->limit_ns,
	    .median = x->median,
	    .side = {r->has[0] ? &r->side[0] : NULL, r->has[1] && !f->traits.alone ? &r->side[1] : NULL},
	    .path = explained_path(f, x->series, x->median),
	};

	if (x->thread >= 0) {
		in.threads = &r->threads;
		in.thread = r->rep->columns[x->thread].data;
	}
	r->first = x->late.count;
	attribution_add(&in, &x->causes, &x->late);
	r->count = x->late.count - r->first;
}

int explained_open(const char *run, const struct layout_flow *f, struct explained_flow *out, struct err *e)
{
	int rc, closed = 0;

	*out = (struct explained_flow){.reps = NULL};
	rc = rep_open_all(run, f, &out->reps, &out->count, e);
	rc = rc ? rc : explained_make(f, out->reps, out->count, &out->found, e);
	/* Their columns are not read any more, only their numbers. */
	for (size_t i = 0; i < out->count; i++)
		if (rep_close(&out->reps[i], e))
			closed = -EIO;
	return closed ?: rc;
}

void explained_close(struct explained_flow *x)
{
	explained_free(&x->found);
	free(x->reps);
	*x = (struct explained_flow){.reps = NULL};
}

int explained_make(const struct layout_flow *f, const struct rep *reps, size_t count, struct explained *out,
		   struct err *e)
{
	int there, rc;

	*out = (struct explained){.series = explained_series_of(f),
				  .count = count,
				  .thread = layout_column(f, EXPLAINED_THREAD),
				  .reps = or_abort(calloc(count + 1, sizeof(*out->reps)))};
	for (size_t i = 0; i < count; i++)
		out->reps[i].rep = &reps[i];
	there = add_sides(out, f, e);
	if (there <= 0 || !out->series)
		return there;
	rc = explained_find_median(out, f, e);
	for (size_t i = 0; !rc && out->has_median && i < count; i++)
		explain_rep(out, f, &out->reps[i]);
	return rc ? rc : there;
}

void explained_free(struct explained *x)
{
	for (size_t i = 0; i < x->count; i++) {
		for (unsigned side = 0; side < 2; side++)
			timeline_free(&x->reps[i].side[side]);
		timeline_free_threads(&x->reps[i].threads);
	}
	free(x->reps);
	cause_table_free(&x->causes);
	attribution_free(&x->late);
	*x = (struct explained){.series = NULL};
}

/* --- all messages together --- */

static int by_messages(const void *a, const void *b)
{
	const struct explained_cause *one = a, *other = b;

	if (one->messages != other->messages)
		return one->messages < other->messages ? 1 : -1;
	return (one->cause > other->cause) - (one->cause < other->cause);
}

/* `times`: room for all late messages. */
static struct explained_cause explained_sum(const struct explained *x, unsigned cause, int64_t *times)
{
	struct explained_cause sum = {.cause = cause};

	for (size_t i = 0; i < x->late.count; i++)
		if (x->late.late[i].cause == cause)
			times[sum.messages++] = x->late.late[i].time;
	if (!sum.messages)
		return sum;
	sort_integers(times, sum.messages);
	sum.time_p50 = times[(sum.messages - 1) / 2];
	sum.time_max = times[sum.messages - 1];
	return sum;
}

struct explained_cause *explained_causes(const struct explained *x, size_t *count)
{
	struct explained_cause *list = or_abort(calloc(x->causes.count + 1, sizeof(*list)));
	int64_t *times = or_abort(calloc(x->late.count + 1, sizeof(*times)));

	*count = 0;
	for (unsigned cause = 0; cause < x->causes.count; cause++) {
		list[*count] = explained_sum(x, cause, times);
		*count += list[*count].messages > 0;
	}
	qsort(list, *count, sizeof(*list), by_messages);
	free(times);
	return list;
}

static size_t count_late(const struct explained *x, bool (*counts)(enum cause_class class))
{
	size_t n = 0;

	for (size_t i = 0; i < x->late.count; i++)
		n += counts(x->causes.list[x->late.late[i].cause].class);
	return n;
}

static bool is_lost_class(enum cause_class class)
{
	return class == CAUSE_NOT_KNOWN;
}

size_t explained_known(const struct explained *x)
{
	return count_late(x, cause_is_known);
}

size_t explained_not_known(const struct explained *x)
{
	return count_late(x, is_lost_class);
}

/* --- single messages --- */

static int by_excess(const void *a, const void *b)
{
	const struct late_message *one = *(const struct late_message *const *)a,
				  *other = *(const struct late_message *const *)b;

	if (one->excess != other->excess)
		return one->excess < other->excess ? 1 : -1;
	return (one > other) - (one < other);
}

const struct late_message **explained_worst(const struct explained *x)
{
	const struct late_message **list = or_abort(calloc(x->late.count + 1, sizeof(*list)));

	for (size_t i = 0; i < x->late.count; i++)
		list[i] = &x->late.late[i];
	qsort(list, x->late.count, sizeof(*list), by_excess);
	return list;
}

const struct explained_rep *explained_rep_of(const struct explained *x, const struct late_message *m)
{
	const size_t index = (size_t)(m - x->late.late);
	size_t i = 0;

	while (index >= x->reps[i].first + x->reps[i].count)
		i++;
	return &x->reps[i];
}

const struct timeline_thread *explained_thread(const struct explained *x, const struct late_message *m)
{
	return x->thread < 0 ? NULL : timeline_thread_find(&explained_rep_of(x, m)->threads, m->thread);
}

const struct timeline *explained_line(const struct explained *x, const struct late_message *m, unsigned side)
{
	const struct explained_rep *r = explained_rep_of(x, m);
	const struct timeline_thread *thread = explained_thread(x, m);

	if (x->thread >= 0)
		return !side && thread ? &thread->line : NULL;
	return r->has[side] ? &r->side[side] : NULL;
}

/* --- a whole run --- */

static int explained_visit_flow(const struct run *run, const struct layout_flow *f, explained_visit *visit, void *arg,
				struct err *e)
{
	struct explained_flow found;
	int rc = explained_open(run->path, f, &found, e);

	if (rc > 0)
		visit(arg, f, &found.found);
	explained_close(&found);
	return rc < 0 ? rc : 0;
}

int explained_each(const struct run *run, long long point, explained_visit *visit, void *arg, struct err *e)
{
	const size_t points = json_array_size(json_object_get(run->resolved, "points"));
	bool found = false;
	int rc = 0;

	for (size_t i = 0; !rc && i < points; i++) {
		struct layout layout;

		rc = layout_read(run->path, run->resolved, i, &layout, e);
		if (rc)
			break;
		if (point < 0 || point == layout.id) {
			found = true;
			for (size_t k = 0; !rc && k < layout.flow_count; k++)
				rc = explained_visit_flow(run, &layout.flows[k], visit, arg, e);
		}
		layout_free(&layout);
	}
	if (!rc && !found)
		rc = err_set(e, -ENOENT, STATUS_USAGE, run->path, NULL, "has no point %lld", point);
	return rc;
}
