#include "common/sysroot.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "common/err.h"
#include "common/fs.h"
#include "tap.h"

static void put(const char *dir, const char *path, const char *text)
{
	char *p = fs_path("%s%s", dir, path), *slash = strrchr(p, '/');

	*slash = '\0';
	fs_mkdirs(p, NULL);
	*slash = '/';
	tap_file(p, text, strlen(text));
	free(p);
}

static void put_link(const char *dir, const char *path, const char *target)
{
	char *p = fs_path("%s%s", dir, path);

	if (symlink(target, p)) {
		printf("Bail out! no link %s\n", p);
		exit(1);
	}
	free(p);
}

/* A small recorded machine, beside a folder that it must not reach. */
static void make_machine(const char *dir)
{
	char *fifo = fs_path("%s/root/dev/fifo", dir);

	put(dir, "/secret", "outside\n");
	for (int i = 0; i < 12; i++) {
		char *p = fs_path("/root/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", i);

		if (i != 3)
			put(dir, p, "powersave\n");
		free(p);
	}
	put(dir, "/root/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle  \nsecond line\n");
	put(dir, "/root/sys/devices/system/cpu/online", "0-11\n");
	put(dir, "/root/sys/empty", "");
	put(dir, "/root/dev/null", "a file\n");
	put_link(dir, "/root/sys/up", "../../secret");
	put_link(dir, "/root/sys/absolute", "/dev/null");
	put_link(dir, "/root/sys/loop", "loop");
	put_link(dir, "/root/sys/dangling", "nowhere");
	put_link(dir, "/root/cpu", "sys/devices/system/cpu");
	mkfifo(fifo, 0600);
	free(fifo);
}

static char *text_of(const struct sysroot *r, const char *path)
{
	char *text;
	int rc = sysroot_read(r, path, 1000, &text, NULL);

	return rc ? fs_path("%d", rc) : text;
}

static void check_text(const struct sysroot *r, const char *path, const char *want, const char *what)
{
	char *text = text_of(r, path);

	is_str(text, want, "%s", what);
	free(text);
}

static void check_error(const struct sysroot *r, const char *path, int rc, const char *what)
{
	char *text = NULL;

	is_int(sysroot_read(r, path, 1000, &text, NULL), rc, "%s", what);
	free(text);
}

static void test_read(const struct sysroot *r)
{
	char *text;
	size_t length;

	check_text(r, "/sys/devices/system/cpu/online", "0-11\n", "a file");
	check_text(r, "sys/devices/system/cpu/online", "0-11\n", "without a slash in front");
	check_text(r, "/cpu/online", "0-11\n", "through a link inside");
	check_text(r, "/sys/absolute", "a file\n", "an absolute link starts at the root that was set");
	check_text(r, "/sys/empty", "", "an empty file");
	check_error(r, "/sys/up", -ENOENT, "a link upwards ends at the root");
	check_error(r, "/../secret", -ENOENT, "so does a path");
	check_error(r, "../secret", -ENOENT, "of either kind");
	check_error(r, "/sys/loop", -ELOOP, "a loop");
	check_error(r, "/sys/dangling", -ENOENT, "a dangling link");
	check_error(r, "/sys/missing", -ENOENT, "a missing file");
	check_error(r, "", -ENOENT, "no path");
	check_error(r, "/sys", -EISDIR, "a directory");
	check_error(r, "/dev/fifo", -EINVAL, "a FIFO");
	is_int(sysroot_read(r, "/cpu/online", 5, &text, &length), 0, "exactly the limit");
	is_int((long long)length, 5, "its length");
	free(text);
	is_int(sysroot_read(r, "/cpu/online", 4, &text, &length), -EFBIG, "over the limit");
}

/* Its numbers may be those of anything on this machine. */
static void test_device(const char *dir, const struct sysroot *r)
{
	char *path = fs_path("%s/root/dev/zero", dir);

	if (mknod(path, S_IFCHR | 0666, makedev(1, 5)))
		skip("devices are made by root only");
	else
		check_error(r, "/dev/zero", -EINVAL, "a device in a recorded machine");
	unlink(path);
	free(path);
}

