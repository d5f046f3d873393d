#include "measure/import/formats.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/or_abort.h"

#define BEYOND "samples are beyond the last bin of the histogram, and their values are not known; "

/* --- a histogram with a column for each thread or CPU, which becomes a repetition --- */

#define GRID_CELLS_MOST (64 << 20)

struct grid {
	size_t columns, rows;
	int64_t *edge;	 /* of each row, in the file's unit */
	uint64_t *count; /* row by row */
};

static void grid_free(struct grid *g)
{
	free(g->edge);
	free(g->count);
}

/* The numbers of a line: how many, or -1 if there is something else, or more than `most`. */
static int split_numbers(const char *text, uint64_t *number, size_t most)
{
	size_t count = 0;
	char *end;

	for (;; text = end) {
		while (isspace((unsigned char)*text))
			text++;
		if (!*text)
			return (int)count;
		if (count == most || !isdigit((unsigned char)*text))
			return -1;
		errno = 0;
		number[count++] = strtoull(text, &end, 10);
		if (errno || (*end && !isspace((unsigned char)*end)))
			return -1;
	}
}

static int grid_add(struct grid *g, const struct reading *r, int64_t edge, const uint64_t *count, struct err *e)
{
	if (g->rows && edge <= g->edge[g->rows - 1])
		return reading_refuse(r, e, "the bins are not in order", NULL);
	if (g->rows >= GRID_CELLS_MOST / (g->columns + 1))
		return reading_refuse(r, e, "it has too many bins", NULL);
	if (!(g->rows & (g->rows - 1))) {
		const size_t room = g->rows ? 2 * g->rows : 1;
		int64_t *edges = large_resize(g->edge, room, sizeof(*edges));
		uint64_t *counts = edges ? large_resize(g->count, room * g->columns, sizeof(*counts)) : NULL;

		g->edge = edges ? edges : g->edge;
		g->count = counts ? counts : g->count;
		if (!counts)
			return err_sys(e, -ENOMEM, r->path, "read");
	}
	memcpy(g->count + g->rows * g->columns, count, g->columns * sizeof(*count));
	g->edge[g->rows++] = edge;
	return 0;
}

/* The first `columns` become repetitions, except for those without a sample. `total`: what each must sum up to; may be
 * NULL. */
static int grid_take(const struct grid *g, struct reading *r, size_t columns, int64_t unit_ns, int64_t width,
		     const uint64_t *total, struct err *e)
{
	int rc = 0;

	r->resolution_ns = width * unit_ns;
	for (size_t c = 0; !rc && c < columns; c++) {
		uint64_t sum = 0;

		for (size_t row = 0; row < g->rows; row++)
			sum += g->count[row * g->columns + c];
		if (total && sum != total[c])
			return reading_refuse(r, e, "the bins of a column do not sum up to its total", NULL);
		if (!sum)
			continue;
		rc = samples_begin(r->to, e);
		for (size_t row = 0; !rc && row < g->rows; row++)
			rc = reading_bin(r, g->edge[row] * unit_ns, width * unit_ns, g->count[row * g->columns + c], e);
	}
	return rc;
}

/* A row "EDGE COUNT COUNT…"; `kept` (or NULL): which of the columns. */
static int grid_row(struct grid *g, const struct reading *r, const char *text, const bool *kept, size_t all,
		    struct err *e)
{
	uint64_t number[2 * SAMPLES_REPS + 2];
	const int count = split_numbers(text, number, all + 1);
	size_t columns = 0;

	if (count != (int)all + 1 || number[0] > INT32_MAX)
		return reading_refuse(r, e, "not a row of the histogram:", text);
	for (size_t i = 0; i < all; i++)
		if (!kept || kept[i])
			number[1 + columns++] = number[1 + i];
	return grid_add(g, r, (int64_t)number[0], number + 1, e);
}

/* --- cyclictest --- */

