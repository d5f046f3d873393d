#include "common/form.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpulist.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/ranges.h"
#include "common/text.h"

static const char *const names[FORM_COUNT] = {"text", "choice", "list", "mask", "controller"};

const char *form_name(enum form f)
{
	return names[f];
}

int form_find(const char *name)
{
	for (int i = 0; i < FORM_COUNT; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

/* Words separated by single blanks, so that tabs and newlines do not matter. */
static char *words(const char *text)
{
	char *buf = or_abort(malloc(strlen(text) + 1)), *end = buf;

	for (text += strspn(text, " \t\n"); *text;) {
		size_t n = strcspn(text, " \t\n");

		memcpy(end, text, n);
		end += n;
		text += n;
		text += strspn(text, " \t\n");
		if (*text)
			*end++ = ' ';
	}
	*end = '\0';
	return buf;
}

static char *chosen_word(const char *text)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	/* A file with only one choice shows it without brackets. */
	return close ? fs_path("%.*s", (int)(close - open - 1), open + 1) : words(text);
}

static bool offers_word(const char *text, const char *word, size_t n)
{
	for (text += strspn(text, " \t\n[]"); *text; text += strspn(text, " \t\n[]")) {
		size_t m = strcspn(text, " \t\n[]");

		if (m == n && !memcmp(text, word, n))
			return true;
		text += m;
	}
	return false;
}

/* "cpuset" for "+cpuset". */
static const char *controller_name(const char *value)
{
	return value + (*value == '+' || *value == '-');
}

static char *controller(const char *text, const char *about)
{
	const char *name = controller_name(about);

	return fs_path("%c%s", offers_word(text, name, strlen(name)) ? '+' : '-', name);
}

char *form_value(enum form f, const char *text, const char *about)
{
	switch (f) {
	case FORM_CHOICE:
		return chosen_word(text);
	case FORM_CONTROLLER:
		return controller(text, about);
	default:
		return words(text);
	}
}

static bool same_cpus(const char *a, const char *b, int (*parse)(const char *, struct cpulist *, char *, size_t))
{
	struct cpulist x, y;

	return !parse(a, &x, NULL, 0) && !parse(b, &y, NULL, 0) && !memcmp(&x, &y, sizeof(x));
}

/* The number at the beginning of a word, with a binary suffix, as the kernel's memparse() has it; true if that is all. */
static bool read_size(const char *word, long long *value)
{
	static const char units[] = "KMGTPE";
	const char *unit;
	char *end;

	if (!isdigit((unsigned char)word[strspn(word, "+-")]))
		return false;
	errno = 0;
	*value = strtoll(word, &end, 0);
	if (errno)
		return false;
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	for (int i = 0; unit && i <= unit - units; i++)
		if (__builtin_mul_overflow(*value, 1024, value))
			return false;
	return !end[unit != NULL];
}

/* "0x10" and "16", "+5" and "5", "1G" and "1024M". */
static bool same_number(const char *a, const char *b)
{
	long long x, y;

	return read_size(a, &x) && read_size(b, &y) && x == y;
}

/* 1, 0, or -1: what the kernel's kstrtobool() takes, and its files say. */
static int truth_of(const char *word)
{
	static const char *const words[] = {"0", "n", "N", "off", "OFF", "1", "y", "Y", "on", "ON"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i], word))
			return i >= 5;
	return -1;
}

/* "2,3" and "2-3". */
static bool same_ranges(const char *a, const char *b)
{
	struct ranges x = {0}, y = {0};
	bool same = !ranges_parse(a, &x) && !ranges_parse(b, &y) && ranges_equal(&x, &y);

	ranges_free(&x);
	ranges_free(&y);
	return same;
}

