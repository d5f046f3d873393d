#include "files/state/diff.h"

#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/boot_arguments.h"
#include "common/cpulist.h"
#include "common/diag.h"
#include "common/err.h"
#include "common/form.h"
#include "common/or_abort.h"
#include "files/state/load.h"
#include "files/state/sources.h"

/* --- the keys in which two states differ, and the class of each difference --- */

struct diff_key {
	const char *key;
	json_t *a, *b; /* borrowed; NULL: no such key */
	enum state_class class;
};

struct diff_keys {
	struct diff_key *items; /* by class, fatal first, then by key */
	size_t count;
	int a_last, b_last; /* the last possible CPU of each, or -1 */
};

static bool is_group(const char *name, const char *key)
{
	size_t n = strlen(name);

	return !strncmp(key, name, n) && key[n] == '.';
}

static bool is_refused(const json_t *v)
{
	const char *text = json_string_value(v);

	return text && (!strcmp(text, "!EACCES") || !strcmp(text, "!EPERM"));
}

/* What one side was not permitted to read may differ or not, so it can only be suspicious. */
static enum state_class diff_class(const char *key, const json_t *a, const json_t *b)
{
	enum state_class class = state_class_of(key);

	return class == STATE_FATAL && (is_refused(a) || is_refused(b)) ? STATE_WARN : class;
}

static bool is_missing(const json_t *v)
{
	return !v || (json_is_string(v) && !strcmp(json_string_value(v), "!ENOENT"));
}

/* A value as text; NULL: there is none. */
static const char *text_of(const json_t *v, char *buf, size_t size)
{
	if (json_is_string(v))
		return is_missing(v) ? NULL : json_string_value(v);
	if (!json_is_integer(v))
		return NULL;
	snprintf(buf, size, "%lld", (long long)json_integer_value(v));
	return buf;
}

/* The number of its last possible CPU, or -1. */
static int last_cpu(const json_t *keys)
{
	const char *list = json_string_value(json_object_get(keys, "cpu.possible"));
	struct cpulist cpus;
	int last = -1;

	if (list && !cpulist_parse(list, &cpus, NULL, 0))
		for (int cpu = cpulist_first(&cpus); cpu >= 0; cpu = cpulist_next(&cpus, cpu))
			last = cpu;
	return last;
}

/* Do both say the same, in different words? Kernels differ in how they say "none": no such file, "(null)", an empty one. */
static bool are_same_values(const struct diff_keys *d, const char *key, const json_t *a, const json_t *b)
{
	char of_a[32], of_b[32];
	const char *x = text_of(a, of_a, sizeof(of_a)), *y = text_of(b, of_b, sizeof(of_b));

	if (is_group("boot", key))
		return boot_arguments_same(key + 5, x, d->a_last, y, d->b_last);
	if (state_is_set(key) && (x || is_missing(a)) && (y || is_missing(b)))
		return form_same(FORM_LIST, x ? x : "", y ? y : "");
	return x && y && form_same(FORM_TEXT, x, y);
}

static void add_diff_key(struct diff_keys *d, const char *key, json_t *a, json_t *b)
{
	if ((a && b && json_equal(a, b)) || are_same_values(d, key, a, b))
		return;
	d->items[d->count++] = (struct diff_key){key, a, b, diff_class(key, a, b)};
}

static int compare_diff_keys(const void *a, const void *b)
{
	const struct diff_key *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	return strcmp(x->key, y->key);
}

/* Of two objects of keys, which must live as long as the result. Free with diff_keys_free. */
static void diff_keys_find(json_t *a, json_t *b, struct diff_keys *d)
{
	const char *key;
	json_t *value;

	d->count = 0;
	d->a_last = last_cpu(a);
	d->b_last = last_cpu(b);
	d->items = or_abort(calloc(json_object_size(a) + json_object_size(b) + 1, sizeof(*d->items)));
	json_object_foreach (a, key, value)
		add_diff_key(d, key, value, json_object_get(b, key));
	json_object_foreach (b, key, value)
		if (!json_object_get(a, key))
			add_diff_key(d, key, NULL, value);
	qsort(d->items, d->count, sizeof(*d->items), compare_diff_keys);
}

