#include "analysis/cause.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "common/text.h"

const char *const cause_sides[CAUSE_NO_SIDE] = {"source", "sink"};

const char *const cause_keys[CAUSE_CLASSES] = {
#define X(id, key, format) [CAUSE_##id] = key,
#include "analysis/cause_classes.def"
#undef X
};

unsigned cause_table_of(struct cause_table *t, enum cause_class class, unsigned side, const char *name)
{
	struct cause cause = {.class = class, .side = side};

	text_clean(name, strlen(name), cause.name, sizeof(cause.name));
	for (size_t i = 0; i < t->count; i++)
		if (t->list[i].class == class && t->list[i].side == side && !strcmp(t->list[i].name, cause.name))
			return (unsigned)i;
	t->list = grow_or_abort(t->list, t->count, sizeof(*t->list));
	t->list[t->count] = cause;
	return (unsigned)t->count++;
}

void cause_table_free(struct cause_table *t)
{
	free(t->list);
	*t = (struct cause_table){.list = NULL};
}

static void cause_bare_text(const struct cause *c, char *buf, size_t size)
{
	switch (c->class) {
#define X(id, key, format)                                                                                             \
	case CAUSE_##id:                                                                                               \
		snprintf(buf, size, format, c->name);                                                                  \
		break;
#include "analysis/cause_classes.def"
#undef X
	case CAUSE_CLASSES:
		break;
	}
}

char *cause_describe(const struct cause *c, char *buf, size_t size)
{
	size_t length;

	*buf = '\0';
	cause_bare_text(c, buf, size);
	length = strlen(buf);
	if (c->side < CAUSE_NO_SIDE)
		snprintf(buf + length, size - length, " on the %s's CPU", cause_sides[c->side]);
	return buf;
}

bool cause_is_known(enum cause_class class)
{
	return class != CAUSE_NOT_KNOWN && class != CAUSE_UNEXPLAINED;
}
