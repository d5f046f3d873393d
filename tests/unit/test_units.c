#include "common/units.h"

#include <errno.h>

#include "tap.h"

#define LONG_ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

struct row {
	enum unit unit;
	const char *text;
	int64_t value;
};

static const struct row good[] = {
    {UNIT_ONE, "0", 0},
    {UNIT_ONE, "-0", 0},
    {UNIT_ONE, "32", 32},
    {UNIT_ONE, "-5", -5},
    {UNIT_ONE, "1e6", 1000000},
    {UNIT_ONE, "1E+6", 1000000},
    {UNIT_ONE, "2.5e1", 25},
    {UNIT_ONE, "100e-2", 1},
    {UNIT_ONE, "0e999999999999999999999", 0},
    {UNIT_ONE, "007", 7},
    {UNIT_ONE, "1.000", 1},
    {UNIT_ONE, "1" LONG_ZEROS "e-64", 1},
    {UNIT_ONE, "0." LONG_ZEROS "1e65", 1},
    {UNIT_ONE, "9223372036854775807", INT64_MAX},
    {UNIT_ONE, "-9223372036854775808", INT64_MIN},
    {UNIT_ONE, "9.223372036854775807e18", INT64_MAX},
    {UNIT_TIME_NS, "10", 10},
    {UNIT_TIME_NS, "10ns", 10},
    {UNIT_TIME_NS, "10us", 10000},
    {UNIT_TIME_NS, "10 us", 10000},
    {UNIT_TIME_NS, "10US", 10000},
    {UNIT_TIME_NS, "1.5us", 1500},
    {UNIT_TIME_NS, "1.5ms", 1500000},
    {UNIT_TIME_NS, "2s", 2000000000},
    {UNIT_TIME_NS, "0.1s", 100000000},
    {UNIT_TIME_NS, "3min", INT64_C(180000000000)},
    {UNIT_TIME_NS, "1h", INT64_C(3600000000000)},
    {UNIT_TIME_NS, "1e3us", 1000000},
    {UNIT_TIME_NS, ".5us", 500},
    {UNIT_TIME_NS, "9223372036.854775807s", INT64_MAX},
    {UNIT_TIME_NS, "2562047h", INT64_C(9223369200000000000)},
    {UNIT_BYTES, "32", 32},
    {UNIT_BYTES, "32B", 32},
    {UNIT_BYTES, "1kB", 1000},
    {UNIT_BYTES, "64KiB", 65536},
    {UNIT_BYTES, "64kib", 65536},
    {UNIT_BYTES, "1MB", 1000000},
    {UNIT_BYTES, "1MiB", 1048576},
    {UNIT_BYTES, "1GB", 1000000000},
    {UNIT_BYTES, "1GiB", 1073741824},
    {UNIT_BYTES, "0.5KiB", 512},
    {UNIT_BYTES, "0.000000000931322574615478515625GiB", 1},
    {UNIT_RATE_HZ, "100", 100},
    {UNIT_RATE_HZ, "100Hz", 100},
    {UNIT_RATE_HZ, "25kHz", 25000},
    {UNIT_RATE_HZ, "25khz", 25000},
    {UNIT_RATE_HZ, "1.5MHz", 1500000},
};

struct bad_row {
	enum unit unit;
	const char *text;
	int rc;
	const char *why;
};

static const struct bad_row bad[] = {
    {UNIT_TIME_NS, "", -EINVAL, "'' is not a time; write it as 10us, 1ms, 2s"},
    {UNIT_TIME_NS, "10 parsecs", -EINVAL, "'10 parsecs' is not a time; write it as 10us, 1ms, 2s"},
    {UNIT_TIME_NS, "ten", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "us", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "-", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, ".", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "-.us", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "1.2.3us", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "1e", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "1e+us", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "1us ", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, " 1us", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "1  us", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "1 ", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "+1us", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "--1us", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "1us1", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "1kB", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "0x10", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "nan", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "inf", -EINVAL, "is not a time"},
    {UNIT_TIME_NS, "0.5ns", -EINVAL, "'0.5ns' is not a whole number of nanoseconds"},
    {UNIT_TIME_NS, "1.0005us", -EINVAL, "whole number"},
    {UNIT_TIME_NS, "1e-999999999999999999999s", -EINVAL, "whole number"},
    {UNIT_TIME_NS, "1.00000000000000000000000000000000000000000000000001s", -EINVAL, "whole number"},
    {UNIT_TIME_NS, "2562048h", -ERANGE, "'2562048h' does not fit in 64 bits"},
    {UNIT_TIME_NS, "1e999999999999999999999s", -ERANGE, "does not fit"},
    {UNIT_TIME_NS, "9223372036.854775808s", -ERANGE, "does not fit"},
    {UNIT_ONE, "9223372036854775808", -ERANGE, "does not fit"},
    {UNIT_ONE, "-9223372036854775809", -ERANGE, "does not fit"},
    {UNIT_ONE, "18446744073709551617", -ERANGE, "does not fit"},
    {UNIT_ONE, "340282366920938463463374607431768211457", -ERANGE, "does not fit"},
    {UNIT_ONE, "1" LONG_ZEROS, -ERANGE, "does not fit"},
    {UNIT_ONE, "1.5", -EINVAL, "'1.5' is not a whole number"},
    {UNIT_ONE, "5us", -EINVAL, "is not a whole number; write it as"},
    {UNIT_BYTES, "64K", -EINVAL, "'64K' could mean powers of 1000 or of 1024"},
    {UNIT_BYTES, "64k", -EINVAL, "could mean"},
    {UNIT_BYTES, "64KB", -EINVAL, "could mean"},
    {UNIT_BYTES, "1M", -EINVAL, "could mean"},
    {UNIT_BYTES, "1g", -EINVAL, "could mean"},
    {UNIT_BYTES, "8b", -EINVAL, "in bits"},
    {UNIT_BYTES, "1Mb", -EINVAL, "in bits"},
    {UNIT_BYTES, "1TiB", -EINVAL, "is not a size"},
    {UNIT_BYTES, "0.3B", -EINVAL, "whole number of bytes"},
    {UNIT_RATE_HZ, "1rpm", -EINVAL, "is not a rate"},
    {UNIT_RATE_HZ, "1k", -EINVAL, "is not a rate"},
};

