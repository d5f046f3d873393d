/*
 * What is read of run directories for judging claims.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "claims/claims.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "rundir/layout.h"
#include "rundir/schema.h"

/* The RDMA devices that a point was granted, by id. A point that was never begun has none. */
static json_t *read_devices(const char *run_path, unsigned id)
{
	char *dir = layout_point_dir(run_path, id), *path = fs_path("%s/point.json", dir);
	struct err ignored = ERR_INIT;
	json_t *point = access(path, F_OK) ? NULL : schema_read(DOC_POINT, path, &ignored), *devices = json_array(),
	       *side;
	const char *name;

	json_object_foreach (json_object_get(point, "granted"), name, side)
		if (json_is_string(json_object_get(side, "device")))
			json_array_append(devices, json_object_get(side, "device"));
	json_decref(point);
	free(path);
	free(dir);
	return devices;
}

static json_t *read_all_devices(const struct run *run)
{
	json_t *all = json_object();
	const json_t *point;
	size_t i;

	json_array_foreach (json_object_get(run->resolved, "points"), i, point) {
		json_int_t id = json_integer_value(json_object_get(point, "id"));
		char text[32];

		if (id < 0 || id > LAYOUT_ID_MAX)
			continue;
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, id);
		json_object_set_new(all, text, read_devices(run->path, (unsigned)id));
	}
	return all;
}

static int read_run(const struct run *run, struct claim_run *out, struct err *e)
{
	*out = (struct claim_run){.run = run->run, .resolved = run->resolved, .summary = run->summary};
	if (!run->summary)
		return err_set(e, -ENOENT, STATUS_USAGE, run->path, "judge its claims", "the run has no summary yet");
	out->state[0] = run_state(run->path, run->run, "source");
	out->state[1] = run_state(run->path, run->run, "sink");
	out->devices = read_all_devices(run);
	return 0;
}

json_t *claims_of_runs(const struct run *runs, size_t count, struct err *e)
{
	struct claim_run *all = or_abort(calloc(count + 1, sizeof(*all)));
	json_t *verdicts = NULL;
	int rc = 0;

	for (size_t i = 0; !rc && i < count; i++)
		rc = read_run(&runs[i], &all[i], e);
	if (!rc)
		verdicts = claims_judge(all, count);
	for (size_t i = 0; i < count; i++) {
		json_decref((json_t *)all[i].state[0]);
		json_decref((json_t *)all[i].state[1]);
		json_decref((json_t *)all[i].devices);
	}
	free(all);
	return verdicts;
}
