#include "knobs/knobs_choice.h"

#include <stdlib.h>

#include "common/err.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "compare/compare_judge.h"
#include "compare/compare_options.h"

#define MARGIN 0.02

static const char *const usual[] = {"p50", "p99"};
static const char *const not_compared[] = {"environment"};

/* Borrowed strings; the caller frees the list. */
static const char **texts_of(const json_t *list)
{
	const char **texts = or_abort(calloc(json_array_size(list) + 1, sizeof(*texts)));

	for (size_t i = 0; i < json_array_size(list); i++)
		texts[i] = json_string_value(json_array_get(list, i));
	return texts;
}

static int choice_quantities(struct knobs_choice *c, const json_t *asked, struct err *e)
{
	int rc = 0;

	c->quantities = texts_of(asked);
	c->choice.quantity = c->quantities;
	c->choice.quantity_count = json_array_size(asked);
	for (size_t i = 0; !rc && i < c->choice.quantity_count; i++)
		rc = compare_quantity_find("--quantity", c->choice.metric, c->quantities[i], &c->quantities[i], e);
	if (c->choice.quantity_count || compare_quantity_block(c->choice.metric))
		return rc;
	c->choice.quantity = usual;
	c->choice.quantity_count = sizeof(usual) / sizeof(usual[0]);
	return rc;
}

int choice_read(const json_t *options, struct knobs_choice *c, struct err *e)
{
	const json_t *margins = json_object_get(options, "margins");
	const char **texts = texts_of(margins);
	const char *metric = json_text(options, "metric");
	int rc;

	*c = (struct knobs_choice){
	    .choice = {.metric = *metric ? metric : NULL, .ignore = not_compared, .ignore_count = 1},
	    .rule = {.alpha = COMPARE_ALPHA,
		     .question = PERM_DIFFERS,
		     .margin = MARGIN,
		     .effect = MARGIN,
		     .seed = (uint64_t)json_integer_value(json_object_get(options, "seed"))},
	    .margins = or_abort(calloc(json_array_size(margins) + 2, sizeof(*c->margins)))};
	rc = choice_quantities(c, json_object_get(options, "quantities"), e);
	rc = rc ?: compare_read_margins(texts, json_array_size(margins), c->choice.metric, &c->rule, c->margins, e);
	free(texts);
	return rc;
}

void choice_free(struct knobs_choice *c)
{
	free(c->quantities);
	free(c->margins);
	*c = (struct knobs_choice){.margins = NULL};
}