static void test_parse(void)
{
	char why[200];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		int64_t v = 42;

		is_int(unit_parse(good[i].unit, good[i].text, &v, NULL, 0), 0, "'%s' is read", good[i].text);
		is_int(v, good[i].value, "'%s' is right", good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int64_t v = 42;

		is_int(unit_parse(bad[i].unit, bad[i].text, &v, why, sizeof(why)), bad[i].rc, "'%s' is refused",
		       bad[i].text);
		contains(why, bad[i].why, "'%s': why", bad[i].text);
		is_int(v, 42, "'%s' leaves the value alone", bad[i].text);
	}
	ok(unit_parse(UNIT_ONE, "x", &(int64_t){0}, NULL, 0) == -EINVAL, "nobody has to ask why");
}

static void test_format(void)
{
	static const struct row rows[] = {
	    {UNIT_TIME_NS, "0ns", 0},
	    {UNIT_TIME_NS, "1500ns", 1500},
	    {UNIT_TIME_NS, "10us", 10000},
	    {UNIT_TIME_NS, "-10us", -10000},
	    {UNIT_TIME_NS, "1min", INT64_C(60000000000)},
	    {UNIT_TIME_NS, "90s", INT64_C(90000000000)},
	    {UNIT_TIME_NS, "9223372036854775807ns", INT64_MAX},
	    {UNIT_TIME_NS, "-9223372036854775808ns", INT64_MIN},
	    {UNIT_BYTES, "32B", 32},
	    {UNIT_BYTES, "1kB", 1000},
	    {UNIT_BYTES, "64KiB", 65536},
	    {UNIT_BYTES, "1000KiB", 1024000},
	    {UNIT_BYTES, "1GiB", 1073741824},
	    {UNIT_RATE_HZ, "25kHz", 25000},
	    {UNIT_ONE, "1000000", 1000000},
	};
	char buf[48];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_str(unit_format(rows[i].unit, rows[i].value, buf, sizeof(buf)), rows[i].text, "formatted: %s",
		       rows[i].text);
	is_str(unit_format(UNIT_TIME_NS, 123456789, buf, 4), "123", "a small buffer is not overrun");
}

/* What is written is read back as it was, for numbers of all sizes with many and few zeros at their ends. */
static void test_round_trip(void)
{
	unsigned long long seed = 88172645463325252ull;
	unsigned wrong = 0;
	char buf[48];

	for (int i = 0; i < 20000; i++) {
		enum unit unit = (enum unit)(i % 4);
		int64_t v, back;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		v = (int64_t)seed >> (i % 61);
		if (i % 3 == 0 && v < INT64_MAX / 1000000 && v > INT64_MIN / 1000000)
			v *= i % 2 ? 1000000 : 1048576 / 2;
		wrong += unit_parse(unit, unit_format(unit, v, buf, sizeof(buf)), &back, NULL, 0) || back != v;
	}
	is_int(wrong, 0, "20000 numbers survive the way to text and back");
}

static void test_human(void)
{
	static const struct row rows[] = {
	    {UNIT_ONE, "0 ns", 0},
	    {UNIT_ONE, "7 ns", 7},
	    {UNIT_ONE, "999 ns", 999},
	    {UNIT_ONE, "1.00 us", 1000},
	    {UNIT_ONE, "1.27 us", 1269},
	    {UNIT_ONE, "9.99 us", 9994},
	    {UNIT_ONE, "10.0 us", 9996},
	    {UNIT_ONE, "12.3 us", 12345},
	    {UNIT_ONE, "100 us", 99960},
	    {UNIT_ONE, "999 us", 999499},
	    {UNIT_ONE, "1.00 ms", 999500},
	    {UNIT_ONE, "1.50 s", 1500000000},
	    {UNIT_ONE, "3600 s", INT64_C(3600000000000)},
	    {UNIT_ONE, "-1.27 us", -1269},
	    {UNIT_ONE, "-9223372037 s", INT64_MIN},
	};
	char buf[48];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_str(unit_human_ns(rows[i].value, buf, sizeof(buf)), rows[i].text, "for eyes: %s", rows[i].text);
}

int main(void)
{
	test_parse();
	test_format();
	test_round_trip();
	test_human();
	return done_testing();
}
