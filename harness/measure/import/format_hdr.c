#include "measure/import/formats.h"

#include <errno.h>
#include <math.h>
#include <nettle/base64.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"

/*
 * The encoding: in base64, a cookie and the length of a zlib stream; in that, a head, then the counts of all bins: in V2 a
 * ZigZag LEB128 of at most 9 bytes each, where a negative one stands for so many bins without a sample; in V0 and V1 words,
 * whose size is in the cookie. Numbers are big-endian. The offset in the head is that of the writer's array: the counts are
 * in the order of the values. A factor for decimal values must be 1; hdr-histogram-js writes that as an integer.
 */
#define HDR_SIZES      0xf0	  /* of a cookie: the size of words, without meaning in V2 */
#define HDR_HEAD       40	  /* 32 in V0, without length, offset and factor, but with the total */
#define HDR_COUNTS_MAX (16 << 20) /* bytes */
#define HDR_DIGITS_MAX 5

static const struct hdr_version {
	uint32_t plain, compressed;
	size_t head;
} hdr_versions[] = {{0x1c849308, 0x1c849309, 32}, {0x1c849301, 0x1c849302, 40}, {0x1c849303, 0x1c849304, 40}};

enum { HDR_V0, HDR_V1, HDR_V2, HDR_VERSIONS };

static uint64_t big_endian(const unsigned char *p, int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *p++;
	return value;
}

static int hdr_refuse(const struct reading *r, struct err *e)
{
	return reading_refuse(r, e, "not a histogram as HdrHistogram encodes it, or cut off", NULL);
}

/* --- from the text to the counts --- */

struct hdr {
	unsigned char head[HDR_HEAD], *counts;
	size_t length;	/* of the counts */
	int version;	/* HDR_V0 and so on */
	size_t word;	/* bytes of a count; 0: as in V2 */
	int64_t max_ns; /* in its bins */
};

static bool is_cookie(uint64_t cookie, uint32_t of)
{
	return (cookie & ~(uint64_t)HDR_SIZES) == (of & ~(uint32_t)HDR_SIZES);
}

/* Of V0, the rest of the stream; otherwise the head has the length. */
static int hdr_read_counts(struct reading *r, z_stream *z, struct hdr *h, struct err *e)
{
	const bool is_told = h->version != HDR_V0;
	int rc;

	h->length = is_told ? big_endian(h->head + 4, 4) : HDR_COUNTS_MAX;
	if (h->length > HDR_COUNTS_MAX)
		return hdr_refuse(r, e);
	h->counts = large_alloc(h->length + 1, 1);
	if (!h->counts)
		return err_sys(e, -ENOMEM, r->path, "read");
	z->next_out = h->counts;
	z->avail_out = (unsigned)h->length + 1; /* for the end of the stream to be seen */
	rc = inflate(z, Z_FINISH);
	if (rc != Z_STREAM_END || (is_told && z->avail_out != 1) || !z->avail_out)
		return hdr_refuse(r, e);
	h->length = h->length + 1 - z->avail_out;
	return h->word && h->length % h->word ? hdr_refuse(r, e) : 0;
}

static int hdr_inflate(struct reading *r, z_stream *z, struct hdr *h, struct err *e)
{
	uint64_t cookie;
	int rc;

	z->next_out = h->head;
	z->avail_out = (unsigned)hdr_versions[h->version].head;
	rc = inflate(z, Z_SYNC_FLUSH);
	cookie = big_endian(h->head, 4);
	if ((rc != Z_OK && rc != Z_STREAM_END) || z->avail_out || !is_cookie(cookie, hdr_versions[h->version].plain))
		return hdr_refuse(r, e);
	h->word = h->version == HDR_V2 ? 0 : (cookie & HDR_SIZES) >> 4 & 0xe;
	if (h->version != HDR_V2 && h->word != 2 && h->word != 4 && h->word != 8)
		return hdr_refuse(r, e);
	return hdr_read_counts(r, z, h, e);
}

