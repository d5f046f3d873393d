#include "study/boots/boots_plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "judge/compare/compare_causes.h"
#include "judge/compare/compare_verdict.h"
#include "report/compare_page.h"
#include "study/boots/boots_guest.h"

/* --- what is compared --- */

struct boots_choice {
	struct compare_choice choice;
	struct compare_rule rule;
	struct compare_margin *margins;
	const char **quantities, *judge[COMPARE_JUDGE_MOST];
};

static void boots_choice_free(struct boots_choice *c)
{
	free(c->margins);
	free(c->quantities);
}

/* Of the 5 % of errors of a search, 1 % is for the first comparison, and 4 % for all steps. A step errs if it takes a fast
 * kernel for slow, or a slow one for fast; each is no more frequent than its share. */
static double boots_alpha(const struct boots_plan *p)
{
	return p->way != BOOTS_BISECT ? COMPARE_ALPHA : p->at.first ? 0.04 / (double)(boots_comparisons(p) - 1) : 0.01;
}

static int read_choice(const struct boots_plan *p, struct boots_choice *c, struct err *e)
{
	const struct words *q = &p->quantities;
	int rc = 0;

	*c = (struct boots_choice){.choice = {.metric = p->metric},
				   .rule = {.effect = 0.02,
					    .seed = 1,
					    .alpha = boots_alpha(p),
					    .planned = p->boots < BOOTS_PER_LOOK ? BOOTS_PER_LOOK : p->boots},
				   .margins = or_abort(calloc(p->margins.count + 1, sizeof(*c->margins))),
				   .quantities = or_abort(calloc(q->count + 1, sizeof(*c->quantities)))};
	for (size_t i = 0; !rc && i < q->count; i++)
		rc = compare_quantity_find("--quantity", p->metric, q->word[i], &c->quantities[i], e);
	c->choice.quantity = c->quantities;
	c->choice.quantity_count = q->count;
	rc = rc
		 ?: compare_read_judge((const char *const *)p->judge.word, p->judge.count, &c->choice, &c->rule,
				       c->judge, e);
	return rc
		   ?: compare_read_margins((const char *const *)p->margins.word, p->margins.count, p->metric, &c->rule,
					   c->margins, e);
}

int boots_check_choice(const struct boots_plan *p, struct err *e)
{
	struct boots_choice c;
	const int rc = read_choice(p, &c, e);

	boots_choice_free(&c);
	return rc;
}

/* --- comparing --- */

static int add_runs(const struct study *s, struct compare_runs *runs, struct err *e)
{
	const struct boots_plan *p = boots_plan_of(s);
	const size_t first = p->at.first, end = first + boots_done(s) / 2 * 2;
	int rc = 0;

	for (size_t i = 0; i < s->count && !rc; i++) {
		const struct cell *c = &s->cell[i];
		char *path;

		if (c->block < first || c->block >= end || !c->run)
			continue;
		path = fs_path("%s/%s", s->path, c->run);
		rc = compare_runs_add(runs, path, boots_role_of(p, c->block), NULL, e);
		free(path);
	}
	return rc;
}

/* If the page cannot be made, or has no figures, there is an answer all the same. */
static void make_boots_page(const struct study *s, const struct compare_join *j, const struct comparison *c)
{
	struct err own = ERR_INIT;
	char *name = boots_page(s), *page = fs_path("%s/%s", s->path, name), *html = NULL;

	if (fs_remove_tree(page, &own) || compare_page_make(page, j, c, &html, &own))
		fprintf(stderr, "kblat: warning: %s\n", own.text);
	free(html);
	free(page);
	free(name);
}

int boots_compare(const struct study *s, bool page, struct comparison *c, struct err *e)
{
	struct compare_runs runs = {.count = 0};
	struct compare_join join = {.count = 0};
	struct boots_choice choice;
	int rc = read_choice(boots_plan_of(s), &choice, e) ?: add_runs(s, &runs, e) ?: compare_units(&runs, UNIT_BOOT, e);

	rc = rc ?: compare_join(&join, &runs, &choice.choice, e);
	if (!rc && boots_plan_of(s)->in_guest)
		guest_note_load(s, join.notes);
	if (!rc)
		compare_judge_of_runs(&runs, &choice.rule, choice.judge, join.notes);
	rc = rc ?: compare_judge_causes(&join, &choice.rule, NULL, c, e);
	if (!rc && page)
		make_boots_page(s, &join, c);
	compare_join_free(&join);
	compare_runs_free(&runs);
	boots_choice_free(&choice);
	return rc;
}
