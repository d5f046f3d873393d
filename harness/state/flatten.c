#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpulist.h"
#include "common/text.h"
#include "state/capture.h"
#include "state/sources.h"

#define SETS_MAX    8192
#define VALUES_MAX  4096 /* of a field */
#define COLUMNS_MAX CPULIST_MAX

/* A piece of a text. */
struct piece {
	const char *p;
	size_t n;
};

static struct piece trim(struct piece t)
{
	while (t.n && isspace((unsigned char)*t.p)) {
		t.p++;
		t.n--;
	}
	while (t.n && isspace((unsigned char)t.p[t.n - 1]))
		t.n--;
	return t;
}

/* Cut the text up to `stop` (or all of it) off the front of `rest`. */
static struct piece cut(struct piece *rest, char stop)
{
	const char *end = memchr(rest->p, stop, rest->n);
	struct piece head = {rest->p, end ? (size_t)(end - rest->p) : rest->n};
	size_t taken = head.n + !!end;

	rest->p += taken;
	rest->n -= taken;
	return head;
}

static bool next_line(struct piece *rest, struct piece *line)
{
	if (!rest->n)
		return false;
	*line = cut(rest, '\n');
	return true;
}

/* The next word, n = 0 at the end. */
static struct piece next_word(struct piece *rest)
{
	struct piece word;

	*rest = trim(*rest);
	word.p = rest->p;
	for (word.n = 0; word.n < rest->n && !isspace((unsigned char)word.p[word.n]);)
		word.n++;
	rest->p += word.n;
	rest->n -= word.n;
	return word;
}

static bool is_equal(struct piece t, const char *word)
{
	return t.n == strlen(word) && !memcmp(t.p, word, t.n);
}

static bool begins_with(struct piece t, const char *word)
{
	return t.n >= strlen(word) && !memcmp(t.p, word, strlen(word));
}

static bool to_int(struct piece t, int64_t *value)
{
	char copy[32], *end;

	if (!t.n || t.n >= sizeof(copy) || !(isdigit((unsigned char)*t.p) || *t.p == '-'))
		return false;
	memcpy(copy, t.p, t.n);
	copy[t.n] = '\0';
	errno = 0;
	*value = strtoll(copy, &end, 10);
	return !*end && !errno;
}

static void add_value(struct capture *c, const char *key, const char *name, struct piece value)
{
	int64_t number;

	if (to_int(value, &number))
		capture_int(c, key, name, number);
	else
		capture_text(c, key, name, value.p, value.n);
}

static struct piece first_line(const char *text, size_t length)
{
	struct piece rest = {text, length};

	return trim(cut(&rest, '\n'));
}

FLATTENER(line)
{
	struct piece line = first_line(text, length);

	(void)s;
	capture_text(c, key, NULL, line.p, line.n);
}

FLATTENER(int)
{
	(void)s;
	add_value(c, key, NULL, first_line(text, length));
}

static void flatten_set(struct capture *c, const char *key, struct piece line,
			int (*parse)(const char *, struct cpulist *, char *, size_t))
{
	char buf[SETS_MAX];
	struct cpulist set;

	snprintf(buf, sizeof(buf), "%.*s", (int)line.n, line.p);
	if (line.n >= sizeof(buf) || parse(buf, &set, NULL, 0)) {
		capture_text(c, key, NULL, line.p, line.n);
		return;
	}
	cpulist_format(&set, buf, sizeof(buf));
	capture_text(c, key, NULL, buf, strlen(buf));
}

FLATTENER(cpulist)
{
	(void)s;
	flatten_set(c, key, first_line(text, length), cpulist_parse);
}

FLATTENER(cpumask)
{
	(void)s;
	flatten_set(c, key, first_line(text, length), cpulist_parse_mask);
}

/* "always [madvise] never"; debugfs writes "none (voluntary) full". */
FLATTENER(choice)
{
	struct piece line = first_line(text, length), rest = line;

	(void)s;
	while (rest.n && *rest.p != '[' && *rest.p != '(') {
		rest.p++;
		rest.n--;
	}
	if (rest.n > 1) {
		char closing = *rest.p == '[' ? ']' : ')';

		rest = (struct piece){rest.p + 1, rest.n - 1};
		line = cut(&rest, closing);
	}
	capture_text(c, key, NULL, line.p, line.n);
}

