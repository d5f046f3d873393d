#include "measure/import/formats.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"

/*
 * Columns as of RFC 4180, and by habit: without names, or with names in a comment; with semicolons, tabs or blanks between
 * columns; with decimal commas. What may be read in two ways is refused.
 */
#define CSV_COLUMNS_MAX 256

/* How numbers are written. */
enum csv_notation { NOTATION_UNKNOWN, NOTATION_POINT, NOTATION_COMMA };

#define CSV_ANY_PLACES (-1) /* no sample yet */
#define CSV_NO_PLACES  (-2) /* they differ */

struct csv {
	char separator; /* ' ': any blanks; '\0': not known, there is one column */
	char *
	    names; /* the first record, until the second says what is between columns; NULL: there is none, or it was read */
	unsigned long names_line;
	char *remark;	  /* the last comment before the first record, which may be names, too; NULL: there is none */
	int latency, rep; /* -1: there is none */
	int count;	  /* 0: not known yet */
	int64_t unit_ns;
	uint64_t last_rep;
	int places; /* behind the point, of all samples */
	enum csv_notation notation;
	/* the first number like 1,234, which may be two, while the notation is not known */
	unsigned long doubt_line, doubt_at;
	char doubt[32];
};

/* --- records and fields --- */

/* A record while it is split: in place. */
struct csv_fields {
	char *at, *line_start; /* NULL: there are no more; where the current line begins */
	unsigned long line;
	char separator;
};

struct csv_field {
	char *text;
	unsigned long line, at;
	bool is_ended; /* by a quote or a separator, not by the end of the record */
};

static struct csv_fields csv_fields_of(const struct csv *c, char *record, unsigned long line)
{
	return (struct csv_fields){.at = record, .line_start = record, .line = line, .separator = c->separator};
}

static bool is_blank(const struct csv_fields *f, char c)
{
	return c == ' ' || (c == '\t' && f->separator != '\t');
}

static bool is_separator(const struct csv_fields *f, char c)
{
	return f->separator == ' ' ? c == ' ' || c == '\t' : c && c == f->separator;
}

/* What is within quotes, of which two are one. The end of it, or NULL: something else follows. */
static char *unquote(struct csv_fields *f, char *from)
{
	char *to = from, *p = from;

	for (; *p && (*p != '"' || p[1] == '"'); p++) {
		if (*p == '\n') {
			f->line++;
			f->line_start = p + 1;
		}
		p += *p == '"';
		*to++ = *p;
	}
	if (!*p++)
		return NULL;
	*to = '\0';
	while (f->separator != ' ' && is_blank(f, *p))
		p++;
	return !*p || is_separator(f, *p) ? p : NULL;
}

static void end_field(struct csv_fields *f, char *end, struct csv_field *field)
{
	if (f->separator == ' ')
		while (is_separator(f, end[0]) && is_separator(f, end[1]))
			end++;
	f->at = is_separator(f, *end) && !(f->separator == ' ' && !end[1]) ? end + 1 : NULL;
	field->is_ended |= f->at != NULL;
}

/* 1: `field` is the next one; 0: there are no more; -EINVAL. */
static int csv_next(struct reading *r, struct csv_fields *f, struct csv_field *field, struct err *e)
{
	char *from = f->at, *end;

	if (!from)
		return 0;
	while (is_blank(f, *from) || (f->separator == ' ' && is_separator(f, *from)))
		from++;
	*field = (struct csv_field){.text = from, .line = f->line, .at = (unsigned long)(from - f->line_start) + 1};
	if (*from == '"') {
		field->text++;
		field->is_ended = true;
		end = unquote(f, field->text);
		r->field_line = field->line;
		r->field_at = field->at;
		if (!end)
			return reading_refuse(r, e, "the quotes of a field are not closed, or followed by more", NULL);
		r->field_line = r->field_at = 0;
		end_field(f, end, field);
		return 1;
	}
	end = from;
	while (*end && !is_separator(f, *end))
		end++;
	end_field(f, end, field);
	while (end > from && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return 1;
}

/* Lines are added while a quote is open: a record may have several. */
static int csv_join(struct reading *r, struct err *e)
{
	const unsigned long line = r->line;
	bool is_open = false;
	size_t at = 0;

	for (;;) {
		for (; r->text[at]; at++)
			is_open ^= r->text[at] == '"';
		if (!is_open)
			return 0;
		const int rc = reading_more(r, at, e);

		if (rc < 0)
			return rc;
		if (!rc) {
			r->text[at] = '\0';
			r->field_line = line;
			r->field_at = (unsigned long)(strchr(r->text, '"') - r->text) + 1;
			return reading_refuse(r, e, "a quote is not closed up to the end of the file", NULL);
		}
	}
}

static void at_field(struct reading *r, const struct csv_field *field)
{
	r->field_line = field->line;
	r->field_at = field->at;
}

/* --- numbers --- */

/* Begins like a number, which no name of a column does; or is what programs write for one that they do not have. */
static bool is_numberlike(const char *text)
{
	static const char *const words[] = {"nan", "inf", "infinity", "na"};

	text += *text == '-' || *text == '+';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(text, words[i]))
			return true;
	text += *text == '.' || *text == ',';
	return isdigit((unsigned char)*text);
}

