#include "common/cpulist.h"

#include <errno.h>
#include <sched.h>

#include "tap.h"

static void test_parse(void)
{
	static const struct {
		const char *text, *canonical;
	} rows[] = {
	    {"", ""},
	    {" \n", ""},
	    {"0", "0"},
	    {"0\n", "0"},
	    {"0-3,8", "0-3,8"},
	    {"8,0-3", "0-3,8"},
	    {"3,2,1,0", "0-3"},
	    {"0,0,0", "0"},
	    {"0-1", "0-1"},
	    {"0, 2 ,4", "0,2,4"},
	    {"10-14:2", "10,12,14"},
	    {"0-15:2/8", "0-1,8-9"},
	    {"0-3,2-5", "0-5"},
	    {"5-5", "5"},
	    {"00008", "8"},
	    {"62-65", "62-65"},
	    {"8191", "8191"},
	    {"0-8191", "0-8191"},
	};
	struct cpulist set;
	char buf[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is_int(cpulist_parse(rows[i].text, &set, NULL, 0), 0, "'%s' is a list", rows[i].text);
		is_str(cpulist_format(&set, buf, sizeof(buf)), rows[i].canonical, "'%s' in canonical form",
		       rows[i].text);
	}
}

static void test_refused(void)
{
	static const struct {
		const char *text;
		int rc;
		const char *why;
	} rows[] = {
	    {"x", -EINVAL, "'x' is not a CPU list; write it as 0-3,8"},
	    {",", -EINVAL, "is not a CPU list"},
	    {"1,", -EINVAL, "is not a CPU list"},
	    {"1,,2", -EINVAL, "is not a CPU list"},
	    {",1", -EINVAL, "is not a CPU list"},
	    {"-1", -EINVAL, "is not a CPU list"},
	    {"1-", -EINVAL, "is not a CPU list"},
	    {"1-2-3", -EINVAL, "is not a CPU list"},
	    {"1 2", -EINVAL, "is not a CPU list"},
	    {"0x1", -EINVAL, "is not a CPU list"},
	    {"1.5", -EINVAL, "is not a CPU list"},
	    {"0-4:", -EINVAL, "is not a CPU list"},
	    {"0-4:1/", -EINVAL, "is not a CPU list"},
	    {"3-1", -EINVAL, "the range 3-1 runs backwards"},
	    {"0-4:0", -EINVAL, "step"},
	    {"0-4:3/2", -EINVAL, "step"},
	    {"0-4:0/2", -EINVAL, "step"},
	    {"8192", -ERANGE, "CPUs are numbered 0 to 8191"},
	    {"0-8192", -ERANGE, "CPUs are numbered"},
	    {"4294967296", -ERANGE, "CPUs are numbered"},
	    {"0-99999999999999999999999999", -ERANGE, "CPUs are numbered"},
	};
	struct cpulist set;
	char why[128];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cpulist_clear(&set);
		cpulist_add(&set, 7);
		is_int(cpulist_parse(rows[i].text, &set, why, sizeof(why)), rows[i].rc, "'%s' is refused",
		       rows[i].text);
		contains(why, rows[i].why, "'%s': why", rows[i].text);
		ok(cpulist_count(&set) == 1 && cpulist_has(&set, 7), "'%s' leaves the set alone", rows[i].text);
	}
}

static void test_mask(void)
{
	static const struct {
		const char *text, *list, *canonical;
	} rows[] = {
	    {"0", "", "0"},
	    {"1", "0", "1"},
	    {"f\n", "0-3", "f"},
	    {"ff,00000003", "0-1,32-39", "ff,00000003"},
	    {"FF", "0-7", "ff"},
	    {"00000000,00000001", "0", "1"},
	    {"80000000", "31", "80000000"},
	    {"1,00000000,00000000", "64", "1,00000000,00000000"},
	    {"1,0,0", "64", "1,00000000,00000000"},
	};
	static const char *const wrong[] = {"", "x", "123456789", ",1", "1,", "1,,1", "0x1", "1 1", "-1"};
	struct cpulist set;
	char buf[4096], why[128];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is_int(cpulist_parse_mask(rows[i].text, &set, NULL, 0), 0, "'%s' is a mask", rows[i].text);
		is_str(cpulist_format(&set, buf, sizeof(buf)), rows[i].list, "'%s' as a list", rows[i].text);
		is_str(cpulist_format_mask(&set, buf, sizeof(buf)), rows[i].canonical, "'%s' written again",
		       rows[i].text);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		is_int(cpulist_parse_mask(wrong[i], &set, why, sizeof(why)), -EINVAL, "'%s' is no mask", wrong[i]);
		contains(why, "is not a CPU mask", "'%s': why", wrong[i]);
	}
	cpulist_parse("8191", &set, NULL, 0);
	cpulist_format_mask(&set, buf, sizeof(buf) - 4);
	is_int(cpulist_parse_mask(buf, &set, NULL, 0), 0, "the highest CPU fits");
	is_int(cpulist_first(&set), 8191, "and is the same again");
	strcat(buf, ",0");
	is_int(cpulist_parse_mask(buf, &set, NULL, 0), -ERANGE, "one above does not");
	cpulist_parse("0,40", &set, NULL, 0);
	is_str(cpulist_format_mask(&set, buf, 8), "", "a mask is never cut: it would name other CPUs");
}

