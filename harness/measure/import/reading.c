#include "measure/import/reading.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/npy.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "common/text.h"
#include "files/rundir/layout.h"

/* --- how finely samples are known --- */

#define DECADE_LEAST 4	/* samples of a decade: that none of them needs a further digit is no chance */
#define GAP_LEAST    30 /* samples of which the smallest difference is that of the clock, rather than chance */
#define PLACE_MOST   15 /* beyond any latency */

/* --- digits --- */

/* The power of ten of the last digit: -10 for "1.21612e-05", 0 for "120". */
static int last_place(const char *text)
{
	const char *exponent = text + strcspn(text, "eE"), *point = strchr(text, '.');
	long place = *exponent ? strtol(exponent + 1, NULL, 10) : 0;

	if (point && point < exponent)
		place -= exponent - point - 1;
	return place < -400 ? -400 : place > 400 ? 400 : (int)place;
}

static int power_of(int64_t unit_ns)
{
	int power = 0;

	for (; unit_ns >= 10; unit_ns /= 10)
		power++;
	return power;
}

static struct step_decade *decade_of(struct written_step *w, double ns)
{
	int at = (int)floor(log10(ns)) - STEP_LEAST;

	return &w->decade[at < 0 ? 0 : at >= STEP_DECADES ? STEP_DECADES - 1 : at];
}

static void step_add_place(struct written_step *w, int place, double ns)
{
	struct step_decade *d;

	if (ns <= 0) {
		w->zero_place = place;
		return;
	}
	d = decade_of(w, ns);
	d->place = d->samples && d->place < place ? d->place : place;
	d->least_ns = d->samples ? fmin(d->least_ns, ns) : ns;
	d->samples++;
}

int written_step_add(struct written_step *w, const char *text, int64_t unit_ns, double ns)
{
	if (!w->sample)
		w->sample = large_alloc(STEP_SAMPLES, sizeof(*w->sample));
	if (!w->sample)
		return -ENOMEM;
	if (w->samples < STEP_SAMPLES)
		w->sample[w->samples++] = llround(ns);
	step_add_place(w, last_place(text) + power_of(unit_ns), ns);
	return 0;
}

static double step_of(int place)
{
	return pow(10, place > PLACE_MOST ? PLACE_MOST : place);
}

static int finest_place(const struct written_step *w)
{
	int finest = w->zero_place;
	bool any = false;

	for (const struct step_decade *d = w->decade; d < w->decade + STEP_DECADES; d++) {
		if (!d->samples)
			continue;
		finest = any && finest < d->place ? finest : d->place;
		any = true;
	}
	return finest;
}

/* Numbers that are written with as many digits each have fewer behind the point if they are larger. */
static double coarsest_part(const struct written_step *w, int finest)
{
	double part = 0;

	for (const struct step_decade *d = w->decade; d < w->decade + STEP_DECADES; d++)
		if (d->samples >= DECADE_LEAST && d->place > finest && d->place > 0)
			part = fmax(part, step_of(d->place) / d->least_ns);
	return part;
}

/* --- the clock --- */