static bool is_grouped(const char *text, const char *end, char group)
{
	size_t digits = 0;
	const char *p = text;

	for (; p < end && isdigit((unsigned char)*p); p++)
		digits++;
	if (digits < 1 || digits > 3)
		return false;
	for (; p < end; p += 4)
		if (*p != group || end - p < 4 || !isdigit((unsigned char)p[1]) || !isdigit((unsigned char)p[2]) ||
		    !isdigit((unsigned char)p[3]))
			return false;
	return true;
}

static int refuse_doubt(struct reading *r, const struct csv *c, struct err *e)
{
	r->field_line = c->doubt_line;
	r->field_at = c->doubt_at;
	return reading_refuse(
	    r, e,
	    "it may have a decimal comma or a separator of thousands; write numbers with a decimal point:", c->doubt);
}

static int csv_notation_is(struct reading *r, struct csv *c, enum csv_notation notation, const char *text,
			   struct err *e)
{
	if (c->notation == NOTATION_UNKNOWN && c->doubt_line && notation == NOTATION_POINT)
		return refuse_doubt(r, c, e);
	if (c->notation != NOTATION_UNKNOWN && c->notation != notation)
		return reading_refuse(
		    r, e, "the column has decimal commas and decimal points, or separators of thousands, as in", text);
	c->notation = notation;
	return 0;
}

/* A number with commas, or several points. */
struct csv_number {
	char *end;     /* of the digits, before an exponent */
	char *decimal; /* NULL: it has only groups of digits */
	char group;    /* what is between groups, if there are any */
	bool has_groups;
};

static unsigned count_of(const char *from, const char *to, char c)
{
	unsigned count = 0;

	for (; from < to; from++)
		count += *from == c;
	return count;
}

/* One comma: of "1,234" only the other numbers of the column say what it is. */
static char *csv_only_comma(struct reading *r, struct csv *c, char *text, char *comma, const char *end)
{
	if (*text == '0' || end - comma != 4 || !is_grouped(text, end, ','))
		return comma;
	if (c->notation == NOTATION_UNKNOWN && !c->doubt_line) {
		c->doubt_line = r->field_line;
		c->doubt_at = r->field_at;
		snprintf(c->doubt, sizeof(c->doubt), "%s", text);
	}
	return c->notation == NOTATION_POINT ? NULL : comma;
}

static struct csv_number csv_number_of(struct reading *r, struct csv *c, char *text)
{
	struct csv_number n = {.end = text + strcspn(text, "eE")};
	const unsigned commas = count_of(text, n.end, ','), points = count_of(text, n.end, '.');
	char *last = n.end;

	while (*last != ',' && *last != '.')
		last--;
	if (commas == 1 && !points)
		n.decimal = csv_only_comma(r, c, text, last, n.end);
	else if (commas && points)
		n.decimal = last;
	n.group = n.decimal ? (*n.decimal == ',' ? '.' : ',') : *last;
	n.has_groups = commas + points > 1 || !n.decimal;
	return n;
}

/* Makes of it what strtod() reads: with a decimal point, without separators of thousands. In place. */
static int csv_number(struct reading *r, struct csv *c, char *text, struct err *e)
{
	const char *point = strchr(text, '.');
	struct csv_number n;
	char *to = text;
	bool is_comma;
	int rc = 0;

	if (!strchr(text, ',') && (!point || !strchr(point + 1, '.')))
		return point && c->notation != NOTATION_POINT ? csv_notation_is(r, c, NOTATION_POINT, text, e) : 0;
	n = csv_number_of(r, c, text);
	if (n.has_groups && !is_grouped(text, n.decimal ? n.decimal : n.end, n.group))
		return reading_refuse(r, e, "not a number:", text);
	is_comma = n.decimal ? *n.decimal == ',' : n.group == '.';
	if (n.has_groups || n.end - n.decimal != 4 || *text == '0' || c->notation != NOTATION_UNKNOWN)
		rc = csv_notation_is(r, c, is_comma ? NOTATION_COMMA : NOTATION_POINT, text, e);
	if (rc)
		return rc;
	for (char *p = text; *p; p++)
		if (p >= n.end || *p != n.group || p == n.decimal)
			*to++ = p == n.decimal ? '.' : *p;
	*to = '\0';
	return 0;
}