FLATTENER(s32)
{
	int32_t value;

	(void)s;
	if (length != sizeof(value)) {
		capture_errno(c, key, -EINVAL);
		return;
	}
	memcpy(&value, text, sizeof(value));
	capture_int(c, key, NULL, value);
}

/* "MemTotal:  123 kB": the unit belongs to the name. */
static void add_pair(struct capture *c, const char *key, struct piece name, struct piece value)
{
	bool has_unit = value.n > 3 && !memcmp(value.p + value.n - 3, " kB", 3);
	char full[256];

	snprintf(full, sizeof(full), "%.*s%s", (int)(name.n < 200 ? name.n : 200), name.p, has_unit ? "_kB" : "");
	if (has_unit)
		value = trim((struct piece){value.p, value.n - 3});
	if (value.n > 1 && value.p[0] == '"' && value.p[value.n - 1] == '"')
		capture_text(c, key, full, value.p + 1, value.n - 2);
	else
		add_value(c, key, full, value);
}

FLATTENER(pairs)
{
	struct piece rest = {text, length}, line;

	while (next_line(&rest, &line)) {
		struct piece name = trim(cut(&line, *s->arg));

		if (name.n && *name.p != '#')
			add_pair(c, key, name, trim(line));
	}
}

/* Different values of the same field, as of CPUs that differ, are all told. */
FLATTENER(field)
{
	struct piece rest = {text, length}, line;
	char all[VALUES_MAX] = "", last[VALUES_MAX] = "", value[VALUES_MAX];
	size_t used = 0;

	while (next_line(&rest, &line)) {
		struct piece name = trim(cut(&line, ':'));

		if (!is_equal(name, s->arg))
			continue;
		line = trim(line);
		snprintf(value, sizeof(value), "%.*s", (int)line.n, line.p);
		/* A search would take a model for another one that it is the beginning of; neighbours are what differs.
		 */
		if (used && !strcmp(value, last))
			continue;
		snprintf(last, sizeof(last), "%s", value);
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", used ? " | " : "", value);
		if (used >= sizeof(all))
			break;
	}
	if (all[0])
		capture_text(c, key, NULL, all, strlen(all));
	else
		capture_errno(c, key, -ENODATA);
}

FLATTENER(flag)
{
	struct piece rest = {text, length}, line, word;
	bool found = false;

	while (!found && next_line(&rest, &line)) {
		struct piece name = trim(cut(&line, ':'));

		if (!is_equal(name, "flags") && !is_equal(name, "Features"))
			continue;
		while (!found && (word = next_word(&line)).n)
			found = is_equal(word, s->arg);
		break;
	}
	capture_text(c, key, NULL, found ? "yes" : "no", found ? 3 : 2);
}

/* "  8:   1   0  IO-APIC 8-edge rtc0" under "  CPU0 CPU3": "8.cpu0" is 1, "8.cpu3" nothing. */
static void add_counts(struct capture *c, const char *key, struct piece line, const unsigned short *cpu, size_t cpus)
{
	struct piece name = trim(cut(&line, ':'));
	char full[128];
	int64_t count;

	for (size_t i = 0; i < cpus; i++) {
		if (!to_int(next_word(&line), &count))
			return;
		snprintf(full, sizeof(full), "%.*s.cpu%hu", (int)(name.n < 64 ? name.n : 64), name.p, cpu[i]);
		if (count)
			capture_int(c, key, full, count);
	}
}

FLATTENER(columns)
{
	struct piece rest = {text, length}, line = {text, 0}, word;
	unsigned short cpu[COLUMNS_MAX];
	size_t count = 0;
	int64_t number;

	(void)s;
	next_line(&rest, &line);
	while (count < COLUMNS_MAX && (word = next_word(&line)).n > 3) {
		if (!begins_with(word, "CPU") || !to_int((struct piece){word.p + 3, word.n - 3}, &number) ||
		    number < 0 || number >= CPULIST_MAX)
			break;
		cpu[count++] = (unsigned short)number;
	}
	while (next_line(&rest, &line))
		add_counts(c, key, line, cpu, count);
}