/* "ff" and "00000000,000000ff", where one of them is written as the kernel does: in groups of eight digits. */
static bool same_masks(const char *a, const char *b)
{
	bool grouped = false;

	for (int i = 0; i < 2; i++) {
		const char *text = i ? b : a, *last = strrchr(text, ',');

		if (!*text || text[strspn(text, "0123456789abcdefABCDEF,")])
			return false;
		grouped |= strlen(last ? last + 1 : text) == 8;
	}
	return grouped && same_cpus(a, b, cpulist_parse_mask);
}

static bool same_word(const char *a, const char *b)
{
	return !strcmp(a, b) || (truth_of(a) >= 0 && truth_of(a) == truth_of(b)) || same_number(a, b) ||
	       same_ranges(a, b) || same_masks(a, b);
}

/* Word for word. */
static bool same_text(const char *a, const char *b)
{
	char *x = words(a), *y = words(b), *rest_x = x, *rest_y = y;
	bool same = true;

	while (same && rest_x && rest_y) {
		const char *one = strsep(&rest_x, " "), *other = strsep(&rest_y, " ");

		same = same_word(one, other);
	}
	same = same && !rest_x && !rest_y;
	free(x);
	free(y);
	return same;
}

/* A set that the kernel has not allocated reads "(null)". */
static const char *none_as_empty(const char *text)
{
	return strcmp(text, "(null)") ? text : "";
}

bool form_same(enum form f, const char *a, const char *b)
{
	a = none_as_empty(a);
	b = none_as_empty(b);
	if (!strcmp(a, b))
		return true;
	if (f == FORM_LIST)
		return same_cpus(a, b, cpulist_parse);
	if (f == FORM_MASK)
		return same_cpus(a, b, cpulist_parse_mask);
	return f == FORM_TEXT && same_text(a, b);
}

enum form form_of_file(const char *path, const char *text)
{
	/* A choice between words is recognised by its brackets. */
	if (strchr(text, '[') && strchr(text, ']'))
		return FORM_CHOICE;
	if (text_ends_in(path, "/watchdog_cpumask") || text_ends_in(path, "_list") ||
	    text_ends_in(path, "/cpuset.cpus") || text_ends_in(path, "/cpuset.mems"))
		return FORM_LIST;
	if (text_ends_in(path, "/cpumask") || text_ends_in(path, "ps_cpus") || text_ends_in(path, "smp_affinity"))
		return FORM_MASK;
	return FORM_TEXT;
}

bool form_offers(enum form f, const char *text, const char *value)
{
	return f != FORM_CHOICE || offers_word(text, value, strlen(value));
}

/* All words as before, with the brackets around another one. */
static char *written_choice(const char *text, const char *value)
{
	char *out = fs_path("%s", ""), *longer;

	for (text += strspn(text, " \t\n[]"); *text; text += strspn(text, " \t\n[]")) {
		size_t n = strcspn(text, " \t\n[]");
		bool is_it = n == strlen(value) && !memcmp(text, value, n);

		longer =
		    fs_path("%s%s%s%.*s%s", out, *out ? " " : "", is_it ? "[" : "", (int)n, text, is_it ? "]" : "");
		free(out);
		out = longer;
		text += n;
	}
	longer = fs_path("%s\n", out);
	free(out);
	return longer;
}

static char *written_controller(const char *text, const char *value)
{
	const char *name = controller_name(value);
	char *out = fs_path("%s", ""), *longer;

	for (text += strspn(text, " \n"); *text; text += strspn(text, " \n")) {
		size_t n = strcspn(text, " \n");

		if (n != strlen(name) || memcmp(text, name, n)) {
			longer = fs_path("%s%s%.*s", out, *out ? " " : "", (int)n, text);
			free(out);
			out = longer;
		}
		text += n;
	}
	longer = *value == '+' ? fs_path("%s%s%s\n", out, *out ? " " : "", name) : fs_path("%s\n", out);
	free(out);
	return longer;
}

char *form_written(enum form f, const char *text, const char *value)
{
	if (f == FORM_CHOICE && strchr(text, '['))
		return written_choice(text, value);
	if (f == FORM_CONTROLLER)
		return written_controller(text, value);
	return fs_path("%s\n", value);
}
