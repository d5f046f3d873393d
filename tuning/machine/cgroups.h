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
	bool lib; /* libcpuset can be used: version 1, mounted at /dev/cpuset, names without a prefix, live machine */
};

void cgroups_find(const struct machine *m, struct cgroups *cg);

/* May one of our cpusets have this name? Letters, digits, - and _. */
bool cgroups_is_name(const char *name);

/* A file of a cpuset: "<root>/<name>/<prefix><file>". The caller frees. name: "" for the root, no
 * slash in front. */
char *cgroups_file(const struct cgroups *cg, const char *name, const char *file);

/* The CPUs that a cpuset was given, and whether it is exclusive (v1: cpu_exclusive; v2: a
 * partition). */
int cgroups_cpus(const struct machine *m, const struct cgroups *cg, const char *name, struct cpulist *cpus);
bool cgroups_exclusive(const struct machine *m, const struct cgroups *cg, const char *name);

/* All CPUs that it was given for itself or its children, also those of a remote partition, which has them in
 * cpus.exclusive. */
void cgroups_claimed(const struct machine *m, const struct cgroups *cg, const char *name, struct cpulist *cpus);

/* How many tasks are in it; a negative errno. */
int cgroups_tasks(const struct machine *m, const struct cgroups *cg, const char *name);

/* All below the root, as relative names, parents first; free with sysroot_names_free. The count, or
 * a negative errno: -E2BIG if there are more than any machine has. */
int cgroups_all(const struct machine *m, const struct cgroups *cg, char ***names);

/* Is there a cpuset of that name? */
bool cgroups_has(const struct machine *m, const char *name);

/* Move this process into the cpuset of that name ("real-time-0"). 0, or a negative errno and
 * `e`. */
int cgroups_join(struct machine *m, const char *name, struct err *e);

/*
 * Move this process to the root control group in those hierarchies through which services and sessions are killed as a
 * whole (version 2, and systemd's own hierarchy of version 1), so that it survives. If that is not allowed, nothing
 * changes. Live machines only.
 */
void cgroups_leave(const struct machine *m);

/* The group in which this process is, in the first of these hierarchies; the caller frees it. NULL: none is mounted. */
char *cgroups_own(const struct machine *m);

/* Are these hierarchies mounted read-only, as in containers and by ProtectControlGroups=yes? */
bool cgroups_are_read_only(const struct machine *m);

#endif
