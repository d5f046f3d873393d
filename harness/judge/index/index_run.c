#include "judge/index/index_run.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/json.h"
#include "files/rundir/flows.h"
#include "files/rundir/sealed.h"
#include "judge/analysis/summary_json.h"

/* A state in which more than one of this many keys differ becomes a base of its own. */
#define MOST_DIFFERENT 3

/* --- points --- */

static int index_add_number(struct index *ix, int64_t run, int64_t point, const char *of, const char *key,
			    struct number n, struct err *e)
{
	if (!number_is_known(n))
		return 0;
	return index_sql_do(ix, e, INDEX_ADD_METRIC, "iittf", run, point, of, key, number_value(n));
}

static int index_add_metric(struct index *ix, int64_t run, int64_t point, const struct summary_metric *m, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < STATISTICS; i++)
		rc = index_add_number(ix, run, point, m->name, statistics[i].key, m->values[i], e);
	return rc ?: index_add_number(ix, run, point, m->name, CLOCK_ERROR_KEY, m->clock_error, e);
}

static int index_add_block(struct index *ix, int64_t run, int64_t point, const struct summary_block *b, struct err *e)
{
	char of[FLOWS_KEY_MAX];
	int rc = 0;

	flows_key(b->flow, b->of->name, of, sizeof(of));
	for (unsigned i = 0; !rc && i < BLOCK_NUMBERS; i++) {
		const struct block_statistic *row = block_number_row(b->of, i);

		if (row)
			rc = index_add_number(ix, run, point, of, row->key, b->numbers[i], e);
	}
	return rc;
}

/* Add a point's series and summary blocks. */
static int add_metrics(struct index *ix, int64_t run, const struct summary_point *p, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < p->results.metric_count; i++)
		rc = index_add_metric(ix, run, p->id, &p->results.metrics[i], e);
	for (size_t i = 0; !rc && i < p->results.block_count; i++)
		rc = index_add_block(ix, run, p->id, &p->results.blocks[i], e);
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

static const char *first_reason(const json_t *reasons)
{
	return json_string_value(json_array_get(reasons, 0));
}

static int index_add_point(struct index *ix, int64_t run, const struct summary_point *p, struct err *e)
{
	const struct summary_metric *first = p->results.metric_count ? &p->results.metrics[0] : NULL;
	json_t *valid = json_boolean(p->valid), *p50 = first ? number_encode(first->values[STATISTIC_P50]) : NULL;
	int64_t set = 0;
	int rc = setting_set(ix, p->params, &set, e);

	rc = rc
		 ?: index_sql_do(ix, e, INDEX_ADD_POINT, "iiitjttj", run, (int64_t)p->id, set, p->outcome_text, valid,
				 first_reason(p->reasons), first ? first->name : NULL, p50);
	json_decref(valid);
	json_decref(p50);
	return rc ?: add_metrics(ix, run, p, e);
}

static int add_points(struct index *ix, int64_t run, const struct run *r, struct err *e)
{
	struct summary *s = summary_decode(r->summary);
	int rc = 0;

	for (size_t i = 0; !rc && i < s->point_count; i++)
		rc = index_add_point(ix, run, &s->points[i], e);
	summary_free(s);
	return rc;
}

/* --- states of hosts --- */

/*
 * All runs on one machine have nearly the same state, so the first one of a host is stored
 * completely, as a base, and others as their differences from it.
 */

/* The differences from the base; null: the state does not have the key. */
static json_t *difference(const json_t *base, const json_t *keys)
{
	json_t *different = json_object(), *value;
	const char *key;

	json_object_foreach ((json_t *)keys, key, value) {
		const json_t *before = json_object_get(base, key);

		if (!before || !json_equal(before, value))
			json_object_set(different, key, value);
	}
	json_object_foreach ((json_t *)base, key, value)
		if (!json_object_get(keys, key))
			json_object_set_new(different, key, json_null());
	return different;
}

static int add_base(struct index *ix, json_t *bases, const char *host, const json_t *keys, int64_t *id, struct err *e)
{
	int rc = index_sql_do(ix, e, INDEX_ADD_STATE, "tj", host, (const json_t *)NULL);

	*id = sqlite3_last_insert_rowid(ix->db);
	json_object_set_new(bases, host, json_pack("{s:I, s:O}", "id", (json_int_t)*id, "keys", (json_t *)keys));
	return rc ?: index_sql_add_each(ix, INDEX_ADD_STATE_VALUE, *id, keys, e);
}

/* Add a state that has a base. `*id` is the base's own if there are no differences. */
static int add_beside(struct index *ix, json_t *bases, const char *host, const json_t *keys, int64_t *id, struct err *e)
{
	const json_t *base = json_object_get(bases, host);
	json_t *different = difference(json_object_get(base, "keys"), keys);
	size_t count = json_object_size(different);
	int rc = 0;

	*id = json_integer_value(json_object_get(base, "id"));
	if (count * MOST_DIFFERENT > json_object_size(keys)) {
		rc = add_base(ix, bases, host, keys, id, e);
	} else if (count) {
		rc = index_sql_do(ix, e, INDEX_ADD_STATE, "ti", host, *id);
		*id = sqlite3_last_insert_rowid(ix->db);
		rc = rc ?: index_sql_add_each(ix, INDEX_ADD_STATE_VALUE, *id, different, e);
	}
	json_decref(different);
	return rc;
}

/* Add the state of a host before a run: "keys" of its state.json. */
static int index_state_add(struct index *ix, json_t *bases, int64_t run, const char *host, const json_t *keys,
			   struct err *e)
{
	int64_t id = 0;
	int rc = json_object_get(bases, host) ? add_beside(ix, bases, host, keys, &id, e)
					      : add_base(ix, bases, host, keys, &id, e);

	return rc ?: index_sql_do(ix, e, INDEX_ADD_RUN_STATE, "iti", run, host, id);
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
	    (int64_t)r->sealed, json_object_get(run, "valid"), first_reason(json_object_get(run, "reasons")),
	    json_object_get(run, "started_utc"), json_object_get(json_object_get(run, "t0"), "realtime_ns"),
	    json_object_get(run, "ended_utc"), json_object_get(run, "version"), json_object_get(run, "commit"),
	    hosts->hosts, hosts->boot, hosts->kernel, json_object_get(json_object_get(run, "points"), "total"),
	    not_comparable);
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
