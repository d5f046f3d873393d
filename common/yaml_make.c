#include "common/yaml_make.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"

struct ynode *yaml_make(enum ynode_kind kind, const struct ynode *at)
{
	struct ynode *n = or_abort(calloc(1, sizeof(*n)));

	n->kind = kind;
	n->line = at ? at->line : 0;
	n->column = at ? at->column : 0;
	return n;
}

struct ynode *yaml_make_scalar(const char *text, const struct ynode *at)
{
	struct ynode *n = yaml_make(YNODE_SCALAR, at);

	n->scalar = or_abort(strdup(text));
	return n;
}

struct ynode *yaml_make_item(struct ynode *sequence, struct ynode *item)
{
	sequence->items = grow_or_abort(sequence->items, sequence->count, sizeof(struct ynode *));
	return sequence->items[sequence->count++] = item;
}

struct ynode *yaml_make_entry(struct ynode *map, const char *key, struct ynode *item)
{
	map->keys = grow_or_abort(map->keys, map->count, sizeof(struct ynode *));
	map->keys[map->count] = yaml_make_scalar(key, item);
	return yaml_make_item(map, item);
}

void yaml_make_text(struct ynode *map, const char *key, const char *text, const struct ynode *at)
{
	yaml_make_entry(map, key, yaml_make_scalar(text, at));
}

/* --- as text --- */

/* Can the text be written without quotes in any position? Numbers can, because the reader treats
 * every scalar as text. */
static bool needs_no_quotes(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";

	return *text && *text != '-' && !text[strspn(text, plain)];
}

/* A JSON string is also a YAML string. */
static void dump_scalar(const char *text, FILE *out)
{
	json_t *value = needs_no_quotes(text) ? NULL : json_string(text);
	char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

	fputs(quoted ? quoted : text, out);
	free(quoted);
	json_decref(value);
}

static void dump_flow(const struct ynode *n, FILE *out)
{
	const bool is_map = n->kind == YNODE_MAPPING;

	if (n->kind == YNODE_SCALAR) {
		dump_scalar(n->scalar, out);
		return;
	}
	fputc(is_map ? '{' : '[', out);
	for (size_t i = 0; i < n->count; i++) {
		fputs(i ? ", " : "", out);
		if (is_map) {
			dump_scalar(n->keys[i]->scalar, out);
			fputs(": ", out);
		}
		dump_flow(n->items[i], out);
	}
	fputc(is_map ? '}' : ']', out);
}

char *yaml_make_dump(const struct ynode *map)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = or_abort(open_memstream(&text, &size));

	for (size_t i = 0; i < map->count; i++) {
		const struct ynode *item = map->items[i];

		dump_scalar(map->keys[i]->scalar, out);
		if (item->kind != YNODE_SEQUENCE || !item->count) {
			fputs(": ", out);
			dump_flow(item, out);
			fputc('\n', out);
			continue;
		}
		fputs(":\n", out);
		for (size_t k = 0; k < item->count; k++) {
			fputs("  - ", out);
			dump_flow(item->items[k], out);
			fputc('\n', out);
		}
	}
	fclose(out);
	return or_abort(text);
}