/* A thread's histogram in the output of --json. */
static int cyclic_thread(struct reading *r, const json_t *thread, int64_t unit_ns, struct err *e)
{
	const json_t *histogram = json_object_get(thread, "histogram"), *value;
	const json_int_t total = json_integer_value(json_object_get(thread, "cycles"));
	json_int_t sum = 0;
	const char *key;
	int rc = samples_begin(r->to, e);

	r->resolution_ns = unit_ns;
	json_object_foreach ((json_t *)histogram, key, value) {
		const json_int_t count = json_integer_value(value);
		double ns = 0;

		if (!rc && (!json_is_integer(value) || count < 0 || count > total - sum))
			rc = reading_refuse(r, e, "the histogram contradicts the number of cycles at", key);
		rc = rc ? rc : reading_number(r, key, unit_ns, &ns, e);
		rc = rc ? rc : reading_bin(r, llround(ns), unit_ns, (uint64_t)count, e);
		if (rc)
			return rc;
		sum += count;
	}
	return rc || sum == total ? rc : reading_refuse(r, e, BEYOND "run cyclictest with a larger -h", NULL);
}

static int cyclic_check(const struct reading *r, const json_t *document, const json_t *threads, struct err *e)
{
	const json_t *thread;
	const char *name;

	if (!json_is_object(threads) || !json_object_get(document, "resolution_in_ns"))
		return reading_refuse(r, e, "it is not the output of cyclictest --json", NULL);
	json_object_foreach ((json_t *)threads, name, thread) {
		const json_int_t cycles = json_integer_value(json_object_get(thread, "cycles"));

		if (cycles < 1 || !json_is_object(json_object_get(thread, "histogram")))
			return reading_refuse(r, e, "no histogram in a thread; run cyclictest with -h:", name);
	}
	return 0;
}

/* What a program printed before its JSON document is passed over. */
static char *json_begin(struct reading *r, char *text)
{
	const char *mark = "\xef\xbb\xbf";
	char *end;

	if (!strncmp(text, mark, strlen(mark)))
		text += strlen(mark);
	for (r->line = 1; *text && *text != '{' && *text != '['; r->line++) {
		if (text[strspn(text, " \t\r\n")] == '{')
			break;
		reading_skip(r, "lines before the document");
		end = strchr(text, '\n');
		text = end ? end + 1 : text + strlen(text);
	}
	return text;
}

/* The document, or NULL and `rc`. `*is_ambiguous`: an object has a key twice, of which one value is lost. */
static json_t *parse_json(struct reading *r, bool *is_ambiguous, int *rc, struct err *e)
{
	json_t *document = NULL;
	json_error_t error;
	char *text = NULL, *from;
	size_t room = 0;

	if (getdelim(&text, &room, '\0', r->in) < 0) {
		free(text);
		*rc = ferror(r->in) ? err_sys(e, -errno, r->path, "read")
				    : reading_refuse(r, e, "not JSON: the file is empty", NULL);
		return NULL;
	}
	from = json_begin(r, text);
	document = json_loads(from, JSON_REJECT_DUPLICATES, &error);
	if (!document && is_ambiguous && json_error_code(&error) == json_error_duplicate_key) {
		*is_ambiguous = true;
		document = json_loads(from, 0, &error);
	}
	if (!document) {
		r->field_line = r->line - 1 + (unsigned long)(error.line > 0 ? error.line : 1);
		r->field_at = error.column > 0 ? (unsigned long)error.column : 1;
	}
	*rc = document ? 0 : reading_refuse(r, e, "not JSON:", error.text);
	free(text);
	return document;
}

int read_cyclic_json(struct reading *r, struct err *e)
{
	int rc;
	json_t *document = parse_json(r, NULL, &rc, e);
	const json_t *threads = json_object_get(document, "thread"), *thread;
	const json_t *in_ns = json_object_get(document, "resolution_in_ns");
	const int64_t unit_ns = json_is_true(in_ns) || json_integer_value(in_ns) ? 1 : 1000;
	const char *name;

	rc = rc ? rc : cyclic_check(r, document, threads, e);
	json_object_foreach ((json_t *)threads, name, thread)
		rc = rc ? rc : cyclic_thread(r, thread, unit_ns, e);
	json_decref(document);
	return rc;
}

/* What follows the rows of cyclictest's histogram. */
struct cyclic_end {
	uint64_t total[SAMPLES_REPS + 1], beyond[SAMPLES_REPS + 1], least[SAMPLES_REPS + 1];
	int totals, beyonds, threads; /* -1: missing */
};

