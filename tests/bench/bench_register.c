/*
 * Measures the loop of the kernel `register`, and alternately a bare one that makes the same calls
 * between two reads of the tick counter, with the same memory and on the same CPU.
 *
 *   build/bench/bench_register            mlock and munlock
 *   build/bench/bench_register DEVICE     ibv_reg_mr and ibv_dereg_mr, in the Soft-RoCE guest: rxe0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/instrument/clock.h"
#include "measure/kernels/register.h"
#include "measure/transports/shmem_hot.h"
#include "measure/transports/verbs_hot.h"
#include "tests/bench/bench.h"

#define MESSAGES 500
#define ROUNDS	 9
#define LIMIT	 1.05

extern const struct kernel_loops register_loops_shmem, register_loops_verbs;

static int64_t column[4][MESSAGES], begin[MESSAGES], held[MESSAGES];
static struct verbs verbs;

static void kernel_round(struct register_side *side)
{
	const bool device = side->settings->pin == REGISTER_WITH_DEVICE;
	static struct shmem shmem;
	struct worker w = {.transport = device ? &verbs.base : &shmem.base,
			   .settings = side->settings,
			   .side = side,
			   .messages = MESSAGES,
			   .column = {column[0], column[1], column[2], column[3]},
			   .clock = {0, 1, 0}};

	if ((device ? register_loops_verbs : register_loops_shmem).loop[REGISTER_SOURCE](&w)) {
		fprintf(stderr, "cannot %s memory: %s\n", side->failed, strerror(-side->rc));
		exit(1);
	}
}

static void bare_round(const struct register_side *side)
{
	void *data = side->memory.data;
	const size_t size = (size_t)side->settings->size;

	for (int i = 0; i < MESSAGES; i++) {
		struct ibv_mr *mr = NULL;

		begin[i] = clock_ticks_begin();
		if (side->settings->pin == REGISTER_WITH_DEVICE)
			mr = ibv_reg_mr(verbs.pd, data, size, VERBS_REGISTERED);
		else
			syscall(SYS_mlock, data, size);
		held[i] = clock_ticks_end();
		if (mr)
			ibv_dereg_mr(mr);
		else
			syscall(SYS_munlock, data, size);
	}
}

static bool is_as_fast(int64_t size, bool device, double hz)
{
	const struct register_settings settings = {
	    .messages = MESSAGES, .size = size, .pin = device ? REGISTER_WITH_DEVICE : REGISTER_WITH_KERNEL};
	struct register_side side = {.settings = &settings};
	double ratio[ROUNDS], ours[ROUNDS], bare[ROUNDS], median;

	if (memory_reserve(&side.memory, (size_t)size, MEMORY_PAGES_SMALL, -1, NULL))
		exit(1);
	memset(side.memory.data, 1, side.memory.size);
	for (int i = 0; i < ROUNDS; i++) {
		kernel_round(&side);
		bare_round(&side);
		ours[i] = bench_p50_ns(column[REGISTER_T_HELD], column[REGISTER_T_BEGIN], MESSAGES, hz);
		bare[i] = bench_p50_ns(held, begin, MESSAGES, hz);
		ratio[i] = ours[i] / bare[i];
		printf("%s of %lld bytes: bare %.0f ns, ours %.0f ns\n", device ? "ibv_reg_mr" : "mlock",
		       (long long)size, bare[i], ours[i]);
	}
	median = bench_median(ratio, ROUNDS);
	printf("%s of %lld bytes: %.0f ns, bare %.0f ns; median ratio %.3f, from %.3f to %.3f in %d rounds (must be <= "
	       "%.2f)\n",
	       device ? "ibv_reg_mr" : "mlock", (long long)size, bench_median(ours, ROUNDS), bench_median(bare, ROUNDS),
	       median, ratio[0], ratio[ROUNDS - 1], ROUNDS, LIMIT);
	memory_free(&side.memory);
	return median <= LIMIT;
}

static bool open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name)) {
			struct ibv_context *context = ibv_open_device(list[i]);

			verbs.pd = context ? ibv_alloc_pd(context) : NULL;
		}
	if (list)
		ibv_free_device_list(list);
	return verbs.pd;
}

int main(int argc, char **argv)
{
	static const int64_t sizes[] = {1, 4096, 65536, 1 << 20};
	struct clock_report clock;
	bool good = true;

	if (argc > 1 && !open_device(argv[1])) {
		fprintf(stderr, "%s: no such RDMA device\n", argv[1]);
		return 77;
	}
	bench_pin(sched_getcpu());
	clock_calibrate(100, &clock);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		good &= is_as_fast(sizes[i], argc > 1, clock.hz);
	return good ? 0 : 3;
}
