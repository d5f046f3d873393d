#include "compare/compare_runs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "rundir/manifest.h"

#define DEPTH	 3
#define RUNS_MAX 4096
#define PARTIAL	 ".partial"

const char *const compare_arm_name[ARMS] = {"BASE", "NEW"};
const char *const compare_unit_name[] = {"auto", "boot", "run"};

/* --- one run --- */

/* How many of the files that are read the manifest lists. */
struct listed {
	size_t documents, states;
};

static bool is_read(const char *name, void *arg)
{
	static const char *const names[] = {"run.json", "resolved.json", "summary.json"};
	struct listed *listed = arg;
	bool state = !strncmp(name, "state/", 6) && strstr(name, "/before/state.json"), document = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		document |= !strcmp(name, names[i]);
	listed->documents += document;
	listed->states += state;
	return state || document;
}

static int check_manifest(const struct run *run, struct err *e)
{
	struct listed listed = {0};
	int rc = manifest_check_files(run->path, is_read, &listed, e);

	if (!rc && !run->summary)
		rc = err_set(e, -ENOENT, STATUS_USAGE, run->path, "compare", "it has no summary.json");
	if (!rc && (listed.documents < 3 || listed.states < json_object_size(json_object_get(run->run, "hosts"))))
		rc = err_set(e, -ENOENT, STATUS_USAGE, run->path, "compare",
			     "its manifest does not list all of its JSON files and captures");
	return rc;
}

static void join_text(char **text, const char *more)
{
	char *longer = *text ? fs_path("%s+%s", *text, more) : fs_path("%s", more);

	free(*text);
	*text = longer;
}

static json_t *read_capture(const struct run *run, const char *host, struct err *e)
{
	char *path = fs_path("%s/state/%s/before/state.json", run->path, host);
	json_t *state = NULL;

	if (fs_is_missing(path))
		err_set(e, -ENOENT, STATUS_USAGE, run->path, "compare",
			"it has no capture of the state of %s, so neither its kernel nor its boot is known", host);
	else
		state = json_read(path, e);
	free(path);
	return state;
}

/* Which boot and which kernel of a host; its capture is kept if it is the first. */
static int read_host(struct compare_run *r, const char *host, const json_t *entry, struct err *e)
{
	const char *boot = json_string_value(json_object_get(entry, "boot_id")), *kernel;
	json_t *state;

	if (!*host || strchr(host, '/') || *host == '.')
		return err_set(e, -EINVAL, STATUS_USAGE, r->run.path, "compare", "a host's name is no name");
	state = read_capture(&r->run, host, e);
	if (!state)
		return -ENOENT;
	kernel = json_string_value(json_object_get(json_object_get(state, "keys"), "identity.kernel"));
	if (!boot || !*boot || !kernel || *kernel == '!') {
		json_decref(state);
		return err_set(e, -ENOENT, STATUS_USAGE, r->run.path, "compare",
			       "what it captured of %s does not say which %s it was", host,
			       boot && *boot ? "kernel" : "boot");
	}
	join_text(&r->boot, boot);
	join_text(&r->kernel, kernel);
	join_text(&r->hosts, host);
	if (r->state)
		json_decref(state);
	else
		r->state = state;
	return 0;
}

static int read_hosts(struct compare_run *r, struct err *e)
{
	const json_t *hosts = json_object_get(r->run.run, "hosts");
	const char *name;
	json_t *host;
	int rc = json_object_size(hosts) ? 0
					 : err_set(e, -ENOENT, STATUS_USAGE, r->run.path, "compare",
						   "run.json names no host, so its boot is not known");

	json_object_foreach ((json_t *)hosts, name, host) {
		if (!rc)
			rc = read_host(r, name, host, e);
	}
	return rc;
}

