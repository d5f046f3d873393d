#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>

#include "common/err.h"
#include "files/rundir/manifest.h"
#include "tap.h"

static char *dir;

static char *in_dir(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put(const char *name, const char *text)
{
	tap_file(in_dir(name), text, strlen(text));
}

static char *get(const char *name)
{
	static char text[65536];
	FILE *f = fopen(in_dir(name), "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	return text;
}

/* Complaints, joined by newlines. */
static char told[65536];

static void note_it(void *arg, const char *text)
{
	is_str(arg, "arg", "the argument comes through");
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s\n", text);
}

static int check(void)
{
	struct err e = ERR_INIT;

	told[0] = '\0';
	return manifest_check(dir, note_it, (void *)(uintptr_t) "arg", &e);
}

static void fresh(void)
{
	struct err e = ERR_INIT;

	if (dir)
		tap_dir_remove(dir);
	dir = tap_dir();
	mkdir(in_dir("points"), 0700);
	mkdir(in_dir("derived"), 0700);
	put("a.txt", "abc");
	put("empty", "");
	put("points/b.npy", "binary");
	put("points-1", "sorts before points/");
	put("derived/report.html", "<html>");
	if (manifest_write(dir, &e))
		ok(false, "manifest written: %s", e.text);
}

#define ABC   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void test_writing(void)
{
	struct err e = ERR_INIT;
	char *command;

	fresh();
	like(get("manifest-sha256.txt"),
	     "^" ABC "  a\\.txt\n" EMPTY "  empty\n[0-9a-f]{64}  points-1\n[0-9a-f]{64}  points/b\\.npy\n$",
	     "SHA-256 of every file, sorted, without derived/ and itself");
	is_int(check(), 0, "it agrees");
	if (asprintf(&command, "cd '%s' && sha256sum -c --strict --quiet manifest-sha256.txt", dir) > 0)
		is_int(system(command), 0, "sha256sum agrees");
	free(command);
	put("new\\line", "x");
	is_int(manifest_write(dir, &e), -EINVAL, "a name with a backslash is refused");
	contains(e.text, "backslash", "and why");
	remove(in_dir("new\\line"));
	put("new\nline", "x");
	is_int(manifest_write(dir, NULL), -EINVAL, "a name with a line break is refused");
	remove(in_dir("new\nline"));
	put("derived/more", "x");
	put("derived/report.html", "changed");
	is_int(check(), 0, "derived/ may change");
}

/* What is done to a sealed directory, and what is said about it. */

static void change(void)
{
	put("points/b.npy", "binarx");
}

static void take_away(void)
{
	remove(in_dir("a.txt"));
}

static void add(void)
{
	put("points/c", "");
}

static void add_outside_derived(void)
{
	put("derived2", "");
}

static void link_in_place(void)
{
	remove(in_dir("a.txt"));
	put("derived/abc", "abc");
	ok(!symlink("derived/abc", in_dir("a.txt")), "a link with the right content");
}

static void link_extra(void)
{
	ok(!symlink("/etc/passwd", in_dir("link")), "one more link");
}

static void fifo_in_place(void)
{
	remove(in_dir("a.txt"));
	mkfifo(in_dir("a.txt"), 0600);
}

static void append(const char *text)
{
	char *old = strdup(get("manifest-sha256.txt")), *all;

	if (asprintf(&all, "%s%s", old, text) > 0)
		put("manifest-sha256.txt", all);
	free(all);
	free(old);
}

static void list_twice(void)
{
	char *line;

	if (asprintf(&line, "%.*s",
		     (int)(strchr(strstr(get("manifest-sha256.txt"), "points/b"), '\n') + 1 -
			   (strstr(get("manifest-sha256.txt"), "points/b") - 66)),
		     strstr(get("manifest-sha256.txt"), "points/b") - 66) > 0)
		append(line);
	free(line);
}

static void list_parent(void)
{
	append(ABC "  ../a.txt\n");
}

static void list_parent_inside(void)
{
	append(ABC "  points/../a.txt\n");
}

static void list_absolute(void)
{
	append(ABC "  /etc/passwd\n");
}

static void list_dot(void)
{
	append(ABC "  ./a.txt\n");
}

static void list_itself(void)
{
	append(ABC "  manifest-sha256.txt\n");
}

static void list_derived(void)
{
	append(ABC "  derived/report.html\n");
}

static void list_nothing(void)
{
	append(ABC "  \n");
}

static void list_out_of_order(void)
{
	append(ABC "  a2.txt\n");
	put("a2.txt", "abc");
}

static void garbage(void)
{
	append("hello\n\n\x01\x1b[31m\n");
}

static void upper_case(void)
{
	put("manifest-sha256.txt", "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD  a.txt\n");
}

static void no_lines(void)
{
	put("manifest-sha256.txt", "");
}

static void zero_byte(void)
{
	tap_file(in_dir("manifest-sha256.txt"), "\0\0\0", 3);
}

static const struct row {
	const char *what;
	void (*change)(void);
	int count;
	const char *told; /* the first line begins so */
} rows[] = {
    {"a changed file", change, 1, "points/b.npy: changed\n"},
    {"a missing file", take_away, 1, "a.txt: missing\n"},
    {"one more file", add, 1, "points/c: not in the manifest\n"},
    {"a name that only begins like derived", add_outside_derived, 1, "derived2: not in the manifest\n"},
    {"a link in a file's place", link_in_place, 2, "a.txt: a symbolic link, where only files belong\n"},
    {"one more link", link_extra, 1, NULL},
    {"a FIFO in a file's place", fifo_in_place, 2, NULL},
    {"a file listed twice", list_twice, 1, "manifest-sha256.txt: line 5: 'points/b.npy' is listed twice\n"},
    {"a file above", list_parent, 1, "manifest-sha256.txt: line 5 names '../a.txt', which does not belong there\n"},
    {"a way up and down", list_parent_inside, 1, "manifest-sha256.txt: line 5 names 'points/../a.txt', which"},
    {"an absolute path", list_absolute, 1, "manifest-sha256.txt: line 5 names '/etc/passwd', which"},
    {"a dot", list_dot, 1, "manifest-sha256.txt: line 5 names './a.txt', which"},
    {"the manifest in itself", list_itself, 1, "manifest-sha256.txt: line 5 names 'manifest-sha256.txt', which"},
    {"derived/ in it", list_derived, 1, "manifest-sha256.txt: line 5 names 'derived/report.html', which"},
    {"no name", list_nothing, 1, "manifest-sha256.txt: line 5 names '', which"},
    {"names out of order", list_out_of_order, 1, "manifest-sha256.txt: line 5: 'a2.txt' is out of order\n"},
    {"garbage", garbage, 3, "manifest-sha256.txt: line 5 is not a SHA-256 and a name\n"},
    {"capitals", upper_case, 4, "manifest-sha256.txt: line 1 is not a SHA-256 and a name\n"},
    {"an empty manifest", no_lines, 4, "a.txt: not in the manifest\n"},
    {"zero bytes", zero_byte, 5, "manifest-sha256.txt: it contains a NUL byte\n"},
};

static void test_checking(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fresh();
		rows[i].change();
		is_int(check(), rows[i].count, "%s: how many complaints", rows[i].what);
		if (rows[i].told)
			ok(!strncmp(told, rows[i].told, strlen(rows[i].told)), "%s: which, and what", rows[i].what);
		if (!ok(!strpbrk(told, "\x01\x1b"), "%s: nothing that a terminal would obey", rows[i].what))
			note("%s", told);
	}
}

static void test_no_manifest(void)
{
	struct err e = ERR_INIT;

	fresh();
	remove(in_dir("manifest-sha256.txt"));
	is_int(manifest_check(dir, note_it, NULL, &e), -ENOENT, "without a manifest there is nothing to check");
	contains(e.text, "manifest-sha256.txt", "which is said");
	e = (struct err)ERR_INIT;
	is_int(manifest_write(in_dir("nowhere"), &e), -ENOENT, "nor can one be written for a folder that is not there");
}

int main(void)
{
	test_writing();
	test_checking();
	test_no_manifest();
	tap_dir_remove(dir);
	return done_testing();
}
