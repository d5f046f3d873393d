/*
 * Set-up by the RDMA connection manager.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_CM_H
#define KBLAT_TRANSPORTS_VERBS_CM_H

#include "measure/transports/verbs_types.h"

extern const struct verbs_setup verbs_setup_cm;

/* Process one event of the connection manager after the connection has been established. Is the
 * device being removed? */
bool verbs_cm_says_removed(struct verbs *t);

/* For a `group`: as without the connection manager, which both sides also use to join the group. */
extern const struct verbs_setup verbs_setup_group;

#endif