static int hdr_unpack(struct reading *r, const unsigned char *data, size_t size, struct hdr *h, struct err *e)
{
	z_stream z = {.next_in = (unsigned char *)data + 8, .avail_in = (unsigned)(size - 8)};
	const uint64_t cookie = big_endian(data, 4);
	int rc;

	while (h->version < HDR_VERSIONS && !is_cookie(cookie, hdr_versions[h->version].compressed))
		h->version++;
	if (h->version == HDR_VERSIONS || big_endian(data + 4, 4) > size - 8)
		return hdr_refuse(r, e);
	if (inflateInit(&z) != Z_OK)
		return err_sys(e, -ENOMEM, r->path, "read");
	rc = hdr_inflate(r, &z, h, e);
	inflateEnd(&z);
	return rc;
}

/* Some write base64 without its padding. */
static int hdr_decode(struct reading *r, const char *text, struct hdr *h, struct err *e)
{
	const size_t length = strlen(text);
	struct base64_decode_ctx base64;
	size_t size = BASE64_DECODE_LENGTH(length + 2);
	char *padded;
	unsigned char *data;
	int rc;

	if (length < 16 || length % 4 == 1)
		return hdr_refuse(r, e);
	padded = fs_path("%s%s", text, length % 4 == 2 ? "==" : length % 4 == 3 ? "=" : "");
	data = large_alloc(size, 1);
	base64_decode_init(&base64);
	if (!data)
		rc = err_sys(e, -ENOMEM, r->path, "read");
	else if (!base64_decode_update(&base64, &size, data, strlen(padded), padded) || !base64_decode_final(&base64) ||
		 size < 8)
		rc = hdr_refuse(r, e);
	else
		rc = hdr_unpack(r, data, size, h, e);
	free(data);
	free(padded);
	return rc;
}

/* --- from the counts to bins --- */

struct hdr_bins {
	int half_bits;	 /* two to the power of it: bins in each doubling of the value */
	int unit_bits;	 /* the least value that is told apart */
	int64_t unit_ns; /* of values */
	uint64_t index;	 /* of the next bin */
};

static int hdr_bins_of(struct reading *r, const struct hdr *h, int64_t unit_ns, struct hdr_bins *b, struct err *e)
{
	const bool is_short = h->version == HDR_V0;
	const uint64_t digits = big_endian(h->head + (is_short ? 4 : 12), 4);
	const uint64_t least = big_endian(h->head + (is_short ? 8 : 16), 8);
	const uint64_t ratio = is_short ? 1 : big_endian(h->head + 32, 8);
	double largest = 2, factor;

	memcpy(&factor, &ratio, sizeof(factor));
	if (digits > HDR_DIGITS_MAX || least < 1 || least > (uint64_t)1 << 40)
		return hdr_refuse(r, e);
	if (factor != 1 && ratio != 1)
		return reading_refuse(r, e, "a histogram of decimal values is not read", NULL);
	for (uint64_t i = 0; i < digits; i++)
		largest *= 10;
	*b = (struct hdr_bins){
	    .half_bits = (int)ceil(log2(largest)) - 1, .unit_bits = 63 - __builtin_clzll(least), .unit_ns = unit_ns};
	return 0;
}

static int hdr_add(struct reading *r, struct hdr *h, const struct hdr_bins *b, uint64_t count, struct err *e)
{
	const uint64_t half = (uint64_t)1 << b->half_bits, doubling = b->index >> b->half_bits;
	const uint64_t within = doubling ? (b->index & (half - 1)) + half : b->index;
	const int bits = (int)(doubling ? doubling - 1 : 0) + b->unit_bits;
	const double end = ldexp((double)(within + 1), bits) * (double)b->unit_ns;

	if (end > 1e18)
		return hdr_refuse(r, e);
	h->max_ns = (int64_t)end;
	return reading_bin(r, (int64_t)(within << bits) * b->unit_ns, ((int64_t)1 << bits) * b->unit_ns, count, e);
}

