#include "common/npy.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"

/* --- mappings --- */

/*
 * A file made by somebody else, mapped for reading. Reading such a mapping raises SIGBUS if the file has been shortened
 * meanwhile, or if its disk fails. This must not end the program: what is missing is replaced by zeros, and closing the
 * mapping reports it. So whatever was computed from a mapping counts only if closing it succeeds, and code that reads
 * it must bear that values change between two looks.
 *
 * Mappings are opened and closed by one thread at a time, while no other thread reads one; any number of threads may
 * read. The first one installs a handler for SIGBUS, which passes on what does not concern a mapping.
 */

struct mapped {
	char *path;
	char *data;
	size_t size;
	volatile sig_atomic_t is_incomplete;
	struct mapped *before, *next;
};

/* The handler has to find the mapping of an address. */
static struct mapped *first_mapped;
static size_t page_size;
static struct sigaction action_before;

static struct mapped *mapping_at(const void *address)
{
	struct mapped *m = first_mapped;

	while (m && (uintptr_t)address - (uintptr_t)m->data >= m->size)
		m = m->next;
	return m;
}

/* From the page of the address on, because what follows is usually missing, too. */
static bool replace_by_zeros(struct mapped *m, const void *address)
{
	size_t offset = (uintptr_t)address - (uintptr_t)m->data;

	offset -= offset % page_size;
	m->is_incomplete = true;
	return mmap(m->data + offset, m->size - offset, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
	       MAP_FAILED;
}

static void on_missing_page(int signal_number, siginfo_t *info, void *context)
{
	const bool is_fault = info->si_code > 0;
	struct mapped *m = is_fault ? mapping_at(info->si_addr) : NULL;
	const int saved = errno;

	(void)context;
	if (!m || !replace_by_zeros(m, info->si_addr)) {
		/* As if there were no handler. A fault occurs again, a signal from outside does not. */
		sigaction(SIGBUS, &action_before, NULL);
		if (!is_fault)
			raise(signal_number);
	}
	errno = saved;
}

static void install_handler(void)
{
	const struct sigaction sa = {.sa_sigaction = on_missing_page, .sa_flags = SA_SIGINFO | SA_RESTART};

	if (page_size)
		return;
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &sa, &action_before);
}

static int mapped_refuse(const char *path, struct err *e, const char *cause)
{
	return err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "%s", cause);
}

static int map_file(int fd, const char *path, struct mapped *m, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return mapped_refuse(path, e, "it is not a regular file");
	if (!st.st_size)
		return mapped_refuse(path, e, "it is empty");
	m->size = (size_t)st.st_size;
	m->data = mmap(NULL, m->size, PROT_READ, MAP_SHARED, fd, 0);
	return m->data == MAP_FAILED ? err_sys(e, -errno, path, "map") : 0;
}

/* Map a whole regular file, following no links. STATUS_USAGE if it is not one, or is empty. */
static int mapped_open(const char *path, struct mapped **out, struct err *e)
{
	struct mapped *m = or_abort(calloc(1, sizeof(*m)));
	int fd = fs_open(path, 0), rc;

	*out = NULL;
	rc = fd < 0 ? err_sys(e, fd, path, "read") : map_file(fd, path, m, e);
	if (fd >= 0)
		close(fd);
	if (rc) {
		free(m);
		return rc;
	}
	install_handler();
	m->path = or_abort(strdup(path));
	m->next = first_mapped;
	if (m->next)
		m->next->before = m;
	first_mapped = *out = m;
	return 0;
}

static const void *mapped_data(const struct mapped *m)
{
	return m->data;
}

static size_t mapped_size(const struct mapped *m)
{
	return m->size;
}

/* Release it; NULL is fine. -EIO if a part of it could not be read since it was opened. */
static int mapped_close(struct mapped *m, struct err *e)
{
	int rc = 0;

	if (!m)
		return 0;
	if (m->is_incomplete)
		rc =
		    err_set(e, -EIO, STATUS_FAILED, m->path, "read", "it was shortened, or its disk failed, meanwhile");
	*(m->before ? &m->before->next : &first_mapped) = m->next;
	if (m->next)
		m->next->before = m->before;
	munmap(m->data, m->size);
	free(m->path);
	free(m);
	return rc;
}

