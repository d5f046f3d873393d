/*
 * Placeholders that are replaced for each pair in --source, --sink and --set: {source}, {sink}, {source_address},
 * {sink_address}, and {host} and {address} of the launcher's own side.
 */
#ifndef KBLAT_PAIRS_WORDS_H
#define KBLAT_PAIRS_WORDS_H

#include "pairs/pairs_hosts.h"

/* `host`: the launcher's side, or NULL. The caller frees. Other words in braces are left unchanged. */
char *pairs_words_fill(const char *text, const struct pairs_host *source, const struct pairs_host *sink,
		       const struct pairs_host *host);

#endif
