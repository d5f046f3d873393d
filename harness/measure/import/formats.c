#include "measure/import/formats.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/npy.h"
#include "common/text.h"

#define LATENCY_MAX_NS 1e15 /* 11 days */

/* --- lines --- */

static int format_refuse(const struct reading *r, struct err *e, const char *cause, const char *what)
{
	char *object = fs_path("%s:%lu", r->path, r->line), quoted[TEXT_QUOTE_MAX];
	int rc = err_set(e, -EINVAL, STATUS_USAGE, object, NULL, "%s%s%s", cause, what ? " " : "",
			 what ? text_quote(what, quoted, sizeof(quoted)) : "");

	free(object);
	return rc;
}

/* The next line, without its end: 1; 0 at the end of the file; or a negative errno. */
static int format_line(struct reading *r, struct err *e)
{
	size_t length;

	if (!fgets(r->text, sizeof(r->text), r->in))
		return ferror(r->in) ? err_sys(e, -errno, r->path, "read") : 0;
	r->line++;
	length = strlen(r->text);
	if (!length || r->text[length - 1] != '\n')
		return format_refuse(r, e,
				     length + 1 < sizeof(r->text)
					 ? "the line has no end: the file was cut off, or is no text"
					 : "the line is too long: it is no file of this format",
				     NULL);
	r->text[--length] = '\0';
	if (length && r->text[length - 1] == '\r')
		r->text[length - 1] = '\0';
	return 1;
}

/* The field at `*at`, up to a comma, without blanks and quotes around it; NULL: there is none. */
static char *next_field(char **at)
{
	char *from = *at, *end;

	if (!from)
		return NULL;
	end = strchr(from, ',');
	*at = end ? end + 1 : NULL;
	if (!end)
		end = from + strlen(from);
	while (from < end && (isspace((unsigned char)*from) || *from == '"'))
		from++;
	while (end > from && (isspace((unsigned char)end[-1]) || end[-1] == '"'))
		end--;
	*end = '\0';
	return from;
}

/* --- numbers --- */

int64_t format_unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {{"ns", 1},	      {"nsec", 1},	 {"us", 1000},	    {"usec", 1000},
		     {"ms", 1000000}, {"msec", 1000000}, {"s", 1000000000}, {"sec", 1000000000}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].name, unit))
			return units[i].ns;
	return 0;
}

static bool read_count(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno && *value < (uint64_t)1 << 62;
}

/* How finely a number is written, in ns. */
static int64_t format_resolution(const char *text, int64_t unit_ns)
{
	const char *point = strchr(text, '.');
	int64_t ns = unit_ns;

	for (const char *p = point ? point + 1 : ""; isdigit((unsigned char)*p) && ns > 1; p++)
		ns /= 10;
	return ns > 1 ? ns : 1;
}

static int read_latency(struct reading *r, const char *text, int64_t unit_ns, int64_t *ns, struct err *e)
{
	char *end;
	const double value = strtod(text, &end) * (double)unit_ns;
	const int64_t resolution = format_resolution(text, unit_ns);

	if (end == text || *end || strpbrk(text, "xX"))
		return format_refuse(r, e, "not a number:", text);
	if (!isfinite(value) || value < 0 || value > LATENCY_MAX_NS)
		return format_refuse(r, e, "not a latency:", text);
	*ns = (int64_t)llround(value);
	if (!r->resolution_ns || resolution < r->resolution_ns)
		r->resolution_ns = resolution;
	return 0;
}

static int take_latency(struct reading *r, const char *text, int64_t unit_ns, struct err *e)
{
	int64_t ns;
	int rc = read_latency(r, text, unit_ns, &ns, e);

	return rc ? rc : samples_add(r->to, ns, 1, e);
}

static int take_lost(struct reading *r, uint64_t count, struct err *e)
{
	if (count > FORMAT_LOST_MAX - r->lost)
		return format_refuse(r, e, "more than a million messages are missing", NULL);
	r->lost += count;
	return samples_add(r->to, NEVER, count, e);
}

