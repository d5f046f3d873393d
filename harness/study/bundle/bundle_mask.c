#include "study/bundle/bundle_mask.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "files/rundir/reader.h"
#include "files/state/mask.h"
#include "study/study.h"

#define GZIP_MOST (64 << 20) /* bytes unpacked */
#define NAME_MAX_ 256

/* --- names --- */

static bool has_digit(const char *text)
{
	return text[strcspn(text, "0123456789")];
}

/* Names that say nothing, or are a word of every machine. */
static bool is_common(const char *name)
{
	static const char *const words[] = {
	    "localhost", "localdomain", "root",	   "none",   "nobody", "auto", "local", "host", "exec",
	    "netns",	 "ssh",		"srun",	   "sudo",   "env",    "ip",   "sh",	"bash", "taskset",
	    "numactl",	 "unshare",	"nsenter", "docker", "podman", "-c",   NULL};

	for (const char *const *w = words; *w; w++)
		if (!strcasecmp(name, *w))
			return true;
	return !name[strspn(name, "0123456789")] || !strncmp(name, "127.", 4) || !strcmp(name, "0.0.0.0") ||
	       !strcmp(name, "::1");
}

static bool can_be_hidden(const char *name)
{
	const size_t n = strlen(name);

	return n && n < NAME_MAX_ && !strpbrk(name, "{}$ \t\n\"\\") && !is_common(name);
}

static void hide_name(struct hidden *h, const char *name)
{
	const size_t n = strlen(name);

	if (!can_be_hidden(name))
		return;
	for (size_t i = 0; i < h->count; i++)
		if (!strcasecmp(h->item[i].text, name))
			return;
	h->item = grow_or_abort(h->item, h->count, sizeof(*h->item));
	h->item[h->count++] = (struct hidden_text){
	    .text = or_abort(strdup(name)),
	    .alone = n == 1 || (n == 2 && !has_digit(name)),
	    .anywhere = n >= 8 || (n >= 6 && (has_digit(name) || strchr(name, '-'))),
	};
}

/* "somebody@lab7.example.org": the user, the whole name, the host's own and its domain. */
static void hide_host(struct hidden *h, const char *name)
{
	const char *at = strchr(name, '@'), *host = at ? at + 1 : name;
	char part[NAME_MAX_];

	if (at && (size_t)(at - name) < sizeof(part)) {
		snprintf(part, sizeof(part), "%.*s", (int)(at - name), name);
		hide_name(h, part);
	}
	hide_name(h, host);
	if (!strchr(host, '.') || !host[strspn(host, "0123456789.")] || strlen(host) >= sizeof(part))
		return;
	snprintf(part, sizeof(part), "%.*s", (int)strcspn(host, "."), host);
	hide_name(h, part);
	if (strchr(strchr(host, '.') + 1, '.'))
		hide_name(h, strchr(host, '.') + 1);
}

/* The user whose folder a path is in. */
static const char *const homes[] = {"/home/", "/Users/", "/users/", NULL};

static size_t name_length(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || (text[n] && strchr("._-", text[n])))
		n++;
	return n;
}

static void hide_owner(struct hidden *h, const char *text)
{
	for (const char *const *home = homes; *home; home++)
		for (const char *p = strstr(text, *home); p; p = strstr(p + 1, *home)) {
			const char *owner = p + strlen(*home);
			char name[NAME_MAX_];

			snprintf(name, sizeof(name), "%.*s", (int)name_length(owner), owner);
			hide_name(h, name);
		}
}

/* --- commands --- */

/* "ssh -p 22 somebody@lab7": names are all words but the program, options and paths. */
static void hide_launcher(struct hidden *h, const char *launcher)
{
	char *copy = or_abort(strdup(launcher)), *rest, *word = strtok_r(copy, " \t\n'\"", &rest);

	while (word && (word = strtok_r(NULL, " \t\n'\",=", &rest)))
		if (*word != '-' && !strchr(word, '/'))
			hide_host(h, word);
	free(copy);
}

