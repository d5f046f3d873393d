#include "analysis/interference.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/control.h"
#include "analysis/statistics.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "rundir/flows.h"

#define CONTROL "undisturbed" /* the control repetition: its folder, and its key */
#define METRIC	"lat_ns"

static const struct layout_series *latency_series(const struct layout_flow *f)
{
	for (unsigned i = 0; i < f->series_count; i++)
		if (!strcmp(f->series[i].name, METRIC) && f->series[i].minus >= 0)
			return &f->series[i];
	return NULL;
}

static json_int_t interference_median(const json_t *metric)
{
	return json_integer_value(json_object_get(metric, "p50"));
}

static json_t *compare_medians(const char *metric, json_int_t with, json_t *without)
{
	json_int_t median = interference_median(without);
	bool known = with > 0 && median > 0;

	return json_pack("{s:s, s:o, s:o}", "metric", metric, CONTROL, without, "p50_ratio",
			 known ? json_real((double)with / (double)median) : json_null());
}

int interference_compute(const char *run_path, const struct layout_flow *f, const json_t *metrics, json_t **out,
			 struct err *e)
{
	const struct layout_series *s = latency_series(f);
	char *dir = layout_part_dir(run_path, f->point, CONTROL, f->name), metric[FLOWS_KEY_MAX];
	json_int_t with = interference_median(flows_get(metrics, f->name, METRIC));
	struct stats st;
	int rc = 0;

	*out = NULL;
	if (s && json_object_size(metrics) && !fs_is_missing(dir)) {
		rc = control_stats(dir, f, s, &st, e);
		if (!rc)
			*out = compare_medians(flows_key(f->name, METRIC, metric, sizeof(metric)), with,
					       statistics_json(&st));
	}
	free(dir);
	return rc;
}

json_t *interference_text(const json_t *interference, const json_t *metrics)
{
	const json_t *ratio = json_object_get(interference, "p50_ratio");
	const json_t *with = json_object_get(metrics, json_text(interference, "metric"));

	if (!json_is_real(ratio))
		return json_string("t_send: too few messages to determine the effect of the third thread on t_lat");
	return json_sprintf("t_send: with the third thread the median of t_lat is %" JSON_INTEGER_FORMAT
			    " ns, without it %" JSON_INTEGER_FORMAT " ns (%+.1f %%)",
			    interference_median(with), interference_median(json_object_get(interference, CONTROL)),
			    (json_real_value(ratio) - 1) * 100);
}
