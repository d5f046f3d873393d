#include "judge/analysis/reduce.h"

#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "judge/analysis/series.h"
#include "judge/analysis/statistics.h"

#define BINS 16384 /* of a series at most (histogram_compute) */

static int add_series(const struct rep *r, const struct layout_flow *f, const struct layout_series *s, json_t *data,
		      struct err *e)
{
	struct span span = series_span(r, s);
	struct histogram h;
	struct stats st;
	int rc = series_stats(s, &span, 1, series_absent(r, s), f->limit_ns, &st, e);

	if (f->counts_loss)
		st.lost = (uint64_t)counted_loss(f, r, 1).lost;
	if (!rc)
		rc = series_histogram(s, &span, 1, BINS, &h, e);
	if (rc)
		return rc;
	json_object_set_new(json_object_get(data, "metrics"), s->name, statistics_json(&st));
	json_object_set_new(json_object_get(data, "histograms"), s->name, histogram_json(&h));
	histogram_free(&h);
	return 0;
}

json_t *reduce_rep(const char *run_path, const struct layout_flow *f, unsigned rep, struct err *e)
{
	json_t *data = json_pack("{s:i, s:{}, s:{}}", "schema", 1, "metrics", "histograms");
	struct rep r;
	int rc = rep_open(run_path, f, rep, &r, e);

	if (!rc && !r.is_whole) {
		char *dir = layout_rep_dir(run_path, f->point, rep, f->name);

		rc = err_set(e, -ENOENT, STATUS_USAGE, dir, NULL, "a column is missing");
		free(dir);
	}
	for (unsigned i = 0; !rc && i < f->series_count; i++)
		rc = add_series(&r, f, &f->series[i], data, e);
	if (rep_close(&r, e))
		rc = -EIO;
	if (!rc)
		return data;
	json_decref(data);
	return NULL;
}

static int write_flow(const char *run_path, const struct layout_flow *f, unsigned rep, struct err *e)
{
	json_t *data = reduce_rep(run_path, f, rep, e);
	char *dir = layout_rep_dir(run_path, f->point, rep, f->name), *path = fs_path("%s/data.json", dir);
	int rc = data ? json_write(path, data, e) : -EINVAL;

	free(path);
	free(dir);
	json_decref(data);
	return rc;
}

int reduce_write(const char *run_path, const json_t *resolved, unsigned point, unsigned rep, struct err *e)
{
	struct layout l;
	int rc = layout_find(run_path, resolved, point, &l, e);

	for (size_t i = 0; !rc && i < l.flow_count; i++)
		rc = write_flow(run_path, &l.flows[i], rep, e);
	layout_free(&l);
	return rc;
}
