#include "doctor/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void finding_raise(struct finding *f, enum level level, const char *advice)
{
	if (level > f->level)
		f->level = level;
	if (!f->advice[0])
		snprintf(f->advice, sizeof(f->advice), "%s", advice);
}

void finding_add(struct finding *f, const char *format, ...)
{
	size_t used = strlen(f->text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(f->text + used, sizeof(f->text) - used, format, ap);
	va_end(ap);
}

const char *finding_level_name(enum level level)
{
	static const char *const names[LEVEL_COUNT] = {"ok", "warn", "bad"};

	return names[level];
}