/* --- plain CSV --- */

#define CSV_COLUMNS_MAX 256

struct csv_columns {
	int latency, rep; /* -1: there is none */
	int64_t unit_ns;
};

/* "# boot: 1234" of `kblat export --samples`. */
static int read_remark(struct reading *r, struct err *e)
{
	struct {
		const char *key;
		char *text;
		int64_t *number;
	} keys[] = {{"name", r->name, NULL},	      {"host", r->host, NULL},
		    {"boot", r->boot, NULL},	      {"started_ns", NULL, &r->started_ns},
		    {"limit_ns", NULL, &r->limit_ns}, {"clock_hz", NULL, &r->clock_hz}};
	char key[32], value[FORMAT_NAME_MAX];

	if (sscanf(r->text, "# %31[a-z_]: %127[^\n]", key, value) != 2)
		return 0;
	if (!strcmp(key, "invalid"))
		return format_refuse(r, e, "its point is not valid:", value);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		uint64_t number;

		if (strcmp(key, keys[i].key) != 0)
			continue;
		if (keys[i].text)
			snprintf(keys[i].text, FORMAT_NAME_MAX, "%s", value);
		else if (read_count(value, &number))
			*keys[i].number = (int64_t)number;
		else
			return format_refuse(r, e, "not a number:", value);
	}
	return 0;
}

/* The unit that a column's name ends in: "lat_us", "latency (usec)"; 0: none. */
static int64_t unit_of_name(const char *name)
{
	const char *at = strpbrk(name, "_(") ? name + strlen(name) : name;
	char unit[8] = "";

	while (at > name && at[-1] != '_' && at[-1] != '(')
		at--;
	sscanf(at, "%7[a-z]", unit);
	return at > name ? format_unit_ns(unit) : 0;
}

static int csv_unit(const struct reading *r, const char *name, int64_t *ns, struct err *e)
{
	const int64_t named = unit_of_name(name), asked = r->unit ? format_unit_ns(r->unit) : 0;

	if (named && asked && named != asked)
		return format_refuse(r, e, "--unit contradicts the name of the column", name);
	*ns = named ? named : asked;
	return *ns ? 0 : format_refuse(r, e, "give --unit ns, us, ms or s for the column", name);
}

static int csv_header(struct reading *r, struct csv_columns *c, struct err *e)
{
	char *at = r->text, *name, *latency = NULL;
	int number = 0, others = 0;

	c->latency = c->rep = -1;
	for (; (name = next_field(&at)); number++) {
		if (number == CSV_COLUMNS_MAX)
			return format_refuse(r, e, "it has more than 256 columns", NULL);
		if (!strcmp(name, "rep")) {
			c->rep = number;
			continue;
		}
		others++;
		if (r->column && strcmp(name, r->column) != 0)
			continue;
		if (latency && r->column)
			return format_refuse(r, e, "two columns have the name", name);
		c->latency = number;
		latency = name;
	}
	if (!latency)
		return format_refuse(r, e, "it has no column", r->column ? r->column : "");
	if (!r->column && others > 1)
		return format_refuse(r, e, "it has several columns; choose one with --column", NULL);
	return csv_unit(r, latency, &c->unit_ns, e);
}

static int csv_rep(struct reading *r, const char *text, uint64_t *last, struct err *e)
{
	uint64_t rep;

	if (!read_count(text, &rep))
		return format_refuse(r, e, "not the number of a repetition:", text);
	if (r->to->reps && rep < *last)
		return format_refuse(r, e, "the repetitions are not in order: it goes back to", text);
	if (r->to->reps && rep == *last)
		return 0;
	*last = rep;
	return samples_begin(r->to, e);
}

static int csv_sample(struct reading *r, const struct csv_columns *c, uint64_t *last, struct err *e)
{
	char *at = r->text, *field, *latency = NULL;
	int rc = 0;

	for (int number = 0; !rc && (field = next_field(&at)); number++) {
		if (number == c->latency)
			latency = field;
		if (number == c->rep)
			rc = csv_rep(r, field, last, e);
	}
	if (rc)
		return rc;
	if (!latency)
		return format_refuse(r, e, "the line has too few columns", NULL);
	if (!r->to->reps)
		rc = samples_begin(r->to, e);
	if (rc)
		return rc;
	return *latency ? take_latency(r, latency, c->unit_ns, e) : take_lost(r, 1, e);
}