static int compare_read_run(const char *path, struct compare_run *r, struct err *e)
{
	int rc = run_open(path, &r->run, e);

	if (rc)
		return rc;
	if (!r->run.sealed)
		return err_set(e, -EINVAL, STATUS_USAGE, path, "compare",
			       "it is not sealed: the run has not ended, or was killed");
	rc = check_manifest(&r->run, e) ?: read_hosts(r, e);
	r->started_ns = json_integer_value(json_object_get(json_object_get(r->run.run, "t0"), "realtime_ns"));
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

static const char *name_of(const struct compare_run *r)
{
	const char *name = json_string_value(json_object_get(r->run.resolved, "name"));

	return name ? name : "";
}

static int compare_add_run(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment,
			   struct err *e)
{
	struct compare_run r = {.arm = arm};
	int rc = compare_read_run(path, &r, e);

	if (!rc && all->count == RUNS_MAX)
		rc = err_set(e, -E2BIG, STATUS_USAGE, path, "compare", "over %d runs", RUNS_MAX);
	if (rc || (experiment && strcmp(experiment, name_of(&r)) != 0)) {
		run_free(&r);
		return rc;
	}
	all->run = or_abort(realloc(all->run, (all->count + 1) * sizeof(*all->run)));
	all->run[all->count++] = r;
	return 0;
}

/* --- folders --- */

static int is_visible(const struct dirent *d)
{
	return *d->d_name != '.';
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

static bool is_run(const char *path)
{
	char *file = fs_path("%s/run.json", path);
	bool there = !access(file, F_OK);

	free(file);
	return there;
}

static int add_below(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment,
		     int depth, struct err *e)
{
	struct dirent **names;
	int n, rc = 0;

	if (is_run(path))
		return compare_add_run(all, path, arm, experiment, e);
	n = depth ? scandir(path, &names, is_visible, alphasort) : 0;
	if (n < 0)
		return err_sys(e, -errno, path, "list");
	for (int i = 0; i < n; i++) {
		char *below = fs_path("%s/%s", path, names[i]->d_name);

		if (!rc && is_folder(below))
			rc = add_below(all, below, arm, experiment, depth - 1, e);
		free(below);
		free(names[i]);
	}
	if (depth)
		free(names);
	return rc;
}

int compare_runs_add(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment,
		     struct err *e)
{
	size_t before = all->count;
	struct stat st;
	int rc;

	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return err_set(e, -ENOENT, STATUS_USAGE, path, "compare", "there is no directory of this name");
	rc = add_below(all, path, arm, experiment, DEPTH, e);
	if (!rc && all->count == before)
		rc = err_set(e, -ENOENT, STATUS_USAGE, path, "compare",
			     "it is no run directory, and there is none%s%s in it", experiment ? " of " : "",
			     experiment ? experiment : "");
	return rc;
}

void compare_runs_free(struct compare_runs *all)
{
	for (size_t i = 0; i < all->count; i++)
		run_free(&all->run[i]);
	free(all->run);
	*all = (struct compare_runs){0};
}

/* --- together --- */

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
		if (strcmp(name_of(first), name_of(&all->run[i])) != 0)
			return err_set(e, -EINVAL, STATUS_USAGE, all->run[i].run.path, "compare",
				       "it is a run of the experiment '%s', but %s is one of '%s'; name one of them "
				       "with --experiment",
				       name_of(&all->run[i]), first->run.path, name_of(first));
	return 0;
}

/* The same directory twice, or a copy of it: it would count twice. */
static int check_different(const struct compare_runs *all, struct err *e)
{
	for (size_t i = 0; i < all->count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct compare_run *a = &all->run[i], *b = &all->run[k];

			if (a->started_ns == b->started_ns &&
			    json_equal(json_object_get(a->run.run, "t0"), json_object_get(b->run.run, "t0")) &&
			    !strcmp(a->boot, b->boot) && json_equal(a->run.summary, b->run.summary))
				return err_set(e, -EEXIST, STATUS_USAGE, a->run.path, "compare",
					       "it is there twice%s%s",
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

/* Of the runs before this one in its arm, one of the same boot; NULL: it is a boot's first. */
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

/* Where every boot has runs of both arms, each is a pair: the other arm's units take the order of
 * the base's. */
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
		return err_set(
		    e, -EINVAL, STATUS_USAGE, shared->run.path, "compare",
		    "its boot %s has runs in both arms, but that of %s has not: boots are either in one arm, "
		    "or all in both",
		    shared->boot, alone->run.path);
	if (shared)
		pair_boots(all);
	return 0;
}

/* By time each two that follow each other hold one of each arm, in either order. */
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
				       "it is of another boot than %s: with runs as units, what differs between boots "
				       "would look like an effect; leave out --unit run",
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