/* Columns of a "cpuN" line: man 5 proc. */
static const char *const stat_columns[] = {"user", "nice",    "system", "idle",	 "iowait",
					   "irq",  "softirq", "steal",	"guest", "guest_nice"};

static void add_cpu_times(struct capture *c, const char *key, struct piece cpu, struct piece line)
{
	char name[64];
	int64_t ticks;

	for (size_t i = 0; i < sizeof(stat_columns) / sizeof(*stat_columns); i++) {
		if (!to_int(next_word(&line), &ticks))
			return;
		snprintf(name, sizeof(name), "%.*s.%s_ticks", (int)(cpu.n < 32 ? cpu.n : 32), cpu.p, stat_columns[i]);
		capture_int(c, key, name, ticks);
	}
}

/* Of the other lines the first number: the total of "intr" and "softirq", "ctxt", "processes". */
FLATTENER(stat)
{
	struct piece rest = {text, length}, line;
	char name[64];

	(void)s;
	while (next_line(&rest, &line)) {
		struct piece word = next_word(&line);

		snprintf(name, sizeof(name), "%.*s", (int)(word.n < 32 ? word.n : 32), word.p);
		if (begins_with(word, "cpu"))
			add_cpu_times(c, key, word, line);
		else if (word.n)
			add_value(c, key, name, next_word(&line));
	}
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=123": averages follow from totals. */
FLATTENER(psi)
{
	struct piece rest = {text, length}, line, word;
	char name[64];

	(void)s;
	while (next_line(&rest, &line)) {
		struct piece kind = next_word(&line);

		snprintf(name, sizeof(name), "%.*s_us", (int)(kind.n < 32 ? kind.n : 32), kind.p);
		while ((word = next_word(&line)).n)
			if (begins_with(word, "total="))
				add_value(c, key, name, (struct piece){word.p + 6, word.n - 6});
	}
}

FLATTENER(modules)
{
	struct piece rest = {text, length}, line;

	(void)s;
	while (next_line(&rest, &line)) {
		struct piece name = next_word(&line);

		if (name.n)
			add_pair(c, key, name, next_word(&line));
	}
}

/* The next parameter of a kernel's command line: blanks between double quotes belong to it (kernel: next_arg). */
static struct piece next_parameter(struct piece *rest)
{
	struct piece word;
	bool is_quoted = false;

	*rest = trim(*rest);
	word = (struct piece){rest->p, 0};
	for (; word.n < rest->n && (is_quoted || !isspace((unsigned char)word.p[word.n])); word.n++)
		is_quoted ^= word.p[word.n] == '"';
	rest->p += word.n;
	rest->n -= word.n;
	return word;
}

/* Add a value to what the parameter has already: console= may be given several times, and all count. */
static void add_parameter(json_t *all, struct piece name, struct piece value)
{
	char key[256], clean[VALUES_MAX], values[VALUES_MAX];
	const char *before;

	text_clean(name.p, name.n, key, sizeof(key));
	text_clean(value.p, value.n, clean, sizeof(clean));
	before = json_string_value(json_object_get(all, key));
	if (before && snprintf(values, sizeof(values), "%s %s", before, clean) < (int)sizeof(values))
		json_object_set_new(all, key, json_string(values));
	else if (!before)
		json_object_set_new(all, key, json_string(clean));
}

/* Behind "--" stands what is init's. */
FLATTENER(parameters)
{
	struct piece rest = {text, length}, word;
	json_t *all = json_object(), *value;
	const char *name;

	(void)s;
	while (all && (word = next_parameter(&rest)).n) {
		struct piece head = cut(&word, '=');

		if (is_equal(head, "--"))
			word = trim(rest);
		add_parameter(all, head, word);
		if (is_equal(head, "--"))
			break;
	}
	json_object_foreach (all, name, value)
		capture_text(c, key, name, json_string_value(value), json_string_length(value));
	json_decref(all);
}
