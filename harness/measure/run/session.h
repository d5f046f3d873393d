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

/* --- the hosts on which they run, known as soon as they have said hello --- */

/* The boot ID of an endpoint's host; "": not known. */
const char *session_hosts_boot(const struct peer *p);

/* Does an endpoint run on this machine; do all of them; do both endpoints of a flow run on the same host? */
bool session_peer_is_local(const struct session *s, const struct peer *p);
bool session_is_local(const struct session *s);
bool session_flow_is_apart(const struct session *s, size_t flow);

/* To be called when an endpoint has said hello: registers its host if it is another one (hosts.c). -ESTALE: the
 * endpoint was started on a different host before. */
int session_hosts_meet(struct session *s, struct peer *p, struct err *e);

/* When all hosts are registered: does each of the other hosts have room for the point? 0, or a negative errno and `e`,
 * as from preflight_elsewhere(). */
int session_hosts_check_room(const struct session *s, struct err *e);

/* The name of an endpoint's host in the run directory. Valid as long as the endpoint's hello. */
const char *session_hosts_name(const struct session *s, const struct peer *p);

/* {"host": {"boot_id", "roles", "clock"}} of all, of this machine without a clock: that is the run's. */
json_t *session_hosts(const struct session *s);

/* Of an endpoint's ticks to nanoseconds since t0, for its "open". */
json_t *session_hosts_conversion(const struct session *s, const struct peer *p);

#endif