/* A count, or how many bins are empty, as a negative number. */
static int64_t hdr_count(const struct hdr *h, size_t *at)
{
	uint64_t value = 0;

	if (h->word) {
		value = big_endian(h->counts + *at, (int)h->word);
		*at += h->word;
		return value > INT64_MAX ? INT64_MIN : (int64_t)value;
	}

	for (int i = 0; i < 9 && *at < h->length; i++) {
		const unsigned char byte = h->counts[(*at)++];

		value |= (uint64_t)(i < 8 ? byte & 0x7f : byte) << (7 * i);
		if (i == 8 || !(byte & 0x80))
			return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
	}
	return INT64_MIN; /* it was cut off */
}

#define HDR_INDEX_MAX ((uint64_t)64 << 20)

static int hdr_take(struct reading *r, struct hdr *h, int64_t unit_ns, struct err *e)
{
	struct hdr_bins b = {.index = 0};
	int rc = hdr_bins_of(r, h, unit_ns, &b, e);

	if (!rc && r->resolution_ns < unit_ns << b.unit_bits)
		r->resolution_ns = unit_ns << b.unit_bits;
	for (size_t at = 0; !rc && at < h->length;) {
		const int64_t count = hdr_count(h, &at);
		const uint64_t skipped = count < 0 ? -(uint64_t)count : 1;

		if (skipped > HDR_INDEX_MAX - b.index)
			return hdr_refuse(r, e);
		if (count > 0)
			rc = hdr_add(r, h, &b, (uint64_t)count, e);
		b.index += skipped;
	}
	return rc;
}

/* --- the log --- */

struct hdr_log {
	int64_t unit_ns;
	double time; /* of the last interval */
	char *tag;   /* of all intervals; NULL: not known yet */
	int scale;   /* of "Interval_Max": the power of ten by which it is less than the values */
	bool has_begun, has_scale;
	unsigned long first; /* line that is none of a log; 0: there is none */
};

/* "Interval_Max" is divided by the writer's unit: a second unit in a file shows there. */
static int hdr_check_max(struct reading *r, struct hdr_log *l, const char *text, const struct hdr *h, struct err *e)
{
	char *end;
	const double max = strtod(text, &end);
	int scale;

	if (end == text || *end || !(max >= 0))
		return reading_refuse(r, e, "not the longest time of an interval:", text);
	if (max == 0 || !h->max_ns)
		return 0;
	scale = (int)lround(log10((double)h->max_ns / (double)l->unit_ns / max));
	if (l->has_scale && scale != l->scale)
		return reading_refuse(r, e, "the intervals are in different units: Interval_Max does not fit:", text);
	l->scale = scale;
	l->has_scale = true;
	return 0;
}

/* Intervals of other tags are left out if one was asked for. 1: it is one of these. */
static int hdr_tag(struct reading *r, struct hdr_log *l, const char *tag, struct err *e)
{
	if (r->column)
		return strcmp(tag, r->column) != 0;
	if (!l->tag)
		l->tag = or_abort(strdup(tag));
	return strcmp(l->tag, tag)
		   ? reading_refuse(r, e, "it has intervals of several tags; choose one with --column", NULL)
		   : 0;
}

/* "0.127,1.007,2.769,HISTFAAA…", before it perhaps "Tag=NAME,". */
struct hdr_fields {
	const char *tag, *time, *length, *max, *text;
};

static int hdr_split(struct reading *r, struct hdr_fields *f, double *time, struct err *e)
{
	char *at = r->text, *end = NULL;

	f->tag = "";
	f->time = reading_field(&at);
	if (!strncmp(f->time, "Tag=", 4)) {
		f->tag = f->time + 4;
		f->time = reading_field(&at);
	}
	f->length = reading_field(&at);
	f->max = reading_field(&at);
	f->text = reading_field(&at);
	*time = f->time ? strtod(f->time, &end) : -1;
	return f->text && !at && end != f->time && !*end && isfinite(*time) && *f->length
		   ? 0
		   : reading_refuse(r, e, "not an interval of a log of HdrHistogram", NULL);
}

