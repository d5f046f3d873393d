#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "common/json.h"
#include "common/table_print.h"
#include "common/text.h"
#include "common/units.h"
#include "files/rundir/reader.h"
#include "files/rundir/sealed.h"
#include "judge/analysis/cause.h"
#include "judge/analysis/causes.h"
#include "judge/analysis/explained.h"
#include "judge/analysis/summary_json.h"

const struct cli_command cmd_explain_cli = {
    .name = "explain",
    .synopsis = "RUN [POINT] [--worst N] [--json]",
    .summary = "show why messages were late: the tail by cause, and the worst messages",
    .details =
	"For points measured with 'explain: yes', shows what delayed the messages over the point's limit, based on "
	"what "
	"the kernel did on the CPUs of source and sink at that time. docs/explain.md describes how causes are found "
	"and "
	"what removes them.\n\nExit status 3: no point of the run was measured with explain, or the given one was not; "
	"4: none of the kernel's events were recorded, "
	"for the reason given, such as missing rights.",
    .min_args = 1,
    .max_args = 2,
};

/*
 * What `kblat explain` prints about a flow: its tail by cause, then the worst messages, each with
 * what delayed it.
 */

#define STORY_CAUSES 4 /* of one side; the longest are shown */

/* --- text --- */

static const char *cause_name(const struct explained *x, unsigned cause, char *buf)
{
	return cause_describe(&x->causes.list[cause], buf, CAUSE_TEXT_MAX);
}

/* The CPU of a side if it is the same in all repetitions; otherwise negative. */
static long long cpu_of_side(const struct explained *x, unsigned side)
{
	long long cpu = -1;

	for (size_t i = 0; i < x->count; i++)
		if (x->reps[i].has[side]) {
			if (cpu >= 0 && cpu != x->reps[i].side[side].cpu)
				return -1;
			cpu = x->reps[i].side[side].cpu;
		}
	return cpu;
}

/* "local timer interrupt on CPU 1 (sink)" */
static char *cause_with_cpu(const struct explained *x, unsigned which, char *buf)
{
	struct cause bare = x->causes.list[which];
	const long long cpu = bare.side < CAUSE_NO_SIDE ? cpu_of_side(x, bare.side) : -1;
	size_t length;

	if (cpu < 0)
		return cause_describe(&x->causes.list[which], buf, CAUSE_TEXT_MAX);
	bare.side = CAUSE_NO_SIDE;
	length = strlen(cause_describe(&bare, buf, CAUSE_TEXT_MAX));
	snprintf(buf + length, CAUSE_TEXT_MAX - length, " on CPU %lld (%s)", cpu,
		 cause_sides[x->causes.list[which].side]);
	return buf;
}

/* What moves a cause is noted once, below the cause. Does it involve kbtune? */
static bool note_advice(const struct explained *x, const struct explained_cause *list, size_t which, struct table *t)
{
	const char *advice = cause_advice(&x->causes.list[list[which].cause]);
	/* Settings are those of kblat's own messages. */
	bool is_said = !*advice || (x->thread >= 0 && strstr(advice, "setting "));

	for (size_t i = 0; i < which; i++)
		is_said |= !strcmp(cause_advice(&x->causes.list[list[i].cause]), advice);
	if (!is_said)
		table_note(t, which, "-> %s", advice);
	return strstr(advice, "knob") || strstr(advice, "boot parameter");
}

enum late_column { LATE_MESSAGES, LATE_SHARE, LATE_P50, LATE_MAX, LATE_CAUSE, LATE_COLUMNS };

static const struct table_column late_columns[LATE_COLUMNS] = {
    [LATE_MESSAGES] = {.label = "messages", .measure = MEASURE_COUNT, .align = TABLE_RIGHT},
    [LATE_SHARE] = {.label = "share", .align = TABLE_RIGHT, .least = 6},
    [LATE_P50] = {.label = "p50", .align = TABLE_RIGHT, .least = 9},
    [LATE_MAX] = {.label = "max", .align = TABLE_RIGHT, .least = 9},
    [LATE_CAUSE] = {.label = "cause", .most = TABLE_WHOLE},
};

