#include "files/state/mask.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/sysroot.h"

/* Formats to be hidden: groups of hexadecimal digits with these lengths. */
static const struct form {
	const char *before; /* the text before it, which is kept */
	unsigned char digits[5];
	char separator;
	size_t least; /* minimum number of groups of the last size */
} forms[] = {
    {"", {8, 4, 4, 4, 12}, '-', 5}, /* UUID */
    {"", {2}, ':', 6},		    /* MAC (6), IPoIB (20) */
    {"", {4}, ':', 4},		    /* GUID (4), GID (8) */
    {"enx", {12}, '\0', 1},	    /* an interface that is named after its MAC */
    {"0x", {16}, '\0', 1},	    /* a GUID */
};

static const char *const secret_files[] = {"*serial*", "*_asset_tag", "*/vpd", "*/wwid", "*/wwn", NULL};

void mask_init(struct mask *m, const struct sysroot *root)
{
	if (sysroot_line(root, "/proc/sys/kernel/hostname", m->host, sizeof(m->host)) || strlen(m->host) < 3 ||
	    !strcmp(m->host, "localhost"))
		m->host[0] = '\0';
}

static size_t count_digits(const char *p, const char *end)
{
	size_t n = 0;

	while (p + n < end && isxdigit((unsigned char)p[n]))
		n++;
	return n;
}

/* The length of the text that has this format; 0: it does not have it. */
static size_t match_form(const struct form *f, const char *start, const char *end)
{
	const char *p = start + strlen(f->before);
	size_t groups = 0;

	if ((size_t)(end - start) < strlen(f->before) || memcmp(start, f->before, strlen(f->before)))
		return 0;
	for (;;) {
		size_t want = f->digits[f->digits[1] && groups < 5 ? groups : 0];

		if (count_digits(p, end) != want)
			return 0;
		p += want;
		groups++;
		if (!f->separator || p >= end || *p != f->separator || (f->digits[1] && groups == 5))
			break;
		p++;
	}
	return groups >= f->least && (p == end || !isalnum((unsigned char)*p)) ? (size_t)(p - start) : 0;
}

static size_t match_any(const char *start, const char *end, size_t *stays)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		size_t n = match_form(&forms[i], start, end);

		*stays = strlen(forms[i].before);
		if (n)
			return n;
	}
	return 0;
}

/* Words before a serial number: "SerialNumber: X", "serial no. X", "S/N=X". */
static const char *const serial_words[] = {
    "serial number", "serialnumber", "serial_number", "serial no", "serial-no", "serial", "s/n",
    "asset tag",     "asset_tag",    "wwid",	      "wwn",	   "partuuid",	NULL};

/* The length of such a word at the beginning of the text, including the separator; 0: there is none. */
static size_t match_serial_word(const char *start, const char *end)
{
	for (const char *const *w = serial_words; *w; w++) {
		size_t n = strlen(*w);
		const char *p = start + n;

		if ((size_t)(end - start) <= n || strncasecmp(start, *w, n))
			continue;
		while (p < end && strchr(" \t:=.#\"'", *p))
			p++;
		/* "serial8250" and "serials" are other words. */
		if (p > start + n && p < end)
			return (size_t)(p - start);
	}
	return 0;
}

static size_t match_serial(const char *start, const char *end, size_t *stays)
{
	const char *p = start + (*stays = match_serial_word(start, end));

	if (p == start)
		return 0;
	while (p < end && !isspace((unsigned char)*p) && *p != ',' && *p != ';' && *p != '"')
		p++;
	return (size_t)(p - start);
}

static size_t match_host(const struct mask *m, const char *start, const char *end)
{
	size_t n = strlen(m->host);

	return n && (size_t)(end - start) >= n && !memcmp(start, m->host, n) &&
		       (start + n == end || !(isalnum((unsigned char)start[n]) || start[n] == '-'))
		   ? n
		   : 0;
}

static bool is_inside_word(const char *text, size_t i)
{
	return i && (isalnum((unsigned char)text[i - 1]) || text[i - 1] == '-' || text[i - 1] == ':');
}

static void overwrite(char *text, size_t n, char by)
{
	for (size_t i = 0; i < n; i++)
		if (isalnum((unsigned char)text[i]))
			text[i] = by;
}

void mask_text(const struct mask *m, char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		size_t n = 0, stays = 0;

		if (!is_inside_word(text, i) && isalnum((unsigned char)text[i])) {
			n = match_host(m, text + i, text + length);
			if (n)
				overwrite(text + i, n, 'x');
			else if ((n = match_serial(text + i, text + length, &stays)))
				overwrite(text + i + stays, n - stays, 'x');
			else if ((n = match_any(text + i, text + length, &stays)))
				overwrite(text + i + stays, n - stays, '0');
		}
		i += n ? n : 1;
	}
}

void mask_file(const struct mask *m, const char *path, char *text, size_t length)
{
	for (const char *const *p = secret_files; *p; p++)
		if (!fnmatch(*p, path, 0))
			overwrite(text, length, 'x');
	mask_text(m, text, length);
}