/* A histogram without an interval, as programs print it: the cookie in base64, and more of it. */
static bool is_alone(const char *text)
{
	static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

	return !strncmp(text, "HIST", 4) && strspn(text, base64) == strlen(text);
}

static int hdr_interval(struct reading *r, struct hdr_log *l, struct err *e)
{
	const bool alone = is_alone(r->text);
	struct hdr_fields f = {.tag = "", .text = r->text};
	struct hdr h = {.length = 0};
	double time = l->time;
	int rc = alone ? 0 : hdr_split(r, &f, &time, e);

	if (rc)
		return rc;
	rc = hdr_tag(r, l, f.tag, e);
	if (rc) {
		if (rc > 0)
			reading_skip(r, "intervals of other tags");
		return rc < 0 ? rc : 0;
	}
	if (r->to->reps && time < l->time)
		return reading_refuse(r, e, "time goes back to", f.time);
	l->time = time;
	rc = r->to->reps ? 0 : samples_begin(r->to, e);
	if (!rc)
		rc = hdr_decode(r, f.text, &h, e);
	if (!rc)
		rc = hdr_take(r, &h, l->unit_ns, e);
	if (!rc && !alone)
		rc = hdr_check_max(r, l, f.max, &h, e);
	free(h.counts);
	return rc;
}

/* "#[Histogram log format version 1.3]", "#[StartTime: 1441812279.474 (seconds since epoch), …]". */
static int hdr_remark(struct reading *r, struct err *e)
{
	double seconds;

	if (!strncmp(r->text, "#[Histogram log format version ", 31) && strncmp(r->text + 31, "1.", 2) != 0)
		return reading_refuse(r, e, "unknown version:", r->text + 31);
	if (sscanf(r->text, "#[StartTime: %lf ", &seconds) == 1 && seconds > 0 && seconds < 9e9)
		r->started_ns = (int64_t)(seconds * 1e9);
	return 0;
}

/* The names of the columns: "StartTimestamp", and the like, before which some have "Tag". */
static bool is_legend(const char *text)
{
	return strstr(text, "Timestamp\"") && strstr(text, "Histogram\"");
}

static bool is_spectrum(const char *text)
{
	return strstr(text, "Percentile") && strstr(text, "TotalCount");
}

/* Even an interval that is damaged begins with its time. */
static bool hdr_begins(const char *text)
{
	double time;
	char comma;

	return is_alone(text) || !strncmp(text, "Tag=", 4) || strstr(text, ",HIST") ||
	       (sscanf(text, " %lf%c", &time, &comma) == 2 && comma == ',');
}

static int hdr_line(struct reading *r, struct hdr_log *l, struct err *e)
{
	if (*r->text == '#')
		return hdr_remark(r, e);
	if (!*r->text || is_legend(r->text))
		return 0;
	if (is_spectrum(r->text))
		return reading_refuse(
		    r, e, "it is a list of percentiles (as wrk2 prints one): import it as hdr-percentiles", NULL);
	l->has_begun |= hdr_begins(r->text);
	if (l->has_begun)
		return hdr_interval(r, l, e);
	l->first = l->first ? l->first : r->line;
	reading_skip(r, "lines before the first interval");
	return 0;
}

int read_hdr(struct reading *r, struct err *e)
{
	struct hdr_log l = {.unit_ns = r->unit ? reading_unit_ns(r->unit) : 0};
	int rc;

	if (!l.unit_ns)
		return reading_refuse(r, e, "the log does not say the unit of its values: give --unit ns, us, ms or s",
				      NULL);
	while ((rc = reading_line(r, e)) > 0) {
		rc = hdr_line(r, &l, e);
		if (rc)
			break;
	}
	if (!rc && !l.has_begun) {
		r->line = l.first ? l.first : r->line;
		rc = reading_refuse(r, e, "it is not a log of HdrHistogram", NULL);
	}
	free(l.tag);
	return rc;
}

/* --- a list of percentiles --- */