static void test_line(const struct sysroot *r)
{
	char buf[64];

	is_int(sysroot_line(r, "/sys/devices/system/cpu/cpuidle/current_driver", buf, sizeof(buf)), 0, "a line");
	is_str(buf, "intel_idle", "without what follows it");
	is_int(sysroot_line(r, "/cpu/cpuidle/current_driver", buf, 6), 0, "a small buffer");
	is_str(buf, "intel", "gets what fits");
	is_int(sysroot_line(r, "/sys/empty", buf, sizeof(buf)), 0, "an empty file");
	is_str(buf, "", "has an empty line");
	strcpy(buf, "old");
	is_int(sysroot_line(r, "/missing", buf, sizeof(buf)), -ENOENT, "a missing file");
	is_int(sysroot_line(r, "/sys", buf, sizeof(buf)), -EISDIR, "a directory");
	is_int(sysroot_line(r, "/sys/empty", buf, 0), -EINVAL, "no buffer");
}

static void test_int(const char *dir, const struct sysroot *r)
{
	static const struct {
		const char *text;
		int rc;
		int64_t value;
	} rows[] = {
	    {"0\n", 0, 0},
	    {"42", 0, 42},
	    {"-1\n", 0, -1},
	    {"  7 \n", 0, 7},
	    {"0x10\n", 0, 16},
	    {"-0x10\n", 0, -16},
	    {"010\n", 0, 10},
	    {"9223372036854775807\n", 0, INT64_MAX},
	    {"-9223372036854775808\n", 0, INT64_MIN},
	    {"18446744073709551615\n", -ERANGE, 5},
	    {"9223372036854775808\n", -ERANGE, 5},
	    {"", -EINVAL, 5},
	    {"\n", -EINVAL, 5},
	    {"-", -EINVAL, 5},
	    {"--1", -EINVAL, 5},
	    {"0x", -EINVAL, 5},
	    {"0xg", -EINVAL, 5},
	    {"1 2\n", -EINVAL, 5},
	    {"1\n2\n", -EINVAL, 5},
	    {"12a\n", -EINVAL, 5},
	    {"a\n", -EINVAL, 5},
	    {"1.5\n", -EINVAL, 5},
	    {"1e3\n", -EINVAL, 5},
	    {"max\n", -EINVAL, 5},
	};
	char *path = fs_path("%s/root/number", dir);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t v = 5;

		tap_file(path, rows[i].text, strlen(rows[i].text));
		is_int(sysroot_int(r, "/number", &v), rows[i].rc, "number %zu", i);
		is_int(v, rows[i].value, "its value");
	}
	tap_file(path, "1\0002", 3);
	is_int(sysroot_int(r, "/number", &(int64_t){0}), -EINVAL, "a NUL behind the number");
	is_int(sysroot_int(r, "/nothing", &(int64_t){0}), -ENOENT, "no file");
	free(path);
}

static void test_write(const char *dir, const struct sysroot *r)
{
	char *secret = fs_path("%s/secret", dir), *text;

	put(dir, "/root/sys/knob", "a long old value\n");
	is_int(sysroot_write(r, "/sys/knob", "1", 1), 0, "a write");
	check_text(r, "/sys/knob", "1", "replaces all there was");
	is_int(sysroot_write(r, "/sys/none", "1", 1), -ENOENT, "a file that does not exist");
	ok(!sysroot_exists(r, "/sys/none"), "is not made");
	is_int(sysroot_write(r, "/sys", "1", 1), -EISDIR, "a directory");
	is_int(sysroot_write(r, "/dev/fifo", "1", 1), -EINVAL, "a FIFO");
	is_int(sysroot_write(r, "/sys/up", "1", 1), -ENOENT, "a link that leads outside");
	fs_read(secret, 100, &text, NULL, NULL);
	is_str(text, "outside\n", "writes nothing there");
	free(text);
	free(secret);
}

