#include "common/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/err.h"
#include "tap.h"

static bool is_there(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static void test_mkdirs(const char *dir)
{
	char *deep = fs_path("%s/a/b//c/", dir), *file = fs_path("%s/file", dir), *below = fs_path("%s/file/x", dir);
	char *dangling = fs_path("%s/dangling", dir);
	struct err e = ERR_INIT;
	struct stat st;

	is_int(fs_mkdirs(deep, &e), 0, "three at once");
	ok(!stat(deep, &st) && S_ISDIR(st.st_mode), "they are there");
	is_int(fs_mkdirs(deep, &e), 0, "once more is fine");
	is_int(fs_mkdirs("/", &e), 0, "so is the root");
	tap_file(file, "x", 1);
	is_int(fs_mkdirs(file, &e), -ENOTDIR, "a file in its place");
	contains(e.text, "/file: cannot make the directory: it exists, and is not a directory", "why");
	err_clear(&e);
	is_int(fs_mkdirs(below, &e), -ENOTDIR, "a file on the way");
	contains(e.text, "/file: cannot make", "names the one on the way");
	is_int(symlink("/nonexistent/x", dangling), 0, "a dangling link");
	is_int(fs_mkdirs(dangling, NULL), -EEXIST, "is not replaced");
	is_int(fs_mkdirs("", NULL), -EINVAL, "an empty name");
	free(deep);
	free(file);
	free(below);
	free(dangling);
}

static void test_write(const char *dir)
{
	char *path = fs_path("%s/w", dir), *tmp = fs_path("%s/w.tmp", dir), *other = fs_path("%s/other", dir);
	char *text;
	size_t size;
	struct err e = ERR_INIT;
	struct stat st;

	is_int(fs_write(path, "one\0two", 7, &e), 0, "written, NUL and all");
	is_int(fs_read(path, 100, &text, &size, &e), 0, "read");
	ok(size == 7 && !memcmp(text, "one\0two", 8), "the same, with a NUL behind");
	free(text);
	ok(!is_there(tmp), "no .tmp is left");

	tap_file(other, "precious", 8);
	unlink(path);
	is_int(symlink(other, tmp), 0, "somebody put a link where .tmp goes");
	is_int(symlink(other, path), 0, "and one where the file goes");
	is_int(fs_write(path, "new", 3, &e), 0, "written all the same");
	fs_read(other, 100, &text, &size, &e);
	is_str(text, "precious", "not through the links");
	free(text);
	ok(!lstat(path, &st) && S_ISREG(st.st_mode) && st.st_size == 3, "the link has given way to the file");

	mkfifo(tmp, 0600);
	is_int(fs_write(path, "x", 1, &e), 0, "a FIFO in the place of .tmp does not block");
	is_int(fs_write(path, "", 0, &e), 0, "nothing");
	ok(!stat(path, &st) && st.st_size == 0, "is an empty file");

	is_int(fs_write(dir, "x", 1, &e), -EISDIR, "over a directory");
	contains(e.text, "cannot write: it is a directory", "why");
	free(tmp);
	tmp = fs_path("%s.tmp", dir);
	ok(!is_there(tmp), "and no .tmp is left of the attempt");
	is_int(fs_write("", "x", 1, NULL), -EINVAL, "an empty name");
	is_int(fs_write("x/", "x", 1, NULL), -EINVAL, "a name with a slash at its end");
	free(path);
	free(tmp);
	free(other);
}

/* What lies behind a link, in whichever part of the path, is not there for us. */
static void test_links(const char *dir)
{
	char *real = fs_path("%s/links/real", dir), *file = fs_path("%s/links/real/file", dir), *text = NULL;
	char *link = fs_path("%s/links/link", dir), *below = fs_path("%s/links/link/file", dir);
	char *up = fs_path("%s/links/real/../real/file", dir), *dots = fs_path("%s/links/real/a..b", dir);
	struct dirent **names = NULL;
	struct err e = ERR_INIT;
	size_t size;

	is_int(fs_mkdirs(real, &e), 0, "a folder");
	tap_file(file, "x", 1);
	tap_file(dots, "y", 1);
	is_int(symlink("real", link), 0, "and a link to it");
	is_int(fs_read(below, 100, &text, &size, &e), -ELOOP, "a file is not read through it");
	is_int(fs_read_followed(below, 100, &text, &size, NULL), 0, "but where links are followed");
	free(text);
	is_int(fs_scandir(link, &names, NULL, NULL), -ELOOP, "nor is it listed");
	is_int(fs_scandir(real, &names, NULL, NULL), 4, "the folder itself is");
	for (int i = 0; names && i < 4; i++)
		free(names[i]);
	free(names);
	ok(!fs_is_missing(link) && !fs_is_missing(below), "a link is something");
	is_int(fs_read(up, 100, &text, &size, NULL), -EXDEV, "a path that leads up is refused");
	is_int(fs_read(dots, 100, &text, &size, NULL), 0, "two dots in a name are none");
	free(text);
	unlink(file);
	ok(fs_is_missing(file) && fs_is_missing_or_empty(file), "what was removed is missing");
	tap_file(file, "", 0);
	ok(!fs_is_missing(file) && fs_is_missing_or_empty(file), "a file without content is there, and empty");
	ok(!fs_is_missing_or_empty(below), "behind a link nobody looks whether it is");
	free(real);
	free(file);
	free(link);
	free(below);
	free(up);
	free(dots);
}

static void test_read(const char *dir)
{
	char *path = fs_path("%s/r", dir), *text = NULL, *link = fs_path("%s/loop", dir);
	char *big = malloc(10000);
	struct err e = ERR_INIT;
	size_t size;

	memset(big, 'x', 10000);
	tap_file(path, big, 10000);
	is_int(fs_read(path, 10000, &text, &size, &e), 0, "exactly the limit");
	is_int(size, 10000, "whole");
	free(text);
	is_int(fs_read(path, 9999, &text, &size, &e), -EFBIG, "one byte over it");
	contains(e.text, "/r: cannot read: it has 10000 bytes; the limit is 9999", "why");
	tap_file(path, "", 0);
	is_int(fs_read(path, 0, &text, NULL, &e), 0, "an empty file within a limit of nothing");
	is_str(text, "", "is an empty text");
	free(text);
	err_clear(&e);
	is_int(fs_read(dir, 100, &text, &size, &e), -EISDIR, "a directory");
	unlink(path);
	mkfifo(path, 0600);
	err_clear(&e);
	is_int(fs_read(path, 100, &text, &size, &e), -EINVAL, "a FIFO");
	contains(e.text, "not a regular file", "a FIFO: why");
	err_clear(&e);
	is_int(fs_read("/dev/zero", 100, &text, &size, &e), -EINVAL, "a device");
	is_int(symlink("loop", link), 0, "a link to itself");
	err_clear(&e);
	is_int(fs_read(link, 100, &text, &size, &e), -ELOOP, "is refused");
	contains(e.text, "symbolic link", "and why");
	err_clear(&e);
	is_int(fs_read_followed("/proc/self/status", 1 << 20, &text, &size, &e), 0, "a file of /proc, whose size is 0");
	contains(text, "VmRSS", "is read to its end");
	free(text);
	is_int(fs_read_followed("/proc/self/status", 10, &text, &size, &e), -EFBIG, "also there the limit holds");

	is_int(fs_read_followed("/proc/self/mem", 100, &text, &size, NULL), -EIO,
	       "a file that opens, but does not read");
	unlink(path);
	tap_file(path, "x", 1);
	chmod(path, 0);
	err_clear(&e);
	if (!geteuid()) {
		skip("running as root, who may read everything");
	} else {
		is_int(fs_read(path, 100, &text, &size, &e), -EACCES, "an unreadable file");
		contains(e.text, "permission denied", "an unreadable file: why");
	}
	free(big);
	free(link);
	free(path);
}

/* A disk that is full in the middle of a file, as the limit on file sizes can play it. */
static void test_write_fails(const char *dir)
{
	char *path = fs_path("%s/limited", dir), *tmp = fs_path("%s/limited.tmp", dir), *text;
	char data[2000] = "";
	struct rlimit old, small;
	struct err e = ERR_INIT;

	fs_write(path, "old", 3, NULL);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 1000;
	signal(SIGXFSZ, SIG_IGN);
	fflush(stdout);
	setrlimit(RLIMIT_FSIZE, &small);
	fs_write(path, data, sizeof(data), &e);
	setrlimit(RLIMIT_FSIZE, &old);
	contains(e.text, "/limited: cannot write: the file is too large", "a write that fails halfway");
	ok(!is_there(tmp), "leaves no .tmp");
	fs_read(path, 100, &text, NULL, NULL);
	is_str(text, "old", "and the file as it was");
	free(text);
	free(path);
	free(tmp);
}

static void test_sync(const char *dir)
{
	char *missing = fs_path("%s/missing", dir), *link = fs_path("%s/sync-link", dir);
	struct err e = ERR_INIT;

	is_int(fs_sync(dir, &e), 0, "a directory");
	is_int(fs_sync(missing, &e), -ENOENT, "a missing file");
	contains(e.text, "/missing: cannot sync: no such file", "why");
	is_int(symlink(dir, link), 0, "a link");
	is_int(fs_sync(link, NULL), -ELOOP, "is not followed");
	free(missing);
	free(link);
}

static void make_tree(const char *top, const char *outside)
{
	char *p = fs_path("%s/x/y/z", top);

	fs_mkdirs(p, NULL);
	free(p);
	p = fs_path("%s/x/y/z/file", top);
	tap_file(p, "1", 1);
	free(p);
	p = fs_path("%s/x/out", top);
	if (symlink(outside, p))
		note("no link");
	free(p);
	p = fs_path("%s/x/fifo", top);
	mkfifo(p, 0600);
	free(p);
}

static void test_remove(const char *dir)
{
	char *top = fs_path("%s/top", dir), *outside = fs_path("%s/outside", dir), *link = fs_path("%s/link", dir);
	char *kept = fs_path("%s/outside/kept", dir), *slash = fs_path("%s/link/", dir);
	struct err e = ERR_INIT;

	fs_mkdirs(outside, NULL);
	tap_file(kept, "kept", 4);
	make_tree(top, outside);
	is_int(fs_remove_tree(top, &e), 0, "a tree with files, a link and a FIFO");
	ok(!is_there(top), "is gone");
	ok(is_there(kept), "what the link pointed at is not");
	is_int(fs_remove_tree(top, &e), 0, "a missing tree is fine");

	is_int(symlink(outside, link), 0, "a link in the place of a tree");
	is_int(fs_remove_tree(link, &e), -ENOTDIR, "is refused");
	is_int(fs_remove_tree(slash, &e), -ENOTDIR, "also with a slash behind");
	is_int(fs_remove_tree(kept, &e), -ENOTDIR, "a file is no tree");
	ok(is_there(kept) && is_there(link), "and nothing was removed");
	free(top);
	free(outside);
	free(link);
	free(kept);
	free(slash);
}

static void test_locked(const char *dir)
{
	char *top = fs_path("%s/locked", dir), *sub = fs_path("%s/locked/sub", dir),
	     *file = fs_path("%s/locked/sub/f", dir);
	struct err e = ERR_INIT;

	fs_mkdirs(sub, NULL);
	tap_file(file, "", 0);
	chmod(sub, 0500);
	if (!geteuid()) {
		skip("running as root, who may remove everything");
	} else {
		is_int(fs_remove_tree(top, &e), -EACCES, "a folder that may not be written");
		contains(e.text, "/locked/sub/f: cannot remove: permission denied", "names what stays");
	}
	chmod(sub, 0700);
	is_int(fs_remove_tree(top, NULL), 0, "and goes when it may");
	free(top);
	free(sub);
	free(file);
}

/* In a child with mounts of its own: 0 if both refuse to enter another file system, 77 if there is no making one. */
static int try_mount(const char *top, const char *sub)
{
	char **files;

	if (unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("none", sub, "tmpfs", 0, NULL))
		return 77;
	if (fs_files(top, &files, NULL, NULL) != -EXDEV)
		return 1;
	return fs_remove_tree(top, NULL) == -EXDEV ? 0 : 2;
}

static void test_mount(const char *dir)
{
	char *top = fs_path("%s/mount", dir), *sub = fs_path("%s/mount/sub", dir);
	int status = 0;
	pid_t pid;

	fs_mkdirs(sub, NULL);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(try_mount(top, sub));
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip("no mounting here");
	else
		is_int(status, 0, "another file system below is not entered");
	free(top);
	free(sub);
}

static void test_deep(const char *dir)
{
	char *top = fs_path("%s/deep", dir);
	struct err e = ERR_INIT;
	int at;

	mkdir(top, 0700);
	at = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 300 && at >= 0; i++) {
		int next;

		mkdirat(at, "d", 0700);
		next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
	}
	ok(at >= 0, "300 directories in one another");
	close(at);
	is_int(fs_remove_tree(top, &e), -ELOOP, "are refused before descriptors run out");
	contains(e.text, "more than 100 directories deep", "why");
	free(top);
}

