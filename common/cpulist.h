/*
 * The kernel's CPU lists ("0-3,8,0-31:2/8"; Documentation/admin-guide/kernel-parameters, "CPU
 * lists", and taskset's "10-14:2", every second one) and sets of CPUs. A set holds up to
 * CPULIST_MAX CPUs. Pure, no allocation.
 */
#ifndef KBLAT_COMMON_CPULIST_H
#define KBLAT_COMMON_CPULIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CPULIST_MAX 8192

/* Size of the text of any set, as a list or a mask. The longest lists are of ranges such as "1000-1001,": 10 characters
 * for every three CPUs (two, and the one that must be missing after them). */
#define CPULIST_TEXT_MAX (4 * CPULIST_MAX)

struct cpulist {
	uint64_t bits[CPULIST_MAX / 64];
};

/*
 * Read a list; an empty or all-blank text, and "(null)", which the kernel prints for a set that it has not allocated, are
 * the empty set; a newline at the end is accepted. 0,
 * -EINVAL or -ERANGE (a CPU of CPULIST_MAX or more); `why` (may be NULL) gets a phrase.
 */
int cpulist_parse(const char *text, struct cpulist *out, char *why, size_t why_size);

/* The canonical list form ("0-3,8"), "" for the empty set. Returns `buf`; always terminated, cut
 * after a whole item if too small. */
char *cpulist_format(const struct cpulist *set, char *buf, size_t size);

/* The kernel's mask form ("ff,00000003": 32-bit groups, as /proc/irq/N/smp_affinity). Both
 * directions; a buffer that is too small gets "". */
int cpulist_parse_mask(const char *text, struct cpulist *out, char *why, size_t why_size);
char *cpulist_format_mask(const struct cpulist *set, char *buf, size_t size);

void cpulist_clear(struct cpulist *set);
void cpulist_add(struct cpulist *set, unsigned cpu); /* a CPU of CPULIST_MAX or more is ignored */
void cpulist_remove(struct cpulist *set, unsigned cpu);
bool cpulist_has(const struct cpulist *set, unsigned cpu);
unsigned cpulist_count(const struct cpulist *set);
int cpulist_first(const struct cpulist *set);		/* -1 if empty */
int cpulist_next(const struct cpulist *set, int after); /* the next above `after`, or -1 */
bool cpulist_is_subset(const struct cpulist *inner, const struct cpulist *outer);
bool cpulist_intersects(const struct cpulist *a, const struct cpulist *b);

/* Add what `b` has to `a`; take it away; leave nothing else. */
void cpulist_unite(struct cpulist *a, const struct cpulist *b);
void cpulist_subtract(struct cpulist *a, const struct cpulist *b);
void cpulist_intersect(struct cpulist *a, const struct cpulist *b);

/* The CPUs on which the calling process may run (sched_getaffinity). 0 or a negative errno. */
int cpulist_allowed(struct cpulist *out);

/* The same for any thread, given its thread ID. */
int cpulist_of_thread(pid_t tid, struct cpulist *out);

#endif
