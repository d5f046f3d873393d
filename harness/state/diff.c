#include "state/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/err.h"
#include "state/diff_keys.h"
#include "state/latency_effect.h"
#include "state/load.h"
#include "state/under_test.h"

#define NAMES_MAX 128

static bool is_missing(const json_t *v)
{
	return !v || (json_is_string(v) && !strcmp(json_string_value(v), "!ENOENT"));
}

static bool is_varying(const struct diff_key *d, const char *const *varying)
{
	bool one_sided = is_missing(d->a) != is_missing(d->b);

	for (; varying && *varying; varying++)
		if (under_test_covers(*varying, d->key, one_sided))
			return true;
	return false;
}

/* A row with wildcards that did not match anything is a single key, "idle.*.*.name". If the other
 * state does not have this key, the row matched there, which is a difference. */
static bool is_placeholder(const struct diff_key *d)
{
	return strchr(d->key, '*') && (!d->a || !d->b);
}

static json_t *value_or_null(json_t *v)
{
	return v ? json_incref(v) : json_null();
}

static json_t *difference_json(const struct diff_key *d, bool varying)
{
	int group = (int)strcspn(d->key, ".");

	return json_pack("{s:s, s:s%, s:s, s:o, s:o, s:s, s:b}", "key", d->key, "group", d->key, group, "class",
			 state_class_name(d->class), "a", value_or_null(d->a), "b", value_or_null(d->b), "meaning",
			 latency_effect(d->key), "varying", varying);
}

/* Within a class, differences under test come last. */
static json_t *differences_json(const struct diff_keys *d, const char *const *varying, bool with_volatile)
{
	json_t *list = json_array();

	for (size_t from = 0, to; from < d->count; from = to) {
		enum state_class class = d->items[from].class;

		for (to = from; to < d->count && d->items[to].class == class;)
			to++;
		if (class == STATE_VOLATILE && !with_volatile)
			continue;
		for (int tested = 0; tested < 2; tested++)
			for (size_t i = from; i < to; i++)
				if (!is_placeholder(&d->items[i]) && is_varying(&d->items[i], varying) == tested)
					json_array_append_new(list, difference_json(&d->items[i], tested));
	}
	return list;
}

/* Names that may always be given as varying: groups of the table, and names that stand for several keys. */
static void known_names(const char **names)
{
	size_t count = 0;

	for (const char *const *n = under_test_names(); *n; n++)
		names[count++] = *n;
	for (const struct state_source *s = state_sources; s->group && count < NAMES_MAX - 1; s++)
		if (s == state_sources || strcmp(s[-1].group, s->group))
			names[count++] = s->group;
	names[count] = NULL;
}

static bool is_known_name(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

static bool is_key_of(const char *name, json_t *keys)
{
	const char *key;
	json_t *value;

	json_object_foreach (keys, key, value)
		if (under_test_covers(name, key, true))
			return true;
	return false;
}

/* A name that cannot match anything is a typing error, and the difference that it should excuse would count. */
static int check_varying(const char *const *varying, json_t *a, json_t *b, struct err *e)
{
	const char *names[NAMES_MAX];

	known_names(names);
	for (; varying && *varying; varying++) {
		char hint[SUGGESTION_MAX];

		if (is_known_name(*varying, names) || state_source_of(*varying) || is_key_of(*varying, a) ||
		    is_key_of(*varying, b))
			continue;
		return err_set(e, -EINVAL, STATUS_USAGE, "varying", NULL,
			       "'%.64s' is not a group, key or pattern of keys in these states%s", *varying,
			       suggestion(suggest(*varying, names), hint, sizeof(hint)));
	}
	return 0;
}

static int diff_states(const json_t *a, const json_t *b, const char *const *varying, bool with_volatile,
		       json_t **result, struct err *e)
{
	json_t *a_keys = json_object_get(a, "keys"), *b_keys = json_object_get(b, "keys");
	struct diff_keys d;
	int rc = state_check(a, "first state", e);

	if (!rc)
		rc = state_check(b, "second state", e);
	if (!rc)
		rc = check_varying(varying, a_keys, b_keys, e);
	if (rc)
		return rc;
	rc = diff_keys_find(a_keys, b_keys, &d);
	if (rc)
		return err_sys(e, rc, "states", "compare");
	*result = differences_json(&d, varying, with_volatile);
	diff_keys_free(&d);
	return 0;
}

int state_diff(const json_t *a, const json_t *b, const char *const *varying, json_t **differences, struct err *e)
{
	return diff_states(a, b, varying, false, differences, e);
}

int state_diff_all(const json_t *a, const json_t *b, const char *const *varying, json_t **differences, struct err *e)
{
	return diff_states(a, b, varying, true, differences, e);
}

size_t state_diff_fatal(const json_t *differences)
{
	const json_t *d;
	size_t i, count = 0;

	json_array_foreach (differences, i, d)
		count += !strcmp(json_string_value(json_object_get(d, "class")), "fatal") &&
			 !json_is_true(json_object_get(d, "varying"));
	return count;
}
