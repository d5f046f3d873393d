/*
 * Words that differ from pair to pair: {source}, {sink}, {source_address}, {sink_address}, and {host} and {address} of the side
 * that a launcher is for, in --source, --sink and --set.
 */
#ifndef KBLAT_PAIRS_WORDS_H
#define KBLAT_PAIRS_WORDS_H

#include "pairs/pairs_hosts.h"

/* `host`: the launcher's side, or NULL. The caller frees. What is in braces and is none of these stays. */
char *pairs_words_fill(const char *text, const struct pairs_host *source, const struct pairs_host *sink,
		       const struct pairs_host *host);

#endif
