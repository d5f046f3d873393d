#include "study/study.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fill.h"
#include "common/fs.h"
#include "common/or_abort.h"

#define FILE_MAX   (1 << 20)
#define HOST_MAX   253 /* of a host name (RFC 1035) */
#define DIGITS_MAX 9

static int hosts_refuse(const char *name, const char *why, struct err *e)
{
	return err_set(e, -EINVAL, STATUS_USAGE, "--hosts", NULL, "%s: '%.80s'", why, name);
}

/* A name becomes a word of a command, in which a leading '-' would make it an option. */
static bool is_host_name(const char *name)
{
	const size_t length = strlen(name);

	if (!length || length > HOST_MAX || *name == '-')
		return false;
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr(".-_:@%", *p))
			return false;
	return true;
}

int study_hosts_add(struct study_hosts *h, const char *name, const char *address, struct err *e)
{
	if (!is_host_name(name))
		return hosts_refuse(name, "a host's name consists of letters, digits and . - _ : @ %", e);
	if (!is_host_name(address))
		return hosts_refuse(address, "this is not an address", e);
	for (size_t i = 0; i < h->count; i++)
		if (!strcmp(h->item[i].name, name))
			return hosts_refuse(name, "this host is listed twice", e);
	if (h->count == HOSTS_MAX)
		return err_set(e, -EINVAL, STATUS_USAGE, "--hosts", NULL, "more than %d hosts", HOSTS_MAX);
	h->item = grow_or_abort(h->item, h->count, sizeof(*h->item));
	h->item[h->count++] = (struct study_host){fs_path("%s", name), fs_path("%s", address)};
	return 0;
}

/* --- a list --- */

/* "01-64" of "n[01-64]x": every number, with the width of the first one. */
static int hosts_add_range(struct study_hosts *h, const char *head, const char *range, const char *tail, struct err *e)
{
	char *end;
	const size_t width = strspn(range, "0123456789");
	const unsigned long first = strtoul(range, &end, 10);
	unsigned long last = first;
	int rc = 0;

	if (width && width <= DIGITS_MAX && *end == '-' && isdigit((unsigned char)end[1]) &&
	    strspn(end + 1, "0123456789") <= DIGITS_MAX)
		last = strtoul(end + 1, &end, 10);
	if (!width || width > DIGITS_MAX || *end || last < first)
		return hosts_refuse(range, "expected a range of numbers such as 1-64", e);
	for (unsigned long i = first; !rc && i <= last; i++) {
		char *name = fs_path("%s%0*lu%s", head, (int)width, i, tail);

		rc = study_hosts_add(h, name, name, e);
		free(name);
	}
	return rc;
}

/* A word of a list: "n7", or "n[1-4,7]". It is modified. */
static int hosts_add_word(struct study_hosts *h, char *word, struct err *e)
{
	char *open = strchr(word, '['), *close = open ? strchr(open, ']') : NULL, *rest;
	int rc = 0;

	if (!open)
		return study_hosts_add(h, word, word, e);
	if (!close || strchr(close, '['))
		return hosts_refuse(word, "expected one pair of brackets with ranges of numbers", e);
	*open = *close = '\0';
	for (char *range = strtok_r(open + 1, ",", &rest); range && !rc; range = strtok_r(NULL, ",", &rest))
		rc = hosts_add_range(h, word, range, close + 1, e);
	return rc;
}

/* Commas separate words, except inside brackets. */
static int hosts_read_list(struct study_hosts *h, char *text, struct err *e)
{
	int rc = 0, depth = 0;
	char *word = text;

	for (char *p = text; !rc; p++) {
		const bool is_end = !*p;

		depth += *p == '[' ? 1 : *p == ']' ? -1 : 0;
		if (!is_end && (depth > 0 || (*p != ',' && !isspace((unsigned char)*p))))
			continue;
		*p = '\0';
		if (*word)
			rc = hosts_add_word(h, word, e);
		if (is_end)
			break;
		word = p + 1;
	}
	return rc;
}

/* --- a file --- */

static int hosts_read_line(struct study_hosts *h, char *line, struct err *e)
{
	char *rest, *name, *address;

	line[strcspn(line, "#\r")] = '\0';
	name = strtok_r(line, " \t", &rest);
	address = name ? strtok_r(NULL, " \t", &rest) : NULL;
	if (!name)
		return 0;
	if (address && strtok_r(NULL, " \t", &rest))
		return hosts_refuse(name, "expected a host and optionally its address, found more words", e);
	return address ? study_hosts_add(h, name, address, e) : hosts_add_word(h, name, e);
}

static int hosts_read_lines(struct study_hosts *h, char *text, struct err *e)
{
	char *rest;
	int rc = 0;

	for (char *line = strtok_r(text, "\n", &rest); line && !rc; line = strtok_r(NULL, "\n", &rest))
		rc = hosts_read_line(h, line, e);
	return rc;
}

/* Is this the name of a file? A long list cannot be one. A dangling symbolic link counts as one,
 * and reading it reports the error. */
static bool names_file(const char *text)
{
	struct stat st;

	return !lstat(text, &st) || (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG);
}

int study_hosts_read(struct study_hosts *h, const char *text, struct err *e)
{
	char *copy = NULL;
	size_t size;
	int rc;

	*h = (struct study_hosts){0};
	if (names_file(text)) {
		rc = fs_read_followed(text, FILE_MAX, &copy, &size, e);
		rc = rc ? rc : hosts_read_lines(h, copy, e);
	} else {
		copy = fs_path("%s", text);
		rc = hosts_read_list(h, copy, e);
	}
	free(copy);
	if (!rc && h->count < 2)
		rc = err_set(
		    e, -EINVAL, STATUS_USAGE, "--hosts", NULL,
		    "%s; pairs need at least two: give a list (n1,n2 or n[1-64]) or a file with one host per line",
		    h->count ? "there is only one host" : "there is no host");
	return rc;
}

void study_hosts_free(struct study_hosts *h)
{
	for (size_t i = 0; i < h->count; i++) {
		free(h->item[i].name);
		free(h->item[i].address);
	}
	free(h->item);
	*h = (struct study_hosts){0};
}

/* --- placeholders --- */

char *study_hosts_fill(const char *text, const struct study_host *source, const struct study_host *sink,
		       const struct study_host *host)
{
	const struct fill_place places[] = {
	    {"{source}", source->name},
	    {"{sink}", sink->name},
	    {"{source_address}", source->address},
	    {"{sink_address}", sink->address},
	    {"{host}", host ? host->name : "{host}"},
	    {"{address}", host ? host->address : "{address}"},
	};

	return fill_places(text, places, sizeof(places) / sizeof(places[0]));
}
