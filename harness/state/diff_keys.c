#include "state/diff_keys.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

static void add_diff_key(struct diff_keys *d, const char *key, json_t *a, json_t *b)
{
	if (a && b && json_equal(a, b))
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

int diff_keys_find(json_t *a, json_t *b, struct diff_keys *d)
{
	const char *key;
	json_t *value;

	d->count = 0;
	d->items = calloc(json_object_size(a) + json_object_size(b) + 1, sizeof(*d->items));
	if (!d->items)
		return -ENOMEM;
	json_object_foreach (a, key, value)
		add_diff_key(d, key, value, json_object_get(b, key));
	json_object_foreach (b, key, value)
		if (!json_object_get(a, key))
			add_diff_key(d, key, NULL, value);
	qsort(d->items, d->count, sizeof(*d->items), compare_diff_keys);
	return 0;
}

void diff_keys_free(struct diff_keys *d)
{
	free(d->items);
	d->items = NULL;
	d->count = 0;
}