/* Magic, version 1.0, and the length of the dictionary in two bytes, little-endian. */
#define MAGIC	 "\x93NUMPY"
#define PREAMBLE 10

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are mapped as they are: little-endian");

void npy_header(char header[NPY_HEADER], size_t count)
{
	const unsigned length = NPY_HEADER - PREAMBLE;
	const char preamble[PREAMBLE] = {
	    MAGIC[0],		MAGIC[1], MAGIC[2], MAGIC[3], MAGIC[4], MAGIC[5], 1, 0, (char)(length & 0xff),
	    (char)(length >> 8)};
	int n;

	memset(header, ' ', NPY_HEADER);
	memcpy(header, preamble, PREAMBLE);
	n = snprintf(header + PREAMBLE, length, "{'descr': '<i8', 'fortran_order': False, 'shape': (%zu,), }", count);
	header[PREAMBLE + n] = ' ';
	header[NPY_HEADER - 1] = '\n';
}

/* The entries of the dictionary. Texts point into the header and are not terminated. */
struct dictionary {
	const char *descr, *order, *shape;
	size_t descr_length, order_length, shape_length;
};

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && isspace((unsigned char)*p))
		p++;
	return p;
}

/* The end of the Python literal at `p`: a string, a tuple of plain items, or a word. NULL if it is
 * incomplete. */
static const char *skip_literal(const char *p, const char *end)
{
	const char *start = p;
	char close = 0;

	if (p < end && (*p == '\'' || *p == '"'))
		close = *p;
	else if (p < end && *p == '(')
		close = ')';
	if (close) {
		p = memchr(p + 1, close, (size_t)(end - p - 1));
		return p ? p + 1 : NULL;
	}
	while (p < end && (isalnum((unsigned char)*p) || *p == '_'))
		p++;
	return p > start ? p : NULL;
}

static bool is_literal(const char *p, size_t length, const char *word)
{
	return length == strlen(word) && !memcmp(p, word, length);
}

static bool keep_entry(struct dictionary *d, const char *key, size_t key_length, const char *value, size_t length)
{
	const struct {
		const char *name;
		const char **text;
		size_t *length;
	} rows[] = {
	    {"descr", &d->descr, &d->descr_length},
	    {"fortran_order", &d->order, &d->order_length},
	    {"shape", &d->shape, &d->shape_length},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* The key is in quotes, single or double. */
		if (!is_literal(key + 1, key_length - 2, rows[i].name) || *rows[i].text)
			continue;
		*rows[i].text = value;
		*rows[i].length = length;
		return true;
	}
	return false;
}

/* "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }" and blanks: exactly these three keys,
 * in any order. */
static bool parse_dictionary(const char *p, const char *end, struct dictionary *d)
{
	memset(d, 0, sizeof(*d));
	p = skip_blanks(p, end);
	if (p == end || *p++ != '{')
		return false;
	for (p = skip_blanks(p, end); p < end && *p != '}'; p = skip_blanks(p, end)) {
		const char *key = p, *key_end, *value;

		if (*p != '\'' && *p != '"')
			return false;
		key_end = skip_literal(key, end);
		if (!key_end)
			return false;
		p = skip_blanks(key_end, end);
		if (p == end || *p++ != ':')
			return false;
		value = skip_blanks(p, end);
		p = skip_literal(value, end);
		if (!p || !keep_entry(d, key, (size_t)(key_end - key), value, (size_t)(p - value)))
			return false;
		p = skip_blanks(p, end);
		if (p < end && *p == ',')
			p++;
	}
	return p < end && skip_blanks(p + 1, end) == end && d->descr && d->order && d->shape;
}

/* "(3,)", "( 3 , )". */
static bool parse_shape(const char *p, size_t length, size_t *count)
{
	const char *end = p + length;
	size_t value = 0;

	p = skip_blanks(p + 1, end);
	if (p == end || !isdigit((unsigned char)*p))
		return false;
	for (; p < end && isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(value, (size_t)10, &value) ||
		    __builtin_add_overflow(value, (size_t)(*p - '0'), &value))
			return false;
	p = skip_blanks(p, end);
	if (p == end || *p++ != ',')
		return false;
	p = skip_blanks(p, end);
	*count = value;
	return p + 1 == end && *p == ')';
}

