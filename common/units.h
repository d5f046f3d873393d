/*
 * Quantities with units, as people write them: "10us", "1.5ms", "64KiB", "25kHz". Pure; no
 * allocation.
 *
 * A number without a unit is taken in the base unit (nanoseconds, bytes, hertz, millionths, one). A
 * decimal fraction is accepted where the result is a whole number of base units ("1.5us" is 1500
 * ns, "0.5ns" is an error). "1e6" is accepted. Time: ns us ms s min h. Bytes: B, kB MB GB (powers
 * of 1000), KiB MiB GiB (powers of 1024), and k, K, M, G alone are refused as ambiguous. Rate: Hz
 * kHz MHz. Share: ppm, %. Case matters for bytes only where it tells units apart.
 */
#ifndef KBLAT_COMMON_UNITS_H
#define KBLAT_COMMON_UNITS_H

#include <stddef.h>
#include <stdint.h>

enum unit { UNIT_ONE, UNIT_TIME_NS, UNIT_BYTES, UNIT_RATE_HZ, UNIT_SHARE_PPM };

/* What is wrong with a text, for callers that write their own message; unit_parse writes one for the others. */
enum unit_fault {
	UNIT_FINE,
	UNIT_NOT,	/* no number, or an unknown unit */
	UNIT_AMBIGUOUS, /* k, K, KB, M, G: of 1000 or of 1024? */
	UNIT_BITS,	/* b, kb: bits, not bytes */
	UNIT_FRACTION,	/* of a base unit */
	UNIT_TOO_LARGE, /* for 64 bits */
};

enum unit_fault unit_read(enum unit unit, const char *text, int64_t *value);

/* The error as a clause to follow the text: "is not a time; write it as 10us, 1ms, 2s". Returns `buf`. */
char *unit_fault_clause(enum unit unit, enum unit_fault fault, char *buf, size_t size);

/*
 * Read `text` whole into `*value`. 0, or -EINVAL (not a number, unknown unit, fraction of a base
 * unit) or -ERANGE (does not fit in 64 bits); `why` (may be NULL) gets a phrase such as "'10 parsecs'
 * is not a time; write it as 10us, 1ms, 2s".
 */
int unit_parse(enum unit unit, const char *text, int64_t *value, char *why, size_t why_size);

/* Shortest exact form with a unit: 10000 ns as "10us", 65536 B as "64KiB", 1500 ns as "1500ns".
 * Returns `buf`. */
char *unit_format(enum unit unit, int64_t value, char *buf, size_t size);

/* For people's eyes, three significant digits: 1269 ns as "1.27 us". Returns `buf`. */
char *unit_human_ns(int64_t ns, char *buf, size_t size);

#endif
