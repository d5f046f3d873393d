/*
 * Measures messages over AF_XDP in a minimal loop: two processes, each with one thread and one socket on
 * queue 0 of a veth pair that joins two network namespaces; a program that hands over every frame. The
 * transport xdp is compared with it.
 *
 *   build/bench/bench_cards native|generic pingpong|stream SIZE MESSAGES CPU CPU NAMESPACE NAMESPACE INTERFACE
 *
 * pingpong prints "p50 NS p99 NS mean NS" of half round trips; first, a tenth of the messages is sent without
 * being measured. stream prints "rate BYTES", payload a second, from the first post to the last completion, as
 * kblat's rate is; at most DEPTH messages are in flight. A message of SIZE bytes is in a frame with headers for Ethernet, IPv4 and UDP. Needs root.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "measure/instrument/clock.h"

#define RING	2048
#define DEPTH	32
#define CHUNK	2048
#define HEADERS 42

struct ring {
	_Atomic uint32_t *producer, *consumer, *flags;
	void *entries;
};

struct side {
	int fd;
	char *memory;
	struct ring rx, tx, fill, completion;
	uint32_t head, done, taken;
	uint32_t next, missing; /* the number of the next message, and of those that did not arrive */
	uint32_t length;
	long messages, warmup;
	_Atomic bool *is_ready; /* shared: the other side has its socket */
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* --- a socket, and the program --- */

static void map_ring(int fd, struct ring *r, const struct xdp_ring_offset *at, size_t entry, off_t page)
{
	char *map = mmap(NULL, at->desc + RING * entry, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, page);

	if (map == MAP_FAILED)
		fail("mmap");
	*r = (struct ring){(_Atomic uint32_t *)(map + at->producer), (_Atomic uint32_t *)(map + at->consumer),
			   (_Atomic uint32_t *)(map + at->flags), map + at->desc};
}

static void make_rings(struct side *s)
{
	static const int options[] = {XDP_UMEM_FILL_RING, XDP_RX_RING, XDP_UMEM_COMPLETION_RING, XDP_TX_RING};
	const uint32_t entries = RING;
	struct xdp_mmap_offsets at;
	socklen_t size = sizeof(at);

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (setsockopt(s->fd, SOL_XDP, options[i], &entries, sizeof(entries)))
			fail("a ring");
	if (getsockopt(s->fd, SOL_XDP, XDP_MMAP_OFFSETS, &at, &size))
		fail("XDP_MMAP_OFFSETS");
	map_ring(s->fd, &s->fill, &at.fr, sizeof(uint64_t), XDP_UMEM_PGOFF_FILL_RING);
	map_ring(s->fd, &s->rx, &at.rx, sizeof(struct xdp_desc), XDP_PGOFF_RX_RING);
	map_ring(s->fd, &s->completion, &at.cr, sizeof(uint64_t), XDP_UMEM_PGOFF_COMPLETION_RING);
	map_ring(s->fd, &s->tx, &at.tx, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING);
	for (uint32_t i = 0; i < RING; i++)
		((uint64_t *)s->fill.entries)[i] = (uint64_t)i * CHUNK;
	atomic_store(s->fill.producer, RING);
}

static void open_socket(struct side *s, unsigned card)
{
	const size_t size = 2UL * RING * CHUNK;
	struct xdp_umem_reg memory = {.len = size, .chunk_size = CHUNK};
	const struct sockaddr_xdp where = {
	    .sxdp_family = AF_XDP, .sxdp_ifindex = card, .sxdp_flags = XDP_COPY | XDP_USE_NEED_WAKEUP};

	s->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	memory.addr = (uintptr_t)s->memory;
	s->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (s->fd < 0 || setsockopt(s->fd, SOL_XDP, XDP_UMEM_REG, &memory, sizeof(memory)))
		fail("an AF_XDP socket");
	make_rings(s);
	for (int i = 0; bind(s->fd, (const struct sockaddr *)&where, sizeof(where)); i++) {
		/* The kernel gives back the queue of the last run some time after that has ended. */
		if (errno != EBUSY || i == 200)
			fail("bind");
		usleep(10000);
	}
}

/* Every frame goes to the socket. */
static void attach(const struct side *s, unsigned card, bool is_native)
{
	const uint32_t queue = 0;
	int map = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "bench_sockets", sizeof(queue), sizeof(int), 1, NULL);
	const struct bpf_insn program[] = {
	    {.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map},
	    {.code = 0},
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 0},
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = XDP_PASS},
	    {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_map},
	    {.code = BPF_JMP | BPF_EXIT},
	};
	struct bpf_link_create_opts how = {.sz = sizeof(how),
					   .flags = is_native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE};
	int loaded = bpf_prog_load(BPF_PROG_TYPE_XDP, "bench_cards", "Apache-2.0", program,
				   sizeof(program) / sizeof(program[0]), NULL);

	if (map < 0 || loaded < 0 || bpf_map_update_elem(map, &queue, &s->fd, BPF_ANY) ||
	    bpf_link_create(loaded, (int)card, BPF_XDP, &how) < 0)
		fail("the program");
}

/* --- the loops --- */

