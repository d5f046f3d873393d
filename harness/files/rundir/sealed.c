#include "files/rundir/sealed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/text.h"
#include "files/rundir/manifest.h"

#define HOSTS_MAX 256 /* far more than a run has; their names are joined one by one */

/* The number of the files to be read that the manifest lists. */
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

/* What a table or page may show: also each point's documents and the claims. Raw states and columns take longer to read. */
static bool is_shown(const char *name, void *arg)
{
	const char *end = strrchr(name, '.');

	return is_read(name, arg) || (strncmp(name, "state/", 6) != 0 && end && !strcmp(end, ".json"));
}

static char *capture_path(const struct run *run, const char *host)
{
	return fs_path("%s/state/%s/before/state.json", run->path, host);
}

/* The number of hosts with a capture. */
static size_t captures_of(const struct run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < run->record.hosts; i++) {
		char *path = capture_path(run, run->record.host[i].name);

		n += !fs_is_missing(path);
		free(path);
	}
	return n;
}

int sealed_check(const struct run *run, struct err *e)
{
	struct listed listed = {0};
	int rc;

	if (!run->sealed)
		return err_set(e, -EINVAL, STATUS_USAGE, run->path, "compare",
			       "it is not sealed: the run has not ended, or was killed");
	rc = manifest_check_files(run->path, is_read, &listed, e);

	if (!rc && !run->summary)
		rc = err_set(e, -ENOENT, STATUS_USAGE, run->path, "compare", "it has no summary.json");
	if (!rc && (listed.documents < 3 || listed.states < captures_of(run)))
		rc = err_set(e, -ENOENT, STATUS_USAGE, run->path, "compare",
			     "its manifest does not list all of its JSON files and captures");
	return rc;
}

int sealed_unchanged(const struct run *run, struct err *e)
{
	struct listed listed = {0};
	struct err why = ERR_INIT;
	int rc = run->sealed ? manifest_check_files(run->path, is_shown, &listed, &why) : 0;

	if (rc)
		return err_set(e, rc, STATUS_NO, NULL, NULL, "not as it was sealed: %s", why.text);
	if (run->sealed && listed.documents < 2 + (size_t)(run->summary != NULL))
		return err_set(e, -EBADMSG, STATUS_NO, NULL, NULL,
			       "not as it was sealed: %s: its manifest does not list its JSON files", run->path);
	return 0;
}

/* 0 without a state: there is no capture, so nothing but its boot is known about the machine. */
static int read_capture(const struct run *run, const char *host, json_t **state, struct err *e)
{
	char *path = capture_path(run, host);

	*state = fs_is_missing(path) ? NULL : json_read(path, e);
	free(path);
	return e->status ? -EINVAL : 0;
}

/* The boot and the kernel of a host, and its capture. */
static int read_host(const struct run *run, struct sealed_hosts *h, const struct run_host *of, struct err *e)
{
	const char *host = of->name, *boot = of->boot_id, *kernel;
	json_t *state;
	int rc;

	if (!*host || strchr(host, '/') || *host == '.')
		return err_set(e, -EINVAL, STATUS_USAGE, run->path, "compare",
			       "run.json has a host whose name is empty, hidden or a path");
	if (!boot || !*boot)
		return err_set(e, -ENOENT, STATUS_USAGE, run->path, "compare",
			       "run.json does not say which boot of %s it was", host);
	rc = read_capture(run, host, &state, e);
	if (rc)
		return rc;
	kernel = json_text(json_object_get(state, "keys"), "identity.kernel");
	text_list_add(&h->boot, "+", "%s", boot);
	text_list_add(&h->kernel, "+", "%s", *kernel && *kernel != '!' ? kernel : SEALED_UNKNOWN);
	text_list_add(&h->hosts, "+", "%s", host);
	if (state)
		json_object_set_new(h->states, host, state);
	return 0;
}

int sealed_hosts_read(const struct run *run, struct sealed_hosts *h, struct err *e)
{
	const size_t hosts = run->record.hosts;
	int rc = 0;

	*h = (struct sealed_hosts){.states = json_object()};
	if (!hosts)
		rc = err_set(e, -ENOENT, STATUS_USAGE, run->path, "compare",
			     "run.json names no host, so its boot is not known");
	else if (hosts > HOSTS_MAX)
		rc = err_set(e, -EINVAL, STATUS_USAGE, run->path, "compare",
			     "run.json names %zu hosts, more than the maximum of %d", hosts, HOSTS_MAX);
	for (size_t i = 0; i < hosts && !rc; i++)
		rc = read_host(run, h, &run->record.host[i], e);
	return rc;
}

void sealed_hosts_free(struct sealed_hosts *h)
{
	free(h->boot);
	free(h->kernel);
	free(h->hosts);
	json_decref(h->states);
	*h = (struct sealed_hosts){0};
}
