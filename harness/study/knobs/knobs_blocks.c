#include "study/knobs/knobs_blocks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/random.h"
#include "study/runner.h"
#include "study/study_record.h"
#include "study/study_run.h"

/* --- which arms --- */

struct knobs_arms_of blocks_arms(const struct knobs *k)
{
	struct knobs_arms_of of = {.arm = or_abort(calloc(k->arms + 1, sizeof(*of.arm)))};

	for (size_t i = 0; i < k->arms; i++)
		if (!knobs_is_candidate(&k->arm[i]))
			of.arm[of.count++] = i;
	return of;
}

struct knobs_arms_of blocks_pair(const struct knobs *k, size_t with)
{
	struct knobs_arms_of of = {.arm = or_abort(calloc(2, sizeof(*of.arm))), .count = 2};

	of.arm[0] = knobs_find_arm(k, KNOBS_WHOLE);
	of.arm[1] = with;
	return of;
}

/* --- what is there --- */

bool blocks_is_of(const struct cell *c, const char *stage)
{
	return c->stage && !strcmp(c->stage, stage);
}

bool blocks_is_done(const struct study *s, const char *stage, size_t block)
{
	size_t runs = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (!blocks_is_of(&s->cell[i], stage) || s->cell[i].block != block)
			continue;
		runs++;
		if (s->cell[i].state != CELL_COMPLETED)
			return false;
	}
	return runs > 0;
}

size_t blocks_done(const struct study *s, const char *stage)
{
	size_t n = 0;

	while (blocks_is_done(s, stage, n))
		n++;
	return n;
}

/* --- time --- */

/* The duration of a run of an arm: the mean of previous ones, or the forecast. */
static double run_expected_s(const struct study *s, const struct knobs_arm *arm)
{
	const struct knobs *k = knobs_of(s);
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->cell[i].name, arm->name) && s->cell[i].state == CELL_COMPLETED) {
			sum += s->cell[i].took_s;
			n++;
		}
	if (n)
		return sum / (double)n;
	return arm->has_profile ? k->expected_whole_s : k->expected_none_s;
}

double blocks_expected_s(const struct study *s, const struct knobs_arms_of *arms)
{
	double sum = 0;

	for (size_t i = 0; i < arms->count; i++)
		sum += run_expected_s(s, &knobs_of(s)->arm[arms->arm[i]]);
	return sum;
}

/* --- a block's runs --- */

/* Every arm once, in random order. */
static int plan_block(struct study *s, const char *stage, const struct knobs_arms_of *arms, size_t block, struct err *e)
{
	const struct knobs *k = knobs_of(s);
	uint64_t state = k->seed + 1000003 * (uint64_t)s->count;
	size_t *order = or_abort(calloc(arms->count + 1, sizeof(*order)));
	int rc = 0;

	for (size_t i = 0; i < arms->count; i++)
		order[i] = i;
	random_shuffle(order, arms->count, &state);
	for (size_t i = 0; i < arms->count && !rc; i++) {
		const struct knobs_arm *arm = &k->arm[arms->arm[order[i]]];
		struct cell *c = study_add_cell(s);

		c->name = fs_path("%s", arm->name);
		c->environment = fs_path("%s", arm->has_profile ? arm->name : KNOBS_NONE);
		c->stage = fs_path("%s", stage);
		c->block = block;
		rc = study_record_cell(s, s->count - 1, e);
	}
	free(order);
	return rc;
}

static bool is_planned(const struct study *s, const char *stage, size_t block)
{
	size_t i = 0;

	while (i < s->count && !(blocks_is_of(&s->cell[i], stage) && s->cell[i].block == block))
		i++;
	return i < s->count;
}

/* A run that measured counts, valid or not; points that are not valid are left out when the runs are judged. */
static int check_run(const struct study *s, const struct cell *c, struct err *e)
{
	const bool impossible = c->state == CELL_IMPOSSIBLE;

	if (c->state != CELL_FAILED && !impossible)
		return 0;
	return err_set(e, -ECHILD, impossible ? STATUS_IMPOSSIBLE : STATUS_FAILED, c->name, "measure it",
		       "%s, see above; 'kblat knobs --resume %s' tries it again",
		       impossible ? "not possible on this machine" : "its run failed", s->path);
}

static int measure_block(struct runner *r, const char *stage, size_t block, size_t blocks, struct err *e)
{
	const struct study *s = r->s;
	size_t at = 0;
	int rc = 0, finished;

	for (size_t i = 0; i < s->count && !rc && !runner_is_interrupted(); i++) {
		if (!blocks_is_of(&s->cell[i], stage) || s->cell[i].block != block)
			continue;
		at++;
		if (s->cell[i].state == CELL_COMPLETED)
			continue;
		if (!s->request->quiet)
			fprintf(stderr, "kblat: %s: block %zu of %zu, run %zu: %s\n", stage, block + 1, blocks, at,
				s->cell[i].name);
		rc = runner_start(r, i, e);
		finished = runner_finish(r, e);
		rc = rc ?: finished ?: check_run(s, &s->cell[i], e);
	}
	return rc;
}

int blocks_measure(struct study *s, const char *stage, const struct knobs_arms_of *arms, size_t blocks,
		   double reserve_s, struct err *e)
{
	struct runner r;
	int rc = 0;

	runner_open(&r, s, 1);
	for (size_t b = blocks_done(s, stage); !rc && b < blocks && !runner_is_interrupted(); b++) {
		if (blocks_expected_s(s, arms) + reserve_s * (double)(b + 1) > study_left_s(s))
			break;
		rc = is_planned(s, stage, b) ? 0 : plan_block(s, stage, arms, b, e);
		rc = rc ?: measure_block(&r, stage, b, blocks, e);
	}
	runner_close(&r);
	return rc;
}