static int cyclic_remark(struct reading *r, struct cyclic_end *end, struct err *e)
{
	const struct {
		const char *key;
		uint64_t *number;
		int *count;
	} keys[] = {{"# Total: ", end->total, &end->totals},
		    {"# Min Latencies: ", end->least, &end->threads},
		    {"# Histogram Overflows: ", end->beyond, &end->beyonds}};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strncmp(r->text, keys[i].key, strlen(keys[i].key)) != 0)
			continue;
		if (*keys[i].count >= 0)
			return reading_refuse(r, e, "it has a second histogram: give each run a file", NULL);
		*keys[i].count = split_numbers(r->text + strlen(keys[i].key), keys[i].number, SAMPLES_REPS + 1);
		if (*keys[i].count < 1)
			return reading_refuse(r, e, "not a line of cyclictest:", r->text);
	}
	return 0;
}

static int cyclic_rows(struct reading *r, struct grid *g, struct cyclic_end *end, struct err *e)
{
	bool has_begun = false;
	int rc;

	while ((rc = reading_line(r, e)) > 0) {
		uint64_t number[SAMPLES_REPS + 2];

		rc = 0;
		if (!strcmp(r->text, "# Histogram"))
			has_begun = true;
		else if (*r->text == '#')
			rc = cyclic_remark(r, end, e);
		else if (has_begun && end->totals < 0 && *r->text) {
			if (!g->columns)
				g->columns = (size_t)(split_numbers(r->text, number, SAMPLES_REPS + 2) - 1);
			rc = g->columns - 1 <= SAMPLES_REPS
				 ? grid_row(g, r, r->text, NULL, g->columns, e)
				 : reading_refuse(r, e, "not a row of the histogram:", r->text);
		}
		if (rc)
			return rc;
	}
	return rc || has_begun ? rc : reading_refuse(r, e, "there is no histogram; run cyclictest with -h", NULL);
}

/* cyclictest -h: "EDGE COUNT…", a column for each thread; -H: and their sum. */
int read_cyclic_histogram(struct reading *r, struct err *e)
{
	const int64_t unit_ns = r->unit ? reading_unit_ns(r->unit) : 1000;
	struct cyclic_end end = {.totals = -1, .beyonds = -1, .threads = -1};
	struct grid g = {.columns = 0};
	int rc = cyclic_rows(r, &g, &end, e);

	if (!rc && (end.totals < 0 || end.beyonds < 0 || end.threads < 0))
		rc = reading_refuse(r, e, "the summary after the histogram is missing: the file was cut off", NULL);
	if (!rc && (!g.rows || end.threads > (int)g.columns || end.totals < end.threads || end.beyonds < end.threads))
		rc = reading_refuse(r, e, "the summary has other threads than the histogram", NULL);
	for (int i = 0; !rc && i < end.threads; i++)
		if (end.beyond[i])
			rc = reading_refuse(r, e, BEYOND "run cyclictest with a larger -h", NULL);
	if (!rc)
		rc = grid_take(&g, r, (size_t)end.threads, unit_ns, 1, end.total, e);
	grid_free(&g);
	return rc;
}

/* --- rtla --- */

#define RTLA_HEAD "# RTLA "
#define RTLA_UNIT "# Time unit is "

struct rtla {
	struct grid grid;
	int64_t unit_ns, width; /* of bins, in that unit; 0: not known yet */
	size_t all;		/* columns */
	bool kept[2 * SAMPLES_REPS], has_ended, has_total;
	uint64_t total[2 * SAMPLES_REPS + 1];
};

/* "Index   IRQ-000   Thr-000": of several kinds, one is asked for. */
static int rtla_columns(struct reading *r, struct rtla *t, struct err *e)
{
	char *text = r->text + strlen("Index"), *rest, *word, first[8] = "";

	for (word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
		const size_t length = strcspn(word, "-");

		if (t->all == sizeof(t->kept) / sizeof(t->kept[0]) || length >= sizeof(first) || !word[length])
			return reading_refuse(r, e, "not a column of rtla, or too many:", word);
		word[length] = '\0';
		if (!r->column && *first && strcmp(first, word) != 0)
			return reading_refuse(r, e, "it has IRQ and thread latencies; choose --column IRQ or Thr",
					      NULL);
		strcpy(first, word);
		t->kept[t->all] = !r->column || !strcmp(r->column, word);
		t->grid.columns += t->kept[t->all++];
	}
	return t->grid.columns ? 0 : reading_refuse(r, e, "it has no column", r->column ? r->column : "");
}

