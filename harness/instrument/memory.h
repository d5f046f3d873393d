/*
 * Memory that a timed loop may touch: page-aligned, on a NUMA node of choice (libnuma), prefaulted, locked where the
 * limit allows. Thread-safe; called at set-up only.
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

/* Anonymous memory, zeroed. `node`: a NUMA node, or -1 for the one of the calling thread's CPU. Not being able to lock
 * it is no error (locked says so). */
int memory_alloc(struct memory *m, size_t size, int node, struct err *e);

/* The same, in huge pages of the default size, which must have been set aside (vm.nr_hugepages): STATUS_IMPOSSIBLE where
 * there are not enough. */
int memory_alloc_huge(struct memory *m, size_t size, int node, struct err *e);

/* Pages of the smallest size, even where the system would take larger ones; such as the system puts together by itself
 * where it can; or of those that were set aside. */
enum memory_pages { MEMORY_PAGES_SMALL, MEMORY_PAGES_TRANSPARENT, MEMORY_PAGES_HUGE };
extern const char *const memory_pages_names[]; /* NULL ends */

/* Anonymous memory that is neither touched nor locked (huge pages are: they must be there). As memory_alloc(). */
int memory_reserve(struct memory *m, size_t size, enum memory_pages pages, int node, struct err *e);

/* Map `fd` (tmpfs) shared at its whole size, likewise bound, prefaulted and locked; without `touch` only mapped. */
int memory_map(struct memory *m, int fd, size_t size, bool touch, int node, const char *name, struct err *e);
void memory_free(struct memory *m);

/*
 * Take further memory of this process from `node` first (-1: that of the calling thread's CPU). A process with a policy of its own is also left alone by automatic
 * NUMA balancing, whose hinting faults would fall into measured intervals (mm/mempolicy.c, vma_policy_mof()). Threads inherit it.
 */
void memory_prefer(int node);

/* The NUMA node of a CPU, or -1. */
int memory_node_of_cpu(int cpu);

#endif
