#include "common/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/text.h"

/* More digits than fit exactly in 128 bits are rejected: no quantity needs them. */
#define DIGITS_MAX 38

struct scale {
	const char *name;
	int64_t factor;
	bool exact_case; /* units differ in case */
};

static const struct scale scales_one[] = {{NULL, 0, false}};

/* In each table, the first row is the base unit, and the others are in ascending order. */
static const struct scale scales_time[] = {
    {"ns", 1, false},
    {"us", 1000, false},
    {"ms", 1000000, false},
    {"s", 1000000000, false},
    {"min", INT64_C(60000000000), false},
    {"h", INT64_C(3600000000000), false},
    {NULL, 0, false},
};

/* A lower-case b means bits, and an upper-case K may mean 1024 or 1000. */
static const struct scale scales_bytes[] = {
    {"B", 1, true},	     {"kB", 1000, true},       {"KiB", 1 << 10, false}, {"MB", 1000000, true},
    {"MiB", 1 << 20, false}, {"GB", 1000000000, true}, {"GiB", 1 << 30, false}, {NULL, 0, false},
};

static const struct scale scales_rate[] = {
    {"Hz", 1, false},
    {"kHz", 1000, false},
    {"MHz", 1000000, false},
    {NULL, 0, false},
};

static const struct scale scales_share[] = {{"ppm", 1, false}, {"%", 10000, false}, {NULL, 0, false}};

struct family {
	const struct scale *scales;
	const char *what; /* "is not a ..." */
	const char *base; /* "is not a whole number of ..." */
	const char *like;
};

static const struct family families[] = {
    [UNIT_ONE] = {scales_one, "whole number", NULL, "32, 1000000, 1e6"},
    [UNIT_TIME_NS] = {scales_time, "time", "nanoseconds", "10us, 1ms, 2s"},
    [UNIT_BYTES] = {scales_bytes, "size", "bytes", "32B, 64KiB, 1MB"},
    [UNIT_RATE_HZ] = {scales_rate, "rate", "hertz", "100Hz, 25kHz, 1MHz"},
    [UNIT_SHARE_PPM] = {scales_share, "share", "millionths", "10%, 0.5%, 20ppm"},
};

/* The parts of a decimal number: digits * 10^exponent, where digits neither begin nor end with a zero. */
struct decimal {
	unsigned __int128 digits;
	long count; /* number of digits, counted to detect more than DIGITS_MAX */
	long exponent;
	bool negative;
};

static void take_digit(struct decimal *d, char c, long *zeros)
{
	/* Zeros are not counted until another digit follows, so that trailing ones do not count. */
	if (c == '0') {
		if (d->count)
			++*zeros;
		return;
	}
	d->count += *zeros + 1;
	if (d->count <= DIGITS_MAX) {
		for (; *zeros; --*zeros)
			d->digits *= 10;
		d->digits = d->digits * 10 + (unsigned)(c - '0');
	}
	*zeros = 0;
}

/* Read "e6", "E-3" at `s`; returns its end, or `s` if there is none. */
static const char *take_exponent(const char *s, long *exponent)
{
	const char *p = s + 1;
	bool minus = false;
	long value = 0;

	if (*s != 'e' && *s != 'E')
		return s;
	if (*p == '+' || *p == '-')
		minus = *p++ == '-';
	if (!isdigit((unsigned char)*p))
		return s;
	for (; isdigit((unsigned char)*p); p++)
		if (value < 1000000000)
			value = value * 10 + (*p - '0');
	*exponent += minus ? -value : value;
	return p;
}

/* The end of the number at `text`, or NULL if there is none. */
static const char *take_digits(const char *text, struct decimal *d)
{
	const char *p = text;
	bool any = false, fraction = false;
	long zeros = 0;

	*d = (struct decimal){0};
	if (*p == '-') {
		d->negative = true;
		p++;
	}
	for (; isdigit((unsigned char)*p) || (*p == '.' && !fraction); p++) {
		if (*p == '.') {
			fraction = true;
			continue;
		}
		any = true;
		take_digit(d, *p, &zeros);
		if (fraction)
			d->exponent--;
	}
	d->exponent += zeros;
	return any ? take_exponent(p, &d->exponent) : NULL;
}

/* Cancel a prime of the divisor 10^n in the dividend; false if the dividend is not divisible. */
static bool cancel(unsigned prime, long n, unsigned __int128 *digits, uint64_t *factor)
{
	for (; n; n--) {
		if (*factor % prime == 0)
			*factor /= prime;
		else if (*digits % prime == 0)
			*digits /= prime;
		else
			return false;
	}
	return true;
}

static enum unit_fault scale_up(const struct decimal *d, uint64_t factor, int64_t *value)
{
	unsigned __int128 v = d->digits;
	uint64_t limit = (uint64_t)INT64_MAX + d->negative;

