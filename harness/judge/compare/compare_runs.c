#include "judge/compare/compare_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/find.h"
#include "files/rundir/run_mode.h"
#include "files/rundir/sealed.h"
#include "judge/analysis/summary_json.h"
#include "judge/index/index_file.h"
#include "judge/index/index_update.h"

#define RUNS_MAX 4096

const char *const compare_arm_name[ARMS] = {"BASE", "NEW"};
const char *const compare_unit_name[] = {"auto", "boot", "run"};

/* --- one run --- */

/* Fill in what is known about the hosts, which it takes, and the summary. */
static void compare_run_take(struct compare_run *r, struct sealed_hosts *hosts)
{
	r->boot = hosts->boot;
	r->kernel = hosts->kernel;
	r->hosts = hosts->hosts;
	r->state = json_incref(json_object_iter_value(json_object_iter(hosts->states)));
	hosts->boot = hosts->kernel = hosts->hosts = NULL;
	sealed_hosts_free(hosts);
	r->summary = summary_decode(r->run.summary);
	r->started_ns = r->run.record.t0.realtime_ns;
}

static int compare_read_run(const char *path, struct compare_run *r, struct err *e)
{
	struct sealed_hosts hosts = {0};
	int rc = run_open(path, &r->run, e);

	if (rc)
		return rc;
	rc = sealed_check(&r->run, e) ?: sealed_hosts_read(&r->run, &hosts, e);
	compare_run_take(r, &hosts);
	return rc;
}

static void run_free(struct compare_run *r)
{
	run_close(&r->run);
	summary_free(r->summary);
	json_decref(r->state);
	free(r->boot);
	free(r->kernel);
	free(r->hosts);
}

const char *compare_run_name(const struct compare_run *r)
{
	const char *name = json_string_value(json_object_get(r->run.resolved, "name"));

	return name ? name : "";
}

/* Add a run to the others; it is freed if there are too many. */
static int compare_runs_take(struct compare_runs *all, struct compare_run *r, struct err *e)
{
	if (all->count == RUNS_MAX) {
		int rc = err_set(e, -E2BIG, STATUS_USAGE, r->run.path, "compare", "over %d runs", RUNS_MAX);

		run_free(r);
		return rc;
	}
	all->run = or_abort(realloc(all->run, (all->count + 1) * sizeof(*all->run)));
	all->run[all->count++] = *r;
	return 0;
}

/* Which runs to add, and where. */
struct wanted {
	struct compare_runs *all;
	enum compare_arm arm;
	const char *experiment; /* NULL: any */
	const char *asked;
};

static int compare_add_run(void *arg, const char *path, struct err *e)
{
	const struct wanted *wanted = arg;
	struct compare_run r = {.arm = wanted->arm};
	int rc;

	if (run_is_partial(path) && strcmp(path, wanted->asked)) {
		if (!wanted->all->passed_over++)
			wanted->all->first_passed = fs_path("%s", path);
		return 0;
	}
	rc = compare_read_run(path, &r, e);
	if (rc || (wanted->experiment && strcmp(wanted->experiment, compare_run_name(&r)) != 0)) {
		run_free(&r);
		return rc;
	}
	return compare_runs_take(wanted->all, &r, e);
}

int compare_runs_add(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment,
		     struct err *e)
{
	struct wanted wanted = {all, arm, experiment, path};
	size_t before = all->count;
	int rc;

	if (!fs_is_directory(path))
		return err_set(e, -ENOENT, STATUS_USAGE, path, "compare", "there is no directory of this name");
	rc = find_runs(path, compare_add_run, &wanted, e);
	if (!rc && all->count == before)
		rc = err_set(e, -ENOENT, STATUS_USAGE, path, "compare",
			     "it is not a run directory, and there is none%s%s in it", experiment ? " of " : "",
			     experiment ? experiment : "");
	return rc;
}

char *compare_runs_passed_text(const struct compare_runs *all)
{
	char more[40] = "";

	if (all->passed_over > 1)
		snprintf(more, sizeof(more), " (and %zu more)", all->passed_over - 1);
	return all->passed_over
		   ? fs_path("%s%s: passed over: the run has not ended, or was killed", all->first_passed, more)
		   : NULL;
}

mode_t compare_runs_mode(const struct compare_runs *all)
{
	mode_t mode = 0666;

	for (size_t i = 0; i < all->count; i++)
		mode &= run_mode(all->run[i].run.path);
	return mode;
}

/* Free all but the first `kept` ones. */
static void compare_runs_drop(struct compare_runs *all, size_t kept)
{
	while (all->count > kept)
		run_free(&all->run[--all->count]);
}

void compare_runs_free(struct compare_runs *all)
{
	compare_runs_drop(all, 0);
	free(all->run);
	free(all->first_passed);
	*all = (struct compare_runs){0};
}

