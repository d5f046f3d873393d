/*
 * A transport with both ends in one process: meeting and closing. How the ends are opened is up to the test.
 */
#ifndef KBLAT_TESTS_FIXTURE_PAIR_H
#define KBLAT_TESTS_FIXTURE_PAIR_H

#include <pthread.h>
#include <unistd.h>

#include "common/err.h"
#include "measure/transports/transport.h"
#include "measure/transports/transport_list.h"
#include "tap.h"

#define DECLARE_TRANSPORT(t) extern const struct transport_ops t##_transport;
EVERY_TRANSPORT(DECLARE_TRANSPORT)

/* CALL(post, t, seq, signal): a function of the hot path, of a transport that is called. */
#define CALL(function, t, ...) ((struct transport *)(t))->ops->function((struct transport *)(t), ##__VA_ARGS__)

struct pair {
	const struct transport_ops *ops;
	struct transport *side[2]; /* by role */
	json_t *address[2];
	atomic_int stop, sink_met;
	int rc[2];
	struct err e[2];
};

static void close_pair(struct pair *p)
{
	for (int role = 0; role < 2; role++) {
		if (p->side[role])
			p->ops->close(p->side[role]);
		json_decref(p->address[role]);
	}
}

static void *connect_source(void *arg)
{
	struct pair *p = arg;

	p->rc[ROLE_SOURCE] = p->ops->connect(p->side[ROLE_SOURCE], p->address[ROLE_SINK], &p->e[ROLE_SOURCE]);
	/* Like an endpoint, which the other side may still need. */
	while (!p->rc[ROLE_SOURCE] && p->ops->idle && !atomic_load(&p->sink_met)) {
		p->ops->idle(p->side[ROLE_SOURCE]);
		usleep(1000);
	}
	return NULL;
}

static void connect_pair(struct pair *p)
{
	pthread_t thread;

	pthread_create(&thread, NULL, connect_source, p);
	p->rc[ROLE_SINK] = p->ops->connect(p->side[ROLE_SINK], p->address[ROLE_SOURCE], &p->e[ROLE_SINK]);
	atomic_store(&p->sink_met, 1);
	pthread_join(thread, NULL);
	is_int(p->rc[ROLE_SINK], 0, "the sink meets the source %s", p->e[ROLE_SINK].text);
	is_int(p->rc[ROLE_SOURCE], 0, "the source meets the sink %s", p->e[ROLE_SOURCE].text);
	p->ops->prepare(p->side[ROLE_SINK], NULL);
	p->ops->prepare(p->side[ROLE_SOURCE], NULL);
}

#endif
