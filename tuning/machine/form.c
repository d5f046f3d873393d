#include "tuning/machine/form.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpulist.h"
#include "common/fs.h"
#include "common/or_abort.h"

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

/* "0x10" and "16", "+5" and "5". */
static bool same_number(const char *a, const char *b)
{
	char *a_end, *b_end;
	long long x, y;

	if (!isdigit((unsigned char)a[strspn(a, "+-")]) || !isdigit((unsigned char)b[strspn(b, "+-")]))
		return false;
	x = strtoll(a, &a_end, 0);
	y = strtoll(b, &b_end, 0);
	return !*a_end && !*b_end && x == y;
}

bool form_same(enum form f, const char *a, const char *b)
{
	if (!strcmp(a, b))
		return true;
	if (f == FORM_LIST)
		return same_cpus(a, b, cpulist_parse);
	if (f == FORM_MASK)
		return same_cpus(a, b, cpulist_parse_mask);
	return f == FORM_TEXT && same_number(a, b);
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
