#include "common/opt.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/clean_stream.h"
#include "common/cli.h"
#include "common/cpulist.h"
#include "common/diag.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/text.h"
#include "common/units.h"

/* What types have in common and in which they differ; the rest of this file treats all types with a
 * unit as numbers. */
static const struct type {
	const char *key_suffix;
	const char *metavar; /* NULL: the choices */
	const char *expected;
	enum unit unit;
	bool is_number;
} types[] = {
    [OPT_INT] = {"", "N", "a whole number such as 32", UNIT_ONE, true},
    [OPT_TIME] = {"_ns", "TIME", "a time such as 10us or 1ms", UNIT_TIME_NS, true},
    [OPT_BYTES] = {"_bytes", "BYTES", "a size such as 32B or 64KiB", UNIT_BYTES, true},
    [OPT_RATE] = {"_hz", "RATE", "a rate such as 100Hz or 25kHz", UNIT_RATE_HZ, true},
    [OPT_SHARE] = {"_ppm", "SHARE", "a share such as 10% or 20ppm", UNIT_SHARE_PPM, true},
    [OPT_BOOL] = {"", "yes|no", "yes or no", UNIT_ONE, false},
    [OPT_ENUM] = {"", NULL, "one of its choices", UNIT_ONE, false},
    [OPT_STR] = {"", "TEXT", "a text", UNIT_ONE, false},
    [OPT_CPU] = {"", "CPUS", "a CPU's number, a list of them, auto, near, near:DEVICE or cpuset:NAME", UNIT_ONE, false},
    [OPT_LIST] = {"", "LIST", "a list such as 5,10-20", UNIT_ONE, false},
};

static int refuse_option(char *why, size_t why_size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int refuse_option(char *why, size_t why_size, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	if (why)
		vsnprintf(why, why_size, format, ap);
	va_end(ap);
	return -EINVAL;
}

const struct opt *opt_find(const struct opt *table, const char *name)
{
	for (const struct opt *o = table; o->name; o++)
		if (!strcmp(o->name, name))
			return o;
	return NULL;
}

char *opt_key(const struct opt *o, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s", o->name, types[o->type].key_suffix);
	return buf;
}

/*
 * Checks of values from a user or another process. They return 0, or -EINVAL and a phrase.
 */

static bool is_ranged(const struct opt *o)
{
	return o->min || o->max;
}

static int check_option_range(const struct opt *o, int64_t v, char *why, size_t why_size)
{
	enum unit unit = types[o->type].unit;
	int64_t min = is_ranged(o) ? o->min : 0;
	int64_t max = is_ranged(o) ? o->max : INT64_MAX;
	char is[48], bound[48];

	unit_format(unit, v, is, sizeof(is));
	if (v < min)
		return refuse_option(why, why_size, "is %s, below its minimum of %s", is,
				     unit_format(unit, min, bound, sizeof(bound)));
	if (v > max)
		return refuse_option(why, why_size, "is %s, above its maximum of %s", is,
				     unit_format(unit, max, bound, sizeof(bound)));
	return 0;
}

static int check_cpu(int64_t v, char *why, size_t why_size)
{
	if (v < 0 || v >= CPULIST_MAX)
		return refuse_option(why, why_size, "is %lld, but CPUs are numbered 0 to %d", (long long)v,
				     CPULIST_MAX - 1);
	return 0;
}

static int check_option_text(const char *text, char *why, size_t why_size)
{
	size_t n = strlen(text);

	if (n >= OPT_STR_MAX)
		return refuse_option(why, why_size, "is %zu bytes long; the maximum is %d", n, OPT_STR_MAX - 1);
	for (size_t at = 0, step; at < n; at += step) {
		uint32_t cp;

		step = text_utf8(text + at, n - at, &cp);
		if (!step)
			return refuse_option(why, why_size, "is not UTF-8 text");
		if (cp < 0x20 || cp == 0x7f)
			return refuse_option(why, why_size, "contains a control character");
	}
	return 0;
}

static const char *after(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(text, prefix, n) ? NULL : text + n;
}

/* A word or a list; a single CPU is an integer in JSON. */
static int check_option_cpus(const char *text, char *why, size_t why_size)
{
	static const char *const named[] = {OPT_CPU_NEAR ":", OPT_CPU_CPUSET};
	char quoted[TEXT_QUOTE_MAX], clause[160];
	struct cpulist list;

	if (!strcmp(text, "auto") || !strcmp(text, OPT_CPU_NEAR))
		return 0;
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		const char *name = after(text, named[i]);

		if (name && *name)
			return check_option_text(name, why, why_size);
	}
	if (!isdigit((unsigned char)*text))
		return refuse_option(why, why_size, "must be %s, not %s", types[OPT_CPU].expected,
				     text_quote(text, quoted, sizeof(quoted)));
	if (cpulist_parse(text, &list, clause, sizeof(clause)))
		return refuse_option(why, why_size, "must be %s, not %s: %s", types[OPT_CPU].expected,
				     text_quote(text, quoted, sizeof(quoted)), clause);
	return 0;
}