static int rtla_begin(struct reading *r, struct rtla *t, struct err *e)
{
	char unit[8] = "";

	if (t->all || (!strncmp(r->text, RTLA_HEAD, strlen(RTLA_HEAD)) && t->unit_ns))
		return reading_refuse(r, e, "it has a second histogram: give each run a file", NULL);
	if (!strncmp(r->text, "Index", 5))
		return t->unit_ns ? rtla_columns(r, t, e) : 0;
	if (strncmp(r->text, RTLA_UNIT, strlen(RTLA_UNIT)) != 0)
		return 0;
	sscanf(r->text, RTLA_UNIT "%*[a-z] (%7[a-z])", unit);
	t->unit_ns = reading_unit_ns(unit);
	return t->unit_ns ? 0 : reading_refuse(r, e, "unknown unit:", r->text);
}

/* "over:" and "count:" after the rows. */
static int rtla_summary(struct reading *r, struct rtla *t, struct err *e)
{
	const char *numbers = strchr(r->text, ':') + 1;
	const bool is_over = !strncmp(r->text, "over:", 5);
	uint64_t number[2 * SAMPLES_REPS];
	size_t columns = 0;

	if (split_numbers(numbers, number, t->all) != (int)t->all)
		return reading_refuse(r, e, "not a line of rtla:", r->text);
	for (size_t i = 0; i < t->all; i++) {
		if (is_over && t->kept[i] && number[i])
			return reading_refuse(r, e, BEYOND "run rtla with more entries (-E)", NULL);
		if (t->kept[i])
			t->total[columns++] = number[i];
	}
	t->has_ended |= is_over;
	t->has_total |= !is_over;
	return 0;
}

static int rtla_line(struct reading *r, struct rtla *t, struct err *e)
{
	const bool is_row = isdigit((unsigned char)*r->text);
	int rc;

	if (*r->text == '#' || !strncmp(r->text, "Index", 5))
		return rtla_begin(r, t, e);
	if (!t->all || (t->has_ended && t->has_total))
		return 0;
	if (!strncmp(r->text, "over:", 5) || !strncmp(r->text, "count:", 6))
		return rtla_summary(r, t, e);
	if (t->has_ended)
		return 0;
	rc = is_row ? grid_row(&t->grid, r, r->text, t->kept, t->all, e)
		    : reading_refuse(r, e, "not a row of the histogram:", r->text);
	if (!rc)
		t->width = common_divisor(t->width, t->grid.edge[t->grid.rows - 1]);
	return rc;
}

/* rtla timerlat hist, rtla osnoise hist. The width of the bins (-b) is not printed: their edges are multiples of it. */
int read_rtla(struct reading *r, struct err *e)
{
	struct rtla t = {.unit_ns = 0};
	int rc;

	while ((rc = reading_line(r, e)) > 0) {
		rc = rtla_line(r, &t, e);
		if (rc)
			break;
	}
	if (!rc && !t.all)
		rc = reading_refuse(
		    r, e,
		    "there is no histogram of rtla; run 'rtla timerlat hist' or 'rtla osnoise hist' with its "
		    "header and index ('top' prints averages)",
		    NULL);
	if (!rc && !t.has_ended)
		rc = reading_refuse(r, e, "the summary after the histogram is missing: the file was cut off", NULL);
	if (!rc && !t.width)
		rc = reading_refuse(r, e, "all samples are in the first bin; run rtla with -n or a smaller -b", NULL);
	if (!rc)
		rc = grid_take(&t.grid, r, t.grid.columns, t.unit_ns, t.width, t.has_total ? t.total : NULL, e);
	grid_free(&t.grid);
	return rc;
}

/* --- fio --- */

#define FIO_EXACT_BITS 6 /* a bin is as wide as this part of its value, two to the power of it */

/* Of a bin, fio prints the middle. */
static int fio_bin(struct reading *r, const char *key, uint64_t count, struct err *e)
{
	int64_t middle, width;
	double ns;
	int rc = reading_number(r, key, 1, &ns, e);

	if (rc)
		return rc;
	middle = llround(ns);
	width = middle >> (FIO_EXACT_BITS + 1) ? (int64_t)1 << (63 - __builtin_clzll((uint64_t)middle) - FIO_EXACT_BITS)
					       : 1;
	return reading_bin(r, middle - width / 2, width, count, e);
}

/* Which of the histograms of a document: of a direction, and of a kind of time. */
struct fio_choice {
	const char *direction; /* NULL: not known yet */
	const char *kind;      /* "clat_ns" */
	bool is_asked;	       /* the kind was */
	bool is_ambiguous;     /* a bin may be there twice */
};

