#include "common/yaml.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#include "common/fs.h"
#include "tap.h"

/* What is said about a text: the lines with a place, one a line. */
static char *complaints(const char *text, size_t length)
{
	struct diag d;
	struct ynode *root = NULL;
	char *said = fs_path("%s", ""), *longer;
	int rc;

	diag_init(&d, "f");
	rc = yaml_load_text(text, length, &d, &root);
	for (size_t i = 0; i < d.count; i++) {
		longer = fs_path("%s%u:%u: %s\n", said, d.items[i].line, d.items[i].column, d.items[i].text);
		free(said);
		said = longer;
	}
	if ((rc != 0) != (d.count != 0) || (rc && rc != -EINVAL) || !rc != !!root) {
		free(said);
		said = fs_path("rc is %d, with %zu diagnostics and %s tree", rc, d.count, root ? "a" : "no");
	}
	yaml_free(root);
	diag_free(&d);
	return said;
}

static void test_tree(void)
{
	static const char text[] = "# a spec\n"
				   "kernel: oneway\n"
				   "matrix:\n"
				   "  - qp: [rc, 'uc', \"ud\"]\n"
				   "    size: 32B\n"
				   "  - {empty: , null_: ~}\n"
				   "text: |\n"
				   "  two\n"
				   "  lines\n"
				   "none: {}\n";
	struct diag d;
	struct ynode *root = NULL;
	const struct ynode *n;

	diag_init(&d, "f");
	is_int(yaml_load_text(text, sizeof(text) - 1, &d, &root), 0, "a spec is read");
	ok(root && root->kind == YNODE_MAPPING && root->count == 4, "a mapping of four");
	ok(root->line == 2 && root->column == 1, "that starts in line 2");
	n = yaml_get(root, "kernel");
	is_str(n ? n->scalar : NULL, "oneway", "a word");
	ok(n && n->kind == YNODE_SCALAR && n->line == 2 && n->column == 9 && !n->quoted, "with its place");
	is_int(root->keys[1]->line, 3, "a key has a place, too");
	n = yaml_get(root, "matrix");
	ok(n && n->kind == YNODE_SEQUENCE && n->count == 2, "a list of two");
	n = yaml_get(n->items[0], "qp");
	ok(n && n->kind == YNODE_SEQUENCE && n->count == 3, "a list in a line");
	ok(!n->items[0]->quoted && n->items[1]->quoted && n->items[2]->quoted, "quotes are remembered");
	is_str(n->items[1]->scalar, "uc", "and taken off");
	ok(n->items[2]->line == 4 && n->items[2]->column == 20, "place in a line");
	n = yaml_get(root, "matrix")->items[1];
	is_str(yaml_get(n, "empty")->scalar, "", "nothing is an empty word");
	is_str(yaml_get(n, "null_")->scalar, "~", "null is a word as well: the reader knows what it wants");
	is_str(yaml_get(root, "text")->scalar, "two\nlines\n", "a block");
	ok(yaml_get(root, "text")->quoted, "is never a number");
	is_int((long long)yaml_get(root, "none")->count, 0, "an empty mapping");
	ok(!yaml_get(root, "kerne") && !yaml_get(root, "") && !yaml_get(NULL, "kernel"), "keys that there are not");
	ok(!yaml_get(yaml_get(root, "kernel"), "x"), "a word has no keys");
	is_int((long long)d.count, 0, "nothing to complain about");
	yaml_free(root);
	yaml_free(NULL);
	diag_free(&d);
}