static int read_csv(struct reading *r, struct err *e)
{
	struct csv_columns c = {.latency = -1};
	bool has_header = false;
	uint64_t last = 0;
	int rc;

	while ((rc = format_line(r, e)) > 0) {
		if (*r->text == '#') {
			rc = read_remark(r, e);
		} else if (!has_header) {
			rc = csv_header(r, &c, e);
			has_header = true;
		} else {
			rc = csv_sample(r, &c, &last, e);
		}
		if (rc)
			return rc;
	}
	return rc;
}

/* --- perftest --- */

/* ib_send_lat -U or -H: "#, usec", then "1, 3.41" and so on, then the table. */
static int perftest_row(struct reading *r, uint64_t expected, int64_t *last, struct err *e)
{
	char *at = r->text, *number = next_field(&at), *text = next_field(&at);
	int64_t ns;
	uint64_t n;
	int rc;

	if (!text || at || !read_count(number, &n))
		return format_refuse(r, e, "not a sample of perftest:", r->text);
	if (n != expected)
		return format_refuse(r, e, "samples are missing before number", number);
	rc = read_latency(r, text, 1000, &ns, e);
	if (!rc && ns < *last)
		r->is_unordered = false;
	*last = ns;
	return rc ? rc : samples_add(r->to, ns, 1, e);
}

/* What follows the samples: the summary, without which the output was cut off. */
static bool is_perftest_end(const char *text)
{
	return !strncmp(text, "---", 3) || !strncmp(text, " #bytes", 7) || !strncmp(text, "#bytes", 6);
}

static int read_perftest(struct reading *r, struct err *e)
{
	bool has_begun = false, has_ended = false;
	uint64_t expected = 1;
	int64_t last = 0;
	int rc;

	while ((rc = format_line(r, e)) > 0) {
		rc = 0;
		if (!strncmp(r->text, "#, ", 3)) {
			if (has_begun)
				return format_refuse(r, e, "it has a second list of samples: give each run a file",
						     NULL);
			if (strcmp(r->text + 3, "usec") != 0)
				return format_refuse(r, e, "the samples are not in usec, but in", r->text + 3);
			has_begun = true;
			r->is_unordered = true; /* until one is less than the one before it */
			rc = samples_begin(r->to, e);
		} else if (has_begun && is_perftest_end(r->text)) {
			has_ended = true;
		} else if (has_begun && !has_ended) {
			rc = perftest_row(r, expected++, &last, e);
		}
		if (rc)
			return rc;
	}
	if (!rc && !has_begun)
		return format_refuse(r, e, "there is no list of samples; run perftest with -U", NULL);
	if (!rc && !has_ended)
		return format_refuse(r, e, "the summary after the samples is missing: the file was cut off", NULL);
	return rc;
}

/* --- sockperf --- */

#define SOCKPERF_HEAD "packet, txTime(sec), rxTime(sec), "

struct sockperf_state {
	int64_t unit_ns;
	uint64_t next;
	double sent;
	bool has_any;
};

static int sockperf_row(struct reading *r, struct sockperf_state *s, struct err *e)
{
	char *at = r->text, *number = next_field(&at), *sent = next_field(&at), *received = next_field(&at);
	char *latency = next_field(&at), *end;
	uint64_t n;
	double t;
	int rc;

	if (!latency || at || !read_count(number, &n))
		return format_refuse(r, e, "not a sample of sockperf:", r->text);
	t = strtod(sent, &end);
	if (end == sent || *end || !isfinite(t))
		return format_refuse(r, e, "not a time:", sent);
	(void)received;
	if (s->has_any && (n < s->next || t < s->sent))
		return format_refuse(r, e, "time or number goes back to", n < s->next ? number : sent);
	rc = s->has_any && n > s->next ? take_lost(r, n - s->next, e) : 0;
	*s = (struct sockperf_state){s->unit_ns, n + 1, t, true};
	return rc ? rc : take_latency(r, latency, s->unit_ns, e);
}

