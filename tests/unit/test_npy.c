#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/err.h"
#include "common/npy.h"
#include "numpy.h"
#include "tap.h"

static char *dir;

static char *in_dir(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void test_header(void)
{
	char header[NPY_HEADER];

	npy_header(header, 8000);
	ok(!memcmp(header, "\x93NUMPY\x01\x00\xf6\x0f", 10), "magic, version 1.0, 4086 bytes of dictionary");
	ok(!memcmp(header + 10, "{'descr': '<i8', 'fortran_order': False, 'shape': (8000,), } ", 60), "the dictionary");
	ok(header[NPY_HEADER - 2] == ' ' && header[NPY_HEADER - 1] == '\n',
	   "blanks up to a newline at the end of the page");
	ok(!memchr(header + 10, '\0', NPY_HEADER - 10), "no zero byte in it");
}

static void test_round_trip(void)
{
	const int64_t values[] = {0, -1, INT64_MAX, NEVER, 42};
	struct err e = ERR_INIT;
	struct npy n;

	is_int(npy_write(in_dir("a.npy"), values, 5, &e), 0, "a column is written");
	is_int(npy_open(in_dir("a.npy"), &n, &e), 0, "and mapped again");
	is_int((long long)n.count, 5, "with its count");
	ok(!memcmp(n.data, values, sizeof(values)), "and its values");
	ok((uintptr_t)n.data % 4096 == 0, "on a page");
	npy_close(&n, NULL);
	ok(!n.data && !n.file, "closing forgets it");
	npy_close(&n, NULL);
	is_int(npy_write(in_dir("a.npy"), values, 0, &e), 0, "an empty column replaces it");
	is_int(npy_open(in_dir("a.npy"), &n, &e), 0, "and can be mapped");
	is_int((long long)n.count, 0, "with no entries");
	npy_close(&n, NULL);
	ok(access(in_dir("a.npy.tmp"), F_OK), "no temporary file stays");
	is_int(npy_write(in_dir("no/such.npy"), values, 5, &e), -ENOENT, "a folder that is not there is an error");
	contains(e.text, "no/such.npy", "which names the file");
}

static void test_numpy_reads_ours(void)
{
	const int64_t values[] = {3, -7, NEVER};
	char *text;

	npy_write(in_dir("ours.npy"), values, 3, NULL);
	text = numpy_run("a = np.load(sys.argv[1], mmap_mode=\"r\"); print(a.dtype.str, a.shape, a.tolist())",
			 in_dir("ours.npy"));
	if (!text) {
		skip("python3-numpy is not installed");
		return;
	}
	is_str(text, "<i8 (3,) [3, -7, -9223372036854775808]", "NumPy reads our column");
	free(text);
	text = numpy_run("np.save(sys.argv[1], np.arange(1000, dtype=\"<i8\"))", in_dir("theirs.npy"));
	is_str(text, "", "NumPy writes one");
	free(text);

	struct err e = ERR_INIT;
	struct npy n;

	is_int(npy_open(in_dir("theirs.npy"), &n, &e), 0, "which we read (%s)", e.text);
	is_int((long long)n.count, 1000, "its count");
	ok(n.count == 1000 && n.data[999] == 999, "its values");
	npy_close(&n, NULL);
}

/* A file with that dictionary, padded as NumPy does it, and `entries` entries. */
static void write_raw(const char *name, const char *dictionary, size_t entries, int extra)
{
	char bytes[4096] = "\x93NUMPY\x01";
	size_t length = 118, size = 128 + entries * 8;

	bytes[8] = (char)length;
	memset(bytes + 10, ' ', length);
	memcpy(bytes + 10, dictionary, strlen(dictionary));
	bytes[127] = '\n';
	tap_file(in_dir(name), bytes, (size_t)((int)size + extra));
}

static void test_dictionaries(void)
{
	static const struct {
		const char *dictionary;
		size_t entries;
		int extra;
		const char *cause; /* NULL: it is read */
	} rows[] = {
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", 3, 0, NULL},
	    {"{'shape': (3,), 'fortran_order': False, 'descr': '<i8'}", 3, 0, NULL},
	    {"{\"descr\":\"<i8\",\"fortran_order\":False,\"shape\":( 3 , )}", 3, 0, NULL},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", 2, 0,
	     "truncated: expected 3 entries, found 2"},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", 3, -1, "truncated"},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", 4, 0,
	     "too long: expected 3 entries, found 8 more bytes"},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", 3, 1, "too long"},
	    {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", 3, 0, "its entries are '<f8', not '<i8'"},
	    {"{'descr': '>i8', 'fortran_order': False, 'shape': (3,), }", 3, 0, "'>i8'"},
	    {"{'descr': '<i4', 'fortran_order': False, 'shape': (6,), }", 3, 0, "'<i4'"},
	    {"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }", 3, 0, "'|O'"},
	    {"{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (3,), }", 3, 0, "malformed"},
	    {"{'descr': '<i8', 'fortran_order': True, 'shape': (3,), }", 3, 0, "order"},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (3, 1), }", 3, 0, "its shape is (3, 1)"},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (), }", 1, 0, "its shape is ()"},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': 3, }", 3, 0, "its shape is 3"},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (-3,), }", 3, 0, "its shape is (-3,)"},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (NaN,), }", 3, 0, "its shape is (NaN,)"},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (2305843009213693952,), }", 3, 0, "truncated"},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (99999999999999999999999,), }", 3, 0, "its shape"},
	    {"{'descr': '<i8', 'fortran_order': False, }", 3, 0, "malformed"},
	    {"{'descr': '<i8', 'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", 3, 0, "malformed"},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), 'more': 1}", 3, 0, "malformed"},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,)", 3, 0, "malformed"},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (3", 3, 0, "malformed"},
	    {"{'descr", 3, 0, "malformed"},
	    {"{'descr'", 3, 0, "malformed"},
	    {"{'descr':", 3, 0, "malformed"},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), } x", 3, 0, "malformed"},
	    {"", 3, 0, "malformed"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err e = ERR_INIT;
		struct npy n;
		int rc;

		write_raw("raw.npy", rows[i].dictionary, rows[i].entries, rows[i].extra);
		rc = npy_open(in_dir("raw.npy"), &n, &e);
		if (!rows[i].cause) {
			is_int(rc, 0, "read: %s (%s)", rows[i].dictionary, e.text);
			is_int((long long)n.count, 3, "three entries");
		} else {
			ok(rc == -EINVAL && e.status == STATUS_USAGE, "refused: %s", rows[i].dictionary);
			contains(e.text, rows[i].cause, "with its cause");
			contains(e.text, "raw.npy", "and the file");
		}
		npy_close(&n, NULL);
	}
}