static void test_files(const char *dir)
{
	static const char *const names[] = {"a.b", "a/c", "a/b/z", "B", "a-", "\xc3\xa9"};
	static const char *const sorted[] = {"B", "a-", "a.b", "a/b/z", "a/c", "\xc3\xa9"};
	char *top = fs_path("%s/list/", dir), *sub = fs_path("%s/list/a/b", dir), *odd = fs_path("%s/list/a/odd", dir);
	struct err e = ERR_INIT;
	char **files = NULL;
	size_t count = 0;

	fs_mkdirs(top, NULL);
	is_int(fs_files(top, &files, &count, &e), 0, "an empty directory");
	ok(count == 0 && files && !files[0], "has no files");
	fs_files_free(files);

	fs_mkdirs(sub, NULL);
	for (size_t i = 0; i < 6; i++) {
		char *p = fs_path("%s%s", top, names[i]);

		tap_file(p, "", 0);
		free(p);
	}
	is_int(fs_files(top, &files, &count, &e), 0, "a tree");
	is_int(count, 6, "six files");
	for (size_t i = 0; i < count && i < 6; i++)
		is_str(files[i], sorted[i], "in the order of their bytes: %zu", i);
	ok(!files[count], "NULL at the end");
	fs_files_free(files);

	is_int(symlink("c", odd), 0, "a link among them");
	is_int(fs_files(top, &files, &count, &e), -EINVAL, "is an error");
	contains(e.text, "list/a/odd: cannot list: it is a symbolic link", "that names it");
	unlink(odd);
	mkfifo(odd, 0600);
	err_clear(&e);
	is_int(fs_files(top, &files, &count, &e), -EINVAL, "so is a FIFO");
	contains(e.text, "a special file", "by its kind");
	err_clear(&e);
	is_int(fs_files(odd, &files, &count, &e), -ENOTDIR, "a file has no files");
	fs_files_free(NULL);
	free(top);
	free(sub);
	free(odd);
}