/* --- which column --- */

/* "# boot: 1234" of `kblat export --samples`. `*is_known`: it is one of these. */
static int read_remark(struct reading *r, bool *is_known, struct err *e)
{
	struct {
		const char *key;
		char *text;
		int64_t *number;
	} keys[] = {{"name", r->name, NULL},	      {"host", r->host, NULL},
		    {"boot", r->boot, NULL},	      {"started_ns", NULL, &r->started_ns},
		    {"limit_ns", NULL, &r->limit_ns}, {"clock_hz", NULL, &r->clock_hz}};
	char key[32], value[READING_NAME_MAX];

	if (sscanf(r->text, "# %31[a-z_]: %127[^\n]", key, value) != 2)
		return 0;
	if (!strcmp(key, "invalid"))
		return reading_refuse(r, e, "its point is not valid:", value);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		uint64_t number;

		if (strcmp(key, keys[i].key) != 0)
			continue;
		*is_known = true;
		if (keys[i].text)
			snprintf(keys[i].text, READING_NAME_MAX, "%s", value);
		else if (reading_count(value, &number))
			*keys[i].number = (int64_t)number;
		else
			return reading_refuse(r, e, "not a number:", value);
	}
	return 0;
}

static int csv_remark(struct reading *r, struct csv *c, const char *text, struct err *e)
{
	bool is_known = false;
	int rc = read_remark(r, &is_known, e);

	if (rc || is_known)
		return rc;
	reading_skip(r, "comments");
	if (c->count || c->names)
		return 0;
	free(c->remark);
	c->remark = or_abort(strdup(text + strspn(text, "# \t")));
	return 0;
}

static int csv_unit(const struct reading *r, const char *name, int64_t *ns, struct err *e)
{
	const int64_t named = reading_unit_of(name), asked = r->unit ? reading_unit_ns(r->unit) : 0;

	if (named && asked && named != asked)
		return reading_refuse(r, e, "--unit contradicts the name of the column", name);
	*ns = named ? named : asked;
	return *ns ? 0 : reading_refuse(r, e, "give --unit ns, us, ms or s for the column", name);
}

/* The fields of a record, as texts. */
struct csv_names {
	char *copy, *name[CSV_COLUMNS_MAX];
	int count;
};

static int names_split(struct reading *r, const struct csv *c, const char *record, struct csv_names *n, struct err *e)
{
	struct csv_fields f;
	struct csv_field field;
	int rc;

	*n = (struct csv_names){.copy = or_abort(strdup(record))};
	f = csv_fields_of(c, n->copy, c->names_line ? c->names_line : r->line);
	while ((rc = csv_next(r, &f, &field, e)) > 0) {
		if (n->count == CSV_COLUMNS_MAX)
			return reading_refuse(r, e, "it has more than 256 columns", NULL);
		n->name[n->count++] = field.text;
	}
	return rc;
}

/* The number of a column, from 1, if that is what --column is. */
static int csv_place(const struct reading *r)
{
	uint64_t place;

	return r->column && reading_count(r->column, &place) && place <= CSV_COLUMNS_MAX ? (int)place : 0;
}

/* Are these names, or is it the first sample? What was asked for is one of them, or a sample, or all are. */
static bool csv_are_names(const struct reading *r, const struct csv_names *n)
{
	const int place = csv_place(r);

	for (int i = 0; r->column && i < n->count; i++)
		if (!strcmp(n->name[i], r->column))
			return true;
	if (place && place <= n->count)
		return !is_numberlike(n->name[place - 1]);
	for (int i = 0; i < n->count; i++)
		if (*n->name[i] && !is_numberlike(n->name[i]))
			return true;
	return false;
}

/* "0", "0,1" or ",0", which pandas writes for columns without a name, and which might be a sample. */
static bool csv_are_counted(const struct csv_names *n)
{
	const int first = n->count > 1 && !*n->name[0];

	for (int i = first; i < n->count; i++)
		if (atoi(n->name[i]) != i - first || strlen(n->name[i]) > 3 || !isdigit((unsigned char)*n->name[i]))
			return false;
	return true;
}

