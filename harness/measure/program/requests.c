#include "measure/program/requests.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "measure/program/kblat_stamp.h"

void request_stamps_add(struct request_stamps *s, const struct request_stamp *stamp)
{
	if (s->count == REQUEST_STAMPS_MOST) {
		s->left++;
		return;
	}
	s->list = grow_or_abort(s->list, s->count, sizeof(*s->list));
	s->list[s->count++] = *stamp;
}

/* --- matching --- */

static int by_stamp_time(const void *a, const void *b)
{
	const struct request_stamp *one = a, *other = b;

	if (one->time != other->time)
		return one->time < other->time ? -1 : 1;
	return one->is_end - other->is_end;
}

static int by_beginning(const void *a, const void *b)
{
	const struct program_request *one = a, *other = b;

	if (one->from != other->from)
		return one->from < other->from ? -1 : 1;
	return (one->to > other->to) - (one->to < other->to);
}

/* Open begins, in a table of lists: by their ID, or by their thread. */
struct open_begin {
	const struct request_stamp *stamp;
	size_t next; /* the one before of the same place, plus 1; 0: none */
};

struct open_begins {
	size_t *places; /* index in `list`, plus 1 */
	size_t size;	/* a power of two */
	struct open_begin *list;
	size_t count, open;
	enum request_match how;
	const struct request_stamp **again; /* of frames that go on with their next stamp: a few, if any */
	size_t again_count;
};

static uint64_t request_key(const struct open_begins *o, const struct request_stamp *s)
{
	return o->how == MATCH_FRAME ? s->frame : o->how == MATCH_THREAD || !s->id ? s->task : s->id;
}

static bool is_same_frame(const struct request_stamp *a, const struct request_stamp *b)
{
	return a->task == b->task && a->frame == b->frame;
}

static bool is_same_request(const struct open_begins *o, const struct request_stamp *a, const struct request_stamp *b)
{
	if (o->how == MATCH_FRAME)
		return is_same_frame(a, b);
	return o->how == MATCH_THREAD ? a->task == b->task : a->id == b->id && (a->id || a->task == b->task);
}

static size_t *open_place(const struct open_begins *o, const struct request_stamp *s)
{
	const uint64_t hash = request_key(o, s) * UINT64_C(0x9e3779b97f4a7c15);

	return &o->places[(hash >> 20) & (o->size - 1)];
}

static void open_add(struct open_begins *o, const struct request_stamp *s)
{
	size_t *place = open_place(o, s);

	o->list[o->count] = (struct open_begin){s, *place};
	*place = ++o->count;
	o->open += !s->is_inner;
}

/* The last open begin that this end belongs to, which is closed; NULL: there is none. */
static const struct request_stamp *open_take(struct open_begins *o, const struct request_stamp *end)
{
	size_t *link = open_place(o, end);

	while (*link && !is_same_request(o, o->list[*link - 1].stamp, end))
		link = &o->list[*link - 1].next;
	if (!*link)
		return NULL;
	const struct open_begin *found = &o->list[*link - 1];

	*link = found->next;
	o->open -= !found->stamp->is_inner;
	return found->stamp;
}

#define AGAIN_MOST 64

/* Does it only repeat one that was seen? */
static bool stamp_repeats(struct open_begins *o, const struct request_stamp *s)
{
	for (size_t i = 0; i < o->again_count; i++)
		if (is_same_frame(o->again[i], s) && o->again[i]->is_end == s->is_end) {
			o->again[i] = o->again[--o->again_count];
			return true;
		}
	return false;
}

static void note_again(struct open_begins *o, const struct request_stamp *s)
{
	stamp_repeats(o, s);
	if (o->again_count == AGAIN_MOST) /* their stamps were lost */
		o->again_count = 0;
	o->again = grow_or_abort(o->again, o->again_count, sizeof(*o->again));
	o->again[o->again_count++] = s;
}

static void match_begin(struct open_begins *o, const struct request_stamp *stamp, struct program_requests *found)
{
	const struct request_stamp *left = o->how == MATCH_FRAME ? open_take(o, stamp) : NULL;

	found->open += left && !left->is_inner;
	if (!stamp->is_inner || o->how == MATCH_FRAME)
		open_add(o, stamp);
}

