/*
 * What a coordinator has going with the two endpoints of a point: starting them, their orders and their answers.
 */
#ifndef KBLAT_SESSION_H
#define KBLAT_SESSION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "point/settings.h"
#include "run/channel.h"
#include "run/environment.h"

struct coordinator;

extern const char *const role_names[2];

/* One point while it runs. */
struct session {
	struct coordinator *co;
	const json_t *point, *params;
	json_t *sent; /* params with the CPUs that the environment's shields mean */
	unsigned id;
	char *dir; /* points/<nnnn> */
	struct common_settings common;
	json_int_t messages, pause_ns;
	struct channel side[2]; /* by role */
	struct environment_place place[2];
	json_t *reply[2]; /* the last awaited answers */
	json_t *granted, *placement;
	long long repetition; /* the one that is measured */
	bool is_open;	      /* both endpoints have made what they need */
};

/* Each: 0 or a negative errno. Start both endpoints; have them make what they need (`is_open`, then); have them meet. */
int session_start(struct session *s, struct err *e);
int session_open(struct session *s, struct err *e);
int session_connect(struct session *s, struct err *e);

/*
 * Wait until the roles in `mask` have each answered with `type`; the answers are in s->reply. Only they are listened
 * to: the other side may have a "done" to say, with columns behind it, which is the repetition's.
 */
int session_collect(struct session *s, unsigned mask, const char *type, struct err *e);

/* An "error" of an endpoint as one of ours: always negative. */
int session_complain(const struct session *s, size_t role, const json_t *message, struct err *e);

/* Both channels, in `list`. */
struct channel *const *session_sides(struct session *s, struct channel *list[2]);
void session_drop_replies(struct session *s);

/* The counters of the two CPUs may differ: bound it once a run, with the first pair that is used. */
void session_measure_skew(struct coordinator *co, int source, int sink);

#endif
