/*
 * Which hosts the endpoints of a point run on. Known once they have said hello.
 */
#ifndef KBLAT_RUN_SESSION_HOSTS_H
#define KBLAT_RUN_SESSION_HOSTS_H

#include "run/session.h"

/* The boot of an endpoint's host; "": it has not said. */
const char *session_hosts_boot(const struct peer *p);

/* Does an endpoint run on this machine; do all; and do both of a flow on one? */
bool session_peer_is_local(const struct session *s, const struct peer *p);
bool session_is_local(const struct session *s);
bool session_flow_is_apart(const struct session *s, size_t flow);

/* An endpoint has said hello: its host, if it is another one, is met (hosts.h). -ESTALE: it was started on another one before. */
int session_hosts_meet(struct session *s, struct peer *p, struct err *e);

/* All are met: has each other host room for the point? 0, or a negative errno and `e`, as preflight_elsewhere() has it. */
int session_hosts_check_room(const struct session *s, struct err *e);

/* What an endpoint's host is called in the run directory. Valid as long as the endpoint's hello. */
const char *session_hosts_name(const struct session *s, const struct peer *p);

/* {"host": {"boot_id", "roles", "clock"}} of all, of this machine without a clock: that is the run's. */
json_t *session_hosts(const struct session *s);

/* Of an endpoint's ticks to nanoseconds since t0, for its "open". */
json_t *session_hosts_conversion(const struct session *s, const struct peer *p);

#endif