static void refuses(const char *name, const char *cause, const char *what)
{
	struct err e = ERR_INIT;
	struct npy n;

	ok(npy_open(in_dir(name), &n, &e) < 0, "refused: %s", what);
	contains(e.text, cause, "%s: why", what);
}

static void test_files(void)
{
	char bytes[128] = "\x93NUMPY\x02";

	tap_file(in_dir("empty.npy"), "", 0);
	refuses("empty.npy", "it is empty", "an empty file");
	tap_file(in_dir("short.npy"), "\x93NUM", 4);
	refuses("short.npy", "not a .npy file", "four bytes");
	tap_file(in_dir("text.npy"), "hello, world, hello", 19);
	refuses("text.npy", "not a .npy file", "a text");
	tap_file(in_dir("v2.npy"), bytes, sizeof(bytes));
	refuses("v2.npy", "version 2.0", "another version");
	tap_file(in_dir("head.npy"), "\x93NUMPY\x01\x00\xff\xff{'descr", 17);
	refuses("head.npy", "truncated inside its .npy header", "half of a header");
	tap_file(in_dir("odd.npy"),
		 "\x93NUMPY\x01\x00\x3d\x00{'descr': '<i8', 'fortran_order': False, 'shape': (0,), }    ", 71);
	refuses("odd.npy", "not aligned", "data on an odd address");
	refuses("none.npy", "none.npy", "a file that is not there");
	mkdir(in_dir("d.npy"), 0700);
	refuses("d.npy", "not a regular file", "a directory");
	mkfifo(in_dir("fifo.npy"), 0600);
	refuses("fifo.npy", "not a regular file", "a FIFO, at once");
	ok(!symlink("text.npy", in_dir("link.npy")), "a link is made");
	refuses("link.npy", "symbolic link", "a symbolic link");
}

#define LONG 4000 /* entries: eight pages */

static void write_long(const char *name, struct npy *n)
{
	int64_t *values = calloc(LONG, sizeof(*values));
	struct err e = ERR_INIT;

	for (int64_t i = 0; i < LONG; i++)
		values[i] = 7;
	if (npy_write(in_dir(name), values, LONG, &e) || npy_open(in_dir(name), n, &e))
		note("%s", e.text);
	free(values);
}

static int64_t sum_of(const struct npy *n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n->count; i++)
		sum += n->data[i];
	return sum;
}

static void test_shortened(void)
{
	struct err e = ERR_INIT;
	struct npy other, n;

	write_long("other.npy", &other);
	write_long("n.npy", &n);
	ok(!truncate(in_dir("n.npy"), 3 * 4096), "a column is shortened while it is open");
	is_int(sum_of(&n), 7 * 1024, "what is missing is zero");
	is_int(sum_of(&other), 7 * LONG, "other columns are whole");
	is_int(npy_close(&n, &e), -EIO, "closing it is an error");
	ok(e.status == STATUS_FAILED, "a failure");
	contains(e.text, "n.npy: cannot read: it was shortened", "which names the file");
	err_clear(&e);
	is_int(npy_close(&other, &e), 0, "closing the other is none");

	write_long("n.npy", &n);
	ok(!truncate(in_dir("n.npy"), 3 * 4096), "one is shortened that nobody reads");
	is_int(npy_close(&n, &e), 0, "closing it is no error");
	write_long("n.npy", &n);
	ok(!truncate(in_dir("n.npy"), 0), "one loses its header, too");
	is_int(sum_of(&n), 0, "nothing is left");
	is_int(npy_close(&n, NULL), -EIO, "closing it is an error");
}

/* How a child ends that has a column open, and reads another file's mapping beyond its end, or is sent the signal. */
static int signal_of(bool is_sent)
{
	int status = 0, fd = open(in_dir("n.npy"), O_RDONLY | O_CLOEXEC);
	pid_t child = fork();

	if (!child) {
		volatile const char *map;

		prctl(PR_SET_DUMPABLE, 0);
		if (is_sent)
			kill(getpid(), SIGBUS);
		map = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
		_exit(map[4096]);
	}
	close(fd);
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void test_other_signals(void)
{
	struct npy n;

	write_long("other.npy", &n);
	tap_file(in_dir("n.npy"), "", 0);
	is_int(signal_of(false), SIGBUS, "reading beyond the end of another mapping ends the process");
	is_int(signal_of(true), SIGBUS, "and so does a signal from outside");
	npy_close(&n, NULL);
}

int main(void)
{
	signal(SIGBUS, SIG_DFL); /* a sanitizer would report it instead */
	dir = tap_dir();
	test_header();
	test_round_trip();
	test_numpy_reads_ours();
	test_dictionaries();
	test_files();
	test_shortened();
	test_other_signals();
	tap_dir_remove(dir);
	return done_testing();
}