static int npy_refuse(const char *path, struct err *e, const char *cause)
{
	return err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "%s", cause);
}

static int read_dictionary(const char *path, const char *text, size_t length, size_t *count, struct err *e)
{
	struct dictionary d;

	if (!parse_dictionary(text, text + length, &d))
		return npy_refuse(path, e, "its .npy header is malformed");
	if (!is_literal(d.descr, d.descr_length, "'<i8'") && !is_literal(d.descr, d.descr_length, "\"<i8\""))
		return err_set(e, -EINVAL, STATUS_USAGE, path, NULL,
			       "its entries are %.*s, not '<i8' (64-bit integers)",
			       (int)(d.descr_length > 32 ? 32 : d.descr_length), d.descr);
	if (!is_literal(d.order, d.order_length, "False"))
		return npy_refuse(path, e, "its entries are in Fortran order; expected C order");
	if (*d.shape != '(' || !parse_shape(d.shape, d.shape_length, count))
		return err_set(e, -EINVAL, STATUS_USAGE, path, NULL,
			       "its shape is %.*s, not that of one column, such as (8000,)",
			       (int)(d.shape_length > 32 ? 32 : d.shape_length), d.shape);
	return 0;
}

/* Check the header of a mapped file against the file's size, and find the start and length of the data. */
static int read_header(const char *path, const unsigned char *map, size_t size, size_t *start, size_t *count,
		       struct err *e)
{
	size_t length, want;
	int rc;

	if (size < PREAMBLE || memcmp(map, MAGIC, sizeof(MAGIC) - 1))
		return npy_refuse(path, e, "it is not a .npy file");
	if (map[6] != 1 || map[7] != 0)
		return err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "it is of .npy version %u.%u; only 1.0 is read",
			       map[6], map[7]);
	length = map[8] | (size_t)map[9] << 8;
	if (length > size - PREAMBLE)
		return npy_refuse(path, e, "it is truncated inside its .npy header");
	rc = read_dictionary(path, (const char *)map + PREAMBLE, length, count, e);
	if (rc)
		return rc;
	*start = PREAMBLE + length;
	if (*start % sizeof(int64_t))
		return npy_refuse(path, e, "its data is not aligned to eight bytes");
	if (__builtin_mul_overflow(*count, sizeof(int64_t), &want) || want > size - *start)
		return err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "it is truncated: expected %zu entries, found %zu",
			       *count, (size - *start) / sizeof(int64_t));
	if (want < size - *start)
		return err_set(e, -EINVAL, STATUS_USAGE, path, NULL,
			       "it is too long: expected %zu entries, found %zu more bytes", *count,
			       size - *start - want);
	return 0;
}

int npy_open(const char *path, struct npy *out, struct err *e)
{
	size_t start = 0, count = 0;
	struct mapped *file;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = mapped_open(path, &file, e);
	if (rc)
		return rc;
	rc = read_header(path, mapped_data(file), mapped_size(file), &start, &count, e);
	if (rc) {
		mapped_close(file, NULL);
		return rc;
	}
	/* Columns are read sequentially: lets the kernel read ahead and map many pages at a time. */
	madvise((void *)mapped_data(file), mapped_size(file), MADV_SEQUENTIAL);
	*out = (struct npy){(const int64_t *)((const char *)mapped_data(file) + start), count, file};
	return 0;
}

int npy_close(struct npy *n, struct err *e)
{
	int rc = mapped_close(n->file, e);

	memset(n, 0, sizeof(*n));
	return rc;
}

int npy_write(const char *path, const int64_t *data, size_t count, struct err *e)
{
	char header[NPY_HEADER];
	const struct iovec part[] = {{header, sizeof(header)}, {(void *)data, count * sizeof(*data)}};

	npy_header(header, count);
	return fs_write_parts(path, part, 2, 0666, e);
}
