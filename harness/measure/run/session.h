/*
 * The endpoints of a point (struct session, in context.h): the commands sent to them and their replies.
 */
#ifndef KBLAT_RUN_SESSION_H
#define KBLAT_RUN_SESSION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "measure/placement/placement.h"
#include "measure/point/point.h"
#include "measure/run/channel.h"
#include "measure/run/context.h"

/* Which of the endpoints. */
enum whom { WHOM_ALL, WHOM_SOURCES, WHOM_SINKS };

/* 0, or a negative errno. End in either case. */
int session_begin(struct session *s, const struct run_context *run, const struct point *p, struct err *e);
void session_stop(struct session *s); /* all endpoints have ended */
void session_end(struct session *s);

/* Each returns 0 or a negative errno. Start all endpoints; assign CPUs to them and let them create what they need (then
 * `is_open` is set); connect them. */
int session_start(struct session *s, struct err *e);
int session_open(struct session *s, struct err *e);
int session_connect(struct session *s, struct err *e);

/* Repeats all of this with new processes; afterwards `granted` and `placement` are those of the new ones. */
int session_renew(struct session *s, struct err *e);

/* Where files of a repetition go: "rep-03", and below it the flow's own folder where flows have names. The caller frees. */
char *session_path(const struct session *s, const struct flow *f, const char *name);

/*
 * Wait until each of these endpoints has replied with `type`; the replies are in peer->reply. Nothing is read from
 * other endpoints: they may be sending a "done" with columns, which belongs to the repetition.
 */
int session_collect(struct session *s, enum whom whom, const char *type, struct err *e);

/* Converts an "error" of an endpoint to a negative errno and `e`. */
int session_complain(const struct peer *p, const json_t *message, struct err *e);

#endif
