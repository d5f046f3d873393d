#include "knobs/knobs_pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "compare/compare_units.h"

struct arm_run_list {
	const char *name;
	struct compare_runs runs;
};

/* Only of complete blocks, because other runs have no counterpart. The machine's state is not read,
 * because it is large and not used. */
static int read_arm_runs(struct compare_runs *runs, const struct knobs *k, const char *stage, const char *arm,
			 struct err *e)
{
	const json_t *run;
	size_t i;
	int rc = 0;

	json_array_foreach (json_object_get(k->j, "runs"), i, run) {
		json_int_t block = json_integer_value(json_object_get(run, "block"));
		char *path;

		if (rc || strcmp(json_text(run, "arm"), arm) != 0 || !knobs_is_of(run, stage, block) ||
		    !knobs_is_block_done(k, stage, block))
			continue;
		path = fs_path("%s/%s", k->path, json_text(run, "run"));
		rc = compare_runs_add(runs, path, ARM_BASE, NULL, e);
		free(path);
		if (rc)
			continue;
		json_decref(runs->run[runs->count - 1].state);
		runs->run[runs->count - 1].state = NULL;
	}
	return rc;
}

static int find_arm(struct arm_runs *arms, const struct knobs *k, const char *stage, const char *name, size_t *at,
		    struct err *e)
{
	for (*at = 0; *at < arms->count; ++*at)
		if (!strcmp(arms->lists[*at].name, name))
			return 0;
	arms->lists = grow_or_abort(arms->lists, arms->count, sizeof(*arms->lists));
	arms->lists[arms->count] = (struct arm_run_list){.name = name};
	return read_arm_runs(&arms->lists[arms->count++].runs, k, stage, name, e);
}

static void borrow_runs(struct compare_runs *to, const struct compare_runs *from, enum compare_arm arm)
{
	to->run = or_abort(reallocarray(to->run, to->count + from->count + 1, sizeof(*to->run)));
	for (size_t i = 0; i < from->count; i++) {
		to->run[to->count] = from->run[i];
		to->run[to->count++].arm = arm;
	}
}

int pair_join(struct pair *p, const struct knobs *k, const char *stage, struct arm_runs *arms, const char *base,
	      const char *with, const struct compare_choice *choice, struct err *e)
{
	size_t at[ARMS];
	int rc = find_arm(arms, k, stage, base, &at[ARM_BASE], e) ?: find_arm(arms, k, stage, with, &at[ARM_WITH], e);

	if (rc)
		return rc;
	borrow_runs(&p->runs, &arms->lists[at[ARM_BASE]].runs, ARM_BASE);
	borrow_runs(&p->runs, &arms->lists[at[ARM_WITH]].runs, ARM_WITH);
	rc = compare_units(&p->runs, UNIT_RUN, e);
	if (!rc && !p->runs.pairs)
		rc = err_set(
		    e, -EINVAL, STATUS_FAILED, k->path, "judge its runs",
		    "according to their times they were not measured block by block: the clock was set meanwhile");
	return rc ?: compare_join(&p->join, &p->runs, choice, e);
}

void pair_free(struct pair *p)
{
	if (p->join.notes)
		compare_join_free(&p->join);
	free(p->runs.run);
	*p = (struct pair){.runs = {.count = 0}};
}

void arm_runs_free(struct arm_runs *arms)
{
	for (size_t i = 0; i < arms->count; i++)
		compare_runs_free(&arms->lists[i].runs);
	free(arms->lists);
	*arms = (struct arm_runs){NULL, 0};
}