/* Read an item of a list, "5" or "10-20"; returns its end, or NULL. */
static const char *take_item(const char *p, int64_t *first, int64_t *last)
{
	int64_t *const ends[] = {first, last};

	*last = -1;
	for (int i = 0; i < 2; i++) {
		int64_t v = 0;

		if (!isdigit((unsigned char)*p))
			return NULL;
		for (; isdigit((unsigned char)*p); p++)
			if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
				return NULL;
		*ends[i] = v;
		if (i == 0 && *p++ != '-')
			return p - 1;
	}
	return p;
}

static int check_list(const struct opt *o, const char *text, char *why, size_t why_size)
{
	char quoted[TEXT_QUOTE_MAX];
	const char *p = text;
	int64_t first, last;
	int rc = check_option_text(text, why, why_size);

	while (!rc && *p) {
		p = take_item(p, &first, &last);
		if (!p || (*p && (*p != ',' || !p[1])))
			return refuse_option(why, why_size, "must be %s, not %s", types[o->type].expected,
					     text_quote(text, quoted, sizeof(quoted)));
		if (last >= 0 && last < first)
			return refuse_option(why, why_size, "has the range %lld-%lld, which runs backwards",
					     (long long)first, (long long)last);
		rc = check_option_range(o, first, why, why_size);
		if (!rc && last >= 0)
			rc = check_option_range(o, last, why, why_size);
		p += *p == ',';
	}
	return rc;
}

static int find_choice(const struct opt *o, const char *text)
{
	for (int i = 0; o->choices[i]; i++)
		if (!strcmp(o->choices[i], text))
			return i;
	return -1;
}

static int check_choice(const struct opt *o, const char *text, char *why, size_t why_size)
{
	const char *near = suggest(text, o->choices);
	char list[256] = "", quoted[TEXT_QUOTE_MAX];

	if (find_choice(o, text) >= 0)
		return 0;
	for (const char *const *c = o->choices; *c; c++) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "", *c);
	}
	if (near)
		return refuse_option(why, why_size, "must be one of %s (did you mean '%s'?)", list, near);
	return refuse_option(why, why_size, "must be one of %s, not %s", list,
			     text_quote(text, quoted, sizeof(quoted)));
}

/* Check a JSON integer that represents a value of this type. */
static int check_integer(const struct opt *o, int64_t v, char *why, size_t why_size)
{
	return o->type == OPT_CPU ? check_cpu(v, why, why_size) : check_option_range(o, v, why, why_size);
}

/* Check a JSON string that represents a value of this type. */
static int check_string(const struct opt *o, const char *text, char *why, size_t why_size)
{
	switch (o->type) {
	case OPT_ENUM:
		return check_choice(o, text, why, why_size);
	case OPT_LIST:
		return check_list(o, text, why, why_size);
	case OPT_STR:
		return check_option_text(text, why, why_size);
	case OPT_CPU:
		return check_option_cpus(text, why, why_size);
	default:
		return refuse_option(why, why_size, "must be %s", types[o->type].expected);
	}
}

