/*
 * Programs for the kernel, as C (*.bpf.c), which clang compiles and kblat contains: what they are told when they are loaded,
 * what they share with the process, and how they are opened. They need no type information of the running kernel.
 */
#ifndef KBLAT_TRANSPORTS_BPF_CODE_H
#define KBLAT_TRANSPORTS_BPF_CODE_H

#include <stddef.h>
#include <stdint.h>

/* xdp_frames.bpf.c: the frames that the socket of a point gets. All but the token and queue in network byte order. */
struct xdp_wanted {
	uint64_t token; /* the payload's first bytes */
	uint32_t address;
	uint32_t queue; /* of the socket */
	uint16_t port;
};

/* Frames of the point that came to another queue. */
struct xdp_strays {
	uint64_t frames, queue;
};

/* stages_filter.bpf.c */
struct stages_wanted {
	uint64_t size;		/* of a message */
	uint32_t sequence_mask; /* of a message's number (frames.h) */
};

/* What the filter keeps from segment to segment. */
struct stages_filter {
	uint64_t repetition; /* as in the numbers of its messages (frames.h) */
	uint64_t has_begun;  /* over a stream: the repetition's first byte has come */
	uint64_t last;	     /* the number of the byte after those that have come, as in TCP's headers */
	uint64_t end;	     /* the same from the repetition's first byte on, with all bits */
};

#ifndef __bpf__

struct bpf_object;

/*
 * Opens what clang made of one, with a value for `wanted`, its only constant; nothing is loaded yet. NULL: see errno.
 * The caller closes it.
 */
struct bpf_object *bpf_code_open(const unsigned char *bytes, size_t size, const void *wanted, size_t wanted_size);

#endif

#endif