static void test_complaints(void)
{
	static const struct {
		const char *what, *text, *want;
	} rows[] = {
	    {"an empty file", "", "^0:0: it is empty\n$"},
	    {"comments only", "# a\n# b\n", "^0:0: it is empty\n$"},
	    {"a duplicate key", "a: 1\nb: 2\na: 3\n", "^3:1: duplicate key 'a'; it is already in line 1\n$"},
	    {"duplicates at all depths, all at once", "a: {x: 1, x: 2}\nb: 1\nb: 2\nb: 3\n",
	     "^1:11: duplicate key 'x'.*\n3:1: duplicate key 'b'.* line 2\n4:1: duplicate key 'b'.* line 3\n$"},
	    {"an anchor", "a: &x 1\n", "^1:4: anchors \\('&'\\) are not supported; write the value out\n$"},
	    {"an alias", "a: *x\n", "^1:4: aliases \\('\\*'\\) are not supported; write the value out\n$"},
	    {"an alias as a key", "*x : 1\n", "^1:1: aliases"},
	    {"a tag", "a: !!int 1\n", "^1:4: tags \\('!'\\) are not supported; omit the tag\n$"},
	    {"anchor, tag and duplicate at once", "a: &x [1]\nb: !t {}\na: 1\n",
	     "^1:4: anchors.*\n2:4: tags.*\n3:1: duplicate.*\n$"},
	    {"a mapping as a key", "? {a: 1}\n: 2\n", "^1:3: a key must be a plain word"},
	    {"a list as a key", "[a]: 2\n", "^1:1: a key must be a plain word"},
	    {"a second document", "a: 1\n---\nb: 2\n", "^2:1: a second document; expected only one\n$"},
	    {"an open bracket", "a: [1, 2\n",
	     "^[0-9]+:[0-9]+: not valid YAML: while parsing a flow sequence, did not "
	     "find expected ',' or '\\]'\n$"},
	    {"a tab", "a:\n\tb: 1\n", "^2:1: not valid YAML: .*cannot start any token\n$"},
	    {"wrong indentation", "a:\n  b: 1\n c: 2\n", "^3:2: not valid YAML"},
	    {"a syntax error does not hide what came before", "a: 1\nc: {x: 1, x: 2}\nb: [\n",
	     "^2:11: duplicate key 'x'.*\n.*not valid YAML"},
	    {"a lone quote", "a: 'x\n", "not valid YAML: while scanning a quoted scalar"},
	    {"an unknown escape", "a: \"\\q\"\n", "^1:[0-9]+: not valid YAML"},
	    {"a NUL by an escape", "a: \"x\\0y\"\n", "^1:4: a NUL character is not allowed in text\n$"},
	    {"a control character", "a: 1\nb: \x1b[31m\n",
	     "^2:4: the control character 0x1b is not allowed in text\n$"},
	    {"invalid UTF-8", "a: \xc3\xa9\xff\n", "^1:5: the byte 0xff is not UTF-8; is this a text file\\?\n$"},
	    {"UTF-16",
	     "\xff\xfe"
	     "a",
	     "^1:1: the byte 0xff is not UTF-8"},
	    {"an ELF file",
	     "\x7f"
	     "ELF\x02",
	     "^1:1: the control character 0x7f"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *said = complaints(rows[i].text, strlen(rows[i].text));

		like(said, rows[i].want, "%s", rows[i].what);
		free(said);
	}
}

static void test_nul(void)
{
	char *said = complaints("a: 1\0b: 2", 9);

	is_str(said, "1:5: the control character 0x00 is not allowed in text\n", "a NUL byte");
	free(said);
}

/* Places are counted here before libyaml reads, and have to be as it would count them. */
static void test_breaks(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
	    {"a\r\nb\r\n\x01", "3:1"},
	    {"a\rb\r\x01", "3:1"},
	    {"a\xc2\x85\x01", "2:1"},
	    {"a\xe2\x80\xa8\x01", "2:1"},
	    {"a\xe2\x80\xa9\x01", "2:1"},
	    {"\xef\xbb\xbf\xc3\xa9\x01", "1:2"},
	    {"a\xc2\x80", "1:2: the control"},
	    {"a\xc2\x9f", "1:2: the control"},
	    {"a\xef\xbb\xbf", "1:2: the control"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *said = complaints(rows[i].text, strlen(rows[i].text));

		ok(!strncmp(said, rows[i].want, strlen(rows[i].want)), "place %zu: %s", i, rows[i].want);
		free(said);
	}
}

/* What was wrong before has no say in whether this text is read. */
static void test_earlier(void)
{
	struct diag d;
	struct ynode *root = NULL;

	diag_init(&d, "f");
	for (unsigned i = 1; i <= 55; i++)
		diag_add(&d, i, 1, "earlier");
	is_int(yaml_load_text("a: 1", 4, &d, &root), 0, "a good text after other complaints");
	ok(root && d.length == 4, "is read");
	yaml_free(root);
	is_int(yaml_load_text("a: [", 4, &d, &root), -EINVAL,
	       "a bad one is refused, though its complaint is only counted");
	diag_free(&d);
}

static void test_mark(void)
{
	char *said = complaints("\xef\xbb\xbf"
				"a: 1\nb: 2\na: 3",
				17);

	is_str(said, "3:1: duplicate key 'a'; it is already in line 1\n", "a byte order mark is accepted");
	free(said);
}

static char *nested(size_t depth)
{
	char *text = malloc(2 * depth + 1);

	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	text[2 * depth] = '\0';
	return text;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Generous: these take milliseconds, or minutes where something is quadratic. */
static void check_quick(const char *text, size_t length, const char *want, const char *what)
{
	double start = seconds();
	char *said = complaints(text, length);

	like(said, want, "%s", what);
	ok(seconds() - start < 20, "%s: in no time (%.3f s)", what, seconds() - start);
	free(said);
}

static void test_limits(void)
{
	char *text = nested(YAML_MAX_DEPTH), *said = complaints(text, strlen(text));

	is_str(said, "", "as deep as allowed");
	free(said);
	free(text);
	text = nested(YAML_MAX_DEPTH + 1);
	said = complaints(text, strlen(text));
	is_str(said, "1:33: nested more than 32 levels deep\n", "one deeper");
	free(said);
	free(text);

	text = malloc(1000);
	memset(text, 0, 1000);
	for (int i = 0; i < YAML_MAX_DEPTH + 1; i++)
		strcat(text, "{a: ");
	check_quick(text, strlen(text), "^1:129: nested more than 32 levels deep\n$", "mappings in one another");
	free(text);
	text = malloc(300001);
	for (int i = 0; i < 100000; i++)
		memcpy(text + 3 * i, "{? ", 3);
	check_quick(text, 300000, "^1:97: nested more than 32 levels deep\n$", "keys in one another");
	free(text);
	text = nested(500000);
	check_quick(text, 500000, "^1:33: nested more than 32 levels deep\n$", "half a million brackets");
	free(text);

	text = malloc(YAML_MAX_BYTES + 2);
	memset(text, '#', YAML_MAX_BYTES + 1);
	check_quick(text, YAML_MAX_BYTES, "^0:0: it is empty\n$", "as large as allowed");
	check_quick(text, YAML_MAX_BYTES + 1, "^0:0: too large: 1048577 bytes; the limit is 1048576\n$",
		    "one byte larger");
	free(text);
}

static void test_many_keys(void)
{
	size_t lines = 100000, used = 0;
	char *text = malloc(lines * 10 + 1);

	for (size_t i = 0; i < lines; i++)
		used += (size_t)sprintf(text + used, "%06zu: 1\n", i % (lines - 1));
	check_quick(text, used, "^100000:1: duplicate key '000000'; it is already in line 1\n$",
		    "a hundred thousand keys");
	free(text);

	text = malloc(900002);
	text[0] = '[';
	for (size_t i = 0; i < 300000; i++)
		memcpy(text + 1 + 3 * i, "{},", 3);
	text[900001] = ']';
	check_quick(text, 900002, "^$", "a list of 300000");
	free(text);
}

static void check_file(const char *path, const char *want, const char *what)
{
	struct diag d;
	struct ynode *root;
	char *text;
	size_t length;

	diag_init(&d, path);
	is_int(yaml_load_file(path, &d, &root, &text, &length), -EINVAL, "%s is refused", what);
	ok(!root && d.count == 1, "%s: one reason, no tree", what);
	like(d.count ? d.items[0].text : "", want, "%s: why", what);
	diag_free(&d);
	free(text);
}

static void test_files(const char *dir)
{
	char *path = fs_path("%s/spec.yaml", dir), *text;
	struct diag d;
	struct ynode *root;
	size_t length;

	tap_file(path, "a: 1\nb: x", 9);
	diag_init(&d, path);
	is_int(yaml_load_file(path, &d, &root, &text, &length), 0, "a file");
	ok(length == 9 && !memcmp(text, "a: 1\nb: x", 9) && d.text == text, "its bytes as they are");
	is_str(yaml_get(root, "b")->scalar, "x", "and what they mean");
	yaml_free(root);
	free(text);
	diag_free(&d);

	tap_file(path, "a: [", 4);
	diag_init(&d, path);
	is_int(yaml_load_file(path, &d, &root, &text, &length), -EINVAL, "a broken file");
	ok(!root && text && d.text == text, "its text is there to be shown");
	free(text);
	diag_free(&d);

	is_int(truncate(path, 100 << 20), 0, "100 MiB");
	check_file(path, "^too large: the limit is 1048576 bytes$", "a file of 100 MiB");
	tap_file(path, "\0\1\2", 3);
	check_file(path, "control character 0x00", "binary garbage");
	check_file(dir, "^cannot read: it is a directory$", "a directory");
	check_file("/dev/zero", "not a regular file", "a device");
	check_file("/nonexistent/spec.yaml", "^cannot read: no such file or directory$", "a missing file");
	unlink(path);
	mkfifo(path, 0600);
	check_file(path, "^cannot read: it is not a regular file$", "a FIFO");
	unlink(path);
	is_int(symlink(path, path), 0, "a link to itself");
	check_file(path, "^cannot read: .*link", "a loop of links");
	unlink(path);
	tap_file(path, "a: 1\n", 5);
	chmod(path, 0);
	if (!geteuid())
		skip("running as root, who may read everything");
	else
		check_file(path, "^cannot read: permission denied$", "an unreadable file");
	free(path);
}

/* Random changes to a text: whatever comes of it, there is a tree or a reason (the check is in complaints), and no
 * crash. */
static void test_random(void)
{
	static const char base[] = "a: [1, {b: 'c', d: \"e\\x41\"}]\nf:\n  - g: |\n      h\n  - ? i\n    : j\n";
	static const char odd[] = "[]{}:,-?&*!|>'\"%@`# \n\t\\\0\x80\xc3";
	unsigned long long seed = (unsigned long long)time(NULL) * 2654435761u | 1, first = seed;
	char text[sizeof(base)];
	unsigned wrong = 0;

	for (int i = 0; i < 20000; i++) {
		char *said;

		memcpy(text, base, sizeof(base));
		for (int n = 0; n < 1 + i % 6; n++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			text[seed % (sizeof(base) - 1)] = odd[(seed >> 32) % (sizeof(odd) - 1)];
		}
		said = complaints(text, sizeof(base) - 1);
		wrong += !strncmp(said, "rc is", 5);
		free(said);
	}
	is_int(wrong, 0, "20000 damaged texts: a tree or a reason each (seed %llu)", first);
}

int main(void)
{
	char *dir = tap_dir();
	int files = tap_open_files();

	test_tree();
	test_complaints();
	test_nul();
	test_breaks();
	test_earlier();
	test_mark();
	test_limits();
	test_many_keys();
	test_files(dir);
	test_random();
	is_int(tap_open_files(), files, "no file is left open");
	tap_dir_remove(dir);
	return done_testing();
}