/*
 * Parsing a user's text.
 */

static json_t *parse_number(const struct opt *o, const char *text, char *why, size_t why_size)
{
	const struct type *t = &types[o->type];
	char quoted[TEXT_QUOTE_MAX], clause[160];
	enum unit_fault fault;
	int64_t v;

	fault = unit_read(t->unit, text, &v);
	if (fault == UNIT_NOT)
		refuse_option(why, why_size, "must be %s, not %s", t->expected,
			      text_quote(text, quoted, sizeof(quoted)));
	else if (fault != UNIT_FINE)
		refuse_option(why, why_size, "must be %s, not %s, which %s", t->expected,
			      text_quote(text, quoted, sizeof(quoted)),
			      unit_fault_clause(t->unit, fault, clause, sizeof(clause)));
	else if (!check_option_range(o, v, why, why_size))
		return json_integer(v);
	return NULL;
}

static json_t *parse_bool(const char *text, char *why, size_t why_size)
{
	char quoted[TEXT_QUOTE_MAX];

	if (!strcasecmp(text, "yes") || !strcasecmp(text, "true"))
		return json_true();
	if (!strcasecmp(text, "no") || !strcasecmp(text, "false"))
		return json_false();
	refuse_option(why, why_size, "must be yes or no, not %s", text_quote(text, quoted, sizeof(quoted)));
	return NULL;
}

static json_t *parse_cpu(const char *text, char *why, size_t why_size)
{
	int64_t v;

	if (!strcasecmp(text, "auto"))
		return json_string("auto");
	if (isdigit((unsigned char)*text) && unit_read(UNIT_ONE, text, &v) == UNIT_FINE)
		return check_cpu(v, why, why_size) ? NULL : json_integer(v);
	return check_option_cpus(text, why, why_size) ? NULL : json_string(text);
}

json_t *opt_parse(const struct opt *o, const char *text, char *why, size_t why_size)
{
	if (types[o->type].is_number)
		return parse_number(o, text, why, why_size);
	if (o->type == OPT_BOOL)
		return parse_bool(text, why, why_size);
	if (o->type == OPT_CPU)
		return parse_cpu(text, why, why_size);
	return check_string(o, text, why, why_size) ? NULL : json_string(text);
}

json_t *opt_default(const struct opt *o)
{
	return opt_parse(o, o->deflt, NULL, 0);
}

char *opt_text(const struct opt *o, const json_t *value, char *buf, size_t size)
{
	if (json_is_integer(value))
		unit_format(types[o->type].unit, json_integer_value(value), buf, size);
	else if (json_is_boolean(value))
		snprintf(buf, size, "%s", json_is_true(value) ? "yes" : "no");
	else
		snprintf(buf, size, "%s", json_is_string(value) ? json_string_value(value) : "");
	return buf;
}

/*
 * Storing in a settings struct.
 */

static bool has_right_kind(const struct opt *o, const json_t *value)
{
	if (o->type == OPT_BOOL)
		return json_is_boolean(value);
	if (o->type == OPT_CPU)
		return json_is_integer(value) || json_is_string(value);
	return types[o->type].is_number ? json_is_integer(value) : json_is_string(value);
}

static int check_value(const struct opt *o, const json_t *value, char *why, size_t why_size)
{
	if (!value)
		return refuse_option(why, why_size, "is missing");
	if (!has_right_kind(o, value))
		return refuse_option(why, why_size, "is of the wrong JSON type");
	if (json_is_integer(value))
		return check_integer(o, json_integer_value(value), why, why_size);
	if (!json_is_string(value))
		return 0;
	/* Only the part of a string before a NUL would be checked. */
	if (strlen(json_string_value(value)) != json_string_length(value))
		return refuse_option(why, why_size, "holds a NUL");
	return check_string(o, json_string_value(value), why, why_size);
}

