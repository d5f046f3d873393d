#include "analysis/interference.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/series.h"
#include "analysis/stats.h"
#include "common/err.h"
#include "common/fs.h"
#include "rundir/npy.h"

#define DIR    "undisturbed"
#define METRIC "lat_ns"

static const struct layout_series *find_series(const struct layout *l)
{
	for (unsigned i = 0; i < l->series_count; i++)
		if (!strcmp(l->series[i].name, METRIC) && l->series[i].minus >= 0)
			return &l->series[i];
	return NULL;
}

static int open_column(const char *dir, const char *name, struct npy *out, struct err *e)
{
	char *path = fs_path("%s/%s.npy", dir, name);
	int rc = npy_open(path, out, e);

	free(path);
	return rc;
}

static int read_stats(const char *dir, const struct layout *l, const struct layout_series *s, struct stats *out,
		      struct err *e)
{
	struct npy a = {0}, b = {0};
	int rc = open_column(dir, l->columns[s->column], &a, e);

	if (!rc)
		rc = open_column(dir, l->columns[s->minus], &b, e);
	if (!rc) {
		struct span span = {a.data, b.data, a.count < b.count ? a.count : b.count};

		rc = series_stats(s, &span, 1, 0, l->limit_ns, out, e);
	}
	npy_close(&a);
	npy_close(&b);
	return rc;
}

static json_int_t median_of(const json_t *metric)
{
	return json_integer_value(json_object_get(metric, "p50"));
}

int interference_compute(const char *run_path, const struct layout *l, const json_t *metrics, json_t **out,
			 struct err *e)
{
	const struct layout_series *s = find_series(l);
	char *point = layout_point_dir(run_path, l->id), *dir = fs_path("%s/" DIR, point);
	json_int_t with = median_of(json_object_get(metrics, METRIC));
	struct stats st;
	int rc = 0;

	*out = NULL;
	if (s && json_object_size(metrics) && access(dir, F_OK) == 0) {
		rc = read_stats(dir, l, s, &st, e);
		if (!rc) {
			json_t *without = stats_json(&st);
			json_int_t median = median_of(without);

			*out =
			    json_pack("{s:s, s:o, s:o}", "metric", METRIC, "undisturbed", without, "p50_ratio",
				      with > 0 && median > 0 ? json_real((double)with / (double)median) : json_null());
		}
	}
	free(dir);
	free(point);
	return rc;
}

json_t *interference_text(const json_t *interference, const json_t *metrics)
{
	const json_t *ratio = json_object_get(interference, "p50_ratio");
	char text[192];

	if (!json_is_real(ratio))
		return json_string("t_send: too few messages to say what the third thread does to t_lat");
	snprintf(text, sizeof(text),
		 "t_send: with the third thread the median of t_lat is %" JSON_INTEGER_FORMAT
		 " ns, without it %" JSON_INTEGER_FORMAT " ns (%+.1f %%)",
		 median_of(json_object_get(metrics, METRIC)), median_of(json_object_get(interference, "undisturbed")),
		 (json_real_value(ratio) - 1) * 100);
	return json_string(text);
}