/* "n[1-4],m7": the words, also of those in brackets. A word alone may be the name of a file, in which the hosts are. */
static void hide_list(struct hidden *h, const char *list)
{
	char *copy = or_abort(strdup(list)), *rest;

	if (!strpbrk(list, ",["))
		*copy = '\0';
	else if (strchr(list, '['))
		hide_name(h, list);
	for (char *word = strtok_r(copy, ", \t\n", &rest); word; word = strtok_r(NULL, ", \t\n", &rest))
		if (!strchr(word, '/'))
			hide_host(h, word);
	free(copy);
}

static const struct {
	const char *option;
	void (*learn)(struct hidden *h, const char *value);
} options[] = {{"--source", hide_launcher}, {"--sink", hide_launcher}, {"--hosts", hide_list}};

static void learn_option(struct hidden *h, const char *word, const char *next)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const size_t n = strlen(options[i].option);

		if (!strncmp(word, options[i].option, n) && (!word[n] || word[n] == '='))
			options[i].learn(h, word[n] ? word + n + 1 : next);
	}
}

static void learn_command(struct hidden *h, const json_t *argv)
{
	const json_t *word;
	size_t i;

	json_array_foreach (argv, i, word) {
		hide_owner(h, json_string_value(word) ?: "");
		learn_option(h, json_string_value(word) ?: "", json_string_value(json_array_get(argv, i + 1)) ?: "");
	}
}

/* --- where names are --- */

static void learn_settings(struct hidden *h, const json_t *resolved)
{
	const json_t *point;
	json_t *value;
	const char *key;
	size_t i;

	json_array_foreach (json_object_get(resolved, "points"), i, point) {
		json_object_foreach (json_object_get(point, "params"), key, value) {
			if (json_is_string(value) && text_ends_in(key, "address"))
				hide_host(h, json_string_value(value));
		}
	}
}

static void learn_state(struct hidden *h, const struct run *run, const char *role)
{
	static const char *const users[] = {"environment.USER",		  "environment.LOGNAME",
					    "environment.USERNAME",	  "environment.SUDO_USER",
					    "environment.HOST",		  "environment.HOSTNAME",
					    "environment.SLURM_JOB_USER", "environment.SLURMD_NODENAME",
					    "identity.hostname",	  NULL};
	json_t *facts = run_state(run->path, &run->record, role), *value;
	const char *key;

	for (const char *const *u = users; *u; u++)
		hide_host(h, json_text(facts, *u));
	json_object_foreach (facts, key, value) {
		if (json_is_string(value) && !strncmp(key, "environment.", 12))
			hide_owner(h, json_string_value(value));
	}
	/* Who compiled the kernel, and where: "Linux version 6.1 (somebody@lab7) …". */
	for (const char *p = strchr(json_text(facts, "identity.version"), '('); p; p = strchr(p + 1, '(')) {
		const size_t n = name_length(p + 1);
		char name[NAME_MAX_];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(p + 1, ")"), p + 1);
		if (n && p[1 + n] == '@' && !strchr(name, ' '))
			hide_host(h, name);
	}
	json_decref(facts);
}

void hidden_add_run(struct hidden *h, const struct run *run)
{
	for (size_t i = 0; i < run->record.hosts; i++)
		hide_host(h, run->record.host[i].name);
	learn_command(h, run->record.argv);
	learn_settings(h, run->resolved);
	learn_state(h, run, "source");
	learn_state(h, run, "sink");
	learn_state(h, run, "coordinator");
}

void hidden_add_study(struct hidden *h, const struct study *s)
{
	learn_command(h, s->argv);
	hide_owner(h, s->spec ?: "");
	hide_launcher(h, s->options.source ?: "");
	hide_launcher(h, s->options.sink ?: "");
	for (size_t i = 0; i < s->hosts.count; i++) {
		hide_host(h, s->hosts.item[i].name);
		hide_host(h, s->hosts.item[i].address);
	}
}

/* --- what is written instead --- */

/* The longest first: "lab7.example.org" before "lab7". */
static int by_length(const void *a, const void *b)
{
	const struct hidden_text *x = a, *y = b;
	const size_t n = strlen(x->text), m = strlen(y->text);

	return n != m ? (n < m) - (n > m) : strcmp(x->text, y->text);
}