static void match_end(struct open_begins *o, const struct request_stamp *stamp, struct program_requests *found)
{
	const struct request_stamp *begin = open_take(o, stamp);

	found->strange += !begin && !stamp->is_joint;
	if (begin && !begin->is_inner)
		found->list[found->count++] = (struct program_request){begin->time, stamp->time, stamp->tid, begin->id};
}

struct program_requests requests_match(struct request_stamps *s, enum request_match how)
{
	struct program_requests found = {.list = or_abort(calloc(s->count / 2 + 1, sizeof(*found.list)))};
	struct open_begins o = {.size = 1024, .how = how};

	while (o.size < s->count)
		o.size *= 2;
	o.places = or_abort(calloc(o.size, sizeof(*o.places)));
	o.list = or_abort(calloc(s->count + 1, sizeof(*o.list)));
	if (s->count)
		qsort(s->list, s->count, sizeof(*s->list), by_stamp_time);
	for (size_t i = 0; i < s->count; i++) {
		const struct request_stamp *stamp = &s->list[i];

		if (stamp->is_again)
			note_again(&o, stamp);
		else if (stamp->frame && stamp_repeats(&o, stamp))
			continue;
		else if (stamp->is_end)
			match_end(&o, stamp, &found);
		else
			match_begin(&o, stamp, &found);
	}
	found.open += o.open;
	free(o.again);
	free(o.places);
	free(o.list);
	qsort(found.list, found.count, sizeof(*found.list), by_beginning);
	return found;
}

/* --- memory that a program writes --- */

struct stamp_memory {
	struct kblat_stamps *shared; /* the program may write anything into it */
	uint64_t read[KBLAT_STAMP_RINGS];
	int fd;
};

