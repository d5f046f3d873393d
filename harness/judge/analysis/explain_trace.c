#include "judge/analysis/explain_trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "judge/analysis/explained.h"

struct explain_tracing {
	json_t *events;
	size_t worst;
	size_t flows;
	long long processes; /* so far */
};

static double trace_us(int64_t ns)
{
	return (double)ns / 1000;
}

static void name_track(const struct explain_tracing *t, const char *what, long long process, long long track,
		       const char *name)
{
	json_array_append_new(t->events,
			      json_pack("{s:s, s:s, s:I, s:I, s:{s:s}}", "ph", "M", "name", what, "pid",
					(json_int_t)process, "tid", (json_int_t)track, "args", "name", name));
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

json_t *explain_trace(const struct run *run, long long point, size_t worst, struct err *e)
{
	struct explain_tracing t = {.events = json_array(), .worst = worst};
	int rc = explained_each(run, point, trace_flow, &t, e);

	if (!rc && !t.flows)
		rc = err_set(e, -ENODATA, STATUS_NO, run->path, NULL,
			     "nothing of it was measured with 'explain: yes': there are no events");
	if (!rc)
		return json_pack("{s:s, s:o}", "displayTimeUnit", "ns", "traceEvents", t.events);
	json_decref(t.events);
	return NULL;
}
