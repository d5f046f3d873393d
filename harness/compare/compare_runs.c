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

static char *capture_path(const struct run *run, const char *host)
{
	return fs_path("%s/state/%s/before/state.json", run->path, host);
}

/* Of how many of its hosts there is a capture. */
static size_t captures_of(const struct run *run)
{
	const char *host;
	json_t *entry;
	size_t n = 0;

	json_object_foreach (json_object_get(run->run, "hosts"), host, entry) {
		char *path = capture_path(run, host);

		n += !fs_is_missing(path);
		free(path);
	}
	return n;
}

static int check_manifest(const struct run *run, struct err *e)
{
	struct listed listed = {0};
	int rc = manifest_check_files(run->path, is_read, &listed, e);

	if (!rc && !run->summary)
		rc = err_set(e, -ENOENT, STATUS_USAGE, run->path, "compare", "it has no summary.json");
	if (!rc && (listed.documents < 3 || listed.states < captures_of(run)))
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

/* 0 and no state: there is no capture, so nothing is known of the machine but its boot. */
static int read_capture(const struct run *run, const char *host, json_t **state, struct err *e)
{
	char *path = capture_path(run, host);

	*state = fs_is_missing(path) ? NULL : json_read(path, e);
	free(path);
	return e->status ? -EINVAL : 0;
}

/* Which boot and which kernel of a host; its capture is kept if it is the first. */
static int read_host(struct compare_run *r, const char *host, const json_t *entry, struct err *e)
{
	const char *boot = json_string_value(json_object_get(entry, "boot_id")), *kernel;
	json_t *state;
	int rc;

	if (!*host || strchr(host, '/') || *host == '.')
		return err_set(e, -EINVAL, STATUS_USAGE, r->run.path, "compare", "a host's name is no name");
	if (!boot || !*boot)
		return err_set(e, -ENOENT, STATUS_USAGE, r->run.path, "compare",
			       "run.json does not say which boot of %s it was", host);
	rc = read_capture(&r->run, host, &state, e);
	if (rc)
		return rc;
	kernel = json_text(json_object_get(state, "keys"), "identity.kernel");
	join_text(&r->boot, boot);
	join_text(&r->kernel, *kernel && *kernel != '!' ? kernel : COMPARE_UNKNOWN);
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

const char *compare_run_name(const struct compare_run *r)
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
	if (rc || (experiment && strcmp(experiment, compare_run_name(&r)) != 0)) {
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
	int rc;

	if (!fs_is_directory(path))
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