json_t *compare_values(const struct compare_runs *all, enum compare_arm arm, enum compare_field field)
{
	json_t *values = json_array(), *seen = json_object();

	for (size_t i = 0; i < all->count; i++) {
		const struct compare_run *r = &all->run[i];
		const char *text = field == FIELD_KERNEL ? r->kernel : field == FIELD_HOSTS ? r->hosts : r->boot;

		if (r->arm != arm || json_object_get(seen, text))
			continue;
		json_object_set_new(seen, text, json_true());
		json_array_append_new(values, json_string(text));
	}
	json_decref(seen);
	return values;
}

/* --- from an index, for which thousands of files need not be opened --- */

/* The columns of INDEX_DOCUMENTS. */
enum { PATH, RUN, DEFAULTS, SUMMARY, BOOTS, KERNELS, HOSTS, EXPERIMENT, NOT_COMPARABLE };

static json_t *column_document(sqlite3_stmt *s, int column)
{
	return json_loads(index_sql_text(s, column), JSON_REJECT_DUPLICATES, NULL);
}

static char *column_copy(sqlite3_stmt *s, int column)
{
	return fs_path("%s", index_sql_text(s, column));
}

static struct compare_run indexed_run(const struct index *ix, sqlite3_stmt *s, enum compare_arm arm)
{
	struct compare_run r = {.arm = arm};
	struct sealed_hosts hosts = {.boot = column_copy(s, BOOTS),
				     .kernel = column_copy(s, KERNELS),
				     .hosts = column_copy(s, HOSTS),
				     .states = json_object()};

	json_t *record = column_document(s, RUN);

	r.run = (struct run){
	    .path = fs_path("%s/%s", ix->dir, index_sql_text(s, PATH)),
	    .sealed = true,
	    .record = run_record_from_json(record),
	    .resolved = json_pack("{s:s, s:o*}", "name", index_sql_text(s, EXPERIMENT), "defaults",
				  column_document(s, DEFAULTS)),
	    .summary = column_document(s, SUMMARY),
	};
	json_decref(record);
	compare_run_take(&r, &hosts);
	return r;
}

/* If a run cannot be compared, the directories are read instead, which gives the reason. */
static int add_indexed_rows(struct compare_runs *all, struct index *ix, enum compare_arm arm, const char *experiment,
			    struct err *e)
{
	sqlite3_stmt *s = index_sql(ix, INDEX_DOCUMENTS, "t", experiment);
	int rc;

	while ((rc = index_sql_next(ix, s, e)) > 0) {
		struct compare_run r;

		/* The directories tell why, or pass over it. */
		if (*index_sql_text(s, NOT_COMPARABLE))
			return -ESTALE;
		r = indexed_run(ix, s, arm);
		rc = compare_runs_take(all, &r, e);
		if (rc)
			return rc;
	}
	return rc;
}

static int add_from_index(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment)
{
	struct err ignored = ERR_INIT;
	size_t before = all->count;
	struct index ix;
	int rc = index_open_current(&ix, path);

	if (rc)
		return rc;
	rc = add_indexed_rows(all, &ix, arm, experiment, &ignored);
	if (rc)
		compare_runs_drop(all, before);
	index_file_close(&ix);
	return rc || all->count == before ? -ESTALE : 0;
}

int compare_runs_add_indexed(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment,
			     struct err *e)
{
	if (!add_from_index(all, path, arm, experiment))
		return 0;
	return compare_runs_add(all, path, arm, experiment, e);
}

/* --- units --- */

static int by_arm_and_time(const void *a, const void *b)
{
	const struct compare_run *x = a, *y = b;

	if (x->arm != y->arm)
		return x->arm < y->arm ? -1 : 1;
	if (x->started_ns != y->started_ns)
		return x->started_ns < y->started_ns ? -1 : 1;
	return strcmp(x->run.path, y->run.path);
}

static int check_alike(const struct compare_runs *all, struct err *e)
{
	const struct compare_run *first = &all->run[0];

	for (size_t i = 1; i < all->count; i++)
		if (strcmp(compare_run_name(first), compare_run_name(&all->run[i])) != 0)
			return err_set(
			    e, -EINVAL, STATUS_USAGE, all->run[i].run.path, "compare",
			    "it is a run of the experiment '%s', but %s is a run of '%s'; choose one with --experiment",
			    compare_run_name(&all->run[i]), first->run.path, compare_run_name(first));
	return 0;
}

