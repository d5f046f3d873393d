/*
 * What comes from the wire: frames over xdp, datagrams over udp, datagrams and a stream over uring, taken from rings and
 * sockets that no kernel fills. A message is reported only if all of it is there, and every frame goes back.
 */
#include <arpa/inet.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "fuzz.h"
#include "measure/transports/udp.c"
#include "measure/transports/uring.c"
#include "measure/transports/xdp_types.h"

#define RING	 16
#define CHUNK	 2048
#define HEADROOM (XDP_KERNEL + XDP_ROOM)
#define BUFFERS	 8
#define AREA	 128 /* of a buffer of uring */

/* What is left of the input. */
struct input {
	const uint8_t *data;
	size_t size;
};

static uint8_t take_byte(struct input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

/* At most `size` bytes; how many there were. */
static size_t take_bytes(struct input *in, void *to, size_t size)
{
	const size_t n = size < in->size ? size : in->size;

	memcpy(to, in->data, n);
	in->data += n;
	in->size -= n;
	return n;
}

/* --- xdp --- */

struct card {
	struct xdp x;
	_Atomic uint32_t rx[2], tx[2], fill[2], completion, flags; /* producer, consumer */
	struct xdp_desc rx_entries[RING], tx_entries[RING];
	uint64_t fill_entries[RING], completion_entries[RING], free[RING];
	uint32_t seqs[RING];
	char umem[2 * RING * CHUNK];
};

/* Whatever is posted is complete at once: the completion ring's producer is the send ring's. */
static struct card *make_card(size_t size, bool acknowledges)
{
	struct card *c = calloc(1, sizeof(*c));
	struct xdp *t = &c->x;

	t->frames.size = size;
	t->umem = c->umem;
	t->rx = (struct xdp_ring){&c->rx[0], &c->rx[1], &c->flags, c->rx_entries, RING - 1, NULL, 0};
	t->tx = (struct xdp_ring){&c->tx[0], &c->tx[1], &c->flags, c->tx_entries, RING - 1, NULL, 0};
	t->fill = (struct xdp_ring){&c->fill[0], &c->fill[1], &c->flags, c->fill_entries, RING - 1, NULL, 0};
	t->completion =
	    (struct xdp_ring){&c->tx[0], &c->completion, &c->flags, c->completion_entries, RING - 1, NULL, 0};
	t->out_length = t->in_length = (uint32_t)(UDP_FRAME_HEADERS + size);
	t->chunk = CHUNK;
	t->acknowledges = acknowledges;
	t->fd = t->port_fd = -1;
	t->free = c->free;
	t->seqs = c->seqs;
	for (uint32_t i = 0; i < RING; i++)
		c->free[i] = c->completion_entries[i] = ((uint64_t)RING + i) * CHUNK;
	return c;
}

/* Frames that the program on the interface lets through: they have a token, in front of which the input begins. */
static char *add_frame(struct card *c, uint32_t length)
{
	const uint64_t chunk = (uint64_t)c->rx[0] % RING * CHUNK;

	c->rx_entries[c->rx[0]++ % RING] = (struct xdp_desc){.addr = chunk + HEADROOM, .len = length};
	return c->umem + chunk + HEADROOM + UDP_FRAME_HEADERS - sizeof(struct udphdr);
}

static void add_frames(struct card *c, struct input *in, uint32_t count)
{
	for (uint32_t i = 0; in->size && i < count; i++) {
		const uint32_t length = UDP_FRAME_NUMBER + take_byte(in);

		take_bytes(in, add_frame(c, length), length - UDP_FRAME_HEADERS + sizeof(struct udphdr));
	}
}

static void try_xdp(struct input *in)
{
	const size_t size = UDP_FRAME_OVERHEAD + take_byte(in);
	struct card *c = make_card(size, take_byte(in) & 1);
	uint32_t seq;
	int rc = 0;

	add_frames(c, in, RING);
	while (rc >= 0 && c->x.taken != c->rx[0]) {
		const struct xdp_desc *frame = &c->rx_entries[c->x.taken % RING];
		const uint32_t taken = c->x.taken;

		rc = xdp_transport.poll_recv(&c->x.base, &seq);
		if (rc > 0) {
			fuzz_require(seq <= FRAMES_SEQ_MASK);
			fuzz_require((const char *)xdp_transport.recv_buffer(&c->x.base) ==
				     c->umem + frame->addr + UDP_FRAME_HEADERS + UDP_FRAME_OVERHEAD);
			fuzz_require(frame->len >= UDP_FRAME_HEADERS + size ||
				     (c->x.acknowledges && frame->len >= UDP_FRAME_HEADERS + UDP_FRAME_OVERHEAD));
			fuzz_require(!xdp_transport.release(&c->x.base));
		}
		fuzz_require(rc < 0 || c->x.taken == taken + 1);
		fuzz_require(rc >= 0 || c->x.frames.fault.rc == rc);
	}
	fuzz_require(c->rx[1] == c->x.taken && c->fill[0] == c->x.taken);
	for (uint32_t i = 0; i < c->x.taken; i++)
		fuzz_require(c->fill_entries[i] == (uint64_t)i * CHUNK);
	free(c);
}

/* The sides meet: the last frame is a greeting, so that this need not wait. */
static void try_xdp_meet(struct input *in)
{
	json_t *peer = json_pack("{s:s, s:i, s:s, s:s}", "address", "198.18.0.2", "port", 4711, "token",
				 "00112233445566778899aabbccddeeff", "mac", "02:00:00:00:00:01");
	struct card *c = make_card(UDP_FRAME_OVERHEAD + take_byte(in), false);
	struct udphdr udp = {.len = htons(sizeof(udp) + UDP_FRAME_TOKEN + 1)};
	struct err e = ERR_INIT;
	int fd[2];

	fuzz_require(!socketpair(AF_UNIX, SOCK_DGRAM, 0, fd));
	c->x.fd = fd[0];
	c->x.own.at.addr.ss_family = AF_INET;
	add_frames(c, in, RING - 1);
	char *greeting = add_frame(c, UDP_FRAME_NUMBER + 1);

	memcpy(greeting, &udp, sizeof(udp));
	greeting[sizeof(udp) + UDP_FRAME_TOKEN] = 1;
	fuzz_require(!xdp_transport.connect(&c->x.base, peer, &e));
	fuzz_require(c->x.taken == c->rx[0] && c->fill[0] == c->x.taken && c->x.done == c->x.head);
	close(fd[0]);
	close(fd[1]);
	json_decref(peer);
	free(c);
}

/* --- sockets --- */

static void try_udp(struct input *in)
{
	struct udp t = {.acknowledges = take_byte(in) & 1};
	char datagram[2 * UINT8_MAX];
	uint32_t seq;
	int fd[2], rc = 0;

	t.frames.size = FRAMES_NUMBER + take_byte(in);
	t.frames.in = malloc(t.frames.size);
	fuzz_require(t.frames.in && !socketpair(AF_UNIX, SOCK_DGRAM, 0, fd));
	t.end.fd = fd[0];
	while (rc >= 0 && in->size) {
		const size_t n = take_bytes(in, datagram, take_byte(in));

		fuzz_require(send(fd[1], datagram, n, 0) == (ssize_t)n);
		rc = udp_poll_recv(&t.base, &seq);
		fuzz_require(rc <= 0 || n == t.frames.size || (t.acknowledges && n == FRAMES_NUMBER));
		fuzz_require(rc <= 0 || !memcmp(t.frames.in, datagram, n));
	}
	close(fd[0]);
	close(fd[1]);
	free(t.frames.in);
}

/* As the kernel completes requests: some bytes in one of the buffers. */
static size_t arrive(struct uring *t, struct input *in)
{
	const uint32_t buffer = t->arrived % BUFFERS;
	const size_t wanted = 1 + take_byte(in) % AREA;
	const size_t size = take_bytes(in, t->buffers + buffer * t->stride + URING_ALIGN - FRAMES_NUMBER, wanted);

	t->arrival[t->arrived++ % BUFFERS] = (struct uring_arrival){(int32_t)size, buffer};
	return size;
}

/* Over tcp, what is reported is what lies between two borders of the stream; over udp, the whole datagram. */
static void try_uring(struct input *in, enum uring_over over)
{
	struct uring_arrival arrivals[BUFFERS];
	char *stream = malloc(in->size + 1);
	size_t end = 0, from = 0;
	struct uring t = {.settings.over = over, .arrival = arrivals, .arrival_mask = BUFFERS - 1};
	uint32_t seq;
	int rc = 0;

	t.frames.size = FRAMES_NUMBER + take_byte(in) % (AREA - FRAMES_NUMBER);
	t.stride = URING_ALIGN + AREA;
	t.buffers = calloc(BUFFERS + 1, t.stride);
	t.pieces = t.buffers + BUFFERS * t.stride;
	while (rc >= 0 && in->size) {
		const size_t size = arrive(&t, in);

		memcpy(stream + end, t.buffers + (t.arrived - 1) % BUFFERS * t.stride + URING_ALIGN - FRAMES_NUMBER,
		       size);
		from = over == URING_TCP ? from : end;
		end += size;
		while (rc >= 0 && uring_has_arrived(&t)) {
			const uint64_t late = t.frames.stragglers;

			rc = uring_next(&t, &seq);
			fuzz_require(rc <= 0 || over == URING_TCP || size == t.frames.size);
			fuzz_require(rc <= 0 || !memcmp(t.frames.in, stream + from, t.frames.size));
			from += rc > 0 || t.frames.stragglers > late ? t.frames.size : 0;
			if (rc > 0)
				uring_release(&t.base);
		}
		fuzz_require(rc < 0 || over == URING_UDP || end - from == t.got);
	}
	free(t.buffers);
	free(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};

	switch (take_byte(&in) % 8) {
	case 0:
		try_xdp_meet(&in);
		break;
	case 1:
		try_udp(&in);
		break;
	case 2:
	case 3:
		try_uring(&in, URING_UDP);
		break;
	case 4:
	case 5:
		try_uring(&in, URING_TCP);
		break;
	default:
		try_xdp(&in);
	}
	return 0;
}
