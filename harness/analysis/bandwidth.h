/*
 * How much was moved a second, by the stamps of who sent.
 *
 * Of kernels with columns t_subm and t_back: one message is under way at a time, and what counts is
 * the time of the round trips alone, without what lies between two.
 *
 * Of kernels with columns t_subm and t_comp that count what was received: a repetition lasts from
 * its first submission to its last completion; with a way back (t_subm_back, t_comp_back) both ways
 * are added.
 *
 * {"messages_per_s", "bytes_per_s", "delivered_bytes_per_s", "link_bits_per_s", "link_share"}: of
 * what was received, from the first reception to the last, null where the other side takes no part;
 * link_bits_per_s, of each direction, is a setting or what the device said, else it and the share
 * are null. The payload is what counts, without what a transport or a network adds.
 */
#ifndef KBLAT_ANALYSIS_BANDWIDTH_H
#define KBLAT_ANALYSIS_BANDWIDTH_H

#include "analysis/blocks.h"

extern const struct block bandwidth_block;

#endif
