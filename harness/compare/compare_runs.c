#include "compare/compare_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "rundir/find.h"
#include "rundir/run_mode.h"
#include "rundir/sealed.h"

#define RUNS_MAX 4096

const char *const compare_arm_name[ARMS] = {"BASE", "NEW"};
const char *const compare_unit_name[] = {"auto", "boot", "run"};

/* --- one run --- */

void compare_run_take(struct compare_run *r, struct sealed_hosts *hosts)
{
	r->boot = hosts->boot;
	r->kernel = hosts->kernel;
	r->hosts = hosts->hosts;
	r->state = json_incref(json_object_iter_value(json_object_iter(hosts->states)));
	hosts->boot = hosts->kernel = hosts->hosts = NULL;
	sealed_hosts_free(hosts);
	r->started_ns = json_integer_value(json_object_get(json_object_get(r->run.run, "t0"), "realtime_ns"));
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

int compare_runs_take(struct compare_runs *all, struct compare_run *r, struct err *e)
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
};

static int compare_add_run(void *arg, const char *path, struct err *e)
{
	const struct wanted *wanted = arg;
	struct compare_run r = {.arm = wanted->arm};
	int rc = compare_read_run(path, &r, e);

	if (rc || (wanted->experiment && strcmp(wanted->experiment, compare_run_name(&r)) != 0)) {
		run_free(&r);
		return rc;
	}
	return compare_runs_take(wanted->all, &r, e);
}

int compare_runs_add(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment,
		     struct err *e)
{
	struct wanted wanted = {all, arm, experiment};
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

mode_t compare_runs_mode(const struct compare_runs *all)
{
	mode_t mode = 0666;

	for (size_t i = 0; i < all->count; i++)
		mode &= run_mode(all->run[i].run.path);
	return mode;
}

void compare_runs_drop(struct compare_runs *all, size_t kept)
{
	while (all->count > kept)
		run_free(&all->run[--all->count]);
}

void compare_runs_free(struct compare_runs *all)
{
	compare_runs_drop(all, 0);
	free(all->run);
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
