#include <errno.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "placement/placement.h"
#include "run/environment.h"
#include "run/preflight.h"
#include "rundir/npy.h"

/* A repetition's reports and directories, generously. */
#define SMALL_FILES 65536

static unsigned long long of(const json_t *params, const char *key)
{
	return (unsigned long long)json_integer_value(json_object_get(params, key));
}

static unsigned columns_of(const json_t *params)
{
	const struct kernel_ops *k = kernel_find(json_string_value(json_object_get(params, "kernel")));
	unsigned n = 0;

	for (const struct kernel_column *c = k->columns; c->name; c++)
		n += kernel_has(params, c->with);
	return n;
}

unsigned long long preflight_messages(const json_t *points)
{
	unsigned long long sum = 0;
	size_t i;
	const json_t *point;

	json_array_foreach (points, i, point) {
		const json_t *params = json_object_get(point, "params");

		sum += of(params, "messages") * of(params, "repetitions");
	}
	return sum;
}

static int check_space(const char *dir, unsigned long long need, const char *what, const char *hint, struct err *e)
{
	unsigned long long free_bytes;
	int rc = fs_free_bytes(dir, &free_bytes, e);

	if (rc || free_bytes >= need)
		return rc;
	return err_set(e, -ENOSPC, STATUS_IMPOSSIBLE, dir, what, "%llu MiB are needed, %llu are free; %s", need >> 20,
		       free_bytes >> 20, hint);
}

static int check_cpus(const json_t *params, struct err *e)
{
	struct common_settings s;
	struct placement p;
	int rc = opt_load(common_options, params, &s, e);

	if (!rc && strcmp(s.environment, ENVIRONMENT_NONE))
		return 0; /* its shields decide: environment_check() */
	for (enum role role = ROLE_SOURCE; !rc && role <= ROLE_SINK; role++)
		rc = placement_choose(role, &s, params, &p, e);
	return rc;
}

int preflight(const json_t *points, const char *out_dir, bool local, struct err *e)
{
	unsigned long long disk = 0, scratch = 0;
	struct err unplaced = ERR_INIT;
	size_t i, placed = 0;
	const json_t *point;
	int rc = 0;

	json_array_foreach (points, i, point) {
		const json_t *params = json_object_get(point, "params");
		unsigned long long stamps = of(params, "messages") * sizeof(int64_t) + NPY_HEADER;

		disk += of(params, "repetitions") * (columns_of(params) * stamps + SMALL_FILES);
		if (columns_of(params) * stamps > scratch)
			scratch = columns_of(params) * stamps;
		placed += !local || check_cpus(params, &unplaced) == 0;
	}
	/* A point that cannot have its CPUs is not possible, and the others run: that is said when it is its turn. */
	if (!placed && i) {
		*e = unplaced;
		return -EINVAL;
	}
	rc = check_space(out_dir, disk, "hold the columns", "use fewer messages, or another --out", e);
	if (!rc && local)
		rc = check_space("/dev/shm", scratch, "hold the stamps", "use fewer messages, or make it larger", e);
	return rc;
}
