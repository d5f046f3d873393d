#include "report/html_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "judge/claims/claim_verdict.h"

#define OPEN_MAX 4 /* maximum number of cases that are not collapsed */

static const enum tone tones[] = {
    [CLAIM_HOLDS] = TONE_GOOD, [CLAIM_FAILS] = TONE_BAD, [CLAIM_NOT_JUDGED] = TONE_NEUTRAL};

/* If a claim could not be judged, all of its cases have the same reason. */
static bool adds_reason(const struct claim_verdict *claim, const struct claim_case *one)
{
	return *one->why && strcmp(one->why, claim->why) != 0;
}

static void write_case(const struct page *p, const struct claim_verdict *claim, const struct claim_case *one)
{
	html_printf(p, "<li><b>");
	html_text(p, one->label);
	html_printf(p, "</b> ");
	html_text(p, one->measured);
	html_printf(p, " ");
	html_verdict(p, tones[one->verdict], claim_outcome_names[one->verdict]);
	if (adds_reason(claim, one)) {
		html_printf(p, ": ");
		html_text(p, one->why);
	}
	html_printf(p, "</li>\n");
}

static void write_cases(const struct page *p, const struct claim_verdict *claim)
{
	bool more = false;

	if (claim->case_count < 2)
		return;
	for (size_t i = 0; i < claim->case_count; i++)
		more |= adds_reason(claim, &claim->cases[i]);
	html_printf(p, "<details%s><summary>%zu cases</summary>\n<ul>\n",
		    more && claim->case_count <= OPEN_MAX ? " open" : "", claim->case_count);
	for (size_t i = 0; i < claim->case_count; i++)
		write_case(p, claim, &claim->cases[i]);
	html_printf(p, "</ul></details>");
}

/* Why, and the cases of a claim that has several. The caller frees. */
static char *why_and_cases(const struct page *p, const struct claim_verdict *claim)
{
	struct page part = *p;
	char *markup = NULL;
	size_t size;

	part.out = or_abort(open_memstream(&markup, &size));
	html_text(&part, claim->why);
	write_cases(&part, claim);
	fclose(part.out);
	return markup;
}

/* The first one only if there are several experiments. */
enum { EXPERIMENT, VERDICT, CLAIM, SOURCE, MEASURED, WHY, COLUMNS };

static void put_claim(struct table *t, const struct page *p, const struct claim_verdict *claim)
{
	const size_t row = table_row(t), first = COLUMNS - t->columns;
	const char *whose = claim_origin_names[claim->origin];
	const bool says_whose = claim->origin != CLAIM_OF_SOURCE && strncmp(claim->source, whose, strlen(whose)) != 0;
	char *why = why_and_cases(p, claim);

	if (!first)
		table_text(t, EXPERIMENT, row, "%s", claim->experiment);
	table_verdict(t, VERDICT - first, row, tones[claim->verdict], claim_outcome_names[claim->verdict]);
	table_text(t, CLAIM - first, row, "%s", claim->claim);
	/* Whose it is, unless it is the source's, or `source` says so. */
	table_remark(t, CLAIM - first, row, "%s%s%s%s%s", claim->id, says_whose ? "; " : "", says_whose ? whose : "",
		     *claim->source ? "; " : "", claim->source);
	table_text(t, SOURCE - first, row, "%s", claim->measured_by_source);
	table_text(t, MEASURED - first, row, "%s", claim->measured);
	table_remark(t, MEASURED - first, row, "%s: %s", claim->metric, claim->wanted);
	table_drawing(t, WHY - first, row, why);
	free(why);
}

/* --- by reason --- */

/* Claims that are not judged for the same reason. */
struct reason {
	char *text;
	size_t count;
};

/* Numbers and names of points are left out, so that few reasons are left. The caller frees. */
static char *reason_of(const struct claim_verdict *claim)
{
	static const char *const common[] = {"too close to call", "is not valid"};
	static const char *const texts[] = {"too close to call", "a point is not valid"};

	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (strstr(claim->why, common[i]))
			return or_abort(strdup(texts[i]));
	return or_abort(strndup(claim->why, strcspn(claim->why, ";")));
}

static int more_frequent(const void *a, const void *b)
{
	const struct reason *x = a, *y = b;

	return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : strcmp(x->text, y->text);
}

/* The reasons, the most frequent first; `origin`: only of such claims, or CLAIM_ORIGINS for all. */
static struct reason *reasons_of(const struct claim_verdicts *all, enum claim_origin origin, size_t *count)
{
	struct reason *reasons = NULL;