static void print_causes(const struct explained *x, FILE *out)
{
	bool has_knobs = false;
	size_t count;
	struct explained_cause *list = explained_causes(x, &count);
	struct table t = table_of(late_columns, LATE_COLUMNS, count);
	char text[CAUSE_TEXT_MAX];

	for (size_t i = 0; i < count; i++) {
		table_count(&t, LATE_MESSAGES, i, (int64_t)list[i].messages);
		table_text(&t, LATE_SHARE, i, "%.1f %%", 100.0 * (double)list[i].messages / (double)x->late.count);
		table_text(&t, LATE_P50, i, "%s", unit_human_ns(list[i].time_p50, text, sizeof(text)));
		table_text(&t, LATE_MAX, i, "%s", unit_human_ns(list[i].time_max, text, sizeof(text)));
		table_text(&t, LATE_CAUSE, i, "%s", cause_with_cpu(x, list[i].cause, text));
		has_knobs |= note_advice(x, list, i, &t);
	}
	table_print(&t, &(struct table_style){.indent = 2, .note_indent = 44}, out);
	table_free(&t);
	if (has_knobs)
		fputs("  'kbtune plan isolated' shows what these knobs and boot parameters would change here\n", out);
	free(list);
}

/* "312 us preempted by kworker, 3.1 us local timer interrupt" */
static void print_story(const struct explained *x, const struct timeline *line, int64_t from, int64_t to, FILE *out)
{
	const struct cause_shares shares = attribution_shares(line, from, to);
	char time[32], text[CAUSE_TEXT_MAX];

	if (!shares.count)
		fputs(line ? "nothing" : "not known", out);
	for (size_t i = 0; i < shares.count && i < STORY_CAUSES; i++) {
		struct cause bare = x->causes.list[shares.list[i].cause];

		bare.side = CAUSE_NO_SIDE;
		fprintf(out, "%s%s %s", i ? ", " : "", unit_human_ns(shares.list[i].time, time, sizeof(time)),
			cause_describe(&bare, text, sizeof(text)));
	}
	if (shares.count > STORY_CAUSES)
		fprintf(out, ", and %zu more", shares.count - STORY_CAUSES);
	fputc('\n', out);
}

/* The longest sleep of a request, and the thread of the same program that ended it, if one did. */
static const struct timeline_thread *find_waker(const struct explained *x, const struct timeline_thread *t,
						const struct late_message *m, struct timeline_segment *sleep)
{
	const struct timeline *line = &t->line;
	size_t wake = 0;

	*sleep = (struct timeline_segment){0, 0, 0};
	for (size_t i = timeline_find(line, m->from); i < line->count && line->segments[i].from < m->to; i++)
		if (x->causes.list[line->segments[i].cause].class == CAUSE_ASLEEP &&
		    line->segments[i].to - line->segments[i].from > sleep->to - sleep->from)
			*sleep = line->segments[i];
	while (wake < t->wake_count && t->wakes[wake].time < sleep->to)
		wake++;
	return wake < t->wake_count && t->wakes[wake].time == sleep->to ? t->wakes[wake].by : NULL;
}

/* A request's story, and one level down that of the thread that it waited for. */
static void print_thread_story(const struct explained *x, const struct late_message *m, FILE *out)
{
	const struct timeline_thread *t = explained_thread(x, m), *waker;
	struct timeline_segment sleep;

	fprintf(out, "      thread %lld (%s): ", (long long)m->thread, t ? text_named(t->name) : "unknown");
	print_story(x, t ? &t->line : NULL, m->from, m->to, out);
	waker = t ? find_waker(x, t, m, &sleep) : NULL;
	if (!waker || waker == t)
		return;
	fprintf(out, "      while it slept, thread %lld (%s), which woke it: ", (long long)waker->tid,
		text_named(waker->name));
	print_story(x, &waker->line, sleep.from, sleep.to, out);
}

static void print_message(const struct explained *x, const struct late_message *m, FILE *out)
{
	const struct explained_rep *r = explained_rep_of(x, m);
	char took[32], text[CAUSE_TEXT_MAX];

	unit_human_ns(m->to - m->from, took, sizeof(took));
	if (x->thread >= 0)
		fprintf(out, "  request %zu took %s: %s", m->message, took, cause_name(x, m->cause, text));
	else
		fprintf(out, "  repetition %u, message %zu: %s on its way; %s", r->rep->number, m->message, took,
			cause_name(x, m->cause, text));
	if (m->behind >= 0)
		fprintf(out, " (message %lld)", m->behind);
	fputc('\n', out);
	if (x->thread >= 0) {
		print_thread_story(x, m, out);
		return;
	}
	for (unsigned side = 0; side < 2; side++) {
		fprintf(out, "      %s's CPU: ", cause_sides[side]);
		print_story(x, explained_line(x, m, side), m->from, m->to, out);
	}
}

