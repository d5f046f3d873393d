/*
 * The topology of a machine: CPUs, NUMA nodes, cores and devices.
 */
#ifndef KBLAT_TUNING_TOPOLOGY_H
#define KBLAT_TUNING_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/cpulist.h"

struct machine;
struct err;
struct ranges;

struct numa_node {
	int id;
	struct cpulist cpus; /* online */
	bool has_memory;
};

struct topology {
	struct cpulist online, possible;
	struct cpulist fast; /* those of the fast kind: all that are online, unless the processor has several kinds */
	struct numa_node *nodes; /* one at least */
	size_t node_count;
	int *core; /* of each CPU up to the last online: its core's first online thread */
	int cpu_count;
};

int topology_read(const struct machine *m, struct topology *t, struct err *e);
void topology_free(struct topology *t);

/* A node by its number, or NULL. */
const struct numa_node *topology_node(const struct topology *t, int id);

/* Keep only the first thread of each core, as with SMT off. */
void topology_without_smt(struct topology *t);

/* The nodes that have memory and any of these CPUs, as a list ("0-1"); node 0 if there is none. */
void topology_memory_of(const struct topology *t, const struct cpulist *cpus, struct cpulist *nodes);

/*
 * Find a device by its common name: an RDMA device (mlx5_0), a network interface, a block device (nvme0n1) or a PCI
 * address. Returns its folder in /sys, which the caller frees; NULL if there is none.
 */
char *topology_device(const struct machine *m, const char *name);

/* All such names of RDMA devices and network interfaces; free with sysroot_names_free. */
char **topology_device_names(const struct machine *m);

/* The CPUs that are near: those of its PCI function's node. -ENODATA: the device has no place. */
int topology_near(const struct machine *m, const struct topology *t, const char *device_path, struct cpulist *out);

/* Add the numbers of a device's interrupts. 0 or -ENODATA. */
int topology_irqs(const struct machine *m, const char *device_path, struct ranges *irqs);

int topology_present(const struct machine *m, struct cpulist *cpus);

/* The CPUs that are present and offline, now. 0, or a negative errno where that cannot be known, and none. */
int topology_offline(const struct machine *m, struct cpulist *cpus);

/* Whether all of these CPUs are offline, now; whether a path belongs to a CPU that is. */
bool topology_are_offline(const struct machine *m, const struct cpulist *cpus);
bool topology_is_of_offline_cpu(const struct machine *m, const char *path);

/*
 * What belongs to a CPU that is present but offline cannot be restored before it is online again; then the kernel would
 * bring back what was set meanwhile. True, and a message that says so in `e` (-EAGAIN), if any of these CPUs (NULL: of
 * all), or the CPU of a path, is such a one. CPUs that are offline because SMT is off stay so, and are not waited for;
 * neither are those of the list `spared`: they were offline before, or have been given up.
 */
bool topology_waits_for_any(const struct machine *m, const struct cpulist *cpus, const char *spared, const char *object,
			    struct err *e);
bool topology_waits_for_cpu_of(const struct machine *m, const char *path, const char *spared, struct err *e);

/* Does the path belong to a CPU that is offline and in the list `spared`? */
bool topology_is_of_spared_cpu(const struct machine *m, const char *path, const char *spared);

#endif
