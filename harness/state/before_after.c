#include "state/before_after.h"

#include <errno.h>
#include <stdbool.h>

#include "common/err.h"
#include "state/diff_keys.h"
#include "state/load.h"

/* A missing counter was zero: those of interrupts are left out until the first one occurs. */
static bool is_counter(const struct diff_key *d)
{
	return d->class == STATE_VOLATILE && (!d->a || json_is_integer(d->a)) && (!d->b || json_is_integer(d->b));
}

static json_t *change_json(const struct diff_key *d)
{
	json_t *j = json_pack("{s:s, s:O*, s:O*}", "key", d->key, "before", d->a, "after", d->b);
	json_int_t delta;

	if (!d->a)
		json_object_set_new(j, "before", json_null());
	if (!d->b)
		json_object_set_new(j, "after", json_null());
	if (is_counter(d) && !__builtin_sub_overflow(json_integer_value(d->b), json_integer_value(d->a), &delta))
		json_object_set_new(j, "delta", json_integer(delta));
	json_object_set_new(j, "class", json_string(state_class_name(d->class)));
	return j;
}

json_t *before_after_changes(const char *before_dir, const char *after_dir, struct err *e)
{
	json_t *before = state_load(before_dir, e), *after = before ? state_load(after_dir, e) : NULL;
	struct diff_keys d = {NULL, 0};
	json_t *changed, *result = NULL;

	if (!after)
		goto out;
	if (diff_keys_find(json_object_get(before, "keys"), json_object_get(after, "keys"), &d)) {
		err_sys(e, -ENOMEM, after_dir, "compare");
		goto out;
	}
	changed = json_array();
	for (size_t i = 0; i < d.count; i++)
		json_array_append_new(changed, change_json(&d.items[i]));
	result = json_pack("{s:i, s:o}", "schema", STATE_SCHEMA, "changed", changed);
out:
	diff_keys_free(&d);
	json_decref(after);
	json_decref(before);
	return result;
}