/* The value has passed check_value(). Uses memcpy(), because a settings struct is just bytes and
 * offsets here. */
static void store(const struct opt *o, const json_t *value, char *field)
{
	int64_t number = json_is_integer(value) ? json_integer_value(value) : -1;
	const char *text = json_string_value(value);
	bool truth = json_is_true(value);
	int choice;

	switch (o->type) {
	case OPT_INT:
	case OPT_TIME:
	case OPT_BYTES:
	case OPT_RATE:
	case OPT_SHARE:
		memcpy(field, &number, sizeof(number));
		break;
	case OPT_BOOL:
		memcpy(field, &truth, sizeof(truth));
		break;
	case OPT_ENUM:
		choice = find_choice(o, text);
		memcpy(field, &choice, sizeof(choice));
		break;
	case OPT_CPU:
		if (!text) {
			snprintf(field, OPT_STR_MAX, "%lld", (long long)number);
			break;
		}
		__attribute__((fallthrough));
	case OPT_STR:
	case OPT_LIST:
		snprintf(field, OPT_STR_MAX, "%s", text);
		break;
	}
}

int opt_load(const struct opt *table, const json_t *params, void *settings, struct err *e)
{
	char key[64], why[400];

	/* All checks first: on failure nothing is written. */
	for (const struct opt *o = table; o->name; o++) {
		opt_key(o, key, sizeof(key));
		if (check_value(o, json_object_get(params, key), why, sizeof(why)))
			return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "the parameter '%s' %s", key, why);
	}
	for (const struct opt *o = table; o->name; o++)
		store(o, json_object_get(params, opt_key(o, key, sizeof(key))), (char *)settings + o->offset);
	return 0;
}

/*
 * Help.
 */

char *opt_usage(const struct opt *o, char *buf, size_t size)
{
	const char *metavar = types[o->type].metavar;
	size_t used;

	snprintf(buf, size, "%s=%s", o->name, metavar ? metavar : "");
	for (const char *const *c = metavar ? NULL : o->choices; c && *c; c++) {
		used = strlen(buf);
		snprintf(buf + used, size - used, "%s%s", c == o->choices ? "" : "|", *c);
	}
	return buf;
}

char *opt_limits(const struct opt *o, char *buf, size_t size)
{
	enum unit unit = types[o->type].unit;
	char min[48], max[48];
	size_t used = (size_t)snprintf(buf, size, "default %s", *o->deflt ? o->deflt : "none");

	if (used >= size || !types[o->type].is_number || !is_ranged(o))
		return buf;
	unit_format(unit, o->min, min, sizeof(min));
	if (o->max == INT64_MAX)
		snprintf(buf + used, size - used, ", at least %s", min);
	else
		snprintf(buf + used, size - used, ", %s..%s", min, unit_format(unit, o->max, max, sizeof(max)));
	return buf;
}

#define OPT_HELP_COLUMN 30 /* on a terminal */

static void opt_help_row(const struct opt *o, int width, FILE *out)
{
	char usage[OPT_USAGE_MAX], limits[OPT_USAGE_MAX], *text;

	opt_usage(o, usage, sizeof(usage));
	opt_limits(o, limits, sizeof(limits));
	if (!clean_stream_width(out, 0)) {
		fprintf(out, "  %-*s   %s (%s)\n", width, usage, o->help, limits);
		return;
	}
	text = fs_path("%s (%s)", o->help, limits);
	cli_print_item(usage, width + 5 < OPT_HELP_COLUMN ? width + 5 : OPT_HELP_COLUMN, text, out);
	free(text);
}

void opt_help(const struct opt *table, FILE *out)
{
	char usage[OPT_USAGE_MAX];
	int width = 0;

	for (const struct opt *o = table; o->name; o++) {
		opt_usage(o, usage, sizeof(usage));
		if ((int)strlen(usage) > width)
			width = (int)strlen(usage);
	}
	for (const struct opt *o = table; o->name; o++)
		opt_help_row(o, width, out);
}