static inline void kick(const struct side *s)
{
	if (atomic_load_explicit(s->tx.flags, memory_order_relaxed) & XDP_RING_NEED_WAKEUP &&
	    sendto(s->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 && errno != EAGAIN && errno != EBUSY && errno != ENOBUFS)
		fail("sendto");
}

static inline void post(struct side *s)
{
	const uint32_t number = s->head, at = s->head++ & (RING - 1);

	memcpy(s->memory + (size_t)(RING + at) * CHUNK + HEADERS, &number, sizeof(number));
	((struct xdp_desc *)s->tx.entries)[at] =
	    (struct xdp_desc){.addr = (uint64_t)(RING + at) * CHUNK, .len = s->length};
	atomic_store_explicit(s->tx.producer, s->head, memory_order_release);
	kick(s);
}

static inline void reap(struct side *s)
{
	const uint32_t there = atomic_load_explicit(s->completion.producer, memory_order_acquire);

	if (there != s->done) {
		s->done = there;
		atomic_store_explicit(s->completion.consumer, there, memory_order_release);
	}
}

static inline bool receive_try(struct side *s)
{
	const struct xdp_desc *frame = &((const struct xdp_desc *)s->rx.entries)[s->taken & (RING - 1)];
	uint32_t number;

	if (atomic_load_explicit(s->rx.producer, memory_order_acquire) == s->taken)
		return false;
	if (frame->len != s->length) {
		fprintf(stderr, "a frame of another\n");
		exit(1);
	}
	memcpy(&number, s->memory + frame->addr + HEADERS, sizeof(number));
	s->missing += number - s->next;
	s->next = number + 1;
	((uint64_t *)s->fill.entries)[s->taken & (RING - 1)] = frame->addr & ~(uint64_t)(CHUNK - 1);
	atomic_store_explicit(s->fill.producer, RING + ++s->taken, memory_order_release);
	atomic_store_explicit(s->rx.consumer, s->taken, memory_order_release);
	return true;
}

static inline void receive(struct side *s)
{
	while (!receive_try(s))
		;
}

static void ping(struct side *s, double hz)
{
	int64_t *trip = calloc((size_t)s->messages, sizeof(*trip));
	struct span span = {trip, NULL, (size_t)s->messages};
	struct stats stats;

	for (long i = -s->warmup; i < s->messages; i++) {
		int64_t start = clock_ticks_begin();

		post(s);
		receive(s);
		trip[i < 0 ? 0 : i] = clock_ticks_end() - start;
		reap(s);
	}
	if (s->missing) {
		fprintf(stderr, "%u messages are missing\n", s->missing);
		exit(1);
	}
	if (stats_compute(&span, 1, INT64_MAX, &stats, NULL))
		fail("statistics");
	printf("p50 %.1f p99 %.1f mean %.1f\n", (double)stats.quantile[Q50] * 5e8 / hz,
	       (double)stats.quantile[Q99] * 5e8 / hz, stats.mean * 5e8 / hz);
	free(trip);
}

static void pong(struct side *s)
{
	for (long i = -s->warmup; i < s->messages; i++) {
		receive(s);
		post(s);
		reap(s);
	}
}

static void stream(struct side *s, double hz)
{
	int64_t start = clock_ticks_begin();

	for (long i = 0; i < s->messages; i++) {
		for (reap(s); s->head - s->done >= DEPTH; reap(s))
			kick(s);
		post(s);
	}
	for (; s->head != s->done; reap(s))
		kick(s);
	printf("rate %.0f\n", (double)s->messages * (s->length - HEADERS) * hz / (double)(clock_ticks_end() - start));
}

static void drain(struct side *s)
{
	for (;;)
		receive(s);
}

static void enter_namespace(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		fail(path);
	close(fd);
}

static void open_side(struct side *s, const char *space, const char *interface, bool is_native)
{
	unsigned card;

	enter_namespace(space);
	card = if_nametoindex(interface);
	if (!card)
		fail(interface);
	open_socket(s, card);
	attach(s, card, is_native);
	/* To everybody, so that no address matters. */
	for (uint32_t i = 0; i < RING; i++)
		memset(s->memory + (size_t)(RING + i) * CHUNK, 0xff, s->length);
}

int main(int argc, char **argv)
{
	struct side s = {.length = argc == 10 ? HEADERS + (uint32_t)atol(argv[3]) : 0};
	const bool is_stream = argc == 10 && !strcmp(argv[2], "stream");
	struct clock_report clock;
	pid_t pid;

	if (argc != 10 || s.length < HEADERS + sizeof(uint32_t) || s.length > 1514 ||
	    (s.messages = atol(argv[4])) < 100) {
		fprintf(
		    stderr,
		    "usage: %s native|generic pingpong|stream SIZE MESSAGES CPU CPU NAMESPACE NAMESPACE INTERFACE\n",
		    argv[0]);
		return 2;
	}
	s.warmup = s.messages / 10;
	s.is_ready = mmap(NULL, sizeof(*s.is_ready), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	clock_calibrate(100, &clock);
	pid = fork();
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	bench_pin(atoi(argv[pid ? 5 : 6]));
	open_side(&s, argv[pid ? 7 : 8], argv[9], !strcmp(argv[1], "native"));
	if (!pid) {
		atomic_store(s.is_ready, true);
		(is_stream ? drain : pong)(&s);
		_exit(0);
	}
	while (!atomic_load(s.is_ready) && !waitpid(pid, NULL, WNOHANG))
		usleep(1000);
	(is_stream ? stream : ping)(&s, clock.hz);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}