/* Did typical messages have such events, too? Then that there was one says nothing about the late ones. Requests of a
 * program always have some. */
#define TYPICAL_MOST 0.9

static double typical_share(const struct explained *x)
{
	return x->late.typical ? (double)x->late.coincidences / (double)x->late.typical : 0;
}

static bool is_usual(const struct explained *x)
{
	return x->thread < 0 && typical_share(x) >= TYPICAL_MOST;
}

static bool was_recorded(const struct explained *x)
{
	for (size_t i = 0; i < x->count; i++)
		if (x->reps[i].has[0] || x->reps[i].has[1])
			return true;
	return false;
}

static void print_heading(const struct layout_flow *f, const struct explained *x, FILE *out)
{
	char limit[32], median[32], label[64];

	text_clean(x->series->label, strlen(x->series->label), label, sizeof(label));
	fprintf(out, "point %u%s%s: %zu late %s (%s over %s)", f->point, *f->name ? ", flow " : "", text_shown(f->name),
		x->late.count, x->thread >= 0 ? "requests" : "messages", label,
		unit_human_ns(f->limit_ns, limit, sizeof(limit)));
	if (x->late.count && was_recorded(x))
		fprintf(out, ", %.1f %% %s", 100.0 * (double)explained_known(x) / (double)x->late.count,
			is_usual(x) ? "during an event that typical ones had, too" : "explained");
	fprintf(out, "; the median takes %s", unit_human_ns(x->median / x->series->divide, median, sizeof(median)));
	for (unsigned side = 0; side < 2; side++)
		if (x->thread < 0 && x->count && x->reps[0].has[side] && x->reps[0].side[side].cpu >= 0)
			fprintf(out, "; the %s's CPU is %lld", cause_sides[side], (long long)x->reps[0].side[side].cpu);
	fputc('\n', out);
}

static void print_cost(const struct explained *x, FILE *out)
{
	if (x->p50_ratio > 0 && x->p99_ratio > 0)
		fprintf(out, "  with tracing, p50 is %.2f times and p99 %.2f times that of the repetition without\n",
			x->p50_ratio, x->p99_ratio);
}

/* For a flow whose late messages were to be explained. Prints at most `worst` messages. */
static void explain_text(const struct layout_flow *f, const struct explained *x, size_t worst, FILE *out)
{
	const struct late_message **list;

	if (!x->series || !x->has_median) {
		fprintf(out, "point %u%s%s: %s\n", f->point, *f->name ? ", flow " : "", text_shown(f->name),
			!x->series ? "its kernel has no latency, only single stamps" : "too few messages");
		return;
	}
	print_heading(f, x, out);
	if (!was_recorded(x)) {
		fprintf(out, "  nothing was recorded, so there is no cause to name: %s\n",
			*x->why ? text_shown(x->why) : "no repetition has events");
		return;
	}
	if (*x->why)
		fprintf(out, "  the kernel's events are missing: %s\n", text_shown(x->why));
	if (x->lost)
		fprintf(out, "  %lld events did not fit into the buffers (explain_buffer; of a program: --buffer)\n",
			x->lost);
	if (!x->late.count)
		return;
	print_causes(x, out);
	if (x->late.typical)
		fprintf(out, "  of %zu typical messages, an event of this kind happened during %.1f %%%s\n",
			x->late.typical, 100.0 * typical_share(x),
			is_usual(x) ? ": that there was one explains nothing, only that it took longer may" : "");
	print_cost(x, out);
	if (worst)
		fputs("the worst:\n", out);
	list = explained_worst(x);
	for (size_t i = 0; i < worst && i < x->late.count; i++)
		print_message(x, list[i], out);
	free(list);
}

/* --- JSON --- */

static json_t *side_story(const struct explained *x, unsigned side, const struct late_message *m)
{
	const struct timeline *line = explained_line(x, m, side);
	const struct cause_shares shares = attribution_shares(line, m->from, m->to);
	json_t *story = line ? json_array() : json_null();
	char text[CAUSE_TEXT_MAX];

	for (size_t i = 0; i < shares.count; i++)
		json_array_append_new(story, json_pack("{s:s, s:I}", "cause", cause_name(x, shares.list[i].cause, text),
						       "time_ns", (json_int_t)shares.list[i].time));
	return story;
}

