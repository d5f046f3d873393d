#include "claims/claim_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claims/claim_text.h"
#include "common/fs.h"
#include "common/or_abort.h"

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

void claim_case_free(struct claim_case *c)
{
	free(c->label);
	free(c->points.id);
	free(c->against.id);
	free(c->measured);
	free(c->why);
}

void claim_case_decide(struct claim_case *c, enum claim_outcome verdict, char *why)
{
	free(c->why);
	c->verdict = verdict;
	c->why = why;
}

static double finite_or_nan(bool there, double value)
{
	return there && isfinite(value) ? value : NAN;
}

void claim_case_measure(struct claim_case *c, const struct claim *claim, const struct estimate *e)
{
	free(c->measured);
	c->measured = claim_estimate_text(claim, e);
	c->value = finite_or_nan(true, e->value);
	c->low = finite_or_nan(e->has_interval, e->low);
	c->high = finite_or_nan(e->has_interval, e->high);
}

void claim_case_bound(struct claim_case *c, const struct claim *claim, const struct estimate *e)
{
	char bound[CLAIM_NUMBER_MAX];

	claim_case_measure(c, claim, e);
	claim_number_text(claim, e->low < claim->min ? claim->min : claim->max, bound, sizeof(bound));
	if (e->high < claim->min || e->low > claim->max)
		claim_case_decide(c, CLAIM_FAILS,
				  fs_path("%s is %s %s", c->measured, e->high < claim->min ? "below" : "above", bound));
	else if (e->low < claim->min || e->high > claim->max)
		claim_case_decide(c, CLAIM_NOT_JUDGED,
				  fs_path("too close to call: %s, and the bound is %s", c->measured, bound));
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