/* The column with the samples, of these names: by name, by number, or the only one but "rep". */
static int csv_choose(struct reading *r, struct csv *c, const struct csv_names *n, struct err *e)
{
	const int place = csv_place(r);
	int others = 0;

	c->latency = c->rep = -1;
	for (int i = 0; i < n->count; i++) {
		if (!strcmp(n->name[i], "rep")) {
			c->rep = i;
			continue;
		}
		others++;
		if (r->column && strcmp(n->name[i], r->column) != 0)
			continue;
		if (c->latency >= 0 && r->column)
			return reading_refuse(r, e, "two columns have the name", r->column);
		c->latency = i;
	}
	if (c->latency < 0 && place && place <= n->count)
		c->latency = place - 1;
	if (c->latency < 0)
		return reading_refuse(r, e, "it has no column", r->column ? r->column : "");
	if (!r->column && others > 1)
		return reading_refuse(r, e, "it has several columns; choose one with --column NAME, or its number",
				      NULL);
	c->count = n->count;
	return csv_unit(r, n->name[c->latency], &c->unit_ns, e);
}

/* A file without names, unless the comment before its first record has as many words as that has columns. */
static int csv_unnamed(struct reading *r, struct csv *c, const struct csv_names *first, struct err *e)
{
	struct csv_names n = {.count = 0};
	char number[16];
	int rc = 0;

	if (c->remark)
		rc = names_split(r, c, c->remark, &n, e);
	if (!rc && n.count == first->count) {
		rc = csv_choose(r, c, &n, e);
		free(n.copy);
		return rc;
	}
	free(n.copy);
	if (rc)
		return rc;
	if (csv_are_counted(first))
		return reading_refuse(r, e, "names of columns, or samples? Give the columns names, instead of",
				      first->name[first->count - 1]);
	if (r->column && !csv_place(r))
		return reading_refuse(r, e, "there is no line with names: give the number of the column, not",
				      r->column);
	c->rep = -1;
	c->count = first->count;
	c->latency = csv_place(r) - 1;
	if (c->count == 1)
		c->latency = 0;
	if (c->latency < 0 || c->latency >= c->count)
		return reading_refuse(
		    r, e, "there is no line with names: give --column the number of the column with the samples", NULL);
	snprintf(number, sizeof(number), "%d", c->latency + 1);
	return csv_unit(r, number, &c->unit_ns, e);
}

/* What is between the columns of a record: outside of quotes, a tab, a semicolon, a comma; or nothing. */
static char csv_separator(const char *record)
{
	static const char all[] = "\t;,";
	bool is_quoted = false;
	const char *best = all + sizeof(all) - 1;

	for (const char *p = record; *p; p++) {
		const char *at = strchr(all, *p);

		is_quoted ^= *p == '"';
		best = !is_quoted && at && at < best ? at : best;
	}
	return *best;
}

/* Numbers between blanks, which would be one column with a wrong number otherwise. */
static bool csv_has_blanks(const char *record)
{
	const char *p = record + strspn(record, " \t");
	bool is_first = true;

	for (; *p; is_first = false) {
		if (!is_numberlike(p) && strncasecmp(p, "nan", 3) != 0)
			return false;
		p += strcspn(p, " \t");
		p += strspn(p, " \t");
		if (!*p && is_first)
			return false;
	}
	return true;
}

/* The first record with samples is here, and the line of names, if there is one. 1: it was the names themselves. */
static int csv_begin(struct reading *r, struct csv *c, struct err *e)
{
	struct csv_names n;
	int rc;

	if (!c->separator)
		c->separator = csv_separator(c->names ? c->names : r->text);
	if (!c->separator && csv_has_blanks(r->text))
		c->separator = ' ';
	rc = names_split(r, c, c->names ? c->names : r->text, &n, e);
	if (!rc && !c->names && csv_are_names(r, &n)) {
		c->names = or_abort(strdup(r->text));
		c->names_line = r->line;
		rc = 1;
	} else if (!rc && c->names) {
		r->field_line = c->names_line;
		r->field_at = 1;
		rc = csv_choose(r, c, &n, e);
		r->field_line = rc ? r->field_line : 0;
	} else if (!rc) {
		rc = csv_unnamed(r, c, &n, e);
	}
	/* "1,5" in a file with one column may have a decimal comma, or be two columns. */
	if (rc != 1 && !c->separator)
		c->separator = ',';
	free(n.copy);
	return rc;
}

