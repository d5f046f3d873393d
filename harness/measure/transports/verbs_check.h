/*
 * Checks for contradictions between the settings of verbs, and between them and what the kernel
 * requires.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_CHECK_H
#define KBLAT_TRANSPORTS_VERBS_CHECK_H

#include "measure/transports/transport.h"

/* See transport_ops.check. */
int verbs_check(const void *settings, const struct transport_config *config, char *why, size_t why_size);

#endif