static json_t *message_json(const struct explained *x, const struct late_message *m)
{
	const struct explained_rep *r = explained_rep_of(x, m);
	const struct timeline_thread *thread = explained_thread(x, m);
	char text[CAUSE_TEXT_MAX];
	json_t *message = json_pack(
	    "{s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:o, s:o, s:o}", "rep", (json_int_t)r->rep->number, "message",
	    (json_int_t)m->message, "sent_ns", (json_int_t)m->from, "took_ns", (json_int_t)(m->to - m->from),
	    "excess_ns", (json_int_t)m->excess, "explained_ns", (json_int_t)m->covered, "cause",
	    cause_name(x, m->cause, text), "behind", m->behind >= 0 ? json_integer(m->behind) : json_null(), "source",
	    side_story(x, 0, m), "sink", side_story(x, 1, m));

	if (x->thread >= 0)
		json_object_set_new(
		    message, "thread",
		    json_pack("{s:I, s:s}", "tid", (json_int_t)m->thread, "name", thread ? thread->name : ""));
	return message;
}

/* The block `causes` (causes.h) and "worst": [{"rep", "message", "sent_ns", "took_ns", "excess_ns",
 * "explained_ns", "cause", "behind", "source": [{"cause", "time_ns"}], "sink"}], where "behind" is
 * null unless the message was queued, and a side about which nothing is known is null. A new
 * object. */
static json_t *explain_json(const struct explained *x, size_t worst)
{
	const struct late_message **list = explained_worst(x);
	struct summary_block block = {.of = &causes_block};
	json_t *causes, *messages = json_array();

	causes_set(x, &block);
	causes = summary_encode_block(&block);
	summary_free_block(&block);
	for (size_t i = 0; i < worst && i < x->late.count; i++)
		json_array_append_new(messages, message_json(x, list[i]));
	json_object_set_new(causes, "worst", messages);
	free(list);
	return causes;
}

struct explain_options {
	const struct cli_list *args;
	long worst;
	bool json;
	long long point; /* -1: all */
};

struct explaining {
	const struct explain_options *o;
	size_t explained; /* number of flows */
	size_t recorded;  /* of these, which have events */
	json_t *list;	  /* with --json */
};

static void show_flow(void *arg, const struct layout_flow *f, const struct explained *found)
{
	struct explaining *x = arg;
	json_t *flow;

	x->explained++;
	x->recorded += was_recorded(found);
	if (!x->o->json) {
		explain_text(f, found, (size_t)x->o->worst, stdout);
		return;
	}
	flow = explain_json(found, (size_t)x->o->worst);
	json_object_set_new(flow, "point", json_integer(f->point));
	json_object_set_new(flow, "flow", json_string(f->name));
	json_array_append_new(x->list, flow);
}

static int read_point_number(struct explain_options *o, struct err *e)
{
	int64_t point;
	char why[128];

	o->point = -1;
	if (o->args->count < 2)
		return 0;
	if (unit_parse(UNIT_ONE, o->args->items[1], &point, why, sizeof(why)) || point < 0)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat explain", NULL,
			       "POINT must be the number of a point, as in the table of 'kblat summary', not '%.40s'",
			       o->args->items[1]);
	o->point = point;
	return 0;
}

static enum status explain_run(const struct cli_list *args, void *options, struct err *e)
{
	struct explain_options *o = options;
	struct run run;
	struct explaining x = {.o = o, .list = json_array()};
	int rc;

	o->args = args;
	rc = read_point_number(o, e) ?: run_open(args->items[0], &run, e);
	if (rc) {
		json_decref(x.list);
		return e->status;
	}
	rc = explained_each(&run, o->point, show_flow, &x, e);
	if (!rc && o->json)
		json_print(x.list, stdout);
	if (!rc && !x.explained)
		err_set(e, -ENODATA, STATUS_NO, o->args->items[0], NULL,
			"%s measured with 'explain: yes'; run it again with --set explain=yes",
			o->point < 0 ? "no point of it was" : "that point was not");
	sealed_unchanged(&run, e);
	json_decref(x.list);
	run_close(&run);
	return e->status || rc || !x.explained || x.recorded ? e->status : STATUS_UNDECIDED;
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

	return cli_run("kblat", &cmd_explain_cli, flags, argc, argv, explain_run, &o, e);
}