static int sockperf_begin(struct reading *r, struct sockperf_state *s, struct err *e)
{
	if (s->unit_ns)
		return format_refuse(r, e, "it has a second list of samples: give each run a file", NULL);
	s->unit_ns = unit_of_name(r->text + strlen(SOCKPERF_HEAD));
	if (!s->unit_ns)
		return format_refuse(r, e, "unknown unit:", r->text + strlen(SOCKPERF_HEAD));
	return samples_begin(r->to, e);
}

static int read_sockperf(struct reading *r, struct err *e)
{
	struct sockperf_state s = {.unit_ns = 0};
	bool has_ended = false;
	int rc;

	while ((rc = format_line(r, e)) > 0) {
		rc = 0;
		if (!strncmp(r->text, SOCKPERF_HEAD, strlen(SOCKPERF_HEAD)))
			rc = sockperf_begin(r, &s, e);
		else if (s.unit_ns && !strncmp(r->text, "---", 3))
			has_ended = true;
		else if (s.unit_ns && !has_ended)
			rc = sockperf_row(r, &s, e);
		if (rc)
			return rc;
	}
	if (!rc && !s.unit_ns)
		return format_refuse(r, e, "there is no list of samples; run sockperf with --full-log FILE", NULL);
	if (!rc && !has_ended)
		return format_refuse(r, e, "the line after the samples is missing: the file was cut off", NULL);
	return rc;
}

/* --- fio --- */

/* fio's clat log: "time (ms), latency (ns), direction, block size, offset…". */
static int read_fio(struct reading *r, struct err *e)
{
	uint64_t time = 0, direction = 0, now, way;
	int rc;

	while ((rc = format_line(r, e)) > 0) {
		char *at = r->text, *text = next_field(&at), *latency = next_field(&at), *d = next_field(&at);
		const bool is_first = !r->to->reps;

		if (!d || !next_field(&at) || !read_count(text, &now) || !read_count(d, &way) || way > 2)
			return format_refuse(r, e, "not a line of a clat log of fio:", r->text);
		if (now < time)
			return format_refuse(r, e, "time goes back to", text);
		if (!is_first && way != direction)
			return format_refuse(r, e, "reads and writes are mixed; log them by separate jobs", NULL);
		time = now;
		direction = way;
		rc = is_first ? samples_begin(r->to, e) : 0;
		if (!rc)
			rc = take_latency(r, latency, 1, e);
		if (rc)
			return rc;
	}
	return rc;
}

/* --- cyclictest --- */

/* A thread's histogram in the output of --json. `total`: of all its samples. */
static int cyclic_thread(struct reading *r, const json_t *thread, int64_t unit_ns, struct err *e)
{
	const json_t *histogram = json_object_get(thread, "histogram"), *value;
	const json_int_t total = json_integer_value(json_object_get(thread, "cycles"));
	json_int_t sum = 0;
	const char *key;
	int rc = samples_begin(r->to, e);

	json_object_foreach ((json_t *)histogram, key, value) {
		const json_int_t count = json_integer_value(value);
		int64_t ns = 0;

		if (!rc && (!json_is_integer(value) || count < 0 || count > total - sum))
			rc = format_refuse(r, e, "the histogram contradicts the number of cycles at", key);
		rc = rc ? rc : read_latency(r, key, unit_ns, &ns, e);
		rc = rc ? rc : samples_add(r->to, ns, (uint64_t)count, e);
		if (rc)
			return rc;
		sum += count;
	}
	if (!rc && sum < total)
		rc = format_refuse(r, e,
				   "samples are beyond the last bin of the histogram, and their values are not known; "
				   "run cyclictest with a larger -h",
				   NULL);
	return rc;
}

#define CYCLES_MAX 10000000000

