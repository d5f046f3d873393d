/*
 * POSIX shared memory between two processes: a ring of slots with one writer and one reader, both
 * in user space, without system calls if polling is busy. This measures the transfer of cache
 * lines, the physical limit with which all other transports on the machine can be compared.
 *
 * A slot is a multiple of a cache line: {turn, seq} in one 64-bit word, then the payload. The
 * writer fills the payload and then publishes the word; up to 56 bytes travel in a single line. The
 * reader returns slots by incrementing `consumed`, which is the writer's send completion.
 */
#ifndef KBLAT_TRANSPORTS_SHMEM_H
#define KBLAT_TRANSPORTS_SHMEM_H

#include <stdatomic.h>

#include "instrument/memory.h"
#include "transports/transport.h"

#define SHMEM_LINE 64

struct shmem_slot {
	_Atomic uint64_t
	    word; /* turn | seq << 32; turns count messages from 1, so that old content of a slot never looks new */
	char payload[];
};

struct shmem_header {
	_Alignas(SHMEM_LINE) _Atomic uint32_t consumed;
	_Alignas(SHMEM_LINE) _Atomic uint32_t recv_sleeps; /* futex: 1 while the reader sleeps */
	_Alignas(SHMEM_LINE) _Atomic uint32_t send_sleeps; /* futex: 1 while the writer's completion thread sleeps */
};

/* A ring in the shared mapping. */
struct shmem_ring {
	struct shmem_header *header;
	char *slots;
};

struct shmem {
	struct transport base;
	enum role role;
	bool duplex;
	uint32_t depth, size, stride;
	struct shmem_ring tx, rx; /* unused ones are NULL */
	uint32_t *seqs;		  /* numbers in flight, by turn modulo depth */
	struct memory buffer;
	char *out; /* in `buffer`: the payload that post copies into a slot, as far from the start of a line as there */
	struct memory map;
	char name[64];			    /* of the object, until the source has unlinked it */
	_Alignas(SHMEM_LINE) uint32_t head; /* messages posted; only used by the posting thread */
	_Alignas(SHMEM_LINE) uint32_t done; /* completions polled; only used by the polling thread */
	_Alignas(SHMEM_LINE) uint32_t tail; /* messages received */
};

extern const struct transport_ops shmem_transport;

#endif