/* As long as the name; the second of a length ends in 2, so that hosts stay different. */
static char *instead_of(const char *name, size_t number)
{
	const size_t n = strlen(name);
	char digits[24] = "", *instead = or_abort(malloc(n + sizeof(digits)));
	const int length = number > 1 ? snprintf(digits, sizeof(digits), "%zu", number) : 0;

	memset(instead, 'x', n);
	snprintf(instead + (n > (size_t)length ? n - (size_t)length : 1), sizeof(digits), "%s", digits);
	return instead;
}

void hidden_complete(struct hidden *h)
{
	size_t number = 0;

	qsort(h->item, h->count, sizeof(*h->item), by_length);
	for (size_t i = 0; i < h->count; i++) {
		number = i && strlen(h->item[i].text) == strlen(h->item[i - 1].text) ? number + 1 : 1;
		h->item[i].instead = instead_of(h->item[i].text, number);
	}
}

void hidden_free(struct hidden *h)
{
	for (size_t i = 0; i < h->count; i++) {
		free(h->item[i].text);
		free(h->item[i].instead);
	}
	free(h->item);
	*h = (struct hidden){0};
}

/* --- addresses --- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c);
}

/* "10.0.0.1": its length; 0: it is none, or one that every machine has. */
static size_t match_ipv4(const char *text, const char *end)
{
	const char *p = text;
	unsigned first = 0;

	for (int i = 0; i < 4; i++) {
		unsigned value = 0;
		int digits = 0;

		for (; p < end && isdigit((unsigned char)*p) && digits < 4; digits++)
			value = 10 * value + (unsigned)(*p++ - '0');
		if (!digits || digits > 3 || value > 255 || (i < 3 && (p == end || *p++ != '.')))
			return 0;
		first = i ? first : value;
	}
	if (p < end && (is_word(*p) || (*p == '.' && p + 1 < end && isdigit((unsigned char)p[1]))))
		return 0;
	return first && first != 127 && first != 255 ? (size_t)(p - text) : 0;
}

/* "fe80::1:2", "2001:db8::7": groups with a gap; mask_text() finds those without. Not "::", "::1" and no "std::". */
static size_t match_ipv6(const char *text, const char *end)
{
	size_t n = 0, groups = 0, digits = 0;
	bool gap = false, number = false;

	for (; text + n < end && (isxdigit((unsigned char)text[n]) || text[n] == ':'); n++) {
		const bool colon = text[n] == ':';

		gap |= colon && n && text[n - 1] == ':';
		groups += !colon && (!n || text[n - 1] == ':');
		digits = colon ? 0 : digits + 1;
		number |= isdigit((unsigned char)text[n]);
		if (digits > 4)
			return 0;
	}
	return gap && groups && number && n > 3 && groups <= 8 && (text + n == end || !is_word(text[n])) ? n : 0;
}

/* "0c-42-a1-12-34-56", as lspci writes serial numbers; 32 digits, as /etc/machine-id. */
static size_t match_digits(const char *text, const char *end)
{
	size_t n = 0, groups = 0;

	while (text + n < end && isxdigit((unsigned char)text[n]))
		n++;
	if (n == 32)
		return text + n == end || !is_word(text[n]) ? n : 0;
	for (n = 0; text + n + 2 <= end && isxdigit((unsigned char)text[n]) && isxdigit((unsigned char)text[n + 1]);
	     n += 3) {
		groups++;
		if (text + n + 2 == end || text[n + 2] != '-')
			break;
	}
	return groups >= 6 && (text + n + 2 >= end || !is_word(text[n + 2])) ? n + 2 : 0;
}

/* `before`: the character in front of it. */
static size_t match_address(char before, const char *text, const char *end)
{
	const size_t n = before == '.' ? 0 : match_ipv4(text, end);

	return n || strchr(".:-", before) ? n : match_ipv6(text, end) ?: match_digits(text, end);
}

/* The user's name in "/home/somebody/x", where `text` is behind "/home/". */
static size_t match_owner(const char *begin, const char *text)
{
	for (const char *const *home = homes; *home; home++) {
		const size_t n = strlen(*home);

		if ((size_t)(text - begin) >= n && !memcmp(text - n, *home, n))
			return name_length(text);
	}
	return 0;
}

/* --- texts --- */

