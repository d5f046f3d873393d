#include "judge/analysis/causes.h"

#include <stdlib.h>

#include "common/fs.h"
#include "common/or_abort.h"

#define COST_MOST 1.05 /* higher costs give a warning */

static struct number causes_share(size_t part, size_t whole)
{
	return whole ? number_real((double)part / (double)whole) : number_none();
}

static struct number ratio_of(double ratio)
{
	return ratio > 0 ? number_real(ratio) : number_none();
}

static void set_causes(const struct explained *x, struct summary_block *out)
{
	size_t count;
	struct explained_cause *list = explained_causes(x, &count);

	out->causes = or_abort(calloc(count + 1, sizeof(*out->causes)));
	out->cause_count = count;
	for (size_t i = 0; i < count; i++)
		out->causes[i] = (struct summary_cause){
		    .cause = x->causes.list[list[i].cause],
		    .messages = (json_int_t)list[i].messages,
		    .share = number_value(causes_share(list[i].messages, x->late.count)),
		    .time_p50_ns = (json_int_t)list[i].time_p50,
		    .time_max_ns = (json_int_t)list[i].time_max,
		};
	free(list);
}

void causes_set(const struct explained *x, struct summary_block *out)
{
	const size_t known = explained_known(x);
	struct number *n = out->numbers;

	n[CAUSES_MESSAGES] = number_integer((json_int_t)x->late.count);
	n[CAUSES_EXPLAINED] = number_integer((json_int_t)known);
	n[CAUSES_EXPLAINED_SHARE] = causes_share(known, x->late.count);
	n[CAUSES_NOT_KNOWN] = number_integer((json_int_t)explained_not_known(x));
	n[CAUSES_TYPICAL_SHARE] = causes_share(x->late.coincidences, x->late.typical);
	n[CAUSES_EVENTS_LOST] = number_integer((json_int_t)x->lost);
	n[CAUSES_P50_RATIO] = ratio_of(x->p50_ratio);
	n[CAUSES_P99_RATIO] = ratio_of(x->p99_ratio);
	out->about = x->series && x->has_median ? fs_path("%s", x->series->name) : NULL;
	out->why = *x->why ? fs_path("%s", x->why) : NULL;
	set_causes(x, out);
}

static bool causes_make(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted,
			struct summary_block *out)
{
	struct explained x;
	/* A damaged file of events is reported by verify; here it counts as having no events. */
	const bool is_asked = explained_make(f, reps, count, &x, NULL) > 0;

	(void)granted;
	if (is_asked)
		causes_set(&x, out);
	explained_free(&x);
	return is_asked;
}

/* Recording the events must not dominate the measurement. */
static void causes_warn_cost(struct number ratio, const char *what, json_t *warnings)
{
	if (number_value(ratio) > COST_MOST)
		json_array_append_new(warnings,
				      json_sprintf("explain: the %s is %.1f %% higher than in the repetition without "
						   "tracing",
						   what, (number_value(ratio) - 1) * 100));
}

void causes_warn(const struct summary_block *causes, json_t *warnings)
{
	const json_int_t lost = number_count(causes->numbers[CAUSES_EVENTS_LOST]);

	if (causes->why)
		json_array_append_new(warnings, json_sprintf("explain: %s", causes->why));
	causes_warn_cost(causes->numbers[CAUSES_P50_RATIO], "median", warnings);
	causes_warn_cost(causes->numbers[CAUSES_P99_RATIO], "p99", warnings);
	if (lost)
		json_array_append_new(warnings,
				      json_sprintf("explain: %" JSON_INTEGER_FORMAT
						   " kernel events did not fit into the buffers; use a larger "
						   "explain_buffer (of a program: --buffer), or fewer messages in a "
						   "repetition",
						   lost));
}

static const struct block_statistic causes_statistics[] = {
    {.key = "messages",
     .number = CAUSES_MESSAGES,
     .label = "late",
     .measure = MEASURE_COUNT,
     .help = "messages over the limit"},
    {.key = "explained",
     .number = CAUSES_EXPLAINED,
     .label = "explained",
     .measure = MEASURE_COUNT,
     .help = "late messages with a known cause"},
    {.key = "explained_share",
     .number = CAUSES_EXPLAINED_SHARE,
     .label = "% explained",
     .measure = MEASURE_SHARE,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .drop_order = 3,
     .help = "share of the messages over the limit whose cause is known"},
    {.key = "not_known",
     .number = CAUSES_NOT_KNOWN,
     .label = "not known",
     .measure = MEASURE_COUNT,
     .help = "late messages during which events were lost"},
    {.key = "typical_share",
     .number = CAUSES_TYPICAL_SHARE,
     .label = "% of typical",
     .measure = MEASURE_SHARE,
     .help = "share of a sample of typical messages during which an event of this kind happened"},
    {.key = "events_lost",
     .number = CAUSES_EVENTS_LOST,
     .label = "events lost",
     .measure = MEASURE_COUNT,
     .help = "kernel events that did not fit into the buffers"},
    {.key = "p50_ratio",
     .number = CAUSES_P50_RATIO,
     .label = "cost p50",
     .measure = MEASURE_RATIO,
     .help = "the median with tracing, divided by that of the repetition without"},
    {.key = "p99_ratio",
     .number = CAUSES_P99_RATIO,
     .label = "cost p99",
     .measure = MEASURE_RATIO,
     .help = "the same for p99"},
    {.key = NULL},
};

const struct block causes_block = {
    .name = "causes",
    .make = causes_make,
    .statistics = causes_statistics,
};
