#include "report/runs_series.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "judge/analysis/param.h"
#include "report/labels.h"

#define METRIC_MAX 96

/* --- medians --- */

/* The columns of INDEX_MEDIANS. */
enum { RUN, POINT, SETTING_SET, METRIC, MEDIAN, VALID };

static struct runs_series *series_of_set(struct runs_medians *m, int64_t set)
{
	for (size_t i = 0; i < m->series_count; i++)
		if (m->series[i].setting_set == set)
			return &m->series[i];
	return NULL;
}

static struct runs_series *new_series(struct runs_medians *m, sqlite3_stmt *s, bool in_ns)
{
	m->series = grow_or_abort(m->series, m->series_count, sizeof(*m->series));
	m->series[m->series_count] = (struct runs_series){
	    .setting_set = sqlite3_column_int64(s, SETTING_SET),
	    .point = sqlite3_column_int64(s, POINT),
	    .metric = fs_path("%s", index_sql_text(s, METRIC)),
	    .is_ns = in_ns,
	};
	return &m->series[m->series_count++];
}

static void add_to_series(struct runs_medians *m, sqlite3_stmt *s, const struct runs_median *median)
{
	struct runs_series *series = series_of_set(m, sqlite3_column_int64(s, SETTING_SET));

	if (!series)
		series = new_series(m, s, median->is_ns);
	series->runs++;
	if (!median->valid || isnan(median->value))
		return;
	series->value = grow_or_abort(series->value, series->count, sizeof(*series->value));
	series->value[series->count++] = median->value;
}

static bool is_ns(const char *metric)
{
	char name[METRIC_MAX];

	return param_name_unit(metric, name, sizeof(name)) == UNIT_TIME_NS;
}

static void add_median(struct runs_medians *m, sqlite3_stmt *s)
{
	bool measured = sqlite3_column_type(s, MEDIAN) != SQLITE_NULL;
	const struct runs_median median = {
	    .run = sqlite3_column_int64(s, RUN),
	    .value = measured ? sqlite3_column_double(s, MEDIAN) : NAN,
	    .is_ns = is_ns(index_sql_text(s, METRIC)),
	    .valid = sqlite3_column_int(s, VALID),
	};

	m->median = grow_or_abort(m->median, m->median_count, sizeof(*m->median));
	m->median[m->median_count++] = median;
	add_to_series(m, s, &median);
}

/* --- labels --- */

/* The settings of each series, in the order of the series. */
static int read_settings(struct runs_medians *m, json_t **settings, struct index *ix, const char *experiment,
			 struct err *e)
{
	sqlite3_stmt *s = index_sql(ix, INDEX_SETTING_SETS, "t", experiment);
	int rc;

	while ((rc = index_sql_next(ix, s, e)) > 0) {
		const struct runs_series *series = series_of_set(m, sqlite3_column_int64(s, 0));

		if (series)
			settings[series - m->series] = json_loads(index_sql_text(s, 1), 0, NULL);
	}
	return rc;
}

static int label_series(struct runs_medians *m, struct index *ix, const char *experiment, struct err *e)
{
	json_t **settings = or_abort(calloc(m->series_count + 1, sizeof(*settings)));
	char **labels = or_abort(calloc(m->series_count + 1, sizeof(*labels)));
	int rc = read_settings(m, settings, ix, experiment, e);

	label_apart(settings, m->series_count, labels);
	for (size_t i = 0; i < m->series_count; i++) {
		m->series[i].label = labels[i];
		json_decref(settings[i]);
	}
	free(labels);
	free(settings);
	return rc;
}

int runs_medians_read(struct runs_medians *m, struct index *ix, const char *experiment, struct err *e)
{
	sqlite3_stmt *s = index_sql(ix, INDEX_MEDIANS, "t", experiment);
	int rc;

	*m = (struct runs_medians){0};
	while ((rc = index_sql_next(ix, s, e)) > 0)
		add_median(m, s);
	return rc ?: label_series(m, ix, experiment, e);
}

void runs_medians_free(struct runs_medians *m)
{
	for (size_t i = 0; i < m->series_count; i++) {
		free(m->series[i].metric);
		free(m->series[i].label);
		free(m->series[i].value);
	}
	free(m->series);
	free(m->median);
	*m = (struct runs_medians){0};
}
