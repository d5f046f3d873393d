/*
 * The shared-memory ring between two threads of one process, by the very functions that the loops are made of: what is
 * read is what was sent, in a ring of two slots that are used again and again. `make memory-order` runs it under
 * ThreadSanitizer, for which two threads that nothing orders are an error on whatever machine.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "measure/transports/shmem_hot.h"
#include "tap.h"

enum { MESSAGES = 20000, DEPTH = 2, SIZE = 96, STRIDE = 128 };

struct side {
	struct shmem shmem;
	char payload[SIZE];
	uint32_t seqs[DEPTH];
	uint32_t wrong;
};

static struct shmem_header header;
static _Alignas(SHMEM_LINE) char slots[DEPTH * STRIDE];

static void open_side(struct side *s)
{
	struct shmem_ring ring = {.header = &header, .slots = slots};

	*s = (struct side){.shmem = {.depth = DEPTH, .size = SIZE, .stride = STRIDE, .tx = ring, .rx = ring}};
	s->shmem.out = s->payload;
	s->shmem.seqs = s->seqs;
}

static void *send_all(void *arg)
{
	struct side *s = arg;
	uint32_t seq;

	for (uint32_t i = 0, done = 0; done < MESSAGES;) {
		if (i < MESSAGES && i - done < DEPTH) {
			memset(s->payload, (int)(i % 251), SIZE);
			shmem_post(&s->shmem, i++, true);
		}
		if (shmem_poll_send(&s->shmem, &seq))
			s->wrong += seq != done++;
	}
	return NULL;
}

static void *receive_all(void *arg)
{
	struct side *s = arg;
	char expected[SIZE];
	uint32_t seq;

	for (uint32_t i = 0; i < MESSAGES;) {
		if (!shmem_poll_recv(&s->shmem, &seq)) {
			cpu_relax();
			continue;
		}
		memset(expected, (int)(i % 251), SIZE);
		s->wrong += seq != i++ || memcmp(shmem_recv_buffer(&s->shmem), expected, SIZE) != 0;
		shmem_release(&s->shmem);
	}
	return NULL;
}

int main(void)
{
	static struct side sender, receiver;
	pthread_t thread;

	open_side(&sender);
	open_side(&receiver);
	if (pthread_create(&thread, NULL, send_all, &sender))
		return 1;
	receive_all(&receiver);
	pthread_join(thread, NULL);
	is_int(receiver.wrong, 0, "messages that are not what was sent");
	is_int(sender.wrong, 0, "completions out of order");
	return done_testing();
}
