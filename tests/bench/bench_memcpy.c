/*
 * Measures how fast one CPU copies messages into memory that it shares with another one. Streams over
 * shared memory are compared with it. Each slot is handed over by a flag, and given back by a counter;
 * the other CPU does not read the messages.
 *
 *   build/bench/bench_memcpy SIZE MESSAGES SLOTS [CPU CPU]
 *
 * Prints "rate N", in bytes per second. SLOTS must be a power of two. First, a tenth of the messages
 * is copied without being measured.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure/instrument/clock.h"

#define LINE 64

struct ring {
	_Alignas(LINE) _Atomic uint64_t taken;
	_Alignas(LINE) char slots[];
};

static size_t size, slots;
static uint64_t messages, warmup;

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("sched_setaffinity");
		exit(1);
	}
}

/* A cache line with the number of the message, counted from 1, followed by the message on its own lines. */
static size_t stride(void)
{
	return LINE + (size + LINE - 1) / LINE * LINE;
}

static _Atomic uint64_t *slot(struct ring *r, uint64_t turn)
{
	return (_Atomic uint64_t *)(void *)(r->slots + (turn & (slots - 1)) * stride());
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void await_taken(struct ring *r, uint64_t turn)
{
	while (atomic_load_explicit(&r->taken, memory_order_acquire) < turn)
		cpu_relax();
}

static void copy(struct ring *r, const char *data)
{
	int64_t start = 0;

	for (uint64_t i = 0; i < warmup + messages; i++) {
		_Atomic uint64_t *to = slot(r, i);

		if (i == warmup) {
			await_taken(r, i);
			start = now_ns();
		}
		if (i >= slots)
			await_taken(r, i - slots + 1);
		memcpy((char *)to + LINE, data, size);
		atomic_store_explicit(to, i + 1, memory_order_release);
	}
	await_taken(r, warmup + messages);
	printf("rate %.0f\n", (double)messages * (double)size * 1e9 / (double)(now_ns() - start));
}

static void take(struct ring *r)
{
	for (uint64_t i = 0; i < warmup + messages; i++) {
		while (atomic_load_explicit(slot(r, i), memory_order_acquire) != i + 1)
			cpu_relax();
		atomic_store_explicit(&r->taken, i + 1, memory_order_release);
	}
}

int main(int argc, char **argv)
{
	struct ring *r;
	char *data;
	int status = 0;

	if (argc > 3) {
		size = (size_t)atol(argv[1]);
		messages = (uint64_t)atol(argv[2]);
		slots = (size_t)atol(argv[3]);
		warmup = messages / 10;
	}
	if (size < 1 || messages < 10 || slots < 1 || slots & (slots - 1)) {
		fprintf(stderr, "usage: %s SIZE MESSAGES SLOTS [CPU CPU]\n", argv[0]);
		return 2;
	}
	r = mmap(NULL, sizeof(*r) + slots * stride(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
		 -1, 0);
	data = malloc(size);
	if (r == MAP_FAILED || !data) {
		perror("memory");
		return 1;
	}
	memset(data, 1, size);

	pid_t pid = fork();

	if (argc > 5)
		pin(atoi(argv[pid ? 4 : 5]));
	if (!pid) {
		take(r);
		_exit(0);
	}
	copy(r, data);
	waitpid(pid, &status, 0);
	free(data);
	return status ? 1 : 0;
}
