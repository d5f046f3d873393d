#include "claims/claim_run.h"

#include <errno.h>
#include <stdlib.h>

#include "common/fs.h"
#include "rundir/layout.h"
#include "rundir/schema.h"

/* "granted" has an object for each side; with several flows, it has one for each flow, which contains those. */
static void collect_devices(const json_t *granted, json_t *devices)
{
	const char *name;
	json_t *side;

	json_object_foreach ((json_t *)granted, name, side) {
		json_t *device = json_object_get(side, "device");

		if (json_is_string(device))
			json_array_append(devices, device);
		else
			collect_devices(side, devices);
	}
}

/* The RDMA devices that a point was granted. A point that was never begun has none. */
static json_t *read_devices(const char *run_path, unsigned id)
{
	char *dir = layout_point_dir(run_path, id), *path = fs_path("%s/point.json", dir);
	struct err ignored = ERR_INIT;
	json_t *point = fs_is_missing(path) ? NULL : schema_read(DOC_POINT, path, &ignored), *devices = json_array();

	collect_devices(json_object_get(point, "granted"), devices);
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

int claim_run_read(const struct run *run, struct claim_run *out, struct err *e)
{
	*out = (struct claim_run){.run = run->run, .resolved = run->resolved, .summary = run->summary};
	if (!run->summary)
		return err_set(e, -ENOENT, STATUS_USAGE, run->path, "judge its claims", "the run has no summary yet");
	out->state[0] = run_state(run->path, run->run, "source");
	out->state[1] = run_state(run->path, run->run, "sink");
	out->devices = read_all_devices(run);
	return 0;
}

void claim_run_free(struct claim_run *r)
{
	json_decref(r->state[0]);
	json_decref(r->state[1]);
	json_decref(r->devices);
}
