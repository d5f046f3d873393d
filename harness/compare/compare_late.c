#include "compare/compare_late.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/units.h"
#include "rundir/flows.h"

#define CAUSES_MOST 1000 /* of a point: the most frequent ones come first, and each is looked up */
#define SHOWN_MOST  5	 /* causes shown per point */
#define SHOWN_LEAST 0.05 /* minimum share of the late messages of an arm */

/* --- sums --- */

/* Sums for a cause in one arm. */
struct late_sum {
	double messages, time; /* of all its runs; time: sum of the medians, weighted by messages */
};

struct late_cause {
	unsigned cause; /* index in the table */
	struct late_sum arm[ARMS];
};

struct late_point {
	struct cause_table table;
	struct late_cause *list;
	size_t count;
	double runs[ARMS], messages[ARMS];
};

/* NULL: there are too many. */
static struct late_cause *late_cause_of(struct late_point *p, const struct cause *c)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct cause *known = &p->table.list[p->list[i].cause];

		if (known->class == c->class && known->side == c->side && !strcmp(known->name, c->name))
			return &p->list[i];
	}
	if (p->count == CAUSES_MOST)
		return NULL;
	p->list = grow_or_abort(p->list, p->count, sizeof(*p->list));
	p->list[p->count] = (struct late_cause){.cause = cause_table_of(&p->table, c->class, c->side, c->name)};
	return &p->list[p->count++];
}

static void late_add_run(struct late_point *p, const json_t *causes, enum compare_arm arm)
{
	const json_t *entry;
	size_t i;

	p->runs[arm]++;
	p->messages[arm] += json_number_value(json_object_get(causes, "messages"));
	json_array_foreach (json_object_get(causes, "causes"), i, entry) {
		const double messages = json_number_value(json_object_get(entry, "messages"));
		struct cause cause;

		if (i == CAUSES_MOST)
			break;
		if (!causes_read_entry(entry, &cause) || !(messages > 0))
			continue;
		struct late_cause *of = late_cause_of(p, &cause);

		if (!of)
			continue;
		of->arm[arm].messages += messages;
		of->arm[arm].time += messages * json_number_value(json_object_get(entry, "time_p50_ns"));
	}
}

/* Runs without kernel events do not count. */
static void late_sum_up(struct late_point *p, const struct compare_join *j, const struct compare_point *of)
{
	for (size_t i = 0; i < j->runs->count; i++) {
		const json_t *point = of->of_run[i], *causes = flows_get(point, of->flow, causes_block.name);

		if (json_is_true(json_object_get(point, "valid")) && json_is_object(causes) &&
		    !*json_text(causes, "why"))
			late_add_run(p, causes, j->runs->run[i].arm);
	}
}

/* --- JSON --- */

static double late_share(const struct late_point *p, const struct late_cause *c, enum compare_arm arm)
{
	return p->messages[arm] > 0 ? c->arm[arm].messages / p->messages[arm] : 0;
}

static json_t *late_cause_in(const struct late_point *p, const struct late_cause *c, enum compare_arm arm)
{
	const struct late_sum *s = &c->arm[arm];

	return json_pack("{s:f, s:f, s:o}", "messages", s->messages / p->runs[arm], "share", late_share(p, c, arm),
			 "time_p50_ns", s->messages > 0 ? json_real(s->time / s->messages) : json_null());
}

static json_t *late_cause_json(const struct late_point *p, const struct late_cause *c)
{
	const struct cause *cause = &p->table.list[c->cause];
	char text[CAUSE_TEXT_MAX];

	return json_pack("{s:s, s:o, s:s, s:s, s:o, s:o}", "class", cause_keys[cause->class], "side",
			 causes_side_json(cause), "name", cause->name, "text",
			 cause_describe(cause, text, sizeof(text)), "base", late_cause_in(p, c, ARM_BASE), "with",
			 late_cause_in(p, c, ARM_WITH));
}

