#include "judge/claims/claim_verdict.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/codec.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "judge/analysis/param.h"
#include "judge/claims/claim_metric.h"

/* --- texts --- */

/* Three digits. Returns `buf`. */
static char *claim_number_text(const struct claim *c, double value, char *buf, size_t size)
{
	bool has_unit = c->relation == CLAIM_VALUE || c->relation == CLAIM_DIFFERENCE;
	char human[48];

	if (!isfinite(value))
		snprintf(buf, size, "%s", value > 0 ? "infinity" : "-infinity");
	else if (has_unit && claim_metric_measure(&c->metric) == MEASURE_SHARE)
		snprintf(buf, size, "%.3g %%", 100 * value);
	else if (has_unit && claim_metric_unit(&c->metric) == UNIT_TIME_NS)
		snprintf(buf, size, "%s", unit_human_ns(llround(value), human, sizeof(human)));
	else if (fabs(value) >= 1000)
		snprintf(buf, size, "%.0f", value);
	else
		snprintf(buf, size, "%.3g", value);
	return buf;
}

/* "2.21 (2.05 to 2.4)" */
static char *claim_estimate_text(const struct claim *c, const struct estimate *e)
{
	char value[CLAIM_NUMBER_MAX], low[CLAIM_NUMBER_MAX], high[CLAIM_NUMBER_MAX];

	claim_number_text(c, e->value, value, sizeof(value));
	if (!e->has_interval)
		return fs_path("%s", value);
	return fs_path("%s (%s to %s)", value, claim_number_text(c, e->low, low, sizeof(low)),
		       claim_number_text(c, e->high, high, sizeof(high)));
}

/* A bound such as 1.002 must not be rounded to 1. */
static char *bound_text(const struct claim *c, double value, char *buf, size_t size)
{
	if (c->relation == CLAIM_RATIO && isfinite(value)) {
		snprintf(buf, size, "%.4g", value);
		return buf;
	}
	return claim_number_text(c, value, buf, size);
}

char *claim_wanted_text(const struct claim *c)
{
	const char *relation = c->unknown_relation ?: claim_relation_names[c->relation];
	char low[CLAIM_NUMBER_MAX], high[CLAIM_NUMBER_MAX], name[64];

	if (claim_is_trend(c)) {
		param_name_unit(c->along ?: "", name, sizeof(name));
		return fs_path("%s along %s", relation, name);
	}
	bound_text(c, c->min, low, sizeof(low));
	bound_text(c, c->max, high, sizeof(high));
	if (c->pools)
		relation = "pooled ratio";
	if (isfinite(c->min) && isfinite(c->max))
		return fs_path("%s %s to %s", relation, low, high);
	return isfinite(c->min) ? fs_path("%s at least %s", relation, low) : fs_path("%s at most %s", relation, high);
}

const char *claim_verdict_unit(const struct claim_verdict *v)
{
	static const char *const units[MEASURES] = {[MEASURE_SHARE] = "share",
						    [MEASURE_RATE] = "hz",
						    [MEASURE_BYTES] = "bytes",
						    [MEASURE_BYTE_RATE] = "bytes/s"};
	static const enum claim_relation with_unit[] = {CLAIM_VALUE, CLAIM_DIFFERENCE};
	struct claim_metric m = {0};
	const char *unit = "";

	claim_metric_set(&m, v->metric);
	for (size_t i = 0; i < 2; i++) {
		const char *word = claim_relation_names[with_unit[i]];

		if (strncmp(v->wanted, word, strlen(word)))
			continue;
		unit = claim_metric_unit(&m) == UNIT_TIME_NS ? "ns" : units[claim_metric_measure(&m)] ?: "";
	}
	claim_metric_free(&m);
	return unit;
}

/* --- cases --- */

#define LABELLED 4 /* maximum number of cases listed one by one */

const char *const claim_outcome_names[] = {
    [CLAIM_HOLDS] = "holds", [CLAIM_FAILS] = "fails", [CLAIM_NOT_JUDGED] = "not judged", [CLAIM_OUTCOMES] = NULL};

void point_ids_add(struct point_ids *ids, int64_t id)
{
	ids->id = grow_or_abort(ids->id, ids->count, sizeof(*ids->id));
	ids->id[ids->count++] = id;
}

struct claim_case claim_case_make(char *label)
{
	return (struct claim_case){
	    .label = label,
	    .value = NAN,
	    .low = NAN,
	    .high = NAN,
	    .measured = or_abort(strdup("")),
	    .why = or_abort(strdup("")),
	};
}

void claim_case_decide(struct claim_case *c, enum claim_outcome verdict, char *why)
{
	free(c->why);
	c->verdict = verdict;
	c->why = why;
}

static double measured_or_nan(bool there, double value)
{
	return there && isfinite(value) ? value : NAN;
}

void claim_case_measure(struct claim_case *c, const struct claim *claim, const struct estimate *e)
{
	free(c->measured);
	c->measured = claim_estimate_text(claim, e);
	c->value = measured_or_nan(true, e->value);
	c->low = measured_or_nan(e->has_interval, e->low);
	c->high = measured_or_nan(e->has_interval, e->high);
}

void claim_case_bound(struct claim_case *c, const struct claim *claim, const struct estimate *e)
{
	char bound[CLAIM_NUMBER_MAX], error[CLAIM_NUMBER_MAX + 48] = "", human[48];

	claim_case_measure(c, claim, e);
	if (e->clock_error > 0)
		snprintf(error, sizeof(error), " with the clock's error of %s",
			 unit_human_ns(llround(e->clock_error), human, sizeof(human)));
	claim_number_text(claim, e->low < claim->min ? claim->min : claim->max, bound, sizeof(bound));
	if (e->high < claim->min || e->low > claim->max)
		claim_case_decide(c, CLAIM_FAILS,
				  fs_path("%s is %s %s", c->measured, e->high < claim->min ? "below" : "above", bound));
	else if (e->low < claim->min || e->high > claim->max)
		claim_case_decide(c, CLAIM_NOT_JUDGED,
				  fs_path("too close to call: %s%s, and the bound is %s", c->measured, error, bound));
}

