#include "index/index_state.h"

#include "common/err.h"

/* A state in which more than one of this many keys differ becomes a base of its own. */
#define MOST_DIFFERENT 3

static json_t *column_json(sqlite3_stmt *s, int column)
{
	switch (sqlite3_column_type(s, column)) {
	case SQLITE_INTEGER:
		return json_integer(sqlite3_column_int64(s, column));
	case SQLITE_FLOAT:
		return json_real(sqlite3_column_double(s, column));
	case SQLITE_TEXT:
		return json_string(index_sql_text(s, column));
	default:
		return json_null();
	}
}

/* Load the base of an existing index. */
static int load_base(struct index *ix, json_t *bases, const char *host, struct err *e)
{
	sqlite3_stmt *s = index_sql(ix, INDEX_FIND_BASE, "t", host);
	int rc = index_sql_next(ix, s, e);
	int64_t id = rc > 0 ? sqlite3_column_int64(s, 0) : 0;
	json_t *keys;

	sqlite3_reset(s);
	if (rc <= 0)
		return rc;
	keys = json_object();
	s = index_sql(ix, INDEX_STATE_VALUES, "i", id);
	while ((rc = index_sql_next(ix, s, e)) > 0)
		json_object_set_new(keys, index_sql_text(s, 0), column_json(s, 1));
	json_object_set_new(bases, host, json_pack("{s:I, s:o}", "id", (json_int_t)id, "keys", keys));
	return rc;
}

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

int index_state_add(struct index *ix, json_t *bases, int64_t run, const char *host, const json_t *keys, struct err *e)
{
	int rc = json_object_get(bases, host) ? 0 : load_base(ix, bases, host, e);
	int64_t id = 0;

	if (!rc)
		rc = json_object_get(bases, host) ? add_beside(ix, bases, host, keys, &id, e)
						  : add_base(ix, bases, host, keys, &id, e);
	return rc ?: index_sql_do(ix, e, INDEX_ADD_RUN_STATE, "iti", run, host, id);
}