/* --- samples --- */

static int csv_rep(struct reading *r, struct csv *c, const struct csv_field *field, struct err *e)
{
	uint64_t rep;

	at_field(r, field);
	if (!reading_count(field->text, &rep))
		return reading_refuse(r, e, "not the number of a repetition:", field->text);
	if (r->to->reps && rep < c->last_rep)
		return reading_refuse(r, e, "the repetitions are not in order: it goes back to", field->text);
	if (r->to->reps && rep == c->last_rep)
		return 0;
	c->last_rep = rep;
	return samples_begin(r->to, e);
}

/* A last line without an end is whole if a separator follows, or if it has as many digits behind the point as all others. */
static int csv_is_whole(struct reading *r, struct csv *c, const struct csv_field *field, struct err *e)
{
	const char *point = strchr(field->text, '.');
	const int places = point ? (int)strspn(point + 1, "0123456789") : 0;
	const bool is_whole = field->is_ended || (places && places == c->places && !point[1 + places]);

	c->places = c->places == CSV_ANY_PLACES || c->places == places ? places : CSV_NO_PLACES;
	return !r->lacks_end || is_whole
		   ? 0
		   : reading_refuse(
			 r, e, "the line has no end: it may have been cut off; if it is whole, add a line feed", NULL);
}

static int csv_sample(struct reading *r, struct csv *c, unsigned long line, struct err *e)
{
	struct csv_fields f = csv_fields_of(c, r->text, line);
	struct csv_field field, latency = {.text = NULL};
	int rc, number;

	for (number = 0; (rc = csv_next(r, &f, &field, e)) > 0; number++) {
		if (number == c->latency)
			latency = field;
		rc = number == c->rep ? csv_rep(r, c, &field, e) : 0;
		if (rc)
			return rc;
	}
	if (rc)
		return rc;
	r->field_line = r->field_at = 0;
	/* One more may be half of a number ("1,5"), or of a text with a comma. */
	if (!latency.text || number != c->count)
		return reading_refuse(r, e, "the line has more or fewer columns than the first line", NULL);
	if (!r->to->reps)
		rc = samples_begin(r->to, e);
	at_field(r, &latency);
	if (!rc && *latency.text)
		rc = csv_number(r, c, latency.text, e) ?: csv_is_whole(r, c, &latency, e);
	rc = rc ? rc : *latency.text ? reading_take(r, latency.text, c->unit_ns, e) : reading_lost(r, 1, e);
	r->field_line = rc ? r->field_line : 0;
	return rc;
}

/* What is between the columns, told before the names: "sep=;", also in quotes, as spreadsheets have it. */
static bool csv_is_hint(const char *text)
{
	const bool is_quoted = *text == '"';

	return !strncasecmp(text + is_quoted, "sep=", 4) && strlen(text) == (is_quoted ? 7 : 5) &&
	       (!is_quoted || text[6] == '"');
}

static int csv_record(struct reading *r, struct csv *c, struct err *e)
{
	const unsigned long line = r->line;
	int rc = memchr(r->text, '"', strlen(r->text)) ? csv_join(r, e) : 0;

	if (rc)
		return rc;
	if (!c->count && strchr(r->text, '\r'))
		return reading_refuse(r, e, "its lines end in CR alone: convert it with tr '\\r' '\\n'", NULL);
	if (!c->count && !c->names && csv_is_hint(r->text)) {
		c->separator = r->text[4 + (*r->text == '"')];
		return 0;
	}
	if (!c->count)
		rc = csv_begin(r, c, e);
	return rc ? (rc < 0 ? rc : 0) : csv_sample(r, c, line, e);
}

static int csv_line(struct reading *r, struct csv *c, struct err *e)
{
	const char *text = r->text + strspn(r->text, " \t");

	if (*text == '#')
		return csv_remark(r, c, text, e);
	if (*text && (*text != '\r' || text[1]))
		return csv_record(r, c, e);
	reading_skip(r, "empty lines");
	return 0;
}

int read_csv(struct reading *r, struct err *e)
{
	struct csv c = {.latency = -1, .places = CSV_ANY_PLACES};
	int rc;

	r->may_lack_end = true;
	while ((rc = reading_line(r, e)) > 0) {
		rc = csv_line(r, &c, e);
		if (rc)
			break;
	}
	if (!rc && c.doubt_line && c.notation == NOTATION_UNKNOWN)
		rc = refuse_doubt(r, &c, e);
	free(c.names);
	free(c.remark);
	return rc;
}