int64_t common_divisor(int64_t a, int64_t b)
{
	while (b) {
		const int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Of a value that all samples have, nothing is known but that it ends in zeros. */
static int64_t zeros_of(int64_t value)
{
	int64_t step = 1;

	while (value && value % (10 * step) == 0)
		step *= 10;
	return step;
}

/* What differs in sorted samples. */
struct differences {
	size_t values;	    /* that are different */
	int64_t least, gap; /* the smallest value but 0, the smallest difference */
	int64_t common;	    /* of which all differences are multiples */
};

static struct differences differences_of(const struct written_step *w)
{
	struct differences d = {.values = w->samples > 0};

	for (size_t i = 0; i < w->samples; i++) {
		const int64_t difference = i ? w->sample[i] - w->sample[i - 1] : 0;

		d.least = d.least ? d.least : w->sample[i];
		if (!difference)
			continue;
		d.values++;
		d.gap = d.gap && d.gap < difference ? d.gap : difference;
		d.common = common_divisor(d.common, difference);
	}
	return d;
}

/* Different values of a clock differ by its step at least, and of many of them some do by no more, although whole nanoseconds
 * need not be multiples of it. Otherwise the step is what all differences are multiples of. Sorts the samples. */
static int64_t clock_step(struct written_step *w)
{
	struct differences d;

	sort_integers(w->sample, w->samples);
	d = differences_of(w);
	if (w->samples < GAP_LEAST)
		return d.values >= DECADE_LEAST ? d.common : 0;
	if (d.values < 2)
		return zeros_of(d.least);
	return d.gap <= d.least + d.least / 20 ? d.gap : common_divisor(d.common, d.least);
}

void written_step_find(struct written_step *w, int64_t *digits_ns, int64_t *clock_ns, int64_t *ppm)
{
	const int finest = finest_place(w);

	*digits_ns = finest > 0 ? (int64_t)step_of(finest) : 1;
	*clock_ns = clock_step(w);
	*ppm = (int64_t)ceil(1e6 * coarsest_part(w, finest));
}

void written_step_free(struct written_step *w)
{
	free(w->sample);
	w->sample = NULL;
	w->samples = 0;
}

#define LATENCY_MAX_NS 1e15 /* 11 days */
#define LINE_LEAST     4096 /* bytes */
#define LINE_MOST      (16 << 20)

/* --- the columns of samples --- */

static int samples_fail(struct err *e)
{
	return err_sys(e, errno ? -errno : -EIO, SAMPLES_COLUMN ".npy", "write");
}

static int samples_header(struct samples *s, struct err *e)
{
	char header[NPY_HEADER];

	npy_header(header, (size_t)s->entries);
	return fwrite(header, sizeof(header), 1, s->out) == 1 ? 0 : samples_fail(e);
}

/* What kblat would count itself is not known of another program, except for the number of messages. */
static int samples_counters(const struct samples *s, const char *dir, struct err *e)
{
	json_t *counters =
	    json_pack("{s:i, s:{s:I}, s:{}}", "schema", 1, "source", "posted", (json_int_t)s->entries, "sink");
	char *path = fs_path("%s/counters.json", dir);
	int rc = json_write(path, counters, e);

	free(path);
	json_decref(counters);
	return rc;
}

static int end_rep(struct samples *s, struct err *e)
{
	char *dir = layout_rep_dir(s->run_path, 0, s->reps - 1, "");
	int rc = 0;

	if (!s->entries)
		rc = err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "a repetition has no samples");
	if (!rc && fseek(s->out, 0, SEEK_SET))
		rc = samples_fail(e);
	if (!rc)
		rc = samples_header(s, e);
	if (fclose(s->out) && !rc)
		rc = samples_fail(e);
	s->out = NULL;
	if (!rc)
		rc = samples_counters(s, dir, e);
	free(dir);
	return rc;
}

int samples_begin(struct samples *s, struct err *e)
{
	int rc = s->out ? end_rep(s, e) : 0;
	char *dir, *path;

	if (!rc && s->reps == SAMPLES_REPS)
		rc = err_set(e, -E2BIG, STATUS_USAGE, NULL, NULL, "there are more than %d repetitions", SAMPLES_REPS);
	if (rc)
		return rc;
	dir = layout_rep_dir(s->run_path, 0, s->reps, "");
	path = fs_path("%s/" SAMPLES_COLUMN ".npy", dir);
	rc = fs_mkdirs(dir, e);
	if (!rc) {
		s->out = fopen(path, "wxe");
		rc = s->out ? 0 : err_sys(e, -errno, path, "create");
	}
	if (!rc) {
		s->reps++;
		s->entries = 0;
		rc = samples_header(s, e);
	}
	free(path);
	free(dir);
	return rc;
}

int samples_add(struct samples *s, int64_t ns, uint64_t count, struct err *e)
{
	for (uint64_t i = 0; i < count; i++)
		if (fwrite(&ns, sizeof(ns), 1, s->out) != 1)
			return samples_fail(e);
	s->entries += count;
	return 0;
}

int samples_end(struct samples *s, struct err *e)
{
	if (!s->out)
		return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "it has no samples");
	return end_rep(s, e);
}