static void test_links(const struct sysroot *r)
{
	char buf[32];

	is_int(sysroot_readlink(r, "/sys/up", buf, sizeof(buf)), 0, "a link");
	is_str(buf, "../../secret", "its text");
	is_int(sysroot_readlink(r, "/sys/loop", buf, sizeof(buf)), 0, "also of a loop");
	is_int(sysroot_readlink(r, "/sys/up", buf, 12), -ENAMETOOLONG, "a buffer too small by one");
	is_int(sysroot_readlink(r, "/sys/empty", buf, sizeof(buf)), -EINVAL, "a file is no link");
	is_int(sysroot_readlink(r, "/sys/missing", buf, sizeof(buf)), -ENOENT, "nothing is none either");
	ok(sysroot_exists(r, "/sys/empty") && sysroot_exists(r, "/cpu") && sysroot_exists(r, "/"), "what exists");
	ok(!sysroot_exists(r, "/sys/missing") && !sysroot_exists(r, "/sys/dangling") && !sysroot_exists(r, "/sys/up"),
	   "what does not");
}

static char *joined(char **names)
{
	char *all = fs_path("%s", ""), *longer;

	for (char **n = names; *n; n++) {
		longer = fs_path("%s%s%s", all, n == names ? "" : " ", *n);
		free(all);
		all = longer;
	}
	return all;
}

static void check_names(int n, char **names, int want, const char *list, const char *what)
{
	char *all;

	if (!is_int(n, want, "%s: how many", what) || n < 0)
		return;
	all = joined(names);
	is_str(all, list, "%s", what);
	free(all);
	sysroot_names_free(names);
}

static void test_list(const struct sysroot *r)
{
	char **names = NULL;
	int n = sysroot_list(r, "/cpu", "cpu[0-9]*", &names);

	check_names(n, names, 11, "cpu0 cpu1 cpu2 cpu4 cpu5 cpu6 cpu7 cpu8 cpu9 cpu10 cpu11", "natural order");
	n = sysroot_list(r, "/sys/devices/system/cpu/cpuidle", NULL, &names);
	check_names(n, names, 1, "current_driver", "all names, without . and ..");
	n = sysroot_list(r, "/cpu", "nothing*", &names);
	check_names(n, names, 0, "", "no match");
	is_int(sysroot_list(r, "/missing", NULL, &names), -ENOENT, "no directory");
	is_int(sysroot_list(r, "/sys/empty", NULL, &names), -ENOTDIR, "a file");
	is_int(sysroot_list(r, "/dev/fifo", NULL, &names), -ENOTDIR, "a FIFO");
	sysroot_names_free(NULL);
}

static void test_glob(const struct sysroot *r)
{
	char **paths = NULL;
	int n = sysroot_glob(r, "/cpu/cpu[0-3]/cpufreq/scaling_*", &paths);

	check_names(n, paths, 3,
		    "/cpu/cpu0/cpufreq/scaling_governor /cpu/cpu1/cpufreq/scaling_governor "
		    "/cpu/cpu2/cpufreq/scaling_governor",
		    "wildcards in two places");
	n = sysroot_glob(r, "/sys/devices/system/cpu/cpu1*/cpufreq", &paths);
	check_names(n, paths, 3,
		    "/sys/devices/system/cpu/cpu1/cpufreq /sys/devices/system/cpu/cpu10/cpufreq "
		    "/sys/devices/system/cpu/cpu11/cpufreq",
		    "in one");
	n = sysroot_glob(r, "sys/*pt?", &paths);
	check_names(n, paths, 1, "/sys/empty", "without a slash in front");
	n = sysroot_glob(r, "/cpu/online", &paths);
	check_names(n, paths, 1, "/cpu/online", "no wildcard, and it exists");
	n = sysroot_glob(r, "/cpu/offline", &paths);
	check_names(n, paths, 0, "", "no wildcard, and it does not");
	n = sysroot_glob(r, "/missing/*/x", &paths);
	check_names(n, paths, 0, "", "nothing there");
	n = sysroot_glob(r, "/*/loop/*", &paths);
	check_names(n, paths, 0, "", "what cannot be listed matches nothing");
	n = sysroot_glob(r, "/d*/*", &paths);
	check_names(n, paths, 2, "/dev/fifo /dev/null", "at the root");
}

