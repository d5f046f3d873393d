#include "index/index_run.h"

#include <stdlib.h>

#include "analysis/blocks.h"
#include "common/err.h"
#include "common/json.h"
#include "index/index_state.h"
#include "rundir/flows.h"
#include "rundir/sealed.h"

/* --- points --- */

static int index_add_metric(struct index *ix, int64_t run, int64_t point, const char *metric, const json_t *values,
			    struct err *e)
{
	const char *statistic;
	json_t *value;
	int rc = 0;

	json_object_foreach ((json_t *)values, statistic, value) {
		if (!rc && json_is_number(value))
			rc = index_sql_do(ix, e, INDEX_ADD_METRIC, "iittf", run, point, metric, statistic,
					  json_number_value(value));
	}
	return rc;
}

/* Add a point's series and summary blocks. */
static int add_metrics(struct index *ix, int64_t run, int64_t id, const json_t *point, struct err *e)
{
	const char *key;
	json_t *value;
	int rc = 0;

	json_object_foreach (json_object_get(point, "metrics"), key, value) {
		if (!rc)
			rc = index_add_metric(ix, run, id, key, value, e);
	}
	json_object_foreach ((json_t *)point, key, value) {
		if (!rc && block_find(flows_bare_key(key)))
			rc = index_add_metric(ix, run, id, key, value, e);
	}
	return rc;
}

/* The id of a set of settings; equal sets are stored once. */
static int setting_set(struct index *ix, const json_t *params, int64_t *set, struct err *e)
{
	char *text = json_dumps(params, JSON_COMPACT | JSON_SORT_KEYS);
	sqlite3_stmt *s = index_sql(ix, INDEX_FIND_SETTING_SET, "t", text ? text : "{}");
	int rc = index_sql_next(ix, s, e);

	if (rc > 0) {
		*set = sqlite3_column_int64(s, 0);
		rc = 0;
	} else if (!rc) {
		rc = index_sql_do(ix, e, INDEX_ADD_SETTING_SET, "t", text ? text : "{}");
		*set = sqlite3_last_insert_rowid(ix->db);
		rc = rc ?: index_sql_add_each(ix, INDEX_ADD_SETTING, *set, params, e);
	}
	sqlite3_reset(s);
	free(text);
	return rc;
}

static const char *first_reason(const json_t *of)
{
	return json_string_value(json_array_get(json_object_get(of, "reasons"), 0));
}

static int index_add_point(struct index *ix, int64_t run, const json_t *point, struct err *e)
{
	json_t *metrics = json_object_get(point, "metrics");
	void *first = json_object_iter(metrics);
	int64_t id = json_integer_value(json_object_get(point, "id")), set = 0;
	int rc = setting_set(ix, json_object_get(point, "params"), &set, e);

	rc = rc
		 ?: index_sql_do(ix, e, INDEX_ADD_POINT, "iiitjttj", run, id, set, json_text(point, "outcome"),
				 json_object_get(point, "valid"), first_reason(point), json_object_iter_key(first),
				 json_object_get(json_object_iter_value(first), "p50"));
	return rc ?: add_metrics(ix, run, id, point, e);
}

static int add_points(struct index *ix, int64_t run, const struct run *r, struct err *e)
{
	const json_t *point;
	size_t i;
	int rc = 0;

	json_array_foreach (json_object_get(r->summary, "points"), i, point) {
		if (!rc)
			rc = index_add_point(ix, run, point, e);
	}
	return rc;
}

/* --- the run --- */

/* Store the documents that comparisons need unchanged. */
static int add_documents(struct index *ix, int64_t run, const struct run *r, struct err *e)
{
	json_t *const documents[] = {r->run, json_object_get(r->resolved, "defaults"), r->summary};
	char *texts[3];
	int rc;

	for (size_t i = 0; i < 3; i++)
		texts[i] = documents[i] ? json_dumps(documents[i], JSON_COMPACT) : NULL;
	rc = index_sql_do(ix, e, INDEX_ADD_DOCUMENTS, "ittt", run, texts[0], texts[1], texts[2]);
	for (size_t i = 0; i < 3; i++)
		free(texts[i]);
	return rc;
}

static int add_states(struct index *ix, json_t *bases, int64_t run, const struct sealed_hosts *hosts, struct err *e)
{
	const char *host;
	json_t *state;
	int rc = 0;

	json_object_foreach (hosts->states, host, state) {
		if (!rc && json_is_object(json_object_get(state, "keys")))
			rc = index_state_add(ix, bases, run, host, json_object_get(state, "keys"), e);
	}
	return rc;
}

static int add_row(struct index *ix, const struct run *r, const char *path, const char *stamp,
		   const struct sealed_hosts *hosts, const char *not_comparable, struct err *e)
{
	const json_t *run = r->run;

	return index_sql_do(
	    ix, e, INDEX_ADD_RUN, "ttjjjjijtjjjjjtttjt", path, stamp, json_object_get(r->resolved, "name"),
	    json_object_get(run, "title"), json_object_get(run, "variant"), json_object_get(run, "status"),
	    (int64_t)r->sealed, json_object_get(run, "valid"), first_reason(run), json_object_get(run, "started_utc"),
	    json_object_get(json_object_get(run, "t0"), "realtime_ns"), json_object_get(run, "ended_utc"),
	    json_object_get(run, "version"), json_object_get(run, "commit"), hosts->hosts, hosts->boot, hosts->kernel,
	    json_object_get(json_object_get(run, "points"), "total"), not_comparable);
}

static int add_opened(struct index *ix, json_t *bases, const struct run *r, const char *path, const char *stamp,
		      struct err *e)
{
	struct sealed_hosts hosts;
	struct err why = ERR_INIT;
	int64_t run;
	int rc;

	sealed_hosts_read(r, &hosts, &why);
	sealed_check(r, &why);
	rc = add_row(ix, r, path, stamp, &hosts, why.status ? why.text : NULL, e);
	run = sqlite3_last_insert_rowid(ix->db);
	rc = rc ?: add_documents(ix, run, r, e) ?: add_points(ix, run, r, e) ?: add_states(ix, bases, run, &hosts, e);
	sealed_hosts_free(&hosts);
	return rc;
}

int index_run_add(struct index *ix, json_t *bases, const char *full, const char *path, const char *stamp, struct err *e)
{
	struct err why = ERR_INIT;
	struct run r;
	int rc;

	if (run_open(full, &r, &why))
		return index_sql_do(ix, e, INDEX_ADD_UNREADABLE, "ttt", path, stamp, why.text);
	rc = add_opened(ix, bases, &r, path, stamp, e);
	run_close(&r);
	return rc;
}

int index_run_remove(struct index *ix, int64_t run, const char *path, struct err *e)
{
	if (run < 0)
		return index_sql_do(ix, e, INDEX_REMOVE_UNREADABLE, "t", path);
	return index_sql_do(ix, e, INDEX_REMOVE_RUN, "i", run) ?: index_sql_do(ix, e, INDEX_REMOVE_POINTS, "i", run) ?:
	       index_sql_do(ix, e, INDEX_REMOVE_METRICS, "i", run) ?:
	       index_sql_do(ix, e, INDEX_REMOVE_DOCUMENTS, "i", run) ?:
	       index_sql_do(ix, e, INDEX_REMOVE_STATES, "i", run);
}