	*count = 0;
	for (size_t i = 0; i < all->count; i++) {
		const struct claim_verdict *claim = &all->all[i];
		char *text;
		size_t r = 0;

		if (claim->verdict != CLAIM_NOT_JUDGED || (origin != CLAIM_ORIGINS && claim->origin != origin))
			continue;
		text = reason_of(claim);
		while (r < *count && strcmp(reasons[r].text, text) != 0)
			r++;
		if (r == *count) {
			reasons = grow_or_abort(reasons, *count, sizeof(*reasons));
			reasons[(*count)++] = (struct reason){.text = text};
		} else {
			free(text);
		}
		reasons[r].count++;
	}
	if (reasons)
		qsort(reasons, *count, sizeof(*reasons), more_frequent);
	return reasons;
}

static void reasons_free(struct reason *reasons, size_t count)
{
	while (count)
		free(reasons[--count].text);
	free(reasons);
}

static void write_origin(const struct page *p, enum claim_origin origin)
{
	static const char *const whose[CLAIM_ORIGINS] = {"of the source", "of ours", "of the measurement itself"};
	size_t of[CLAIM_OUTCOMES], all = 0, count;
	struct reason *reasons = reasons_of(p->claims, origin, &count);

	for (enum claim_outcome c = 0; c < CLAIM_OUTCOMES; c++)
		all += of[c] = claim_verdicts_count_of(p->claims, origin, c);
	if (all)
		html_printf(p, "<p class=\"whose\">%zu claim%s %s: %zu hold%s, %zu fail%s, %zu not judged", all,
			    all == 1 ? "" : "s", whose[origin], of[CLAIM_HOLDS], of[CLAIM_HOLDS] == 1 ? "s" : "",
			    of[CLAIM_FAILS], of[CLAIM_FAILS] == 1 ? "s" : "", of[CLAIM_NOT_JUDGED]);
	for (size_t i = 0; i < count; i++) {
		html_printf(p, "%s%zu: ", i ? "; " : " (", reasons[i].count);
		html_text(p, reasons[i].text);
	}
	if (all)
		html_printf(p, "%s.</p>\n", count ? ")" : "");
	reasons_free(reasons, count);
}

void html_claims_answer(const struct page *p)
{
	for (enum claim_origin o = 0; o < CLAIM_ORIGINS; o++)
		write_origin(p, o);
}

/* --- the tables --- */

/* Those with a verdict and, unless it is NULL, a reason. */
static void write_claims_table(const struct page *p, enum claim_outcome verdict, const char *reason)
{
	static const struct table_column columns[COLUMNS] = {
	    [EXPERIMENT] = {.label = "experiment"}, [VERDICT] = {.label = "verdict"},	[CLAIM] = {.label = "claim"},
	    [SOURCE] = {.label = "the source"},	    [MEASURED] = {.label = "measured"}, [WHY] = {.label = "why"},
	};
	const struct claim_verdicts *all = p->claims;
	const size_t first = claim_verdicts_of_several(all) ? EXPERIMENT : VERDICT;
	struct table t = table_of(columns + first, COLUMNS - first, 0);

	for (size_t i = 0; i < all->count; i++) {
		char *own = reason ? reason_of(&all->all[i]) : NULL;

		if (all->all[i].verdict == verdict && (!reason || !strcmp(own, reason)))
			put_claim(&t, p, &all->all[i]);
		free(own);
	}
	html_table(p, &t, "claims", false);
	table_free(&t);
}

static void write_not_judged(const struct page *p)
{
	size_t count;
	struct reason *reasons = reasons_of(p->claims, CLAIM_ORIGINS, &count);

	for (size_t i = 0; i < count; i++) {
		html_printf(p, "<details><summary>%zu not judged: ", reasons[i].count);
		html_text(p, reasons[i].text);
		html_printf(p, "</summary>\n");
		write_claims_table(p, CLAIM_NOT_JUDGED, reasons[i].text);
		html_printf(p, "</details>\n");
	}
	reasons_free(reasons, count);
}

void html_claims(const struct page *p)
{
	const struct claim_verdicts *all = p->claims;

	if (!all || !all->count)
		return;
	html_printf(p,
		    "<section>\n<h2>Claims</h2>\n<p class=\"soft\">Statements of the source, judged by what was "
		    "measured. A claim is not judged if the machine lacks what it is about, if points are missing or "
		    "not valid, or if the bound lies within the uncertainty.</p>\n");
	if (claim_verdicts_count(all, CLAIM_FAILS))
		write_claims_table(p, CLAIM_FAILS, NULL);
	if (claim_verdicts_count(all, CLAIM_HOLDS))
		write_claims_table(p, CLAIM_HOLDS, NULL);
	write_not_judged(p);
	html_printf(p, "</section>\n");
}
