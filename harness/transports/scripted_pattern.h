/*
 * Latencies that repeat with the number of the message, as a text: "32:31-32:4us 128:127:1us".
 */
#ifndef KBLAT_TRANSPORTS_SCRIPTED_PATTERN_H
#define KBLAT_TRANSPORTS_SCRIPTED_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* 0, or -EINVAL with what is wrong. */
int scripted_pattern_check(const char *text, char *why, size_t why_size);

/* How much longer message `seq`, from 0 on, takes. Of a text that was checked. */
int64_t scripted_pattern_delay(const char *text, uint32_t seq);

#endif
