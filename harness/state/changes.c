#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "state/sources.h"
#include "state/state.h"

#define SCHEMA 1

struct change {
	const char *key;
	json_t *before, *after; /* borrowed; NULL: no such key */
	enum state_class class;
};

struct changes {
	struct change *items;
	size_t count;
};

static bool is_value(const json_t *v)
{
	return json_is_string(v) || json_is_integer(v);
}

static int check_keys(const char *path, const json_t *keys, struct err *e)
{
	const char *key;
	json_t *value;

	if (!json_is_object(keys))
		return err_set(e, -EINVAL, STATUS_USAGE, path, "read as a captured state", "it has no \"keys\"");
	json_object_foreach ((json_t *)keys, key, value)
		if (!is_value(value))
			return err_set(e, -EINVAL, STATUS_USAGE, path, "read as a captured state",
				       "'%.100s' is neither a string nor an integer", key);
	return 0;
}

static int check_schema(const char *path, const json_t *state, struct err *e)
{
	const json_t *schema = json_object_get(state, "schema");

	if (!json_is_integer(schema))
		return err_set(e, -EINVAL, STATUS_USAGE, path, "read as a captured state", "it has no \"schema\"");
	if (json_integer_value(schema) != SCHEMA)
		return err_set(e, -EINVAL, STATUS_USAGE, path, "read as a captured state",
			       "its schema is %lld, this program knows %d", (long long)json_integer_value(schema),
			       SCHEMA);
	return 0;
}

static json_t *load_state(const char *dir, struct err *e)
{
	char *path = fs_path("%s/state.json", dir);
	json_t *state = NULL;

	if (access(path, F_OK))
		err_set(e, -errno, STATUS_USAGE, dir, "read as a captured state",
			"it has no state.json; `kblat state capture DIR` makes one");
	else
		state = json_read(path, e);
	if (state && (check_schema(path, state, e) || check_keys(path, json_object_get(state, "keys"), e))) {
		json_decref(state);
		state = NULL;
	}
	free(path);
	return state;
}

static bool is_refused(const json_t *v)
{
	const char *text = json_string_value(v);

	return text && (!strcmp(text, "!EACCES") || !strcmp(text, "!EPERM"));
}

/* What one side was not allowed to see may differ or not: that is a doubt, never more. */
static enum state_class class_of(const char *key, const json_t *before, const json_t *after)
{
	enum state_class class = state_class_of(key);

	return class == STATE_FATAL && (is_refused(before) || is_refused(after)) ? STATE_WARN : class;
}

static void add_change(struct changes *l, const char *key, json_t *before, json_t *after)
{
	if (before && after && json_equal(before, after))
		return;
	l->items[l->count++] = (struct change){key, before, after, class_of(key, before, after)};
}

static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	return strcmp(x->key, y->key);
}

static int find_changes(struct changes *l, json_t *before, json_t *after)
{
	const char *key;
	json_t *value;

	l->items = calloc(json_object_size(before) + json_object_size(after) + 1, sizeof(*l->items));
	if (!l->items)
		return -ENOMEM;
	json_object_foreach (before, key, value)
		add_change(l, key, value, json_object_get(after, key));
	json_object_foreach (after, key, value)
		if (!json_object_get(before, key))
			add_change(l, key, NULL, value);
	qsort(l->items, l->count, sizeof(*l->items), compare_changes);
	return 0;
}

/* A counter that was not there stood at zero: those of interrupts are left out until they count. */
static bool is_counter(const struct change *c)
{
	return c->class == STATE_VOLATILE && (!c->before || json_is_integer(c->before)) &&
	       (!c->after || json_is_integer(c->after));
}

static json_t *change_json(const struct change *c)
{
	json_t *j = json_pack("{s:s, s:O*, s:O*}", "key", c->key, "before", c->before, "after", c->after);
	json_int_t delta;

	if (!c->before)
		json_object_set_new(j, "before", json_null());
	if (!c->after)
		json_object_set_new(j, "after", json_null());
	if (is_counter(c) &&
	    !__builtin_sub_overflow(json_integer_value(c->after), json_integer_value(c->before), &delta))
		json_object_set_new(j, "delta", json_integer(delta));
	json_object_set_new(j, "class", json_string(state_class_name(c->class)));
	return j;
}

json_t *state_changes(const char *before_dir, const char *after_dir, struct err *e)
{
	json_t *before = load_state(before_dir, e), *after = before ? load_state(after_dir, e) : NULL;
	struct changes l = {NULL, 0};
	json_t *changed = NULL, *result = NULL;

	if (!after)
		goto out;
	if (find_changes(&l, json_object_get(before, "keys"), json_object_get(after, "keys"))) {
		err_sys(e, -ENOMEM, after_dir, "compare");
		goto out;
	}
	changed = json_array();
	for (size_t i = 0; i < l.count; i++)
		json_array_append_new(changed, change_json(&l.items[i]));
	result = json_pack("{s:i, s:o}", "schema", SCHEMA, "changed", changed);
out:
	free(l.items);
	json_decref(after);
	json_decref(before);
	return result;
}
