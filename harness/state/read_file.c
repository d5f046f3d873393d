#include "state/read_file.h"

#include <stdio.h>
#include <string.h>

#include "common/sysroot.h"
#include "state/capture.h"

void read_file(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	const char *text;
	size_t length;
	int rc = capture_file(c, path, &text, &length);

	if (rc)
		capture_errno(c, key, rc);
	else if (s->flatten)
		s->flatten(c, s, key, text, length);
}

void read_link(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	char target[4096];
	int rc = sysroot_readlink(capture_root(c), path, target, sizeof(target));
	const char *last;

	(void)s;
	if (rc) {
		capture_errno(c, key, rc);
		return;
	}
	last = strrchr(target, '/');
	last = last ? last + 1 : target;
	capture_text(c, key, NULL, last, strlen(last));
}

/* Permissions in octal: 444 for an interrupt whose CPUs cannot be changed. */
void read_mode(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	char text[16];
	int mode = sysroot_mode(capture_root(c), path);

	(void)s;
	if (mode < 0) {
		capture_errno(c, key, mode);
		return;
	}
	snprintf(text, sizeof(text), "%03o", (unsigned)mode & 0777);
	capture_text(c, key, NULL, text, strlen(text));
}