static json_t *late_arm_json(const struct late_point *p, enum compare_arm arm)
{
	return json_pack("{s:I, s:f}", "runs", (json_int_t)p->runs[arm], "messages", p->messages[arm] / p->runs[arm]);
}

/* Sort key: causes that are most frequent in either arm come first. */
static double late_rank(const json_t *entry)
{
	return json_number_value(json_object_get(json_object_get(entry, "base"), "messages")) +
	       json_number_value(json_object_get(json_object_get(entry, "with"), "messages"));
}

static json_t *late_causes_json(const struct late_point *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->count; i++) {
		json_t *entry = late_cause_json(p, &p->list[i]);
		size_t at = 0;

		while (at < json_array_size(list) && late_rank(json_array_get(list, at)) >= late_rank(entry))
			at++;
		json_array_insert_new(list, at, entry);
	}
	return list;
}

static json_t *late_json(const struct compare_join *j, const struct compare_point *of)
{
	struct late_point p = {.count = 0};
	json_t *late = json_null();

	late_sum_up(&p, j, of);
	if (p.runs[ARM_BASE] > 0 && p.runs[ARM_WITH] > 0)
		late = json_pack("{s:o, s:o, s:o}", "base", late_arm_json(&p, ARM_BASE), "with",
				 late_arm_json(&p, ARM_WITH), "causes", late_causes_json(&p));
	cause_table_free(&p.table);
	free(p.list);
	return late;
}

void compare_late(const struct compare_join *j, json_t *result)
{
	json_t *point;
	size_t i;

	json_array_foreach (json_object_get(result, "points"), i, point)
		if (i < j->count)
			json_object_set_new(point, "late", late_json(j, &j->point[i]));
}

/* --- text --- */

static double late_number(const json_t *cause, const char *arm, const char *key)
{
	return json_number_or_nan(json_object_get(cause, arm), key);
}

static const char *late_time(const json_t *cause, const char *arm, char *buf, size_t size)
{
	const double time = late_number(cause, arm, "time_p50_ns");

	return isnan(time) ? NULL : unit_human_ns((int64_t)llround(time), buf, size);
}

static void print_late_cause(const json_t *cause, FILE *out)
{
	char now[32], was[32], clean[CAUSE_TEXT_MAX];
	const char *text = json_text(cause, "text"), *of_new = late_time(cause, "with", now, sizeof(now)),
		   *of_base = late_time(cause, "base", was, sizeof(was));

	fprintf(out, "    %s: ", text_clean(text, strlen(text), clean, sizeof(clean)));
	fprintf(out, "%s, before %s; %.3g messages in a run, before %.3g\n", of_new ? of_new : "none",
		of_base ? of_base : "none", late_number(cause, "with", "messages"),
		late_number(cause, "base", "messages"));
}

static bool is_frequent(const json_t *cause)
{
	return late_number(cause, "base", "share") >= SHOWN_LEAST || late_number(cause, "with", "share") >= SHOWN_LEAST;
}

static void print_late_point(const json_t *point, const json_t *late, FILE *out)
{
	const json_t *cause;
	size_t i, shown = 0;

	fprintf(out, "  point %" JSON_INTEGER_FORMAT ": %.4g in a run of NEW, before %.4g\n",
		json_integer_value(json_object_get(point, "id")), late_number(late, "with", "messages"),
		late_number(late, "base", "messages"));
	json_array_foreach (json_object_get(late, "causes"), i, cause)
		if (shown < SHOWN_MOST && is_frequent(cause)) {
			print_late_cause(cause, out);
			shown++;
		}
}

void compare_late_print(const json_t *result, FILE *out)
{
	const json_t *point;
	bool begun = false;
	size_t i;

	json_array_foreach (json_object_get(result, "points"), i, point) {
		const json_t *late = json_object_get(point, "late");

		if (!json_array_size(json_object_get(late, "causes")))
			continue;
		if (!begun)
			fputs("\nLate messages by cause, in NEW and before (in BASE): the median delay, and their "
			      "number:\n",
			      out);
		begun = true;
		print_late_point(point, late, out);
	}
}