static const json_t *fio_times(const json_t *job, const char *direction, const char *kind)
{
	return json_object_get(json_object_get(job, direction), kind);
}

/* fio 3 prints the total since 3.19; before that, all operations of the direction are in the bins. */
static int fio_job(struct reading *r, const struct fio_choice *c, const json_t *job, struct err *e)
{
	const json_t *times = fio_times(job, c->direction, c->kind), *bins = json_object_get(times, "bins"), *value;
	const json_t *n = json_object_get(times, "N");
	const json_t *all = n ? n : json_object_get(json_object_get(job, c->direction), "total_ios");
	json_int_t total = json_integer_value(all), sum = 0;
	const char *key;
	int rc;

	rc = samples_begin(r->to, e);
	json_object_foreach ((json_t *)bins, key, value) {
		const json_int_t count = json_integer_value(value);

		if (!rc && (!json_is_integer(value) || count < 0 || (n && count > total - sum)))
			rc = reading_refuse(r, e, "the bins contradict the number of operations at", key);
		rc = rc ? rc : fio_bin(r, key, (uint64_t)count, e);
		if (rc)
			return rc;
		sum += count;
	}
	if (!n && !c->is_ambiguous)
		total = sum;
	return rc || sum == total ? rc : reading_refuse(r, e, "the bins do not sum up to the operations", NULL);
}

/* It has such times, with bins if `with_bins`. */
static bool fio_has(const json_t *jobs, const char *direction, const char *kind, bool with_bins)
{
	const json_t *job;
	size_t i;

	json_array_foreach (jobs, i, job) {
		const json_t *times = fio_times(job, direction, kind), *bins = json_object_get(times, "bins");

		if (json_object_size(bins) || (!with_bins && json_integer_value(json_object_get(times, "N")) > 0))
			return true;
	}
	return false;
}

/* --column "read", "lat", or "read.lat". */
static int fio_asked(const struct reading *r, struct fio_choice *c, char *room, size_t size, struct err *e)
{
	static const char *const kinds[] = {"slat", "clat", "lat"};
	const char *dot = r->column ? strchr(r->column, '.') : NULL, *kind = dot ? dot + 1 : r->column;

	c->kind = "clat_ns";
	if (!r->column)
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i])) {
			static const char *const keys[] = {"slat_ns", "clat_ns", "lat_ns"};

			c->kind = keys[i];
			c->is_asked = true;
		}
	if (dot && !c->is_asked)
		return reading_refuse(r, e, "--column must end in .slat, .clat or .lat, not", r->column);
	if (!c->is_asked || dot) {
		snprintf(room, size, "%.*s", dot ? (int)(dot - r->column) : (int)size - 1, r->column);
		c->direction = room;
	}
	return 0;
}

/* The direction that was asked for, or the only one. */
static int fio_choose(const struct reading *r, const json_t *jobs, struct fio_choice *c, struct err *e)
{
	static const char *const all[] = {"read", "write", "trim", "mixed"};
	const char *found = NULL;
	size_t count = 0;
	bool has_others = false, is_old = false;

	for (size_t d = 0; d < sizeof(all) / sizeof(all[0]); d++) {
		if (c->direction && strcmp(c->direction, all[d]) != 0)
			continue;
		has_others |= fio_has(jobs, all[d], "lat_ns", true) || fio_has(jobs, all[d], "slat_ns", true);
		is_old |= fio_has(jobs, all[d], "clat", true) || fio_has(jobs, all[d], "lat", true);
		if (fio_has(jobs, all[d], c->kind, false)) {
			found = all[d];
			count++;
		}
	}
	if (count > 1 || (!count && !has_others && !is_old))
		return reading_refuse(
		    r, e, "choose one of the directions that it has with --column read, write, trim or mixed", NULL);
	if (is_old)
		return reading_refuse(r, e, "fio 2 wrote it, in us and with bins of another kind; run fio 3", NULL);
	c->direction = found;
	if (found && fio_has(jobs, found, c->kind, true))
		return 0;
	return reading_refuse(r, e,
			      has_others ? "these times have no bins; others have: choose with --column lat or slat"
					 : "it has percentiles only; run fio with --output-format=json+",
			      NULL);
}