/* Sealed, so that the program cannot cut it off while it is read. */
static int make_memory(struct stamp_memory *m, struct err *e)
{
	m->fd = memfd_create("kblat-stamps", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	if (m->fd < 0 || ftruncate(m->fd, (off_t)sizeof(*m->shared)) ||
	    fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return err_sys(e, -errno, "memory for stamps", "create");
	m->shared = mmap(NULL, sizeof(*m->shared), PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (m->shared == MAP_FAILED) {
		m->shared = NULL;
		return err_sys(e, -errno, "memory for stamps", "map");
	}
	m->shared->magic = KBLAT_STAMP_MAGIC;
	return 0;
}

int stamp_memory_open(struct stamp_memory **out, int *fd, struct err *e)
{
	struct stamp_memory *m = or_abort(calloc(1, sizeof(*m)));
	int rc = make_memory(m, e);

	*out = NULL;
	if (rc) {
		stamp_memory_close(m);
		return rc;
	}
	*fd = m->fd;
	*out = m;
	return 0;
}

static unsigned rings_of(const struct stamp_memory *m)
{
	const uint32_t threads = __atomic_load_n(&m->shared->threads, __ATOMIC_RELAXED);

	return threads < KBLAT_STAMP_RINGS ? threads : KBLAT_STAMP_RINGS;
}

static void take_ring(struct stamp_memory *m, unsigned number, const struct clock_conversion *c,
		      struct request_stamps *to)
{
	struct kblat_stamp_ring *r = &m->shared->rings[number];
	const uint64_t written = __atomic_load_n(&r->written, __ATOMIC_ACQUIRE);
	const int32_t tid = r->tid;
	uint64_t at = m->read[number];

	if (written - at > KBLAT_STAMP_ENTRIES) /* the program has damaged it */
		at = written;
	for (; at != written; at++) {
		const struct kblat_stamp s = r->entries[at % KBLAT_STAMP_ENTRIES];

		request_stamps_add(to, &(struct request_stamp){clock_to_ns(c, (int64_t)(s.ticks & ~KBLAT_STAMP_END)),
							       s.id, tid, (s.ticks & KBLAT_STAMP_END) != 0,
							       .task = (uint32_t)tid});
	}
	m->read[number] = at;
	__atomic_store_n(&r->read, at, __ATOMIC_RELEASE);
}

void stamp_memory_take(struct stamp_memory *m, const struct clock_conversion *c, struct request_stamps *to)
{
	const unsigned rings = rings_of(m);

	for (unsigned i = 0; i < rings; i++)
		take_ring(m, i, c, to);
}

uint64_t stamp_memory_lost(const struct stamp_memory *m)
{
	const unsigned rings = rings_of(m);
	uint64_t lost = 0;

	for (unsigned i = 0; i < rings; i++)
		lost += __atomic_load_n(&m->shared->rings[i].lost, __ATOMIC_RELAXED);
	return lost;
}

unsigned stamp_memory_threads_lost(const struct stamp_memory *m)
{
	return __atomic_load_n(&m->shared->threads, __ATOMIC_RELAXED) - rings_of(m);
}

void stamp_memory_close(struct stamp_memory *m)
{
	if (!m)
		return;
	if (m->shared)
		munmap(m->shared, sizeof(*m->shared));
	if (m->fd >= 0)
		close(m->fd);
	free(m);
}

/* --- a file --- */

#define REQUESTS_MOST (16u << 20) /* 512 MB */

struct request_file {
	const char *path;
	const struct clock_conversion *conversion;
	const struct clock_point *at;
	unsigned long line;
	bool has_ticks;
	struct program_requests *to;
};

static int complain_line(const struct request_file *f, struct err *e, const char *what)
{
	return err_set(e, -EINVAL, STATUS_USAGE, f->path, NULL, "line %lu: %s", f->line, what);
}

static int64_t time_of(const struct request_file *f, int64_t value)
{
	const struct clock_point *at = f->at;
	const double slope =
	    at[1].ns > at[0].ns ? (double)(at[1].ticks - at[0].ticks) / (double)(at[1].ns - at[0].ns) : 1;

	if (f->has_ticks)
		return clock_to_ns(f->conversion, value);
	return clock_to_ns(f->conversion, at[0].ticks + (int64_t)((double)(value - at[0].ns) * slope));
}

static int take_request(struct request_file *f, const char *text, struct err *e)
{
	int64_t from, to;
	uint64_t id = 0;
	int32_t tid;
	int end = 0, more = 0;

	if (sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd32 "%n", &from, &to, &tid, &end) != 3)
		return complain_line(f, e, "expected begin, end, the thread's number, and an ID if there is one");
	sscanf(text + end, "%" SCNu64 "%n", &id, &more);
	if (text[end + more + (int)strspn(text + end + more, " \t\r\n")])
		return complain_line(f, e, "there is more than begin, end, the thread's number and an ID");
	if (from < 0 || to < from || to > INT64_MAX / 4 || tid < 0)
		return complain_line(f, e, "a time or number is negative, or the request ends before it begins");
	if (f->to->count == REQUESTS_MOST)
		return complain_line(f, e, "there are more requests than can be kept");
	f->to->list = grow_or_abort(f->to->list, f->to->count, sizeof(*f->to->list));
	f->to->list[f->to->count++] = (struct program_request){time_of(f, from), time_of(f, to), tid, id};
	return 0;
}

static int take_lines(struct request_file *f, FILE *in, struct err *e)
{
	char text[256];
	int rc = 0;

	errno = 0;
	while (!rc && fgets(text, sizeof(text), in)) {
		f->line++;
		if (!strchr(text, '\n') && !feof(in))
			return complain_line(f, e, "it is too long");
		if (!strcmp(text, "# ticks\n")) {
			if (f->to->count)
				return complain_line(f, e, "'# ticks' must come before the first request");
			f->has_ticks = true;
		} else if (*text != '#' && text[strspn(text, " \t\r\n")]) {
			rc = take_request(f, text, e);
		}
	}
	return rc ?: ferror(in) ? err_sys(e, errno ? -errno : -EIO, f->path, "read") : 0;
}

int requests_read(const char *path, const struct clock_conversion *c, const struct clock_point at[2],
		  struct program_requests *out, struct err *e)
{
	struct request_file f = {.path = path, .conversion = c, .at = at, .to = out};
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	struct stat st;
	int rc;

	*out = (struct program_requests){.list = NULL};
	if (!in)
		return err_sys(e, -errno, path, "open");
	rc = fstat(fd, &st) || !S_ISREG(st.st_mode)
		 ? err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "is not a regular file any more")
		 : take_lines(&f, in, e);
	fclose(in);
	if (out->count)
		qsort(out->list, out->count, sizeof(*out->list), by_beginning);
	return rc;
}
