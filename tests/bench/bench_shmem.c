/*
 * Measures the one-way latency of shmem, and alternately handing over a bare cache line between the
 * same two CPUs, in the same two processes. "bare" is half a round trip of lines on which both sides
 * spin, without numbers, payload or further stamps. It uses as many lines as shmem has slots, because
 * the time depends by a fifth on where a line's address puts it in the shared cache.
 *
 *   build/bench/bench_shmem [CPU CPU]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "measure/instrument/clock.h"
#include "measure/kernels/oneway.h"
#include "measure/transports/shmem_hot.h"
#include "tests/bench/bench.h"

#define MESSAGES 20000
#define ROUNDS	 11
#define DEPTH	 1024

struct line {
	_Alignas(64) _Atomic uint32_t word;
};

extern const struct kernel_loops oneway_loops_shmem;

struct shared {
	struct line there[DEPTH], back[DEPTH];
	_Alignas(64) _Atomic uint32_t barrier[2];
	char address[128];
	int64_t column[3][MESSAGES];
	int64_t bare[MESSAGES];
};

static void meet(struct shared *s, int side)
{
	uint32_t mine = atomic_fetch_add(&s->barrier[side], 1) + 1;

	while (atomic_load(&s->barrier[!side]) < mine)
		cpu_relax();
}

static void bare_source(struct shared *s, uint32_t base)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		int64_t start = clock_ticks_begin();

		atomic_store_explicit(&s->there[i % DEPTH].word, base + i + 1, memory_order_release);
		while (atomic_load_explicit(&s->back[i % DEPTH].word, memory_order_acquire) != base + i + 1)
			;
		s->bare[i] = (clock_ticks_end() - start) / 2;
	}
}

static void bare_sink(struct shared *s, uint32_t base)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		while (atomic_load_explicit(&s->there[i % DEPTH].word, memory_order_acquire) != base + i + 1)
			;
		atomic_store_explicit(&s->back[i % DEPTH].word, base + i + 1, memory_order_release);
	}
}

static struct transport *open_side(struct shared *s, enum role role)
{
	struct transport_config config = {
	    .role = role, .size = 32, .depth = DEPTH, .numa_node = -1, .name = "0123456789abcdef"};
	struct transport *t;
	json_t *address, *peer;
	struct err e = ERR_INIT;

	if (shmem_transport.open(&config, NULL, &t, &address, &e)) {
		fprintf(stderr, "%s\n", e.text);
		_exit(1);
	}
	if (role == ROLE_SINK)
		snprintf(s->address, sizeof(s->address), "%s", json_string_value(json_object_get(address, "object")));
	json_decref(address);
	meet(s, role);
	peer = json_pack("{s:s}", "object", s->address);
	if (shmem_transport.connect(t, peer, &e)) {
		fprintf(stderr, "%s\n", e.text);
		_exit(1);
	}
	json_decref(peer);
	meet(s, role);
	return t;
}

static void kernel_round(struct shared *s, struct transport *t, enum role role)
{
	static const struct oneway_settings settings = {.messages = MESSAGES, .size = 32, .burst = 1};
	struct worker w = {.transport = t,
			   .settings = &settings,
			   .messages = MESSAGES,
			   .depth = DEPTH,
			   .signal_every = 1,
			   .blank = INT64_MIN,
			   .column = {s->column[0], s->column[1], s->column[2]},
			   .clock = {0, 1, 0}};

	if (role == ROLE_SINK)
		for (int i = 0; i < MESSAGES; i++)
			s->column[2][i] = INT64_MIN;
	t->ops->prepare(t, NULL);
	meet(s, role);
	if (oneway_loops_shmem.loop[role == ROLE_SOURCE ? ONEWAY_SOURCE : ONEWAY_SINK](&w))
		_exit(1);
	meet(s, role);
}

static void side(struct shared *s, enum role role, int cpu, double hz)
{
	double ratio[ROUNDS], median, bare = 0, shmem = 0;
	struct transport *t;

	bench_pin(cpu);
	t = open_side(s, role);
	kernel_round(s, t, role); /* warm-up */
	for (uint32_t i = 0; i < ROUNDS; i++) {
		(role == ROLE_SOURCE ? bare_source : bare_sink)(s, i * MESSAGES);
		kernel_round(s, t, role);
		if (role == ROLE_SOURCE) {
			bare = bench_p50_ns(s->bare, NULL, MESSAGES, hz);
			shmem = bench_p50_ns(s->column[ONEWAY_T_RECV], s->column[ONEWAY_T_SUBM], MESSAGES, hz);
			ratio[i] = shmem / bare;
			printf("round %2u: bare %.0f ns, shmem %.0f ns, ratio %.2f\n", i, bare, shmem, ratio[i]);
		}
		meet(s, role);
	}
	t->ops->close(t);
	if (role == ROLE_SINK)
		return;
	median = bench_median(ratio, ROUNDS);
	printf(
	    "p50 of shmem one-way / a bare cache line: median ratio %.2f, from %.2f to %.2f in %d rounds (must be <= "
	    "1.3)\n",
	    median, ratio[0], ratio[ROUNDS - 1], ROUNDS);
}

int main(int argc, char **argv)
{
	int cpu[2] = {argc > 2 ? atoi(argv[1]) : 0, argc > 2 ? atoi(argv[2]) : 1};
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct clock_report clock;
	int status = 0;

	if (s == MAP_FAILED)
		return 1;
	memset(s, 0, sizeof(*s));
	clock_calibrate(100, &clock);

	pid_t pid = fork();

	side(s, pid ? ROLE_SOURCE : ROLE_SINK, cpu[pid ? 0 : 1], clock.hz);
	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	return status ? 1 : 0;
}