	if (!d->count) {
		*value = 0;
		return UNIT_FINE;
	}
	if (d->count + d->exponent > 19)
		return UNIT_TOO_LARGE;
	if (d->count > DIGITS_MAX)
		return UNIT_FRACTION;
	if (d->exponent < 0 && (!cancel(2, -d->exponent, &v, &factor) || !cancel(5, -d->exponent, &v, &factor)))
		return UNIT_FRACTION;
	/* There are at most 19 digits now, so nothing overflows before the comparison. */
	for (long i = 0; i < d->exponent; i++)
		v *= 10;
	if (__builtin_mul_overflow(v, (unsigned __int128)factor, &v) || v > limit)
		return UNIT_TOO_LARGE;
	*value = d->negative ? (int64_t)(-(uint64_t)v) : (int64_t)v;
	return UNIT_FINE;
}

static enum unit_fault find_factor(enum unit unit, const char *name, uint64_t *factor)
{
	*factor = 1;
	if (!*name)
		return UNIT_FINE;
	for (const struct scale *s = families[unit].scales; s->name; s++)
		if (!(s->exact_case ? strcmp : strcasecmp)(name, s->name)) {
			*factor = (uint64_t)s->factor;
			return UNIT_FINE;
		}
	if (unit != UNIT_BYTES)
		return UNIT_NOT;
	if (!strcmp(name, "KB") || (strlen(name) == 1 && strchr("kKmMgG", *name)))
		return UNIT_AMBIGUOUS;
	for (const struct scale *s = families[unit].scales; s->name; s++)
		if (!strcasecmp(name, s->name))
			return UNIT_BITS;
	return UNIT_NOT;
}

enum unit_fault unit_read(enum unit unit, const char *text, int64_t *value)
{
	struct decimal d;
	uint64_t factor;
	const char *name = take_digits(text, &d);
	enum unit_fault fault;

	if (!name)
		return UNIT_NOT;
	/* "10 us" as well as "10us", but no blank at the end. */
	if (*name == ' ' && isalpha((unsigned char)name[1]))
		name++;
	fault = find_factor(unit, name, &factor);
	return fault == UNIT_FINE ? scale_up(&d, factor, value) : fault;
}

char *unit_fault_clause(enum unit unit, enum unit_fault fault, char *buf, size_t size)
{
	const struct family *f = &families[unit];

	switch (fault) {
	case UNIT_FINE:
		snprintf(buf, size, "is a %s", f->what);
		break;
	case UNIT_NOT:
		snprintf(buf, size, "is not a %s; write it as %s", f->what, f->like);
		break;
	case UNIT_AMBIGUOUS:
		snprintf(buf, size, "could mean powers of 1000 or of 1024; write kB, MB, GB or KiB, MiB, GiB");
		break;
	case UNIT_BITS:
		snprintf(buf, size, "is in bits, or misspelt; write bytes as B, kB, MB, GB");
		break;
	case UNIT_FRACTION:
		snprintf(buf, size, "is not a whole number%s%s", f->base ? " of " : "", f->base ? f->base : "");
		break;
	case UNIT_TOO_LARGE:
		snprintf(buf, size, "does not fit in 64 bits");
		break;
	}
	return buf;
}

int unit_parse(enum unit unit, const char *text, int64_t *value, char *why, size_t why_size)
{
	char quoted[TEXT_QUOTE_MAX], clause[160];
	enum unit_fault fault = unit_read(unit, text, value);

	if (fault == UNIT_FINE)
		return 0;
	if (why)
		snprintf(why, why_size, "%s %s", text_quote(text, quoted, sizeof(quoted)),
			 unit_fault_clause(unit, fault, clause, sizeof(clause)));
	return fault == UNIT_TOO_LARGE ? -ERANGE : -EINVAL;
}

char *unit_format(enum unit unit, int64_t value, char *buf, size_t size)
{
	const struct scale *best = families[unit].scales;

	/* The largest unit that divides the value gives the shortest number. */
	for (const struct scale *s = best; s->name && value; s++)
		if (value % s->factor == 0)
			best = s;
	if (best->name)
		snprintf(buf, size, "%lld%s", (long long)(value / best->factor), best->name);
	else
		snprintf(buf, size, "%lld", (long long)value);
	return buf;
}

char *unit_human_ns(int64_t ns, char *buf, size_t size)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} steps[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	uint64_t magnitude = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	const char *sign = ns < 0 ? "-" : "";
	size_t step = 0;
	int places;
	double v;

	/* 999.5 of a unit would be printed as 1000, so use the next unit from there on. There is
	 * none above seconds. */
	while (step + 1 < sizeof(steps) / sizeof(steps[0]) && (double)magnitude >= 999.5 * (double)steps[step].ns)
		step++;
	v = (double)magnitude / (double)steps[step].ns;
	places = step == 0 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
	snprintf(buf, size, "%s%.*f %s", sign, places, v, steps[step].name);
	return buf;
}