/* Rejects a directory that is given twice, or as a copy, because it would count twice. */
static int check_different(const struct compare_runs *all, struct err *e)
{
	for (size_t i = 0; i < all->count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct compare_run *a = &all->run[i], *b = &all->run[k];

			if (a->started_ns == b->started_ns &&
			    a->run.record.t0.monotonic_ns == b->run.record.t0.monotonic_ns &&
			    !strcmp(a->boot, b->boot) && json_equal(a->run.summary, b->run.summary))
				return err_set(e, -EEXIST, STATUS_USAGE, a->run.path, "compare",
					       "it is given twice%s%s",
					       strcmp(a->run.path, b->run.path) ? ", also as " : "",
					       strcmp(a->run.path, b->run.path) ? b->run.path : "");
		}
	return 0;
}

static bool arm_has_boot(const struct compare_runs *all, enum compare_arm arm, const char *boot)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->run[i].arm == arm && !strcmp(all->run[i].boot, boot))
			return true;
	return false;
}

/* An earlier run of the same boot and arm; NULL: this is the first one of its boot. */
static const struct compare_run *earlier_of_boot(const struct compare_runs *all, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (all->run[k].arm == all->run[i].arm && !strcmp(all->run[k].boot, all->run[i].boot))
			return &all->run[k];
	return NULL;
}

static void number_boots(struct compare_runs *all)
{
	all->units[ARM_BASE] = all->units[ARM_WITH] = 0;
	for (size_t i = 0; i < all->count; i++) {
		const struct compare_run *earlier = earlier_of_boot(all, i);

		all->run[i].unit = earlier ? earlier->unit : all->units[ARM_BASE] + all->units[ARM_WITH];
		all->units[all->run[i].arm] += !earlier;
	}
}

/* If every boot has runs of both arms, each boot is a pair: the other arm's units are put in the
 * order of the base's. */
static void pair_boots(struct compare_runs *all)
{
	all->pairs = true;
	for (size_t i = 0; i < all->count; i++)
		for (size_t k = 0; all->run[i].arm == ARM_WITH && k < i; k++)
			if (all->run[k].arm == ARM_BASE && !strcmp(all->run[k].boot, all->run[i].boot))
				all->run[i].unit = all->units[ARM_BASE] + all->run[k].unit;
}

static int use_boots(struct compare_runs *all, struct err *e)
{
	const struct compare_run *alone = NULL, *shared = NULL;

	number_boots(all);
	if (!all->units[ARM_WITH])
		return 0;
	for (size_t i = 0; i < all->count; i++) {
		if (arm_has_boot(all, !all->run[i].arm, all->run[i].boot))
			shared = &all->run[i];
		else
			alone = &all->run[i];
	}
	if (shared && alone)
		return err_set(e, -EINVAL, STATUS_USAGE, shared->run.path, "compare",
			       "its boot %s has runs in both arms, but the boot of %s has not: either every boot has "
			       "runs in both arms, or none has",
			       shared->boot, alone->run.path);
	if (shared)
		pair_boots(all);
	return 0;
}

/* In chronological order, do the runs form consecutive pairs with one run of each arm, in either order? */
static bool is_in_turn(const struct compare_runs *all)
{
	size_t n = all->units[ARM_BASE];
	const struct compare_run *base = all->run, *with = all->run + n;

	if (n != all->units[ARM_WITH])
		return false;
	for (size_t i = 0; i + 1 < n; i++) {
		json_int_t end = base[i].started_ns > with[i].started_ns ? base[i].started_ns : with[i].started_ns;

		if (base[i + 1].started_ns < end || with[i + 1].started_ns < end)
			return false;
	}
	return true;
}

static int use_runs(struct compare_runs *all, struct err *e)
{
	all->units[ARM_BASE] = all->units[ARM_WITH] = 0;
	for (size_t i = 0; i < all->count; i++) {
		if (strcmp(all->run[i].boot, all->run[0].boot) != 0)
			return err_set(e, -EINVAL, STATUS_USAGE, all->run[i].run.path, "compare",
				       "it is of another boot than %s: with runs as units, differences between boots "
				       "would look like an effect; omit --unit run",
				       all->run[0].run.path);
		all->run[i].unit = i;
		all->units[all->run[i].arm]++;
	}
	all->in_turn = all->pairs = is_in_turn(all);
	return 0;
}

static bool is_one_boot(const struct compare_runs *all)
{
	for (size_t i = 1; i < all->count; i++)
		if (strcmp(all->run[i].boot, all->run[0].boot) != 0)
			return false;
	return true;
}

int compare_units(struct compare_runs *all, enum compare_unit_kind kind, struct err *e)
{
	int rc;

	if (!all->count)
		return err_set(e, -ENOENT, STATUS_USAGE, NULL, "compare", "there are no runs");
	qsort(all->run, all->count, sizeof(*all->run), by_arm_and_time);
	rc = check_alike(all, e) ?: check_different(all, e);
	if (rc)
		return rc;
	all->kind = kind != UNIT_AUTO ? kind : is_one_boot(all) ? UNIT_RUN : UNIT_BOOT;
	return all->kind == UNIT_BOOT ? use_boots(all, e) : use_runs(all, e);
}