static void test_open(const char *dir)
{
	char *file = fs_path("%s/secret", dir), longer[4097];
	struct sysroot r;
	struct err e = ERR_INIT;

	is_int(sysroot_open(&r, "/nonexistent/root", &e), -ENOENT, "a missing root");
	contains(e.text, "/nonexistent/root: cannot open as a root: no such file or directory", "why");
	sysroot_close(&r);
	err_clear(&e);
	is_int(sysroot_open(&r, file, &e), -ENOTDIR, "a file");
	contains(e.text, "not a directory", "why");
	is_int(sysroot_open(&r, "", NULL), -ENOENT, "an empty path");
	memset(longer, '/', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	is_int(sysroot_open(&r, longer, NULL), -ENAMETOOLONG, "a path of 4096 bytes");
	free(file);
}

static void test_live(const char *dir)
{
	char *fifo = fs_path("%s/root/dev/fifo", dir);
	struct sysroot r;
	struct err e = ERR_INIT;
	char buf[64], *text = NULL;
	int64_t v = 0;

	is_int(sysroot_open(&r, NULL, &e), 0, "this machine");
	ok(r.live, "is live");
	is_str(r.path, "/", "its path");
	is_int(sysroot_int(&r, "/proc/sys/kernel/pid_max", &v), 0, "a number of /proc");
	ok(v > 0, "a real one");
	is_int(sysroot_line(&r, "/proc/self/comm", buf, sizeof(buf)), 0, "a line of /proc");
	like(buf, "^test_sysroot|^[[:graph:]]+$", "our own name");
	is_int(sysroot_read(&r, "/dev/null", 10, &text, NULL), 0, "a character device is read where it is live");
	is_str(text, "", "to its end");
	free(text);
	is_int(sysroot_read(&r, "/dev/zero", 1000, &text, NULL), -EFBIG, "a device without an end");
	strcpy(buf, "old");
	is_int(sysroot_line(&r, "/proc/self/mem", buf, sizeof(buf)), -EIO, "a file that opens, but does not read");
	is_str(buf, "", "gives no line");
	is_int(sysroot_write(&r, "/proc/self/oom_score_adj", "x", 1), -EINVAL, "what the kernel does not take");
	check_error(&r, fifo, -EINVAL, "a FIFO is none");
	free(fifo);
	is_int(sysroot_write(&r, "/dev/null", "x", 1), 0, "and written");
	is_int(sysroot_readlink(&r, "/proc/self/exe", buf, 1), -ENAMETOOLONG, "a link of /proc");
	ok(sysroot_exists(&r, "/proc/self/exe"), "that can be followed");
	sysroot_close(&r);
	is_int(sysroot_open(&r, "/./", &e), 0, "the same root, spelt another way");
	ok(r.live, "is live");
	sysroot_close(&r);
	is_int(r.fd, -1, "closed");
	sysroot_close(&r);
}

int main(void)
{
	char *dir = tap_dir(), *root = fs_path("%s/root", dir);
	struct sysroot r;
	struct err e = ERR_INIT;
	int files = tap_open_files();

	make_machine(dir);
	test_open(dir);
	test_live(dir);
	if (is_int(sysroot_open(&r, root, &e), 0, "a recorded machine") && ok(!r.live, "is not live")) {
		test_read(&r);
		test_device(dir, &r);
		test_line(&r);
		test_int(dir, &r);
		test_write(dir, &r);
		test_links(&r);
		test_list(&r);
		test_glob(&r);
		sysroot_close(&r);
	}
	is_int(tap_open_files(), files, "no file is left open");
	free(root);
	tap_dir_remove(dir);
	return done_testing();
}
