/* Forms of kernel files: what they say, what to write, when two texts are the same. */
#include "common/form.h"
#include "tap.h"

static const char *value(enum form f, const char *text, const char *about)
{
	static char *last;

	free(last);
	last = form_value(f, text, about);
	return last;
}

static void is_written(enum form f, const char *text, const char *to, const char *want)
{
	char *got = form_written(f, text, to);

	is_str(got, want, "%s: '%s' written to a recorded file", form_name(f), to);
	free(got);
}

static void test_values(void)
{
	is_str(value(FORM_TEXT, "10\n", ""), "10", "a number without its newline");
	is_str(value(FORM_TEXT, "4096\t131072\t6291456\n", ""), "4096 131072 6291456", "tabs are blanks");
	is_str(value(FORM_TEXT, "", ""), "", "an empty file says nothing");
	is_str(value(FORM_CHOICE, "always [madvise] never\n", ""), "madvise", "the word in brackets");
	is_str(value(FORM_CHOICE, "none\n", ""), "none", "one word to choose from has no brackets");
	is_str(value(FORM_CONTROLLER, "cpu cpuset io\n", "+cpuset"), "+cpuset", "the controller is on");
	is_str(value(FORM_CONTROLLER, "cpu io\n", "+cpuset"), "-cpuset", "the controller is off");
	is_str(value(FORM_CONTROLLER, "cpu\n", ""), "-", "no controller is asked for");
	is_str(value(FORM_CONTROLLER, "cpusetx\n", "+cpuset"), "-cpuset", "another controller's name begins alike");
}

static void test_same(void)
{
	ok(form_same(FORM_LIST, "0-1,3", "0,1,3"), "lists are sets");
	ok(!form_same(FORM_LIST, "0-1", "0-2"), "different sets");
	ok(form_same(FORM_MASK, "00000000,0000000f", "f"), "masks are sets");
	ok(form_same(FORM_TEXT, "0x10", "16") && form_same(FORM_TEXT, "+5", "5"), "numbers are numbers");
	ok(!form_same(FORM_TEXT, "performance", "powersave") && !form_same(FORM_TEXT, "5", "5x"), "words are words");
	ok(!form_same(FORM_TEXT, "n/a", "0"), "n/a is not 0");
	ok(form_same(FORM_LIST, "(null)", "") && form_same(FORM_MASK, "", "(null)"),
	   "a set that is not there is empty");
	ok(form_same(FORM_TEXT, "2,3,0", "0,2-3") && form_same(FORM_TEXT, "1,2-5,70000", "70000,1-3,4-5"),
	   "ranges in a text");
	ok(!form_same(FORM_TEXT, "2,3", "2-4") && !form_same(FORM_TEXT, "3-2", "2-3"), "other ranges");
	ok(form_same(FORM_TEXT, "00000000,0000000f", "f") && !form_same(FORM_TEXT, "10", "a"), "masks in a text");
	ok(form_same(FORM_TEXT, "1", "Y") && form_same(FORM_TEXT, "on", "1") && !form_same(FORM_TEXT, "N", "1"),
	   "switches");
	ok(form_same(FORM_TEXT, "1G", "1024M") && form_same(FORM_TEXT, "8m", "8388608"), "sizes");
	ok(!form_same(FORM_TEXT, "99999999999999999999", "88888888888888888888"), "numbers that no integer can hold");
	ok(!form_same(FORM_TEXT, "9000000000G", "9000000001G"), "sizes that no integer can hold");
	ok(form_same(FORM_TEXT, "4096\t0x20000", "4096 131072") && !form_same(FORM_TEXT, "1 2", "1 2 3"),
	   "word for word");
}

static void test_files(void)
{
	is_int(form_of_file("/proc/sys/kernel/watchdog_cpumask", "0-3\n"), FORM_LIST, "a list with a mask's name");
	is_int(form_of_file("/sys/bus/workqueue/devices/writeback/cpumask", "f\n"), FORM_MASK, "a mask");
	is_int(form_of_file("/sys/kernel/mm/transparent_hugepage/enabled", "[always] never\n"), FORM_CHOICE,
	       "a choice");
	is_int(form_of_file("/proc/sys/vm/swappiness", "60\n"), FORM_TEXT, "anything else");
}

static void test_offers(void)
{
	ok(form_offers(FORM_CHOICE, "always [madvise] never\n", "never"), "an offered word");
	ok(form_offers(FORM_CHOICE, "always [madvise] never\n", "madvise"), "the one in brackets");
	ok(!form_offers(FORM_CHOICE, "always [madvise] never\n", "nev"), "the beginning of one");
	ok(form_offers(FORM_TEXT, "1", "2"), "a text offers everything");
}

static void test_written(void)
{
	is_written(FORM_CHOICE, "[always] madvise never\n", "never", "always madvise [never]\n");
	is_written(FORM_CHOICE, "[default] performance powersave ", "performance", "default [performance] powersave\n");
	is_written(FORM_CONTROLLER, "memory pids\n", "+cpuset", "memory pids cpuset\n");
	is_written(FORM_CONTROLLER, "cpuset memory\n", "-cpuset", "memory\n");
	is_written(FORM_CONTROLLER, "\n", "+cpuset", "cpuset\n");
	is_written(FORM_TEXT, "60\n", "10", "10\n");
}

int main(void)
{
	test_values();
	test_same();
	test_files();
	test_offers();
	test_written();
	for (int f = 0; f < FORM_COUNT; f++)
		is_int(form_find(form_name((enum form)f)), f, "the name of form %d is its own", f);
	is_int(form_find("odd"), -1, "an unknown form");
	return done_testing();
}
