/*
 * Memory for use in timed loops: page-aligned, on a chosen NUMA node (libnuma), prefaulted, and locked if the limit
 * allows it. Thread-safe; called only at set-up.
 */
#ifndef KBLAT_INSTRUMENT_MEMORY_H
#define KBLAT_INSTRUMENT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct err;

struct memory {
	void *data;
	size_t size;
	bool locked;
	bool huge;
};

/* Anonymous memory, zeroed. `node`: a NUMA node, or -1 for that of the calling thread's CPU. It is not an error if it
 * cannot be locked; `locked` shows whether it is. */
int memory_alloc(struct memory *m, size_t size, int node, struct err *e);

/* The same, in huge pages of the default size, which must have been reserved (vm.nr_hugepages): STATUS_IMPOSSIBLE if
 * there are too few. */
int memory_alloc_huge(struct memory *m, size_t size, int node, struct err *e);

/* Pages of the smallest size, even if the system would use larger ones; transparent huge pages, if the system can
 * provide them; or reserved huge pages. */
enum memory_pages { MEMORY_PAGES_SMALL, MEMORY_PAGES_TRANSPARENT, MEMORY_PAGES_HUGE };
extern const char *const memory_pages_names[]; /* NULL ends */

/* Like memory_alloc(), but neither touched nor locked (except for huge pages, as these must exist). */
int memory_reserve(struct memory *m, size_t size, enum memory_pages pages, int node, struct err *e);

/* Map all of `fd` (tmpfs) as shared memory, bound to a node, prefaulted and locked in the same way; without `touch` it
 * is only mapped. */
int memory_map(struct memory *m, int fd, size_t size, bool touch, int node, const char *name, struct err *e);
void memory_free(struct memory *m);

/* Touches and locks all that the process has mapped by now, such as the queues of a library, so that there are no page
 * faults later. Where the limit does not allow it, nothing happens. */
void memory_touch_all(void);

/*
 * Prefer `node` for all further memory of this process (-1: that of the calling thread's CPU). Automatic NUMA balancing
 * does not touch a process with a policy of its own, so its hinting faults do not occur in measured intervals
 * (mm/mempolicy.c, vma_policy_mof()). Threads inherit the policy.
 */
void memory_prefer(int node);

/* The NUMA node of a CPU, or -1. */
int memory_node_of_cpu(int cpu);

#endif
