/*
 * What counters of a transport or its device mean for the validity of a result. A transport states its rows
 * (transport_ops.checks); a run has them in resolved.json, by which it is judged (judge/analysis/validity.c). Runs of 1.0.0
 * have none: they are judged by those below, whatever transport they ran over.
 */
#ifndef KBLAT_FILES_CHECKS_H
#define KBLAT_FILES_CHECKS_H

#include <jansson.h>
#include <stdbool.h>

struct counter_check {
	const char *counter; /* in counters.json, below "device"; it means something if it rises during a repetition */
	const char *instead; /* of a device that does not have it; or NULL */
	/* If not NULL, it means something unless the source's has risen at least as far as this counter of the source. */
	const char *least;
	bool invalidates; /* otherwise it warns */
	/* What is said, with {n}, how far it rose, {of}, the sum of `least`, {reps} of {all} repetitions, or all of that:
	 * {where}; and if nothing is counted (NULL: nothing is said then). */
	const char *text, *unknown;
};

#define CHECK_PACKETS                                                                                                  \
	{                                                                                                              \
		.counter = "port_xmit_packets", .instead = "sent_pkts", .least = "posted", .invalidates = true,        \
		.text = "the messages took another path: the device sent {n} packets for {of} messages{where}",        \
		.unknown = "it was not checked whether the messages went through the device: it does not count sent "  \
			   "packets{where}"                                                                            \
	}
#define CHECK_RNR_NAKS                                                                                                 \
	{                                                                                                              \
		.counter = "rnr_naks",                                                                                 \
		.text = "the device was told {n} times that the receiver was not ready (RNR NAK), and waited before "  \
			"it sent again{where}; a larger recv_depth or a faster receiver helps"                         \
	}
/* The device reports it once per repetition. */
#define CHECK_SRQ                                                                                                      \
	{                                                                                                              \
		.counter = "srq_ran_empty", .text = "a shared receive queue ran empty in {reps} of {all} repetitions"  \
	}
/* Of transports to which any program may send. */
#define CHECK_STRANGERS                                                                                                \
	{                                                                                                              \
		.counter = "stranger_messages",                                                                        \
		.text = "{n} messages of another program came while messages were measured, in {reps} of {all} "       \
			"repetitions, and were dropped"                                                                \
	}
/* Of transports to which any program may connect. */
#define CHECK_ENDED                                                                                                    \
	{                                                                                                              \
		.counter = "ended_connections",                                                                        \
		.text = "{n} connections ended while messages were measured, in {reps} of {all} repetitions: another " \
			"program was connected, or sent more bytes than a message has"                                 \
	}
#define CHECKS_OF_1_0                                                                                                  \
	{                                                                                                              \
		CHECK_PACKETS, CHECK_RNR_NAKS, CHECK_SRQ, CHECK_STRANGERS, CHECK_ENDED                                 \
	}

/* Rows, which counter NULL ends (NULL: none), as resolved.json has them, without those that need posts unless `posts`. New
 * reference. */
json_t *checks_json(const struct counter_check *rows, bool posts);

/* A row of resolved.json. Its strings are borrowed; counter and text are never NULL. */
struct counter_check check_read(const json_t *row);

#endif
