/*
 * How long a peer may take for bytes that it has announced. All that belongs together has one deadline, however many
 * pieces it arrives in; with a limit for each piece, a peer that sends a byte now and then would hold the coordinator up
 * forever. The deadline grows with the number of bytes, so that large columns get through slow links.
 */
#ifndef KBLAT_RUN_TRANSFER_H
#define KBLAT_RUN_TRANSFER_H

#include <stddef.h>
#include <stdint.h>

struct err;

#define TRANSFER_KIB_PER_S 128 /* about a megabit: slower peers are given up */

struct transfer {
	int64_t begun_ms, deadline_ms; /* monotonic_ms() */
	unsigned long long taken;      /* bytes so far */
};

/* Begins now; the peer gets `patience_ms` in addition to the time for its bytes. */
void transfer_begin(struct transfer *t, int64_t patience_ms);

/* The peer has announced so many more. */
void transfer_expect(struct transfer *t, unsigned long long bytes);

/* Milliseconds until the deadline; 0 or less: it has passed. */
int64_t transfer_left_ms(const struct transfer *t);

/* The error for a deadline that has passed: -ETIMEDOUT. */
int transfer_complain(const struct transfer *t, const char *peer, struct err *e);

#endif
