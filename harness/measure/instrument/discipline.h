/*
 * Which daemon synchronises this host's clock with others, and how well, according to that daemon: chrony (`chronyc
 * tracking`) synchronises the system clock; linuxptp's ptp4l (`pmc`) synchronises the system clock or, if it uses the
 * stamps of an adapter, that adapter's clock (a PHC).
 */
#ifndef KBLAT_INSTRUMENT_DISCIPLINE_H
#define KBLAT_INSTRUMENT_DISCIPLINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct err;

struct discipline {
	const char *by;	    /* "chrony", "linuxptp" */
	char reference[64]; /* whom it follows: chrony's reference ID, PTP's grandmaster */
	bool is_source;	    /* it follows nobody: a local reference, the grandmaster itself */
	int64_t error_ns;   /* largest error of the clock, according to the daemon */
	int64_t path_ns;    /* PTP: the mean path delay to its master; otherwise -1 */
	char interface[32]; /* PTP with the adapter's stamps: whose clock is kept; "": the system clock */
};

/* Parse the output of `chronyc -c -n tracking` and of `pmc`. Pure; -ENODATA and `e` if the clock is not
 * synchronised. */
int discipline_parse_chrony(const char *text, struct discipline *out, struct err *e);
int discipline_parse_ptp(const char *text, struct discipline *out, struct err *e);

/* Ask this host's daemon; takes a tenth of a second. */
int discipline_ask_chrony(struct discipline *out, struct err *e);
int discipline_ask_ptp(struct discipline *out, struct err *e);

/* {"by", "reference", "is_source", "error_ns", "path_ns", "interface"}. A new reference. */
json_t *discipline_json(const struct discipline *d);

/* The synchronised clock: CLOCK_REALTIME, or that of a PHC, which stays open in `*fd` (-1: none). */
int discipline_clock(const struct discipline *d, clockid_t *clock, int *fd, struct err *e);

#endif
