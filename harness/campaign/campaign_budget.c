#include "campaign/campaign_budget.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "run/channel.h"
#include "run/forecast.h"

static bool has_state(const json_t *x, const char *state)
{
	return !strcmp(json_text(x, "state"), state);
}

bool budget_concerns(const json_t *x)
{
	return !has_state(x, "completed") && !has_state(x, "skipped");
}

/* Not negative. Nothing is known about an experiment begun by an earlier version; it is 0, so the
 * experiment is tried. */
static double number_of(const json_t *x, const char *key)
{
	return fmax(0, json_number_or_nan(x, key));
}

static double rest_of(const json_t *x)
{
	return fmax(0, number_of(x, "expected_s") - number_of(x, "paced_s"));
}

double budget_pace(const json_t *experiments)
{
	double expected = 0, took = 0;
	const json_t *x;
	size_t i;

	json_array_foreach (experiments, i, x) {
		if (!has_state(x, "completed") || !json_object_get(x, "took_s") || rest_of(x) <= 0)
			continue;
		took += fmax(0, number_of(x, "took_s") - number_of(x, "paced_s"));
		expected += rest_of(x);
	}
	return took > expected && expected > 0 ? took / expected : 1;
}

/* Prescribed times do not depend on the speed of the machine. */
static double expected_s(const json_t *x, double pace)
{
	return number_of(x, "paced_s") + rest_of(x) * pace;
}

int budget_check(double limit_s, const json_t *experiments, struct err *e)
{
	const json_t *x, *smallest = NULL;
	char needed[FORECAST_TEXT_MAX], given[FORECAST_TEXT_MAX];
	const double pace = budget_pace(experiments);
	size_t i;

	json_array_foreach (experiments, i, x)
		if (budget_concerns(x) && (!smallest || expected_s(x, pace) < expected_s(smallest, pace)))
			smallest = x;
	if (!smallest || expected_s(smallest, pace) <= limit_s)
		return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, "--budget", NULL,
		       "%s is too short: the smallest experiment, %s, needs about %s; allow more time, or reduce the "
		       "work with --quick or --only",
		       forecast_text(limit_s, given, sizeof(given)), json_text(smallest, "name"),
		       forecast_text(expected_s(smallest, pace), needed, sizeof(needed)));
}

static double passed_s(const struct budget *b)
{
	return (double)(monotonic_ms() - b->began_ms) / 1000;
}

bool budget_allows(const struct budget *b, const json_t *experiments, json_t *x)
{
	const double needs_s = expected_s(x, budget_pace(experiments)), left_s = fmax(0, b->limit_s - passed_s(b));
	char needed[FORECAST_TEXT_MAX], left[FORECAST_TEXT_MAX], why[3 * FORECAST_TEXT_MAX];

	if (b->limit_s <= 0 || needs_s <= left_s)
		return true;
	snprintf(why, sizeof(why), "left: needs about %s, %s of the budget remained",
		 forecast_text(needs_s, needed, sizeof(needed)), forecast_text(left_s, left, sizeof(left)));
	json_object_set_new(x, "state", json_string("pending"));
	json_object_set_new(x, "why", json_string(why));
	return false;
}

char *budget_left_sentence(const struct budget *b, const json_t *experiments)
{
	char text[FORECAST_TEXT_MAX];
	json_int_t points = 0;
	double seconds = 0;
	size_t i, count = 0;
	const json_t *x;

	json_array_foreach (experiments, i, x) {
		if (b->limit_s <= 0 || !has_state(x, "pending"))
			continue;
		count++;
		points += json_integer_value(json_object_get(x, "points"));
		seconds += expected_s(x, budget_pace(experiments));
	}
	return count ? fs_path("%zu experiment%s with %lld point%s left, about %s", count, count == 1 ? "" : "s",
			       (long long)points, points == 1 ? "" : "s", forecast_text(seconds, text, sizeof(text)))
		     : NULL;
}

double budget_excess_s(const struct budget *b)
{
	return b->limit_s > 0 ? fmax(0, passed_s(b) - b->limit_s) : 0;
}
