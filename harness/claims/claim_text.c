#include "claims/claim_text.h"

#include <math.h>
#include <stdio.h>

#include "analysis/param.h"
#include "common/fs.h"
#include "common/units.h"

char *claim_number_text(const struct claim *c, double value, char *buf, size_t size)
{
	bool has_unit = c->relation == CLAIM_VALUE || c->relation == CLAIM_DIFFERENCE;
	char human[48];

	if (!isfinite(value))
		snprintf(buf, size, "%s", value > 0 ? "infinity" : "-infinity");
	else if (has_unit && claim_metric_measure(&c->metric) == MEASURE_SHARE)
		snprintf(buf, size, "%.3g %%", 100 * value);
	else if (has_unit && claim_metric_unit(&c->metric) == UNIT_TIME_NS)
		snprintf(buf, size, "%s", unit_human_ns(llround(value), human, sizeof(human)));
	else if (fabs(value) >= 1000)
		snprintf(buf, size, "%.0f", value);
	else
		snprintf(buf, size, "%.3g", value);
	return buf;
}

char *claim_estimate_text(const struct claim *c, const struct estimate *e)
{
	char value[CLAIM_NUMBER_MAX], low[CLAIM_NUMBER_MAX], high[CLAIM_NUMBER_MAX];

	claim_number_text(c, e->value, value, sizeof(value));
	if (!e->has_interval)
		return fs_path("%s", value);
	return fs_path("%s (%s to %s)", value, claim_number_text(c, e->low, low, sizeof(low)),
		       claim_number_text(c, e->high, high, sizeof(high)));
}

/* A bound such as 1.002 must not be rounded to 1. */
static char *bound_text(const struct claim *c, double value, char *buf, size_t size)
{
	if (c->relation == CLAIM_RATIO && isfinite(value)) {
		snprintf(buf, size, "%.4g", value);
		return buf;
	}
	return claim_number_text(c, value, buf, size);
}

char *claim_wanted_text(const struct claim *c)
{
	const char *relation = c->unknown_relation ?: claim_relation_names[c->relation];
	char low[CLAIM_NUMBER_MAX], high[CLAIM_NUMBER_MAX], name[64];

	if (claim_is_trend(c)) {
		param_name_unit(c->along ?: "", name, sizeof(name));
		return fs_path("%s along %s", relation, name);
	}
	bound_text(c, c->min, low, sizeof(low));
	bound_text(c, c->max, high, sizeof(high));
	if (c->pools)
		relation = "pooled ratio";
	if (isfinite(c->min) && isfinite(c->max))
		return fs_path("%s %s to %s", relation, low, high);
	return isfinite(c->min) ? fs_path("%s at least %s", relation, low) : fs_path("%s at most %s", relation, high);
}
