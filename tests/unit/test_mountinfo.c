/* Lines of mountinfo: with and without optional fields, with characters that are escaped, and what is no line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mountinfo.h"
#include "tap.h"

static void is_read(const char *text, const char *expected)
{
	char line[256], found[512] = "none";
	struct mount_line m;

	snprintf(line, sizeof(line), "%s", text);
	if (mount_line_read(line, &m))
		snprintf(found, sizeof(found), "%s|%s|%s|%s|%s", m.root, m.where, m.options, m.kind, m.super);
	ok(!strcmp(found, expected), "'%.*s'", (int)strcspn(text, "\n"), text);
	if (strcmp(found, expected) != 0)
		printf("# is '%s', not '%s'\n", found, expected);
}

static void test_mounts(void)
{
	char root[] = "/tmp/kblat-mounts-XXXXXX", path[64];
	struct sysroot r;
	struct mounts all;
	struct mount_line m;
	FILE *f;

	ok(mkdtemp(root) != NULL, "a root");
	snprintf(path, sizeof(path), "mkdir -p %s/proc/self", root);
	ok(!system(path) && !sysroot_open(&r, root, NULL), "it has processes");
	all = mounts_read(&r);
	ok(!mounts_next(&all, &m), "nothing is mounted where no file says so");
	mounts_free(&all);
	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	f = fopen(path, "w");
	fputs("31 23 0:28 / /a rw - ext4 /dev/sda1 rw\nno line\n\n32 23 0:29 / /b rw - tmpfs none rw\n", f);
	fclose(f);
	all = mounts_read(&r);
	ok(mounts_next(&all, &m) && !strcmp(m.where, "/a"), "the first");
	ok(mounts_next(&all, &m) && !strcmp(m.where, "/b"), "what is no line is passed over");
	ok(!mounts_next(&all, &m) && !mounts_next(&all, &m), "that was the last");
	mounts_free(&all);
	sysroot_close(&r);
	snprintf(path, sizeof(path), "rm -r %s", root);
	ok(!system(path), "nothing stays");
}

int main(void)
{
	is_read("31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup cgroup rw,cpuset",
		"/|/sys/fs/cgroup|rw,relatime|cgroup|rw,cpuset");
	is_read("31 23 0:28 /a /b ro - cgroup2 none rw\n", "/a|/b|ro|cgroup2|rw");
	is_read("31 23 0:28 / /b rw master:1 propagate_from:2 - tmpfs  rw,size=1", "/|/b|rw|tmpfs|rw,size=1");
	is_read("31 23 0:28 /x\\040y /mnt/a\\134b\\011c rw - ext4 /dev/sda1 rw", "/x y|/mnt/a\\b\tc|rw|ext4|rw");
	is_read("31 23 0:28 / /a\\04 rw - ext4 /dev/sda1 rw", "/|/a\\04|rw|ext4|rw");
	is_read("", "none");
	is_read("31 23 0:28 / /sys", "none");
	is_read("31 23 0:28 / /sys rw shared:9 cgroup cgroup rw", "none");
	is_read("31 23 0:28 / /sys rw - cgroup", "none");
	ok(mount_has_option("rw,cpuset,cpu", "cpu") && mount_has_option("cpu", "cpu"), "an option of a list");
	ok(!mount_has_option("rw,cpuset", "cpu") && !mount_has_option("", "cpu"), "a part of one is none");
	test_mounts();
	return done_testing();
}