static void test_many(const char *dir)
{
	char *top = fs_path("%s/many", dir), **files = NULL;
	size_t count = 0, wrong = 0;

	fs_mkdirs(top, NULL);
	for (int i = 0; i < 200; i++) {
		char *p = fs_path("%s/%03d", top, 199 - i);

		tap_file(p, "", 0);
		free(p);
	}
	is_int(fs_files(top, &files, &count, NULL), 0, "200 files");
	is_int(count, 200, "all of them");
	for (size_t i = 0; i < count; i++)
		wrong += (size_t)atoi(files[i]) != i;
	is_int((long long)wrong, 0, "in order");
	fs_files_free(files);
	is_int(fs_remove_tree(top, NULL), 0, "and removed");
	ok(!is_there(top), "all of them");
	free(top);
}

static void test_free_bytes(const char *dir)
{
	unsigned long long bytes = 0;
	struct err e = ERR_INIT;

	is_int(fs_free_bytes(dir, &bytes, &e), 0, "free space");
	ok(bytes > 0, "some");
	is_int(fs_free_bytes("/nonexistent", &bytes, &e), -ENOENT, "of nothing");
}

int main(void)
{
	char *dir = tap_dir();
	int files = tap_open_files();

	test_mkdirs(dir);
	test_write(dir);
	test_read(dir);
	test_links(dir);
	test_write_fails(dir);
	test_sync(dir);
	test_remove(dir);
	test_locked(dir);
	test_mount(dir);
	test_deep(dir);
	test_files(dir);
	test_many(dir);
	test_free_bytes(dir);
	is_int(tap_open_files(), files, "no file is left open");
	tap_dir_remove(dir);
	return done_testing();
}
