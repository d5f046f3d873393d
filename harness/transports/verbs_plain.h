/*
 * Set-up with queue pair numbers exchanged through the coordinator.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_PLAIN_H
#define KBLAT_TRANSPORTS_VERBS_PLAIN_H

#include "transports/verbs.h"

extern const struct verbs_setup verbs_setup_plain;

#endif
