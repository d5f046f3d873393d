/*
 * POSIX shared memory between two processes: a ring of slots with one writer and one reader, both user space, no system
 * call when busy. What is measured is the hand-over of cache lines, the physical limit that every other transport on
 * the machine is seen against.
 *
 * A slot is a multiple of a cache line: {turn, seq} in one 64-bit word, then the payload. The writer fills the payload
 * and then publishes the word; up to 56 bytes travel in a single line. The reader gives slots back by raising
 * `consumed`, which is the writer's send completion.
 */
#ifndef KBLAT_TRANSPORTS_SHMEM_H
#define KBLAT_TRANSPORTS_SHMEM_H

#include <stdatomic.h>

#include "instrument/memory.h"
#include "transports/transport.h"

#define SHMEM_LINE 64

struct shmem_slot {
	_Atomic uint64_t
	    word; /* turn | seq << 32; turn counts messages from 1, so that a slot's old content never looks new */
	char payload[];
};

struct shmem_header {
	_Alignas(SHMEM_LINE) _Atomic uint32_t consumed;
	_Alignas(SHMEM_LINE) _Atomic uint32_t recv_sleeps; /* futex: 1 while the reader sleeps */
	_Alignas(SHMEM_LINE) _Atomic uint32_t send_sleeps; /* futex: 1 while the writer's completion thread sleeps */
};

/* A ring in the shared map. */
struct shmem_ring {
	struct shmem_header *header;
	char *slots;
};

struct shmem {
	struct transport base;
	enum role role;
	bool duplex;
	uint32_t depth, size, stride;
	struct shmem_ring tx, rx; /* what is not used stays NULL */
	uint32_t *seqs;		  /* numbers in flight, by turn modulo depth */
	struct memory buffer;	  /* payload, copied into the slot by post */
	struct memory map;
	char name[64];			    /* of the object, until the source has unlinked it */
	_Alignas(SHMEM_LINE) uint32_t head; /* messages posted; the posting thread's */
	_Alignas(SHMEM_LINE) uint32_t done; /* completions polled; the polling thread's */
	_Alignas(SHMEM_LINE) uint32_t tail; /* messages received */
};

extern const struct transport_ops shmem_transport;

#endif
