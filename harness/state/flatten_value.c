#include "state/flatten_value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/cpulist.h"
#include "state/capture.h"
#include "state/piece.h"

#define SETS_MAX   8192
#define VALUES_MAX 4096

static struct piece first_line(const char *text, size_t length)
{
	struct piece rest = {text, length};

	return piece_trim(piece_cut(&rest, '\n'));
}

void flatten_line(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	struct piece line = first_line(text, length);

	(void)s;
	capture_text(c, key, NULL, line.p, line.n);
}

void flatten_int(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	(void)s;
	capture_value(c, key, NULL, first_line(text, length));
}

/* Values from several columns or lines, separated by single blanks. */
void flatten_words(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	struct piece rest = {text, length}, word = piece_word(&rest);
	char all[VALUES_MAX];
	size_t used = 0;
	int64_t number;

	(void)s;
	if (!piece_trim(rest).n && piece_int(word, &number)) {
		capture_int(c, key, NULL, number);
		return;
	}
	for (; word.n && used + word.n + 2 < sizeof(all); word = piece_word(&rest))
		used +=
		    (size_t)snprintf(all + used, sizeof(all) - used, "%s%.*s", used ? " " : "", (int)word.n, word.p);
	capture_text(c, key, NULL, all, used);
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

void flatten_cpulist(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	(void)s;
	flatten_set(c, key, first_line(text, length), cpulist_parse);
}

void flatten_cpumask(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	(void)s;
	flatten_set(c, key, first_line(text, length), cpulist_parse_mask);
}

/* "always [madvise] never"; debugfs writes "none (voluntary) full". */
void flatten_choice(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
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
		line = piece_cut(&rest, closing);
	}
	capture_text(c, key, NULL, line.p, line.n);
}

void flatten_s32(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
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