static int cyclic_check(const struct reading *r, const json_t *document, const json_t *threads, struct err *e)
{
	const json_t *thread;
	const char *name;
	double sum = 0;

	if (!json_is_object(threads) || !json_object_get(document, "resolution_in_ns"))
		return format_refuse(r, e, "it is not the output of cyclictest --json", NULL);
	json_object_foreach ((json_t *)threads, name, thread) {
		const json_int_t cycles = json_integer_value(json_object_get(thread, "cycles"));

		if (cycles < 1 || !json_is_object(json_object_get(thread, "histogram")))
			return format_refuse(r, e, "no histogram in a thread; run cyclictest with -h:", name);
		sum += (double)cycles;
	}
	return sum <= CYCLES_MAX ? 0 : format_refuse(r, e, "it claims more than 10 billion samples", NULL);
}

static int read_cyclic_json(struct reading *r, struct err *e)
{
	json_error_t error;
	json_t *document = json_loadf(r->in, JSON_REJECT_DUPLICATES, &error);
	const json_t *threads = json_object_get(document, "thread"), *thread;
	const int64_t unit_ns = json_is_true(json_object_get(document, "resolution_in_ns")) ||
					json_integer_value(json_object_get(document, "resolution_in_ns"))
				    ? 1
				    : 1000;
	const char *name;
	int rc;

	r->line = document ? 1 : (unsigned long)(error.line > 0 ? error.line : 1);
	rc = document ? cyclic_check(r, document, threads, e) : format_refuse(r, e, "not JSON:", error.text);
	r->is_unordered = true;
	json_object_foreach ((json_t *)threads, name, thread)
		rc = rc ? rc : cyclic_thread(r, thread, unit_ns, e);
	json_decref(document);
	return rc;
}

/* cyclictest -v: "thread: cycle: latency (us)". */
static int read_cyclic_lines(struct reading *r, struct err *e)
{
	uint64_t next = 0;
	int rc;

	while ((rc = format_line(r, e)) > 0) {
		unsigned long thread, cycle;
		char latency[32], rest;

		if (sscanf(r->text, " %lu: %lu: %31s %c", &thread, &cycle, latency, &rest) != 3) {
			if (r->to->reps || strstr(r->text, "istogram"))
				return format_refuse(r, e, "not a sample of cyclictest -v:", r->text);
			continue;
		}
		if (thread)
			return format_refuse(r, e, "it has several threads; import their histograms (--json)", NULL);
		if (r->to->reps && cycle < next)
			return format_refuse(r, e, "the number of a cycle goes back", NULL);
		rc = r->to->reps ? 0 : samples_begin(r->to, e);
		if (!rc && r->to->entries && cycle > next)
			rc = take_lost(r, cycle - next, e);
		next = cycle + 1;
		if (!rc)
			rc = take_latency(r, latency, 1000, e);
		if (rc)
			return rc;
	}
	return rc;
}

/* --- */

const struct import_format import_formats[] = {
    {"csv", "a column of comma-separated values with a header line (also kblat export --samples)", true, read_csv},
    {"cyclictest", "cyclictest -v: each wake-up of one thread", false, read_cyclic_lines},
    {"cyclictest-json", "cyclictest -h N --json=FILE: histograms, a repetition for each thread", false,
     read_cyclic_json},
    {"fio", "fio --write_lat_log: its clat log, not averaged", false, read_fio},
    {"perftest", "ib_send_lat -U and its like: every sample in order; -H: sorted", false, read_perftest},
    {"sockperf", "sockperf ping-pong (or under-load) --full-log FILE", false, read_sockperf},
    {.name = NULL},
};

const struct import_format *format_find(const char *name)
{
	for (const struct import_format *f = import_formats; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

int format_read(const struct import_format *f, struct reading *r, struct err *e)
{
	struct err why = ERR_INIT;
	int rc = f->read(r, e);

	if (!rc)
		rc = samples_end(r->to, &why);
	if (why.status)
		err_set(e, rc, why.status, r->path, NULL, "%s", why.text);
	return rc;
}
