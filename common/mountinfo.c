#include "common/mountinfo.h"

#include <stdlib.h>
#include <string.h>

#include "common/text.h"

#define MOUNTS_MAX ((size_t)8 << 20)

/* Blanks and similar characters are written as \ooo. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++) {
		if (p[0] == '\\' && strspn(p + 1, "01234567") >= 3) {
			*to++ = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
			p += 3;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

bool mount_line_read(char *line, struct mount_line *m)
{
	enum { ROOT = 3, WHERE, OPTIONS, BEFORE };
	char *part[BEFORE], *rest = line, *word;

	for (int i = 0; i < BEFORE; i++)
		if (!(part[i] = strsep(&rest, " ")))
			return false;
	while ((word = strsep(&rest, " ")) && strcmp(word, "-") != 0)
		;
	*m = (struct mount_line){.root = part[ROOT], .where = part[WHERE], .options = part[OPTIONS]};
	m->kind = strsep(&rest, " ");
	strsep(&rest, " "); /* the device */
	m->super = rest;
	if (!m->kind || !m->super)
		return false;
	rest[strcspn(rest, " \n")] = '\0';
	unescape(part[ROOT]);
	unescape(part[WHERE]);
	return true;
}

struct mounts mounts_read(const struct sysroot *root)
{
	struct mounts all = {0};

	if (sysroot_read(root, "/proc/self/mountinfo", MOUNTS_MAX, &all.text, NULL))
		all.text = NULL;
	all.rest = all.text;
	return all;
}

bool mounts_next(struct mounts *all, struct mount_line *m)
{
	char *line;

	while ((line = strsep(&all->rest, "\n")))
		if (mount_line_read(line, m))
			return true;
	return false;
}

void mounts_free(struct mounts *all)
{
	free(all->text);
	*all = (struct mounts){0};
}

bool mount_has_option(const char *options, const char *name)
{
	return text_has_word(options, strlen(options), name, ",");
}
