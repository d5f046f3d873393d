#include "files/state/diff.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpulist.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/table_print.h"
#include "common/text.h"

#define SHOWN_ALIKE 12 /* per group and meaning */
#define SHOWN_VALUE 64
#define KEY_MAX	    512

/* Differences that only differ in a number in the key ("cpu0", "cpu1") are on one line. */
struct line {
	const json_t *first;
	char head[KEY_MAX], tail[KEY_MAX]; /* before and after the number; `head` is the whole key if there is none */
	bool is_numbered, is_shown;
	struct cpulist numbers;
};

static const char *show_value(const json_t *value, char *buf, size_t size)
{
	const char *text = json_string_value(value);

	if (json_is_integer(value))
		snprintf(buf, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (!text)
		snprintf(buf, size, "(none)");
	else if (!*text)
		snprintf(buf, size, "(empty)");
	else
		text_clean(text, strlen(text), buf, size);
	return buf;
}

/* Split at the first component that ends in a number, such as "cpu7" or "24". */
static void take_apart(struct line *l, const char *key)
{
	const char *part = key;

	l->is_numbered = false;
	snprintf(l->head, sizeof(l->head), "%s", key);
	while (*part) {
		size_t length = strcspn(part, "."), digits = 0;

		while (digits < length && isdigit((unsigned char)part[length - 1 - digits]))
			digits++;
		if (digits && digits < 5 && part > key) {
			snprintf(l->head, sizeof(l->head), "%.*s", (int)(part + length - digits - key), key);
			snprintf(l->tail, sizeof(l->tail), "%s", part + length);
			cpulist_clear(&l->numbers);
			cpulist_add(&l->numbers, (unsigned)atoi(part + length - digits));
			l->is_numbered = true;
			return;
		}
		part += length + !!part[length];
	}
}

/* The text that is the same for lines which only differ in the number. The caller frees. */
static char *alike_text(const struct line *l)
{
	json_t *parts = json_pack("[s, s, O*, s, O*]", l->head, l->tail, json_object_get(l->first, "a"), "->",
				  json_object_get(l->first, "b"));
	char *text = json_dumps(parts, JSON_COMPACT);

	json_decref(parts);
	return text;
}

static void join_numbers(struct line *l, const struct line *other)
{
	for (int n = cpulist_first(&other->numbers); n >= 0; n = cpulist_next(&other->numbers, n))
		cpulist_add(&l->numbers, (unsigned)n);
}

/* Add its number to an existing line that is otherwise equal; true if there is one. `known`: texts
 * and indices of lines. */
static bool join_alike(struct line *lines, size_t count, json_t *known)
{
	const struct line *l = &lines[count];
	char *text = l->is_numbered ? alike_text(l) : NULL;
	const json_t *at = text ? json_object_get(known, text) : NULL;

	if (at)
		join_numbers(&lines[json_integer_value(at)], l);
	else if (text)
		json_object_set_new(known, text, json_integer((json_int_t)count));
	free(text);
	return at;
}

static bool is_of_class(const json_t *d, const char *class, bool varying)
{
	return !strcmp(json_text(d, "class"), class) && json_is_true(json_object_get(d, "varying")) == varying;
}

/* The lines of a class; the caller frees. */
static struct line *collect_lines(const json_t *differences, const char *class, bool varying, size_t *count)
{
	struct line *lines = or_abort(calloc(json_array_size(differences) + 1, sizeof(*lines)));
	json_t *known = json_object();
	const json_t *d;
	size_t i;

	*count = 0;
	for (i = 0; lines && i < json_array_size(differences); i++) {
		struct line *l = &lines[*count];

		d = json_array_get(differences, i);
		if (!is_of_class(d, class, varying))
			continue;
		l->first = d;
		take_apart(l, json_text(d, "key"));
		*count += !join_alike(lines, *count, known);
	}
	json_decref(known);
	return lines;
}

/* A long key must not widen the others: a table of its own. */
static void show_line(const struct line *l)
{
	static const struct table_column columns[] = {
	    {.label = "key", .least = 40, .most = TABLE_WHOLE},
	    {.label = "values", .most = TABLE_WHOLE},
	};
	char numbers[128], a[SHOWN_VALUE], b[SHOWN_VALUE];
	struct table t = table_of(columns, 2, 1);

	if (l->is_numbered)
		table_text(&t, 0, 0, "%.200s%s%.200s", l->head, cpulist_format(&l->numbers, numbers, sizeof(numbers)),
			   l->tail);
	else
		table_text(&t, 0, 0, "%s", l->head);
	table_text(&t, 1, 0, "%s -> %s", show_value(json_object_get(l->first, "a"), a, sizeof(a)),
		   show_value(json_object_get(l->first, "b"), b, sizeof(b)));
	table_print(&t, &(struct table_style){.bare = true, .indent = 4}, stdout);
	table_free(&t);
}

/* Print the lines of one group and meaning, from `from` on, with the meaning below them. */
static void show_alike(struct line *lines, size_t count, size_t from)
{
	const json_t *first = lines[from].first;
	const char *group = json_text(first, "group"), *meaning = json_text(first, "meaning");
	size_t shown = 0;

	/* Lines are sorted by key, so those of a group are adjacent. */
	for (size_t i = from; i < count && !strcmp(group, json_text(lines[i].first, "group")); i++) {
		if (lines[i].is_shown || strcmp(meaning, json_text(lines[i].first, "meaning")))
			continue;
		if (shown++ < SHOWN_ALIKE)
			show_line(&lines[i]);
		lines[i].is_shown = true;
	}
	if (shown > SHOWN_ALIKE)
		printf("    … and %zu more; --json lists all\n", shown - SHOWN_ALIKE);
	if (*meaning)
		printf("        %s\n", meaning);
}

static void show_lines(struct line *lines, size_t count)
{
	const char *group = "";

	for (size_t i = 0; i < count; i++) {
		if (lines[i].is_shown)
			continue;
		if (strcmp(group, json_text(lines[i].first, "group"))) {
			char clean[KEY_MAX];

			group = json_text(lines[i].first, "group");
			printf("  %s\n", text_clean(group, strlen(group), clean, sizeof(clean)));
		}
		show_alike(lines, count, i);
	}
}

static void show_class(const json_t *differences, const char *class, bool varying, const char *title)
{
	size_t count;
	struct line *lines = collect_lines(differences, class, varying, &count);

	if (lines && count) {
		printf("%s\n", title);
		show_lines(lines, count);
	}
	free(lines);
}

static size_t count_of(const json_t *differences, const char *class, bool varying)
{
	size_t i, count = 0;
	const json_t *d;

	json_array_foreach (differences, i, d)
		count += is_of_class(d, class, varying);
	return count;
}

static void show_tested(const json_t *differences)
{
	show_class(differences, "fatal", true, "under test:");
	show_class(differences, "warn", true, "under test, may matter:");
	show_class(differences, "informative", true, "under test, good to know:");
}

void diff_print(const json_t *differences)
{
	size_t fatal = count_of(differences, "fatal", false), tested = 0;

	show_class(differences, "fatal", false, "fatal to a comparison:");
	show_tested(differences);
	show_class(differences, "warn", false, "may matter:");
	show_class(differences, "informative", false, "good to know:");
	show_class(differences, "volatile", false, "moved by itself:");
	for (const char *const *c = (const char *const[]){"fatal", "warn", "informative", NULL}; *c; c++)
		tested += count_of(differences, *c, true);
	printf("%zu fatal, %zu may matter, %zu good to know", fatal, count_of(differences, "warn", false),
	       count_of(differences, "informative", false));
	if (tested)
		printf("; %zu under test", tested);
	printf(fatal ? ": latencies must not be compared between these states\n" : ": latencies may be compared\n");
}
