/*
 * What a claim wants and what was measured, in the unit that the claim's numbers have.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/param.h"
#include "claims/claims_work.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/units.h"

#define LABELLED 4 /* cases that are told one by one */

static bool is_share(const char *metric)
{
	const char *dot = strchr(metric, '.');

	return dot && (!strcmp(dot, ".over_limit") || !strcmp(dot, ".missed_share") || !strcmp(dot, ".unsent_share"));
}

/* Three digits, in the unit that the claim's numbers have. */
char *claim_number_text(const struct claim_work *w, double value, char *buf, size_t size)
{
	const char *relation = json_text(w->claim, "relation");
	bool has_unit = !strcmp(relation, "value") || !strcmp(relation, "difference");
	char series[64], name[64], human[48];
	const char *dot = strchr(w->points.metric, '.');
	enum unit unit;

	snprintf(series, sizeof(series), "%.*s", dot ? (int)(dot - w->points.metric) : 0, w->points.metric);
	unit = param_name_unit(series, name, sizeof(name));
	if (!isfinite(value))
		snprintf(buf, size, "%s", value > 0 ? "infinity" : "-infinity");
	else if (has_unit && is_share(w->points.metric))
		snprintf(buf, size, "%.3g %%", 100 * value);
	else if (has_unit && unit == UNIT_TIME_NS && claim_sample_kind(w->points.metric, &(bool){false}) != SAMPLE_SUM)
		snprintf(buf, size, "%s", unit_human_ns(llround(value), human, sizeof(human)));
	else if (fabs(value) >= 1000)
		snprintf(buf, size, "%.0f", value);
	else
		snprintf(buf, size, "%.3g", value);
	return buf;
}

/* "2.21 (2.05 to 2.4)" */
char *claim_estimate_text(const struct claim_work *w, const struct estimate *e, bool interval)
{
	char value[64], low[64], high[64];

	claim_number_text(w, e->value, value, sizeof(value));
	if (!interval || !e->has_interval)
		return fs_path("%s", value);
	return fs_path("%s (%s to %s)", value, claim_number_text(w, e->low, low, sizeof(low)),
		       claim_number_text(w, e->high, high, sizeof(high)));
}

static void print_one_by_one(const struct claim_work *w, FILE *out)
{
	const json_t *one;
	size_t i, printed = 0, known = 0;

	json_array_foreach (w->cases, i, one)
		known += json_is_number(json_object_get(one, "value"));
	json_array_foreach (w->cases, i, one) {
		struct estimate e = {.value = json_number_value(json_object_get(one, "value"))};
		char *value =
		    known == 1 ? fs_path("%s", json_text(one, "measured")) : claim_estimate_text(w, &e, false);

		if (json_is_number(json_object_get(one, "value"))) {
			fputs(printed++ ? "; " : "", out);
			fprintf(out, "%s%s%s", json_text(one, "label"), *json_text(one, "label") ? " " : "", value);
		}
		free(value);
	}
}

static void print_range(const struct claim_work *w, FILE *out)
{
	double least = INFINITY, most = -INFINITY;
	const json_t *one;
	size_t i, count = 0;
	char from[64], to[64];

	json_array_foreach (w->cases, i, one) {
		const json_t *value = json_object_get(one, "value");

		if (!json_is_number(value))
			continue;
		count++;
		least = fmin(least, json_number_value(value));
		most = fmax(most, json_number_value(value));
	}
	if (count)
		fprintf(out, "%s to %s in %zu cases", claim_number_text(w, least, from, sizeof(from)),
			claim_number_text(w, most, to, sizeof(to)), count);
}

char *claim_measured_text(const struct claim_work *w)
{
	char *text = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&text, &size));

	if (json_array_size(w->cases) <= LABELLED)
		print_one_by_one(w, out);
	else
		print_range(w, out);
	fclose(out);
	return or_abort(text);
}

/* "ratio at most 0.5", "rising along size" */
char *claim_wanted_text(const struct claim_work *w)
{
	const char *relation = json_text(w->claim, "relation");
	const json_t *min = json_object_get(w->claim, "min"), *max = json_object_get(w->claim, "max");
	char low[64], high[64], name[64];

	claim_number_text(w, json_number_value(min), low, sizeof(low));
	claim_number_text(w, json_number_value(max), high, sizeof(high));
	if (claim_is_order(w)) {
		param_name_unit(json_text(w->claim, "along"), name, sizeof(name));
		return fs_path("%s along %s", relation, name);
	}
	if (json_is_number(min) && json_is_number(max))
		return fs_path("%s %s to %s", relation, low, high);
	return json_is_number(min) ? fs_path("%s at least %s", relation, low)
				   : fs_path("%s at most %s", relation, high);
}