void samples_close(struct samples *s)
{
	if (s->out)
		fclose(s->out);
	s->out = NULL;
}

/* --- lines --- */

int reading_refuse(const struct reading *r, struct err *e, const char *cause, const char *what)
{
	char quoted[TEXT_QUOTE_MAX];
	char *object = r->field_line ? fs_path("%s:%lu:%lu", r->path, r->field_line, r->field_at)
		       : r->line     ? fs_path("%s:%lu", r->path, r->line)
				     : fs_path("%s", r->path);
	int rc = err_set(e, -EINVAL, STATUS_USAGE, object, NULL, "%s%s%s", cause, what ? " " : "",
			 what ? text_quote(what, quoted, sizeof(quoted)) : "");

	free(object);
	return rc;
}

void reading_skip(struct reading *r, const char *what)
{
	struct reading_skip *s = r->skip;

	while (s < r->skip + READING_SKIPS - 1 && s->what && strcmp(s->what, what) != 0)
		s++;
	s->what = what;
	s->count++;
}

char *reading_skipped(const struct reading *r)
{
	char *text = NULL;

	for (const struct reading_skip *s = r->skip; s < r->skip + READING_SKIPS && s->what; s++)
		text_list_add(&text, ", ", "%" PRIu64 " %s", s->count, s->what);
	return text;
}

/* Room for a longer line. */
static int grow_line(struct reading *r, struct err *e)
{
	const size_t room = r->room ? 2 * r->room : LINE_LEAST;
	char *text = room > LINE_MOST ? NULL : large_resize(r->text, room, 1);

	if (room > LINE_MOST)
		return reading_refuse(r, e, "the line is too long: it is no file of this format", NULL);
	if (!text)
		return err_sys(e, -ENOMEM, r->path, "read");
	r->text = text;
	r->room = room;
	return 0;
}

static int refuse_end(const struct reading *r, size_t length, struct err *e)
{
	const bool is_wide = length >= 2 && (!memcmp(r->text, "\xff\xfe", 2) || !memcmp(r->text, "\xfe\xff", 2));

	return reading_refuse(
	    r, e,
	    is_wide ? "the file is in UTF-16: convert it with iconv -f UTF-16 -t UTF-8"
	    : feof(r->in) && length
		? "the line has no end: the file was cut off, or is no text; if it is whole, add a line feed"
		: "the line has a byte of 0: the file is no text, or not in UTF-8",
	    NULL);
}

/* A line, from `length` bytes on. */
static int read_line(struct reading *r, size_t length, struct err *e)
{
	const size_t from = length;

	do {
		const int rc = length + 1 < r->room ? 0 : grow_line(r, e);

		if (rc)
			return rc;
		if (!fgets(r->text + length, (int)(r->room - length), r->in)) {
			if (ferror(r->in) || length == from)
				return ferror(r->in) ? err_sys(e, -errno, r->path, "read") : 0;
			break;
		}
		r->line += length == from;
		length += strlen(r->text + length);
	} while (length + 1 == r->room && r->text[length - 1] != '\n');
	r->lacks_end = length == from || r->text[length - 1] != '\n';
	if (r->lacks_end && !(r->may_lack_end && feof(r->in) && length > from))
		return refuse_end(r, length - from, e);
	r->text[length -= !r->lacks_end] = '\0';
	if (length > from && r->text[length - 1] == '\r')
		r->text[length - 1] = '\0';
	return 1;
}

