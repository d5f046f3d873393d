/*
 * Stamps of a program's requests, for `kblat trace --stamps`. One header, no library: include it, and call
 *
 *     kblat_begin(id);   a request begins
 *     kblat_end(id);     and ends
 *
 * `id` tells requests that overlap apart, also where one thread begins and another one ends them. With 0 an end belongs
 * to the last begin of the same thread. Without kblat both cost a load and a branch.
 *
 * Each thread writes into a ring of its own, in memory that the program inherits from kblat (the descriptor that
 * KBLAT_STAMPS names). Nothing waits: stamps that do not fit are counted as lost. For C and C++, Linux, gcc and clang.
 */
#ifndef KBLAT_STAMP_H
#define KBLAT_STAMP_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KBLAT_STAMP_MAGIC   0x31706d617473626bULL /* "kbstamp1" */
#define KBLAT_STAMP_RINGS   256u		  /* threads */
#define KBLAT_STAMP_ENTRIES 8192u		  /* of a ring; a power of two */
#define KBLAT_STAMP_END	    (1ULL << 63)	  /* in `ticks`: the request ends */

struct kblat_stamp {
	uint64_t ticks; /* of the time-stamp counter (x86-64), the virtual counter (arm64), or CLOCK_MONOTONIC_RAW */
	uint64_t id;
};

struct kblat_stamp_ring {
	uint64_t written; /* stamps so far */
	uint64_t lost;	  /* those for which there was no room */
	int32_t tid;
	char pad[44];
	uint64_t read; /* by kblat */
	char pad_read[56];
	struct kblat_stamp entries[KBLAT_STAMP_ENTRIES];
};

struct kblat_stamps {
	uint64_t magic;
	uint32_t threads; /* rings taken; more than there are: the others' stamps are lost */
	char pad[52];
	struct kblat_stamp_ring rings[KBLAT_STAMP_RINGS];
};

/* One of each in a program, however many of its files include this one. */
__attribute__((weak)) struct kblat_stamps *kblat_stamps;
__attribute__((weak)) __thread struct kblat_stamp_ring *kblat_stamp_ring;
__attribute__((weak)) __thread int kblat_stamp_has_none;

static inline uint64_t kblat_stamp_ticks(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
	return ticks;
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

/* A child has no ring yet; its parent goes on writing into its own. */
static inline void kblat_stamp_forget(void)
{
	kblat_stamp_ring = NULL;
	kblat_stamp_has_none = 0;
}

__attribute__((constructor)) static void kblat_stamps_open(void)
{
	const char *text = getauxval(AT_SECURE) ? NULL : getenv("KBLAT_STAMPS");
	struct stat st;
	void *shared;
	int fd;

	if (!text || kblat_stamps)
		return;
	fd = atoi(text);
	if (fd <= 2 || fstat(fd, &st) || st.st_size != (off_t)sizeof(struct kblat_stamps))
		return;
	shared = mmap(NULL, sizeof(struct kblat_stamps), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		return;
	if (((struct kblat_stamps *)shared)->magic != KBLAT_STAMP_MAGIC) {
		munmap(shared, sizeof(struct kblat_stamps));
		return;
	}
	kblat_stamps = (struct kblat_stamps *)shared;
	pthread_atfork(NULL, NULL, kblat_stamp_forget);
}

static inline struct kblat_stamp_ring *kblat_stamp_take_ring(struct kblat_stamps *s)
{
	const uint32_t number =
	    kblat_stamp_has_none ? KBLAT_STAMP_RINGS : __atomic_fetch_add(&s->threads, 1, __ATOMIC_RELAXED);

	kblat_stamp_has_none = number >= KBLAT_STAMP_RINGS;
	if (kblat_stamp_has_none)
		return NULL;
	kblat_stamp_ring = &s->rings[number];
	kblat_stamp_ring->tid = (int32_t)syscall(SYS_gettid);
	return kblat_stamp_ring;
}

static inline void kblat_stamp_write(struct kblat_stamps *s, uint64_t end, uint64_t id)
{
	struct kblat_stamp_ring *r = kblat_stamp_ring ? kblat_stamp_ring : kblat_stamp_take_ring(s);
	uint64_t at;

	if (!r)
		return;
	at = r->written;
	if (at - __atomic_load_n(&r->read, __ATOMIC_ACQUIRE) >= KBLAT_STAMP_ENTRIES) {
		r->lost++;
		return;
	}
	r->entries[at % KBLAT_STAMP_ENTRIES].id = id;
	r->entries[at % KBLAT_STAMP_ENTRIES].ticks = kblat_stamp_ticks() | end;
	__atomic_store_n(&r->written, at + 1, __ATOMIC_RELEASE);
}

static inline void kblat_begin(uint64_t id)
{
	if (__builtin_expect(kblat_stamps != NULL, 0))
		kblat_stamp_write(kblat_stamps, 0, id);
}

static inline void kblat_end(uint64_t id)
{
	if (__builtin_expect(kblat_stamps != NULL, 0))
		kblat_stamp_write(kblat_stamps, KBLAT_STAMP_END, id);
}

#ifdef __cplusplus
}
#endif

#endif
