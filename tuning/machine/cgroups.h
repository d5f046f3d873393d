/*
 * Where the cpuset controller is: a version-1 hierarchy (/dev/cpuset, or /sys/fs/cgroup/cpuset with
 * prefixed names) or version 2. Read from mountinfo, per controller: hybrids exist.
 */
#ifndef KBLAT_TUNING_CGROUPS_H
#define KBLAT_TUNING_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/cpulist.h"

struct err;
struct machine;

#define CGROUPS_NAME_MAX 64

struct cgroups {
	int version;	 /* 1, 2, or 0: none */
	char root[512];	 /* where it is mounted */
	char prefix[16]; /* of a file's name: "" or "cpuset." */
	bool read_only;
	bool lib; /* libcpuset can do it: version 1, mounted at /dev/cpuset, names without a prefix, live */
};

void cgroups_find(const struct machine *m, struct cgroups *cg);

/* Can a cpuset of ours have this name? Letters, digits, - and _. */
bool cgroups_is_name(const char *name);

/* A file of a cpuset: "<root>/<name>/<prefix><file>". The caller frees. name: "" for the root, no
 * slash in front. */
char *cgroups_file(const struct cgroups *cg, const char *name, const char *file);

/* The CPUs that a cpuset was given, and whether it is exclusive (v1: cpu_exclusive; v2: a
 * partition). */
int cgroups_cpus(const struct machine *m, const struct cgroups *cg, const char *name, struct cpulist *cpus);
bool cgroups_exclusive(const struct machine *m, const struct cgroups *cg, const char *name);

/* How many tasks are in it; a negative errno. */
int cgroups_tasks(const struct machine *m, const struct cgroups *cg, const char *name);

/* All below the root, as relative names, parents first; free with sysroot_names_free. The count, or
 * a negative errno. */
int cgroups_all(const struct machine *m, const struct cgroups *cg, char ***names);

/* Move this process into the cpuset of that name ("real-time-0"). 0, or a negative errno and
 * `e`. */
int cgroups_join(struct machine *m, const char *name, struct err *e);

/*
 * This process leaves its control group for the root, in the hierarchies through which services and
 * sessions are ended as a whole (version 2, and systemd's own of version 1), so that it outlives
 * them; where that is not allowed it stays. Live machines only.
 */
void cgroups_leave(const struct machine *m);

#endif
