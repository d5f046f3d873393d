/*
 * Latencies that repeat with the index of the message, as text: "32:31-32:4us 128:127:1us".
 */
#ifndef KBLAT_TRANSPORTS_SCRIPTED_PATTERN_H
#define KBLAT_TRANSPORTS_SCRIPTED_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* 0, or -EINVAL and the error in `why`. */
int scripted_pattern_check(const char *text, char *why, size_t why_size);

/* The additional latency of message `seq` (from 0). The text must have been checked. */
int64_t scripted_pattern_delay(const char *text, uint32_t seq);

#endif