/* With the interval only if a single case was measured. */
static void print_one_by_one(const struct claim *c, const struct claim_case *cases, size_t count, FILE *out)
{
	char value[CLAIM_NUMBER_MAX];
	size_t measured = 0, printed = 0;

	for (size_t i = 0; i < count; i++)
		measured += !isnan(cases[i].value);
	for (size_t i = 0; i < count; i++) {
		if (isnan(cases[i].value))
			continue;
		claim_number_text(c, cases[i].value, value, sizeof(value));
		fprintf(out, "%s%s%s%s", printed++ ? "; " : "", cases[i].label, *cases[i].label ? " " : "",
			measured == 1 ? cases[i].measured : value);
	}
}

static void print_range(const struct claim *c, const struct claim_case *cases, size_t count, FILE *out)
{
	double least = INFINITY, most = -INFINITY;
	char from[CLAIM_NUMBER_MAX], to[CLAIM_NUMBER_MAX];
	size_t measured = 0;

	for (size_t i = 0; i < count; i++) {
		measured += !isnan(cases[i].value);
		least = fmin(least, cases[i].value);
		most = fmax(most, cases[i].value);
	}
	if (measured)
		fprintf(out, "%s to %s in %zu cases", claim_number_text(c, least, from, sizeof(from)),
			claim_number_text(c, most, to, sizeof(to)), measured);
}

char *claim_cases_text(const struct claim *c, const struct claim_case *cases, size_t count)
{
	char *text = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&text, &size));

	if (count <= LABELLED)
		print_one_by_one(c, cases, count, out);
	else
		print_range(c, cases, count, out);
	fclose(out);
	return or_abort(text);
}

/* --- verdicts --- */

void claim_verdict_add_case(struct claim_verdict *v, struct claim_case one)
{
	v->cases = grow_or_abort(v->cases, v->case_count, sizeof(*v->cases));
	v->cases[v->case_count++] = one;
}

void claim_verdicts_add(struct claim_verdicts *v, struct claim_verdict one)
{
	v->all = grow_or_abort(v->all, v->count, sizeof(*v->all));
	v->all[v->count++] = one;
}

size_t claim_verdicts_count(const struct claim_verdicts *v, enum claim_outcome verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < v->count; i++)
		count += v->all[i].verdict == verdict;
	return count;
}

size_t claim_verdicts_count_of(const struct claim_verdicts *v, enum claim_origin origin, enum claim_outcome verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < v->count; i++)
		count += v->all[i].origin == origin && v->all[i].verdict == verdict;
	return count;
}

enum status claim_verdicts_status(const struct claim_verdicts *v)
{
	if (claim_verdicts_count(v, CLAIM_FAILS))
		return STATUS_NO;
	return claim_verdicts_count(v, CLAIM_HOLDS) ? STATUS_OK : STATUS_UNDECIDED;
}

bool claim_verdicts_of_several(const struct claim_verdicts *v)
{
	for (size_t i = 1; i < v->count; i++)
		if (strcmp(v->all[0].experiment, v->all[i].experiment))
			return true;
	return false;
}

/* --- as JSON --- */

#define CASE_TEXT(member)    CODEC(claim_case, member, .flags = CODEC_NEVER_NULL)
#define VERDICT_TEXT(member) CODEC(claim_verdict, member, .flags = CODEC_NEVER_NULL)
#define VERDICT(tag)                                                                                                   \
	CODEC(tag, verdict, .words = claim_outcome_names, .word_count = CLAIM_OUTCOMES, .otherwise = CLAIM_NOT_JUDGED)

static const struct codec case_rows[] = {
    CASE_TEXT(label),
    CODEC_LISTED("points", claim_case, points.id, points.count, codec_integers),
    CODEC_LISTED("against", claim_case, against.id, against.count, codec_integers),
    CODEC(claim_case, value),
    CODEC(claim_case, low),
    CODEC(claim_case, high),
    CASE_TEXT(measured),
    VERDICT(claim_case),
    CASE_TEXT(why),
    {0},
};

static const struct codec verdict_rows[] = {
    VERDICT_TEXT(experiment),
    VERDICT_TEXT(id),
    VERDICT_TEXT(claim),
    VERDICT_TEXT(source),
    VERDICT_TEXT(measured_by_source),
    VERDICT_TEXT(metric),
    VERDICT_TEXT(wanted),
    VERDICT_TEXT(measured),
    VERDICT(claim_verdict),
    VERDICT_TEXT(why),
    CODEC_LISTED("cases", claim_verdict, cases, case_count, case_rows),
    CODEC(claim_verdict, origin, .words = claim_origin_names, .word_count = CLAIM_ORIGINS, .flags = CODEC_OPTIONAL),
    {0},
};

static const struct codec document_rows[] = {
    CODEC_SCHEMA, CODEC_LISTED("claims", claim_verdicts, all, count, verdict_rows), {0}};

json_t *claim_verdicts_to_json(const struct claim_verdicts *v)
{
	return codec_encode(document_rows, v, NULL);
}

/* From anybody's file: what cannot be read is as if it were not there. */
struct claim_verdicts claim_verdicts_from_json(const json_t *document)
{
	struct claim_verdicts all = {0};

	codec_decode(document_rows, &all, document, NULL);
	return all;
}

void claim_verdicts_free(struct claim_verdicts *v)
{
	codec_free(document_rows, v);
	*v = (struct claim_verdicts){0};
}
