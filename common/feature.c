#include "common/feature.h"

#include <errno.h>
#include <string.h>

#include "common/err.h"

const struct feature features[] = {
#define FEATURE(name, is_built, program, needed_by, debian, fedora)                                                    \
	{name, is_built, program, needed_by, debian, fedora},
#include "common/features.def"
    {.name = NULL},
};

bool feature_is_of(const struct feature *f, const char *program)
{
	return !strcmp(f->program, program) || (!strcmp(f->program, "loaded") && !strcmp(program, "kblat"));
}

char *feature_advice(const struct feature *f, char *buf, size_t size)
{
	if (!strcmp(f->fedora, "-"))
		snprintf(buf, size, "install %s (Debian, Ubuntu), and build again", f->debian);
	else
		snprintf(buf, size, "install %s (Debian, Ubuntu) or %s (Fedora, RHEL), and build again", f->debian,
			 f->fedora);
	return buf;
}

static const struct feature *find(const char *name)
{
	const struct feature *f = features;

	while (f->name && strcmp(f->name, name) != 0)
		f++;
	return f;
}

bool feature_is_built(const char *name)
{
	return find(name)->is_built;
}

int feature_missing(const char *name, const char *object, struct err *e)
{
	char advice[FEATURE_ADVICE_MAX];

	return err_set(e, -ENOSYS, STATUS_IMPOSSIBLE, object, "use", "this build is without %s; %s", name,
		       feature_advice(find(name), advice, sizeof(advice)));
}

void features_print(const char *program, FILE *out)
{
	char advice[FEATURE_ADVICE_MAX];

	for (const struct feature *f = features; f->name; f++)
		if (!f->is_built && feature_is_of(f, program))
			fprintf(out, "without %s: %s: %s\n", f->name, f->needed_by,
				feature_advice(f, advice, sizeof(advice)));
}
