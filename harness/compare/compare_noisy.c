#include "compare/compare_noisy.h"

#include <math.h>
#include <stdio.h>

#include "common/json.h"

static json_t *number_of(const json_t *row, const char *key)
{
	json_t *number = json_object_get(row, key);

	return json_is_number(number) ? json_incref(number) : json_null();
}

/* "2.3 %", or without a number `otherwise`. `format` has the number. */
static const char *amount_text(const json_t *row, const char *key, const char *format, const char *otherwise,
			       char *text, size_t size)
{
	double value = json_number_or_nan(row, key);
	char number[24];

	snprintf(text, size, isnan(value) ? otherwise : format,
		 compare_quantity_rounded(value, number, sizeof(number)));
	return text;
}

static json_t *sentence(const json_t *row, size_t points, size_t all)
{
	char noise[48], found[64], margin[32], where[64] = "";

	if (all > 1)
		snprintf(where, sizeof(where), " at %zu of %zu points", points, all);
	return json_sprintf(
	    "too noisy to judge a change of %s%s: without any change, %s differs %s%s in 19 of 20 such comparisons; %s",
	    amount_text(row, "margin_percent", "%s %%", "any size", margin, sizeof(margin)), where,
	    compare_quantity_label(json_text(row, "quantity")),
	    amount_text(row, "noise_percent", "by up to %s %%", "by any amount", noise, sizeof(noise)),
	    points > 1 ? " (at the worst of them)" : "",
	    amount_text(row, "detectable_percent", "a change must be at least %s %% to be found",
			"no change would be found, however large", found, sizeof(found)));
}

static double excess_of(const json_t *row)
{
	double noise = json_number_or_nan(row, "noise");

	return isnan(noise) ? INFINITY : noise / json_number_or_nan(row, "margin");
}

void compare_noisy(const struct compare_join *j, json_t *result)
{
	const json_t *points = json_object_get(result, "points"), *most = NULL;
	size_t noisy = 0, at = 0;

	for (size_t i = 0; i < j->count; i++) {
		const json_t *quantities = json_object_get(json_array_get(points, i), "quantities");
		const json_t *first = json_array_get(quantities, 0);

		if (!json_is_true(json_object_get(first, "noisy")))
			continue;
		noisy++;
		if (most && excess_of(first) <= excess_of(most))
			continue;
		most = first;
		at = i;
	}
	json_object_set_new(result, "noisy",
			    most ? json_pack("{s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:n}", "points", (json_int_t)noisy,
					     "point", j->point[at].id, "quantity", json_text(most, "quantity"),
					     "noise_percent", number_of(most, "noise_percent"), "detectable_percent",
					     number_of(most, "detectable_percent"), "margin_percent",
					     number_of(most, "margin_percent"), "text", sentence(most, noisy, j->count),
					     "cause")
				 : json_null());
}
