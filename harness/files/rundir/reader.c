#include "files/rundir/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "files/rundir/schema.h"

#define PARTIAL ".partial"

static bool run_has_file(const char *dir, const char *name)
{
	char *path = fs_path("%s/%s", dir, name);
	bool there = !fs_is_missing(path);

	free(path);
	return there;
}

bool run_is_partial(const char *path)
{
	size_t length = strlen(path), end = strlen(PARTIAL);

	return length >= end && !strcmp(path + length - end, PARTIAL);
}

static json_t *read_below(const char *dir, const char *name, enum document document, struct err *e)
{
	char *path = fs_path("%s/%s", dir, name);
	json_t *value = schema_read(document, path, e);

	free(path);
	return value;
}

static int run_refuse(const char *path, struct err *e, const char *cause)
{
	return err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "not a run directory: %s", cause);
}

int run_open(const char *path, struct run *out, struct err *e)
{
	json_t *record;

	memset(out, 0, sizeof(*out));
	out->path = realpath(path, NULL);
	if (!out->path)
		return run_refuse(path, e, errno == ENOENT ? "there is no such directory" : strerrordesc_np(errno));
	if (!fs_is_directory(out->path)) {
		run_close(out);
		return run_refuse(path, e, "it is a file; name the folder of a run");
	}
	if (!run_has_file(out->path, "run.json") || !run_has_file(out->path, "resolved.json")) {
		run_close(out);
		return run_refuse(path, e,
				  "run.json or resolved.json is missing; `kblat report` lists the runs below a folder");
	}
	out->sealed = run_has_file(out->path, "manifest-sha256.txt") && !run_is_partial(out->path);
	record = read_below(out->path, "run.json", DOC_RUN, e);
	out->record = run_record_from_json(record);
	out->resolved = record ? read_below(out->path, "resolved.json", DOC_RESOLVED, e) : NULL;
	json_decref(record);
	if (out->resolved && run_has_file(out->path, "summary.json"))
		out->summary = read_below(out->path, "summary.json", DOC_SUMMARY, e);
	if (out->resolved && (out->summary || !run_has_file(out->path, "summary.json")))
		return 0;
	run_close(out);
	return -EINVAL;
}

int run_open_inside(const char *dir, const char *name, struct run *out, struct err *e)
{
	char *path = fs_path("%s/%s", dir, name);
	int rc, fd = *name == '.' || strchr(name, '/') ? -EXDEV : fs_open(path, O_PATH | O_DIRECTORY);

	memset(out, 0, sizeof(*out));
	rc = fd < 0 ? err_sys(e, fd, path, "open the run") : run_open(path, out, e);
	if (fd >= 0)
		close(fd);
	free(path);
	return rc;
}

void run_close(struct run *r)
{
	run_record_free(&r->record);
	json_decref(r->resolved);
	json_decref(r->summary);
	free(r->path);
	memset(r, 0, sizeof(*r));
}

json_t *run_state(const char *run_path, const struct run_record *record, const char *role)
{
	json_t *state, *keys = NULL;
	struct err ignored = ERR_INIT;

	for (const struct run_host *h = record->host; !keys && h < record->host + record->hosts; h++) {
		char *path;

		if (strchr(h->name, '/') || !run_host_is(h, role))
			continue;
		path = fs_path("%s/state/%s/before/state.json", run_path, h->name);
		state = fs_is_missing(path) ? NULL : json_read(path, &ignored);
		keys = json_incref(json_object_get(state, "keys"));
		json_decref(state);
		free(path);
	}
	return keys;
}

const char *run_software(const json_t *granted)
{
	return json_string_value(json_object_get(granted, "software"));
}

bool run_is_of_model(const json_t *granted)
{
	const char *firmware = json_string_value(json_object_get(granted, "firmware"));

	return firmware && !strcmp(firmware, "MODEL");
}

const char *run_link(const json_t *granted)
{
	static const char *const keys[] = {"interface", "netdev", "device"};
	const char *link = NULL;

	for (size_t i = 0; !link && i < sizeof(keys) / sizeof(keys[0]); i++)
		link = json_string_value(json_object_get(granted, keys[i]));
	return link;
}
