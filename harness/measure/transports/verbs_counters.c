#include "measure/transports/verbs_counters.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/sysroot.h"

#define PATH_SIZE	320
#define LIFESPAN	"lifespan"
#define LIFESPAN_MAX_MS 1000
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static void add_directory(const struct sysroot *r, const char *dir, json_t *to)
{
	char **names, path[PATH_SIZE];

	if (sysroot_list(r, dir, NULL, &names) < 0)
		return;
	for (size_t i = 0; names[i]; i++) {
		int64_t value;

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		/* A setting, not a counter. */
		if (strcmp(names[i], LIFESPAN) && !sysroot_int(r, path, &value))
			json_object_set_new(to, names[i], json_integer(value));
	}
	sysroot_names_free(names);
}

/*
 * The kernel returns values that are up to `lifespan` milliseconds old
 * (drivers/infiniband/core/sysfs.c). After waiting that long, values are newer than the call, even
 * if others read them, too.
 */
static void outwait_cache(const struct sysroot *r, const char *device, unsigned port)
{
	char path[PATH_SIZE];
	int64_t ms;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%.64s/ports/%u/hw_counters/" LIFESPAN, device, port);
	if (sysroot_int(r, path, &ms) || ms <= 0 || ms > LIFESPAN_MAX_MS)
		return;
	ms += 5; /* jiffies are coarser: up to 4 ms at 250 Hz */
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Receiver-not-ready negative acknowledgements: the names of Soft-RoCE (rxe_hw_counters.c) and mlx5. */
static void add_rnr(json_t *counters)
{
	static const char *const names[] = {"rcvd_rnr_err", "rnr_nak_retry_err"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (json_object_get(counters, names[i])) {
			json_object_set(counters, "rnr_naks", json_object_get(counters, names[i]));
			return;
		}
}

json_t *verbs_counters_below(const struct sysroot *r, const char *device, unsigned port)
{
	static const char *const groups[] = {"counters", "hw_counters"};
	json_t *counters = json_object();
	char dir[PATH_SIZE - 64];

	outwait_cache(r, device, port);
	for (size_t i = 0; i < COUNT(groups); i++) {
		snprintf(dir, sizeof(dir), "/sys/class/infiniband/%.64s/ports/%u/%s", device, port, groups[i]);
		add_directory(r, dir, counters);
	}
	add_rnr(counters);
	return counters;
}

json_t *verbs_counters(const char *device, unsigned port)
{
	struct sysroot r;
	json_t *counters;

	if (sysroot_open(&r, NULL, NULL))
		return json_object();
	counters = verbs_counters_below(&r, device, port);
	sysroot_close(&r);
	return counters;
}