static void test_format_small(void)
{
	struct cpulist set;
	char buf[16];

	cpulist_parse("0-3,8,100-120", &set, NULL, 0);
	is_str(cpulist_format(&set, buf, 14), "0-3,8,100-120", "it fits to the byte");
	is_str(cpulist_format(&set, buf, 13), "0-3,8", "cut after a whole item");
	is_str(cpulist_format(&set, buf, 1), "", "no room at all");
}

static void test_sets(void)
{
	struct cpulist a, b;
	char text[64];

	cpulist_clear(&a);
	is_int(cpulist_first(&a), -1, "the empty set has no first CPU");
	is_int(cpulist_count(&a), 0, "nor any");
	cpulist_add(&a, 3);
	cpulist_add(&a, 64);
	cpulist_add(&a, CPULIST_MAX - 1);
	cpulist_add(&a, CPULIST_MAX);
	is_int(cpulist_count(&a), 3, "a CPU too high is ignored");
	is_int(cpulist_first(&a), 3, "first");
	is_int(cpulist_next(&a, 2), 3, "next, just above");
	is_int(cpulist_next(&a, 3), 64, "next, in another word");
	is_int(cpulist_next(&a, 64), CPULIST_MAX - 1, "the last");
	is_int(cpulist_next(&a, CPULIST_MAX - 1), -1, "none after it");
	is_int(cpulist_next(&a, 1 << 30), -1, "none far above");
	ok(!cpulist_has(&a, CPULIST_MAX), "no CPU beyond the set");
	cpulist_remove(&a, 64);
	cpulist_remove(&a, CPULIST_MAX);
	ok(!cpulist_has(&a, 64) && cpulist_has(&a, 3), "removed one, and only that");

	cpulist_parse("1-4", &a, NULL, 0);
	cpulist_parse("2-3,100", &b, NULL, 0);
	ok(cpulist_intersects(&a, &b), "they share CPUs");
	ok(!cpulist_is_subset(&b, &a), "100 is outside");
	cpulist_remove(&b, 100);
	ok(cpulist_is_subset(&b, &a) && !cpulist_is_subset(&a, &b), "now inside");
	cpulist_clear(&b);
	ok(cpulist_is_subset(&b, &a) && !cpulist_intersects(&a, &b), "the empty set is part of all and meets none");

	cpulist_parse("0-5,8191", &a, NULL, 0);
	cpulist_parse("4-7", &b, NULL, 0);
	cpulist_unite(&a, &b);
	is_str(cpulist_format(&a, text, sizeof(text)), "0-7,8191", "what either has");
	cpulist_subtract(&a, &b);
	is_str(cpulist_format(&a, text, sizeof(text)), "0-3,8191", "without what the other has");
	cpulist_add(&b, 2);
	cpulist_intersect(&a, &b);
	is_str(cpulist_format(&a, text, sizeof(text)), "2", "what both have");
}

static void test_allowed(void)
{
	struct cpulist set;
	cpu_set_t mask;

	is_int(cpulist_allowed(&set), 0, "the kernel says where we may run");
	ok(cpulist_count(&set) > 0, "somewhere");
	if (sched_getaffinity(0, sizeof(mask), &mask))
		skip("more CPUs than a cpu_set_t holds");
	else
		ok((int)cpulist_count(&set) == CPU_COUNT(&mask) && CPU_ISSET((size_t)cpulist_first(&set), &mask),
		   "the same as glibc's own");
}

int main(void)
{
	test_parse();
	test_refused();
	test_mask();
	test_format_small();
	test_sets();
	test_allowed();
	return done_testing();
}