/* fio --output-format=json+: each job is a repetition. */
int read_fio_json(struct reading *r, struct err *e)
{
	struct fio_choice c = {.direction = NULL};
	char direction[16];
	int rc;
	json_t *document = parse_json(r, &c.is_ambiguous, &rc, e);
	const json_t *jobs = json_object_get(document, "jobs"), *job;
	size_t i;

	r->resolution_ns = 1;
	if (!rc && !json_is_array(jobs))
		rc = reading_refuse(r, e, "it is not the output of fio --output-format=json+", NULL);
	rc = rc ?: fio_asked(r, &c, direction, sizeof(direction), e) ?: fio_choose(r, jobs, &c, e);
	json_array_foreach (jobs, i, job)
		if (!rc && json_object_size(json_object_get(fio_times(job, c.direction, c.kind), "bins")))
			rc = fio_job(r, &c, job, e);
	json_decref(document);
	return rc;
}

/* --- netperf --- */

#define NETPERF_BINS 10

/* "UNIT_USEC     :    0:  12: …": ten bins, each as wide as the unit. */
static int netperf_row(struct reading *r, int64_t width_ns, int64_t *from_ns, uint64_t *sum, struct err *e)
{
	const char *text = strchr(r->text, ':');
	uint64_t number[NETPERF_BINS];
	int rc = 0;

	for (char *p = (char *)text; *p; p++)
		*p = *p == ':' ? ' ' : *p;
	if (split_numbers(text, number, NETPERF_BINS) != NETPERF_BINS || width_ns <= *from_ns)
		return reading_refuse(r, e, "not a row of netperf's histogram, or out of order:", r->text);
	*from_ns = width_ns;
	for (int64_t i = 0; !rc && i < NETPERF_BINS; i++) {
		rc = reading_bin(r, i * width_ns, width_ns, number[i], e);
		*sum += number[i];
	}
	return rc;
}

struct netperf {
	int64_t from_ns; /* of the last row */
	uint64_t sum, total;
	bool has_ended;
};

static int netperf_line(struct reading *r, struct netperf *n, struct err *e)
{
	static const struct {
		const char *key;
		int64_t width_ns;
	} rows[] = {{"UNIT_USEC ", 1000},	  {"TEN_USEC ", 10000},	     {"HUNDRED_USEC ", 100000},
		    {"TENTH_MSEC ", 100000},	  {"UNIT_MSEC ", 1000000},   {"TEN_MSEC ", 10000000},
		    {"HUNDRED_MSEC ", 100000000}, {"UNIT_SEC ", 1000000000}, {"TEN_SEC ", 10000000000}};
	int rc = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strncmp(r->text, rows[i].key, strlen(rows[i].key)) != 0 || !strchr(r->text, ':'))
			continue;
		if (n->has_ended)
			return reading_refuse(r, e, "it has a second histogram: give each run a file", NULL);
		if (!n->from_ns) {
			r->resolution_ns = rows[i].width_ns;
			rc = samples_begin(r->to, e);
		}
		return rc ? rc : netperf_row(r, rows[i].width_ns, &n->from_ns, &n->sum, e);
	}
	if (!strncmp(r->text, ">100_SECS: ", 11) && strcmp(r->text + 11, "0") != 0)
		return reading_refuse(r, e, BEYOND "they took more than 100 s, or less than nothing", NULL);
	if (strncmp(r->text, "HIST_TOTAL:", 11) != 0)
		return 0;
	n->has_ended = split_numbers(r->text + 11, &n->total, 1) == 1 && n->total == n->sum;
	return n->has_ended ? 0 : reading_refuse(r, e, "the bins do not sum up to:", r->text);
}

int read_netperf(struct reading *r, struct err *e)
{
	struct netperf n = {.from_ns = 0};
	int rc;

	while ((rc = reading_line(r, e)) > 0) {
		rc = netperf_line(r, &n, e);
		if (rc)
			return rc;
	}
	if (!rc && !n.from_ns)
		return reading_refuse(
		    r, e,
		    "it has no histogram, and averages and percentiles are no samples; configure netperf "
		    "with --enable-histogram and run it with -v 2",
		    NULL);
	return rc || n.has_ended ? rc : reading_refuse(r, e, "HIST_TOTAL is missing: the file was cut off", NULL);
}

/* --- ucx_perftest --- */

int read_ucx(struct reading *r, struct err *e)
{
	return reading_refuse(
	    r, e,
	    "ucx_perftest prints averages, and one percentile of the last messages before each report: "
	    "these are no samples, and nothing can be computed from them; 'kblat run' with transport ucx "
	    "measures each message",
	    NULL);
}
