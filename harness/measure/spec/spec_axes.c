#include "measure/spec/spec_axes.h"

#include <string.h>

size_t axis_count(const struct axis *a)
{
	return a->values && a->values->kind == YNODE_SEQUENCE ? a->values->count : 1;
}

struct written axis_value(const struct axis *a, size_t i)
{
	const struct ynode *n = a->values;

	if (!n)
		return (struct written){a->text, 0, 0};
	if (n->kind == YNODE_SEQUENCE)
		n = n->items[i];
	return (struct written){n->scalar, n->line, n->column};
}

static bool axis_check_values(struct diag *d, const char *name, const struct ynode *n)
{
	if (n->kind == YNODE_SCALAR)
		return true;
	if (n->kind == YNODE_MAPPING || n->count == 0) {
		diag_add(d, n->line, n->column, "setting '%s' must be a value or a list of values, not %s", name,
			 n->kind == YNODE_MAPPING ? "a mapping" : "an empty list");
		return false;
	}
	for (size_t i = 0; i < n->count; i++)
		if (n->items[i]->kind != YNODE_SCALAR) {
			diag_add(d, n->items[i]->line, n->items[i]->column, "a value of setting '%s' must be a scalar",
				 name);
			return false;
		}
	return true;
}

void axes_add(struct diag *d, struct axes_block *b, const struct axis *axis)
{
	size_t i = 0;

	while (i < b->count && strcmp(b->axes[i].name, axis->name))
		i++;
	if (i == AXES_MAX) {
		diag_add(d, axis->line, axis->column, "more than %d settings", AXES_MAX);
		return;
	}
	bool was_required = i < b->count && !b->axes[i].optional;

	b->axes[i] = *axis;
	if (was_required)
		b->axes[i].optional = false;
	if (was_required && axis->used)
		*axis->used = true;
	if (i == b->count)
		b->count++;
}

void axes_add_mapping(struct diag *d, struct axes_block *b, const struct ynode *map, bool *used)
{
	if (!map)
		return;
	if (map->kind != YNODE_MAPPING) {
		diag_add(d, map->line, map->column, "must be a mapping of settings");
		return;
	}
	for (size_t i = 0; i < map->count; i++) {
		const struct ynode *key = map->keys[i];
		struct axis a = {key->scalar,
				 key->line,
				 key->column,
				 map->items[i],
				 NULL,
				 used != NULL,
				 used && i < AXES_MAX ? &used[i] : NULL};

		if (strcmp(a.name, "quick") && axis_check_values(d, a.name, map->items[i]))
			axes_add(d, b, &a);
	}
}

const struct axis *axes_find(const struct axes_block *b, const char *name)
{
	for (size_t i = 0; i < b->count; i++)
		if (!strcmp(b->axes[i].name, name))
			return &b->axes[i];
	return NULL;
}

size_t axes_product(const struct axes_block *b, size_t most)
{
	size_t n = 1;

	for (size_t i = 0; i < b->count && n <= most; i++)
		n *= axis_count(&b->axes[i]);
	return n;
}
