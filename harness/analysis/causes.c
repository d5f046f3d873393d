#include "analysis/causes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/text.h"
#include "rundir/flows.h"

#define COST_MOST 1.05 /* higher costs give a warning */

static json_t *causes_share(size_t part, size_t whole)
{
	return whole ? json_real((double)part / (double)whole) : json_null();
}

static json_t *ratio_json(double ratio)
{
	return ratio > 0 ? json_real(ratio) : json_null();
}

json_t *causes_side_json(const struct cause *c)
{
	return c->side < CAUSE_NO_SIDE ? json_string(cause_sides[c->side]) : json_null();
}

static json_t *causes_entry(const struct explained *x, const struct explained_cause *c)
{
	const struct cause *cause = &x->causes.list[c->cause];

	return json_pack("{s:s, s:o, s:s, s:I, s:o, s:I, s:I}", "class", cause_keys[cause->class], "side",
			 causes_side_json(cause), "name", cause->name, "messages", (json_int_t)c->messages, "share",
			 causes_share(c->messages, x->late.count), "time_p50_ns", (json_int_t)c->time_p50,
			 "time_max_ns", (json_int_t)c->time_max);
}

json_t *causes_json(const struct explained *x)
{
	size_t count, known = explained_known(x);
	struct explained_cause *list = explained_causes(x, &count);
	json_t *causes = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(causes, causes_entry(x, &list[i]));
	free(list);
	return json_pack("{s:s?, s:I, s:I, s:o, s:I, s:o, s:I, s:o, s:o, s:s, s:o}", "metric",
			 x->series && x->has_median ? x->series->name : NULL, "messages", (json_int_t)x->late.count,
			 "explained", (json_int_t)known, "explained_share", causes_share(known, x->late.count),
			 "not_known", (json_int_t)explained_not_known(x), "typical_share",
			 causes_share(x->late.coincidences, x->late.typical), "events_lost", (json_int_t)x->lost,
			 "p50_ratio", ratio_json(x->p50_ratio), "p99_ratio", ratio_json(x->p99_ratio), "why", x->why,
			 "causes", causes);
}

static json_t *causes_of_flow(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted)
{
	struct explained x;
	json_t *causes = NULL;

	(void)granted;
	/* A damaged file of events is reported by verify; here it counts as having no events. */
	if (explained_make(f, reps, count, &x, NULL) > 0)
		causes = causes_json(&x);
	explained_free(&x);
	return causes;
}

const json_t *causes_if_late(const json_t *point, const char *flow)
{
	const json_t *causes = flows_get(point, flow, causes_block.name);

	return json_integer_value(json_object_get(causes, "messages")) > 0 ? causes : NULL;
}

bool causes_read_entry(const json_t *entry, struct cause *out)
{
	const char *class = json_text(entry, "class"), *said = json_text(entry, "side");
	unsigned i = 0, side = 0;

	while (i < CAUSE_CLASSES && strcmp(cause_keys[i], class) != 0)
		i++;
	while (side < CAUSE_NO_SIDE && strcmp(cause_sides[side], said) != 0)
		side++;
	*out = (struct cause){.class = (enum cause_class)i, .side = side};
	text_clean(json_text(entry, "name"), strlen(json_text(entry, "name")), out->name, sizeof(out->name));
	return i < CAUSE_CLASSES;
}

/* Recording the events must not dominate the measurement. */
static void causes_warn_cost(const json_t *causes, const char *key, const char *what, json_t *warnings)
{
	const json_t *ratio = json_object_get(causes, key);

	if (json_is_real(ratio) && json_real_value(ratio) > COST_MOST)
		json_array_append_new(warnings,
				      json_sprintf("explain: the %s is %.1f %% higher than in the repetition without "
						   "tracing",
						   what, (json_real_value(ratio) - 1) * 100));
}

void causes_warn(const json_t *causes, json_t *warnings)
{
	const json_int_t lost = json_integer_value(json_object_get(causes, "events_lost"));
	const char *why = json_text(causes, "why");

	if (*why)
		json_array_append_new(warnings, json_sprintf("explain: %s", why));
	causes_warn_cost(causes, "p50_ratio", "median", warnings);
	causes_warn_cost(causes, "p99_ratio", "p99", warnings);
	if (lost)
		json_array_append_new(warnings,
				      json_sprintf("explain: %" JSON_INTEGER_FORMAT
						   " kernel events did not fit into the buffers; use a larger "
						   "explain_buffer, or fewer messages in a repetition",
						   lost));
}

static const struct block_statistic causes_statistics[] = {
    {.key = "messages", .label = "late", .measure = MEASURE_COUNT, .help = "messages over the limit"},
    {.key = "explained", .label = "explained", .measure = MEASURE_COUNT, .help = "late messages with a known cause"},
    {.key = "explained_share",
     .label = "% explained",
     .measure = MEASURE_SHARE,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .spare = 3,
     .help = "share of the messages over the limit whose cause is known"},
    {.key = "not_known",
     .label = "not known",
     .measure = MEASURE_COUNT,
     .help = "late messages during which events were lost"},
    {.key = "typical_share",
     .label = "% of typical",
     .measure = MEASURE_SHARE,
     .help = "share of a sample of typical messages during which an event of this kind happened"},
    {.key = "events_lost",
     .label = "events lost",
     .measure = MEASURE_COUNT,
     .help = "kernel events that did not fit into the buffers"},
    {.key = "p50_ratio",
     .label = "cost p50",
     .measure = MEASURE_RATIO,
     .help = "the median with tracing, divided by that of the repetition without"},
    {.key = "p99_ratio", .label = "cost p99", .measure = MEASURE_RATIO, .help = "the same for p99"},
    {.key = NULL},
};

const struct block causes_block = {
    .name = "causes",
    .make = causes_of_flow,
    .statistics = causes_statistics,
};
