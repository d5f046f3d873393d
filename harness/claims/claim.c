#include "claims/claim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"

const char *const claim_relation_names[] = {
    [CLAIM_RATIO] = "ratio",   [CLAIM_DIFFERENCE] = "difference", [CLAIM_VALUE] = "value",
    [CLAIM_RISING] = "rising", [CLAIM_FALLING] = "falling",	  [CLAIM_FLAT] = "flat",
    [CLAIM_RELATIONS] = NULL,
};

const char *const claim_comparison_names[] = {
    [CLAIM_AT_MOST] = "<=", [CLAIM_AT_LEAST] = ">=", [CLAIM_UNEQUAL] = "!=",
    [CLAIM_BELOW] = "<",    [CLAIM_ABOVE] = ">",     [CLAIM_COMPARISONS] = NULL,
};

struct claim_condition *claim_selection_add(struct claim_selection *s, const char *key)
{
	s->conditions = grow_or_abort(s->conditions, s->count, sizeof(*s->conditions));
	s->conditions[s->count] = (struct claim_condition){.key = or_abort(strdup(key))};
	return &s->conditions[s->count++];
}

struct claim_alternative *claim_condition_add(struct claim_condition *c)
{
	c->alternatives = grow_or_abort(c->alternatives, c->count, sizeof(*c->alternatives));
	c->alternatives[c->count] = (struct claim_alternative){0};
	return &c->alternatives[c->count++];
}

void claim_alternative_add(struct claim_alternative *a, enum claim_comparison how, json_t *value)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->tests[i].how == how) {
			json_decref(a->tests[i].value);
			a->tests[i].value = value;
			return;
		}
	a->tests = grow_or_abort(a->tests, a->count, sizeof(*a->tests));
	a->tests[a->count++] = (struct claim_test){how, value};
}

void claim_selection_copy(struct claim_selection *s, const struct claim_selection *from)
{
	for (size_t i = 0; i < from->count; i++) {
		struct claim_condition *c = claim_selection_add(s, from->conditions[i].key);

		for (size_t k = 0; k < from->conditions[i].count; k++) {
			const struct claim_alternative *a = &from->conditions[i].alternatives[k];
			struct claim_alternative *copy = claim_condition_add(c);

			for (size_t t = 0; t < a->count; t++)
				claim_alternative_add(copy, a->tests[t].how, json_incref(a->tests[t].value));
		}
	}
}

static void condition_free(struct claim_condition *c)
{
	for (size_t i = 0; i < c->count; i++) {
		for (size_t k = 0; k < c->alternatives[i].count; k++)
			json_decref(c->alternatives[i].tests[k].value);
		free(c->alternatives[i].tests);
	}
	free(c->alternatives);
	free(c->key);
}

static void selection_free(struct claim_selection *s)
{
	for (size_t i = 0; i < s->count; i++)
		condition_free(&s->conditions[i]);
	free(s->conditions);
}

void claim_add_by(struct claim *c, const char *key)
{
	c->by = grow_or_abort(c->by, c->by_count, sizeof(*c->by));
	c->by[c->by_count++] = or_abort(strdup(key));
}

void claim_add_need(struct claim *c, const char *name, int64_t count)
{
	c->needs = grow_or_abort(c->needs, c->need_count, sizeof(*c->needs));
	c->needs[c->need_count++] = (struct claim_need){or_abort(strdup(name)), count};
}

struct claim claim_empty(void)
{
	struct claim c = {
	    .id = or_abort(strdup("")),
	    .text = or_abort(strdup("")),
	    .source = or_abort(strdup("")),
	    .measured_by_source = or_abort(strdup("")),
	    .relation = CLAIM_RELATIONS,
	    .min = -INFINITY,
	    .max = INFINITY,
	};

	claim_metric_set(&c.metric, "");
	claim_metric_set(&c.against.metric, "");
	return c;
}

static void free_texts(struct claim *c)
{
	free(c->id);
	free(c->text);
	free(c->source);
	free(c->measured_by_source);
	free(c->against.experiment);
	free(c->unknown_relation);
	free(c->along);
}

void claim_free(struct claim *c)
{
	free_texts(c);
	claim_metric_free(&c->metric);
	claim_metric_free(&c->against.metric);
	selection_free(&c->points);
	selection_free(&c->against.points);
	for (size_t i = 0; i < c->by_count; i++)
		free(c->by[i]);
	for (size_t i = 0; i < c->need_count; i++)
		free(c->needs[i].name);
	free(c->by);
	free(c->needs);
}

void claim_list_add(struct claim_list *list, struct claim c)
{
	list->claims = grow_or_abort(list->claims, list->count, sizeof(*list->claims));
	list->claims[list->count++] = c;
}

void claim_list_free(struct claim_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		claim_free(&list->claims[i]);
	free(list->claims);
	*list = (struct claim_list){0};
}
