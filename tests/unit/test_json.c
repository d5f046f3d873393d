#include "common/json.h"

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "tap.h"

static void test_round_trip(const char *dir)
{
	char *path = fs_path("%s/a.json", dir), *text;
	json_t *v = json_pack("{s:i, s:[i,i], s:s}", "zebra", 1, "list", 2, 3, "apple", "\xc3\xa9");
	struct err e = ERR_INIT;
	json_t *back;
	size_t size;

	is_int(json_write(path, v, &e), 0, "written");
	fs_read(path, 1000, &text, &size, &e);
	is_str(text, "{\n \"zebra\": 1,\n \"list\": [\n  2,\n  3\n ],\n \"apple\": \"\xc3\xa9\"\n}\n",
	       "indented by one, keys in the order they came, a newline at the end");
	free(text);
	back = json_read(path, &e);
	ok(json_equal(v, back), "read back the same");
	json_decref(back);
	json_decref(v);
	free(path);
}

static void test_numbers(const char *dir)
{
	char *path = fs_path("%s/n.json", dir);
	json_t *v = json_pack("[I,I,f]", (json_int_t)INT64_MIN, (json_int_t)INT64_MAX, 0.1);
	json_t *back;

	json_write(path, v, NULL);
	back = json_read(path, NULL);
	ok(json_equal(v, back), "the ends of 64 bits and a tenth survive to the last bit");
	json_decref(back);
	json_decref(v);
	free(path);
}

static void test_bad(const char *dir)
{
	static const struct {
		const char *text;
		size_t size;
		const char *why;
	} rows[] = {
	    {"", 0, "/bad.json:[0-9]+:[0-9]+: not valid JSON: "},
	    {"{\"a\": 1,\n \"a\": 2}", 18, "/bad.json:2:[0-9]+: not valid JSON: duplicate"},
	    {"{\"a\":\n\n nope}", 13, "/bad.json:3:[0-9]+: not valid JSON"},
	    {"{} trailing", 11, "/bad.json:1:[0-9]+: "},
	    {"{\"a\": 99999999999999999999}", 27, "too big"},
	    {"\0\1\2\3", 4, "not valid JSON"},
	    {"[\"\xff\xfe\"]", 6, "not valid JSON"},
	    {"[\"\\u0000\"]", 10, "not valid JSON"},
	    {"5", 1, "not valid JSON"},
	};
	char *path = fs_path("%s/bad.json", dir), *deep = malloc(1000000);
	struct err e = ERR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		err_clear(&e);
		tap_file(path, rows[i].text, rows[i].size);
		ok(!json_read(path, &e), "row %zu is refused", i);
		like(e.text, rows[i].why, "row %zu: where and why", i);
		is_int(e.status, STATUS_USAGE, "row %zu: status", i);
	}
	memset(deep, '[', 1000000);
	tap_file(path, deep, 1000000);
	err_clear(&e);
	ok(!json_read(path, &e), "a million brackets");
	contains(e.text, "not valid JSON", "a million brackets: why");
	free(deep);
	free(path);
}

static void test_unreadable(const char *dir)
{
	char *path = fs_path("%s/none.json", dir);
	struct err e = ERR_INIT;

	ok(!json_read(path, &e), "a missing file");
	contains(e.text, "/none.json: cannot read: no such file or directory", "a missing file: why");
	is_int(e.status, STATUS_FAILED, "a missing file: status");
	err_clear(&e);
	mkfifo(path, 0600);
	ok(!json_read(path, &e), "a FIFO without a writer does not block");
	contains(e.text, "not a regular file", "a FIFO: why");
	err_clear(&e);
	unlink(path);
	tap_file(path, "", 0);
	is_int(truncate(path, ((off_t)64 << 20) + 1), 0, "a file of 64 MiB and a byte");
	ok(!json_read(path, &e), "is refused");
	contains(e.text, "the limit is 67108864", "with the limit");
	err_clear(&e);
	ok(!json_read(dir, &e), "a directory");
	contains(e.text, "it is a directory", "a directory: why");
	free(path);
}

static void test_write_fails(const char *dir)
{
	char *path = fs_path("%s/missing/a.json", dir);
	json_t *v = json_object();
	struct err e = ERR_INIT;

	is_int(json_write(path, v, &e), -ENOENT, "no folder to write into");
	contains(e.text, "missing/a.json: cannot write: no such file", "no folder: why");
	json_decref(v);
	free(path);
}

static void test_print(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *v = json_pack("{s:b}", "a", 1);

	is_int(json_print(v, out), 0, "printed");
	fclose(out);
	is_str(text, "{\n \"a\": true\n}\n", "in the same form");
	free(text);
	out = fopen("/dev/full", "we");
	if (!out) {
		skip("no /dev/full");
	} else {
		setvbuf(out, NULL, _IONBF, 0);
		is_int(json_print(v, out), -ENOSPC, "a full disk is noticed");
		fclose(out);
	}
	json_decref(v);
}

int main(void)
{
	char *dir = tap_dir();

	test_round_trip(dir);
	test_numbers(dir);
	test_bad(dir);
	test_unreadable(dir);
	test_write_fails(dir);
	test_print();
	tap_dir_remove(dir);
	return done_testing();
}
