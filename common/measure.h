/*
 * What a number measures, and so how people read it: the unit and the digits of every number in a
 * table, whether printed or on a page. Pure; no allocation.
 */
#ifndef KBLAT_COMMON_MEASURE_H
#define KBLAT_COMMON_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

enum measure {
	MEASURE_SERIES, /* that of a series, whose name ends with the unit ("lat_ns"): nanoseconds */
	MEASURE_SHARE,	/* 0 to 1 */
	MEASURE_COUNT,
	MEASURE_RATE, /* per second */
	MEASURE_BYTES,
	MEASURE_BYTE_RATE, /* bytes per second */
	MEASURE_RATIO,	   /* dimensionless */
	MEASURE_NUMBER,	   /* in whatever unit; not scaled */
	MEASURES
};

#define MEASURE_TEXT_MAX 48

/* Below a heading that gives the unit: microseconds, per cent, thousands per second (kHz), millions
 * of bytes per second (MB/s). Returns `buf`. */
char *measure_below_heading(enum measure m, double value, char *buf, size_t size);

/* As above, but a time and a share have their unit: "1.27us", "3.2 %". Returns `buf`. */
char *measure_with_unit(enum measure m, double value, char *buf, size_t size);

/* A value in a unit given by name: "1.27us" if that is "ns", "3.2 %" if it is "share", otherwise
 * "12.5 Hz". Returns `buf`. */
char *measure_in_unit(const char *unit, double value, char *buf, size_t size);

/* Whether its numbers have fractions, whose points should be aligned. */
bool measure_has_fraction(enum measure m);

#endif