static void diff_keys_free(struct diff_keys *d)
{
	free(d->items);
	d->items = NULL;
	d->count = 0;
}

/*
 * Differences that come with another kernel. An interface that only one of two kernels has is also
 * due to the kernel, unless it may be missing because of a setting, such as the idle states with
 * idle=poll.
 */
static const struct alias {
	const char *name, *keys;
	bool one_sided_only;
} aliases[] = {
    {"kernel", "identity.kernel", false},
    {"kernel", "identity.build", false},
    {"kernel", "identity.version", false},
    {"kernel", "boot.BOOT_IMAGE", false},
    {"kernel", "boot.initrd", false},
    {"kernel", "config.*", false},
    {"kernel", "module.*", false},
    {"kernel", "parameter.*", true},
    {"kernel", "mitigation.*", true},
    {"kernel", "sysctl.*", true},
    {"kernel", "scheduling.*", true},
    {"kernel", "cpuset.tree.*", true},
    {"kernel", "memory.*", true},
    {"kernel", "pm_qos.cpu_wakeup_latency_us", true},
    {"microcode", "cpu.microcode", false},
    {"microcode", "firmware.microcode*", false},
    {"microcode", "mitigation.*", false},
    {"mitigations", "mitigation.*", false},
    {"mitigations", "boot.mitigations", false},
};

/* Names that stand for several keys, NULL-terminated. */
static const char *const *under_test_names(void)
{
	static const char *const names[] = {"kernel", "microcode", "mitigations", NULL};

	return names;
}

/* Is `key` one of those that `name` stands for? `one_sided`: only one of the states has it. */
static bool under_test_covers(const char *name, const char *key, bool one_sided)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++)
		if (!strcmp(aliases[i].name, name) && (one_sided || !aliases[i].one_sided_only) &&
		    !fnmatch(aliases[i].keys, key, 0))
			return true;
	return is_group(name, key) || !fnmatch(name, key, 0);
}

#define NAMES_MAX 128

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
	diff_keys_find(a_keys, b_keys, &d);
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

#define BLANKS	    " \t\n"
#define LEAST_WORDS 3

/* Each word once, in order, which an object preserves. */
static json_t *words_of(const json_t *text)
{
	const char *at = json_string_value(text) ?: "";
	json_t *words = json_object();

	while (*(at += strspn(at, BLANKS))) {
		size_t length = strcspn(at, BLANKS);

		json_object_setn_new(words, at, length, json_true());
		at += length;
	}
	return words;
}

static json_t *words_missing_in(const json_t *other, const json_t *words)
{
	json_t *missing = json_array(), *value;
	const char *word;

	json_object_foreach ((json_t *)words, word, value)
		if (!json_object_get(other, word))
			json_array_append_new(missing, json_string(word));
	return missing;
}

bool diff_words(const json_t *a, const json_t *b, json_t **removed, json_t **added)
{
	json_t *of_a = words_of(a), *of_b = words_of(b), *gone = words_missing_in(of_b, of_a),
	       *come = words_missing_in(of_a, of_b);
	size_t common = json_object_size(of_a) - json_array_size(gone);
	bool lists = (json_object_size(of_a) >= LEAST_WORDS || json_object_size(of_b) >= LEAST_WORDS) && common &&
		     json_array_size(gone) + json_array_size(come);

	json_decref(of_a);
	json_decref(of_b);
	if (lists) {
		*removed = gone;
		*added = come;
		return true;
	}
	json_decref(gone);
	json_decref(come);
	return false;
}

/* --- before and after a run --- */

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
	struct diff_keys d = {NULL};
	json_t *changed, *result = NULL;

	if (!after)
		goto out;
	diff_keys_find(json_object_get(before, "keys"), json_object_get(after, "keys"), &d);
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
