/*
 * The hosts on which the endpoints of a point run. Known as soon as they have said hello.
 */
#ifndef KBLAT_RUN_SESSION_HOSTS_H
#define KBLAT_RUN_SESSION_HOSTS_H

#include "measure/run/context.h"

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
