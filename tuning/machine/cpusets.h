/* Into a cpuset, for commands that are to run there. */
#ifndef KBLAT_TUNING_CPUSETS_H
#define KBLAT_TUNING_CPUSETS_H

struct err;
struct machine;

/* Move this process into the cpuset of that name ("real-time-0"). 0, or a negative errno and `e`. */
int cpusets_join(struct machine *m, const char *name, struct err *e);

#endif