/* Is there nothing else in a string of JSON, in the file, or in the name of the folder of a host's state? `i`: where it is. */
static bool is_alone(const char *all, size_t i, size_t n, const char *end)
{
	const char before = i ? all[i - 1] : '\n', *behind = all + i + n, after = behind < end ? *behind : '\n';

	return (before == '"' && after == '"') || (!i && after == '\n') ||
	       (i >= 6 && !memcmp(all + i - 6, "state/", 6) && after == '/');
}

static const struct hidden_text *match_name(const struct hidden *h, const char *all, size_t i, const char *end,
					    bool inside)
{
	const char *text = all + i;

	for (size_t k = 0; k < h->count; k++) {
		const struct hidden_text *t = &h->item[k];
		const size_t n = strlen(t->text);

		if (tolower((unsigned char)*t->text) == tolower((unsigned char)*text) && (size_t)(end - text) >= n &&
		    !strncasecmp(text, t->text, n) && (!t->alone || is_alone(all, i, n, end)) &&
		    (t->anywhere || (!inside && (text + n == end || !is_word(text[n])))))
			return t;
	}
	return NULL;
}

static void put_hidden(const char *text, size_t n, char by, FILE *out)
{
	for (size_t i = 0; i < n; i++)
		fputc(is_word(text[i]) ? by : text[i], out);
}

/* What begins at text[i]: hidden, or as it is. Its length. */
static size_t put_next(const struct hidden *h, const char *text, size_t i, size_t length, FILE *out)
{
	const char *at = text + i, *end = text + length;
	const bool inside = i && is_word(at[-1]);
	const struct hidden_text *name = match_name(h, text, i, end, inside);
	size_t n;

	if (name) {
		fputs(name->instead, out);
		return strlen(name->text);
	}
	if (!inside && (n = match_owner(text, at))) {
		put_hidden(at, n, 'x', out);
		return n;
	}
	if (!inside && (n = match_address(i ? at[-1] : ' ', at, end))) {
		put_hidden(at, n, '0', out);
		return n;
	}
	fputc(*at, out);
	return 1;
}

char *hidden_apply(const struct hidden *h, const char *file, const char *text, size_t *length)
{
	const struct mask m = {.host = ""};
	char *hidden = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&hidden, &size));

	for (size_t i = 0; i < *length;)
		i += put_next(h, text, i, *length, out);
	fclose(out);
	or_abort(hidden);
	mask_file(&m, file, hidden, size);
	*length = size;
	return hidden;
}

/* --- texts in gzip --- */

/* All that can be read of it, also of several behind each other; `whole`: nothing else is in it. */
static char *gunzip(const char *data, size_t length, size_t *size, bool *whole)
{
	z_stream z = {.next_in = (unsigned char *)data, .avail_in = (uInt)length};
	char *text = or_abort(malloc(GZIP_MOST + 1));
	int state = Z_STREAM_END;

	z.next_out = (unsigned char *)text;
	z.avail_out = GZIP_MOST;
	inflateInit2(&z, 16 + MAX_WBITS);
	while (state == Z_STREAM_END && z.avail_in) {
		inflateReset(&z);
		state = inflate(&z, Z_FINISH);
	}
	*size = (size_t)((char *)z.next_out - text);
	*whole = state == Z_STREAM_END;
	inflateEnd(&z);
	return text;
}

static char *gzip(const char *text, size_t length, size_t *size)
{
	z_stream z = {.next_in = (unsigned char *)text, .avail_in = (uInt)length};
	char *data;

	deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
	*size = deflateBound(&z, length);
	data = or_abort(malloc(*size));
	z.next_out = (unsigned char *)data;
	z.avail_out = (uInt)*size;
	deflate(&z, Z_FINISH);
	*size = z.total_out;
	deflateEnd(&z);
	return data;
}

char *hidden_apply_gzip(const struct hidden *h, const char *file, const char *data, size_t *length)
{
	size_t size, after;
	bool whole;
	char *text = gunzip(data, *length, &size, &whole), *hidden, *packed;

	after = size;
	hidden = hidden_apply(h, file, text, &after);
	if (!size) {
		packed = hidden_apply(h, file, data, length);
	} else if (whole && after == size && !memcmp(text, hidden, size)) {
		packed = or_abort(malloc(*length + 1));
		memcpy(packed, data, *length);
	} else {
		packed = gzip(hidden, after, length);
	}
	free(hidden);
	free(text);
	return packed;
}
