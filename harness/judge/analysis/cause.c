#include "judge/analysis/cause.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "common/text.h"

const char *const cause_sides[CAUSE_NO_SIDE] = {"source", "sink"};

const char *const cause_keys[CAUSE_CLASSES] = {
#define CAUSE(id, key, ...) [CAUSE_##id] = key,
#include "common/lateness.def"
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
#define CAUSE(id, key, format, ...)                                                                                    \
	case CAUSE_##id:                                                                                               \
		snprintf(buf, size, format, c->name);                                                                  \
		break;
#include "common/lateness.def"
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

const char *cause_side(const struct cause *c)
{
	return c->side < CAUSE_NO_SIDE ? cause_sides[c->side] : NULL;
}

bool cause_is_known(enum cause_class class)
{
	return class != CAUSE_NOT_KNOWN && class != CAUSE_UNEXPLAINED;
}

struct advice {
	const char *name, *text;
};

/* The last one of each has the name "". */
static const struct advice *const advice_for[CAUSE_CLASSES] = {
#define CAUSE(id, key, format, ...) [CAUSE_##id] = (const struct advice[]){__VA_ARGS__},
#include "common/lateness.def"
};

const char *cause_advice(const struct cause *c)
{
	const struct advice *a = advice_for[c->class];

	while (strncmp(c->name, a->name, strlen(a->name)) != 0)
		a++;
	return a->text;
}

void cause_shares_add(struct cause_shares *s, unsigned cause, int64_t time)
{
	size_t i = 0;

	while (i < s->count && s->list[i].cause != cause)
		i++;
	if (i == CAUSE_SHARES)
		return;
	if (i == s->count)
		s->list[s->count++] = (struct cause_share){cause, 0};
	s->list[i].time += time;
}

const struct cause_share *cause_shares_longest(const struct cause_shares *s)
{
	const struct cause_share *best = NULL;

	for (size_t i = 0; i < s->count; i++)
		if (!best || s->list[i].time > best->time)
			best = &s->list[i];
	return best;
}

static int by_longest(const void *a, const void *b)
{
	const struct cause_share *one = a, *other = b;

	if (one->time != other->time)
		return one->time < other->time ? 1 : -1;
	return (one->cause > other->cause) - (one->cause < other->cause);
}

void cause_shares_sort(struct cause_shares *s)
{
	qsort(s->list, s->count, sizeof(*s->list), by_longest);
}
