#include "doctor/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/json.h"

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

static const char *const level_names[LEVEL_COUNT] = {"ok", "warn", "bad"};

const char *finding_level_name(enum level level)
{
	return level_names[level];
}

json_t *finding_json(const char *name, const struct finding *f)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:O*}", "name", name, "level", finding_level_name(f->level), "finding",
			 f->text, "advice", f->advice, "data", f->data);
}

enum level finding_level(const json_t *finding)
{
	const char *name = json_text(finding, "level");
	enum level level = LEVEL_OK;

	while (level < LEVEL_BAD && strcmp(name, level_names[level]) != 0)
		level++;
	return level;
}