int reading_line(struct reading *r, struct err *e)
{
	const int rc = read_line(r, 0, e);

	if (rc > 0 && r->line == 1 && !strncmp(r->text, "\xef\xbb\xbf", 3))
		memmove(r->text, r->text + 3, strlen(r->text + 3) + 1);
	return rc;
}

int reading_more(struct reading *r, size_t length, struct err *e)
{
	r->text[length] = '\n';
	return read_line(r, length + 1, e);
}

void reading_free(struct reading *r)
{
	free(r->text);
	r->text = NULL;
	r->room = 0;
	written_step_free(&r->step);
}

char *reading_field(char **at)
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

int64_t reading_unit_ns(const char *unit)
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

int64_t reading_unit_of(const char *name)
{
	const char *at = strpbrk(name, "_(") ? name + strlen(name) : name;
	char unit[8] = "";

	while (at > name && at[-1] != '_' && at[-1] != '(')
		at--;
	sscanf(at, "%7[a-z]", unit);
	return at > name ? reading_unit_ns(unit) : 0;
}

bool reading_count(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno && *value < (uint64_t)1 << 62;
}

int reading_number(const struct reading *r, const char *text, int64_t unit_ns, double *ns, struct err *e)
{
	char *end;

	*ns = strtod(text, &end) * (double)unit_ns;
	if (end == text || *end || strpbrk(text, "xX"))
		return reading_refuse(r, e, "not a number:", text);
	if (!isfinite(*ns) || *ns < 0 || *ns > LATENCY_MAX_NS)
		return reading_refuse(r, e, "not a latency:", text);
	return 0;
}

int reading_latency(struct reading *r, const char *text, int64_t unit_ns, int64_t *ns, struct err *e)
{
	double value;
	int rc = reading_number(r, text, unit_ns, &value, e);

	if (rc)
		return rc;
	*ns = (int64_t)llround(value);
	rc = written_step_add(&r->step, text, unit_ns, value);
	return rc ? err_sys(e, rc, r->path, "read") : 0;
}

/* The step of a clock that the file names is known; it may have been written with fewer digits all the same. */
void reading_resolve(struct reading *r)
{
	int64_t digits, clock, ppm;

	if (!r->step.sample)
		return;
	written_step_find(&r->step, &digits, &clock, &ppm);
	if (!r->clock_hz && clock > digits)
		digits = clock;
	r->resolution_ns = digits > r->resolution_ns ? digits : r->resolution_ns;
	r->bin_ppm = ppm > r->bin_ppm ? ppm : r->bin_ppm;
}

int reading_take(struct reading *r, const char *text, int64_t unit_ns, struct err *e)
{
	int64_t ns;
	int rc = reading_latency(r, text, unit_ns, &ns, e);

	return rc ? rc : samples_add(r->to, ns, 1, e);
}

int reading_lost(struct reading *r, uint64_t count, struct err *e)
{
	if (count > (r->most ? r->most : READING_LOST_MAX) - r->lost)
		return reading_refuse(r, e, "more than a million messages are missing", NULL);
	r->lost += count;
	return samples_add(r->to, NEVER, count, e);
}

int reading_bin(struct reading *r, int64_t ns, int64_t width_ns, uint64_t count, struct err *e)
{
	if (!count)
		return 0;
	if (ns < 0 || (double)ns + (double)width_ns > LATENCY_MAX_NS)
		return reading_refuse(r, e, "a bin of the histogram is no latency", NULL);
	if (count > (r->most ? r->most : READING_MOST) - r->binned)
		return reading_refuse(r, e, "it claims more than 250 million samples", NULL);
	r->binned += count;
	r->is_unordered = true;
	if (!ns) {
		r->resolution_ns = width_ns > r->resolution_ns ? width_ns : r->resolution_ns;
	} else if (width_ns > r->resolution_ns) {
		const int64_t ppm = (int64_t)ceil((double)width_ns * 1e6 / (double)ns);

		r->bin_ppm = ppm > r->bin_ppm ? ppm : r->bin_ppm;
	}
	return samples_add(r->to, ns, count, e);
}