/*
 * "Value Percentile TotalCount 1/(1-Percentile)": so many samples were at most this. wrk2 prints ms; others say it in the
 * head ("Value(ms)"), or nowhere. Percentiles in the list are right; between two of them a value is known by both.
 */
struct spectrum {
	int64_t unit_ns; /* 0: not known */
	double value;	 /* of the row before */
	uint64_t count;
	bool has_begun, has_all, has_ended;
};

static int spectrum_unit(struct reading *r, struct spectrum *s, int64_t unit_ns, struct err *e)
{
	if (r->unit && reading_unit_ns(r->unit) != unit_ns)
		return reading_refuse(r, e, "--unit contradicts the file, of which the values are in another unit",
				      NULL);
	s->unit_ns = unit_ns;
	return 0;
}

static int spectrum_begin(struct reading *r, struct spectrum *s, struct err *e)
{
	char unit[8];
	int rc = 0;

	if (s->has_begun)
		return reading_refuse(r, e, "it has a second list of percentiles: give each a file", NULL);
	if (sscanf(r->text, " Value(%7[a-z])", unit) == 1 && reading_unit_ns(unit))
		rc = spectrum_unit(r, s, reading_unit_ns(unit), e);
	if (!rc && !s->unit_ns)
		return reading_refuse(r, e, "the list does not say the unit of its values: give --unit ns, us, ms or s",
				      NULL);
	s->has_begun = true;
	return rc ? rc : samples_begin(r->to, e);
}

/* The samples since the row before are at most this, and more than that one's value; of the first row, all are this. */
static int spectrum_row(struct reading *r, struct spectrum *s, struct err *e)
{
	const struct spectrum before = *s;
	unsigned long long count;
	double value, share;

	if (sscanf(r->text, " %lf%*[ ,\t]%lf%*[ ,\t]%llu", &value, &share, &count) != 3 ||
	    !(share >= 0 && share <= 1) || !(value >= 0 && value * (double)s->unit_ns < 1e18))
		return reading_refuse(r, e, "not a line of a list of percentiles:", r->text);
	if (value < s->value || count < s->count)
		return reading_refuse(r, e, "a value or a count goes back:", r->text);
	s->value = value;
	s->count = count;
	s->has_all = share >= 1;
	return reading_bin(r, llround(value * (double)s->unit_ns),
			   before.count ? llround((value - before.value) * (double)s->unit_ns) : 0,
			   count - before.count, e);
}

/* "#[Max     =      222.720, Total count    =          203]" */
static int spectrum_remark(struct reading *r, struct spectrum *s, struct err *e)
{
	const char *total = strstr(r->text, "Total count");
	unsigned long long count;

	s->has_ended |= s->has_begun;
	if (!s->has_begun || !total || sscanf(total, "Total count = %llu", &count) != 1 || count == s->count)
		return 0;
	return reading_refuse(r, e, "the counts do not sum up to its total", NULL);
}

static int spectrum_line(struct reading *r, struct spectrum *s, struct err *e)
{
	if (strstr(r->text, "Latency Distribution (HdrHistogram"))
		return spectrum_unit(r, s, 1000000, e);
	if (is_spectrum(r->text))
		return spectrum_begin(r, s, e);
	if (*r->text == '#')
		return spectrum_remark(r, s, e);
	return s->has_begun && !s->has_ended && r->text[strspn(r->text, " ")] ? spectrum_row(r, s, e) : 0;
}

int read_hdr_percentiles(struct reading *r, struct err *e)
{
	struct spectrum s = {.unit_ns = r->unit ? reading_unit_ns(r->unit) : 0};
	int rc;

	while ((rc = reading_line(r, e)) > 0) {
		rc = spectrum_line(r, &s, e);
		if (rc)
			return rc;
	}
	if (!rc && !s.has_begun)
		return reading_refuse(r, e, "there is no list of percentiles; run wrk2 with --latency", NULL);
	if (!rc && !s.has_all)
		return reading_refuse(r, e, "the list does not reach 100 %: the file was cut off", NULL);
	return rc;
}
