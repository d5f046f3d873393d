#include "analysis/pattern_text.h"

#include <string.h>

#include "analysis/pattern.h"
#include "common/json.h"
#include "common/text.h"
#include "common/units.h"
#include "rundir/flows.h"

static void put_ns(const json_t *value, FILE *out)
{
	char text[32];

	fputs(unit_human_ns(json_integer_value(value), text, sizeof(text)), out);
}

/* "; 31-32: 5.1 us" */
static void put_groups(const json_t *groups, FILE *out)
{
	const json_t *group;
	size_t i;

	json_array_foreach (groups, i, group) {
		char clean[256];
		const char *phases = json_text(group, "phases");

		fprintf(out, "; %s: ", text_clean(phases, strlen(phases), clean, sizeof(clean)));
		put_ns(json_object_get(group, "p50_ns"), out);
	}
}

static void put_period(const json_t *level, FILE *out)
{
	fprintf(out, "period %" JSON_INTEGER_FORMAT ", %.3g %%", json_integer_value(json_object_get(level, "period")),
		100 * json_number_value(json_object_get(level, "strength")));
}

static void put_none(const json_t *block, FILE *out)
{
	const json_int_t longest = json_integer_value(json_object_get(block, "longest"));

	if (longest)
		fprintf(out, "no period up to %" JSON_INTEGER_FORMAT "\n", longest);
	else
		fputs("too few messages to search for periods\n", out);
}

static void put_series(const json_t *block, FILE *out)
{
	const json_t *nested;
	size_t i;

	fprintf(out, "%s: ", json_text(block, "series"));
	if (!json_is_integer(json_object_get(block, "period"))) {
		put_none(block, out);
		return;
	}
	put_period(block, out);
	fputs("; base ", out);
	put_ns(json_object_get(block, "base_ns"), out);
	put_groups(json_object_get(block, "high"), out);
	put_groups(json_object_get(block, "low"), out);
	fputs("\n", out);
	json_array_foreach (json_object_get(block, "nested"), i, nested) {
		fputs("           then ", out);
		put_period(nested, out);
		put_groups(json_object_get(nested, "high"), out);
		put_groups(json_object_get(nested, "low"), out);
		fputs("\n", out);
	}
}

static void put_point(const json_t *point, FILE *out)
{
	json_t *block, *other;
	const char *key, *series;

	json_object_foreach ((json_t *)point, key, block) {
		const int length = (int)(flows_bare_key(key) - key);

		if (strcmp(flows_bare_key(key), pattern_block.name) != 0)
			continue;
		fprintf(out, "%5" JSON_INTEGER_FORMAT "  %.*s", json_integer_value(json_object_get(point, "id")),
			length, key);
		put_series(block, out);
		json_object_foreach (json_object_get(block, "others"), series, other) {
			fprintf(out, "       %.*s", length, key);
			put_series(other, out);
		}
	}
}

void pattern_text(const json_t *summary, FILE *out)
{
	const json_t *point;
	size_t i;

	fputs("Periods: after how many messages latencies repeat, the share of the variance of ranks that this "
	      "explains, and the phases that stand out (counted from 1)\n\npoint\n",
	      out);
	json_array_foreach (json_object_get(summary, "points"), i, point)
		put_point(point, out);
}
