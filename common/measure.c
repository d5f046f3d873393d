#include "common/measure.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/units.h"

/* Nanoseconds as microseconds with three significant digits; from 1000 us on, all digits before the
 * decimal point. */
static void as_us(double ns, char *buf, size_t size)
{
	double us = ns / 1000, large = fabs(us);

	snprintf(buf, size, "%.*f", large >= 99.95 ? 0 : large >= 9.995 ? 1 : large >= 0.9995 ? 2 : 3, us);
}

static void as_time(double ns, char *buf, size_t size)
{
	unit_human_ns(ns >= 0x1p63 ? INT64_MAX : ns >= -0x1p63 ? (int64_t)ns : INT64_MIN, buf, size);
}

static void as_percent(double share, char *buf, size_t size)
{
	double percent = 100 * share;
	int digits = percent >= 10 ? 0 : percent >= 1 ? 1 : percent >= 0.1 ? 2 : percent >= 0.01 ? 3 : 4;

	snprintf(buf, size, "%.*f", percent == 0 ? 0 : digits, percent);
}

static void as_share(double share, char *buf, size_t size)
{
	snprintf(buf, size, "%.4g %%", 100 * share);
}

static void as_count(double count, char *buf, size_t size)
{
	snprintf(buf, size, "%.0f", count);
}

/* Four significant digits; from 1000 on, all digits before the decimal point. */
static void as_four_digits(double number, char *buf, size_t size)
{
	snprintf(buf, size, fabs(number) < 999.95 ? "%.4g" : "%.0f", number);
}

static void as_thousands(double number, char *buf, size_t size)
{
	as_four_digits(number / 1e3, buf, size);
}

static void as_millions(double number, char *buf, size_t size)
{
	as_four_digits(number / 1e6, buf, size);
}

static void as_number(double number, char *buf, size_t size)
{
	snprintf(buf, size, "%.6g", number);
}

static const struct {
	void (*below_heading)(double value, char *buf, size_t size);
	void (*with_unit)(double value, char *buf, size_t size);
	bool has_fraction;
} forms[MEASURES] = {
    [MEASURE_SERIES] = {as_us, as_time, true},
    [MEASURE_SHARE] = {as_percent, as_share, true},
    [MEASURE_COUNT] = {as_count, as_count, false},
    [MEASURE_RATE] = {as_thousands, as_thousands, true},
    [MEASURE_BYTES] = {as_count, as_count, false},
    [MEASURE_BYTE_RATE] = {as_millions, as_millions, true},
    [MEASURE_RATIO] = {as_four_digits, as_four_digits, true},
    [MEASURE_NUMBER] = {as_number, as_number, true},
};

char *measure_below_heading(enum measure m, double value, char *buf, size_t size)
{
	forms[m].below_heading(value, buf, size);
	return buf;
}

char *measure_with_unit(enum measure m, double value, char *buf, size_t size)
{
	forms[m].with_unit(value, buf, size);
	return buf;
}

char *measure_in_unit(const char *unit, double value, char *buf, size_t size)
{
	if (!strcmp(unit, "share"))
		snprintf(buf, size, "%.3g %%", 100 * value);
	else if (!strcmp(unit, "ns"))
		as_time(value + (value < 0 ? -0.5 : 0.5), buf, size);
	else
		snprintf(buf, size, "%.4g%s%s", value, *unit ? " " : "", unit);
	return buf;
}

bool measure_has_fraction(enum measure m)
{
	return forms[m].has_fraction;
}
