/*
 * Mutations of a YAML document as a tree. Every eighth is of bytes, for the parser.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/yaml.h"
#include "mutate_tree.h"

#define QUOTED '"' /* what the text of a quoted scalar begins with while it is a JSON string */

static json_t *to_json(const struct ynode *n)
{
	json_t *out;

	if (n->kind == YNODE_SCALAR) {
		char *text = NULL;

		if (asprintf(&text, "%s%s", n->quoted ? "\"" : "", n->scalar) < 0)
			abort();
		out = json_string(text) ?: json_string("");
		free(text);
		return out;
	}
	out = n->kind == YNODE_MAPPING ? json_object() : json_array();
	for (size_t i = 0; i < n->count; i++) {
		if (n->kind == YNODE_MAPPING)
			json_object_set_new(out, n->keys[i]->scalar, to_json(n->items[i]));
		else
			json_array_append_new(out, to_json(n->items[i]));
	}
	return out;
}

static bool is_plain(const char *text)
{
	if (!isalnum((unsigned char)*text) && !strchr("./", *text))
		return false;
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-/%$+=", *p))
			return false;
	return *text;
}

static void write_text(FILE *out, const char *text)
{
	json_t *quoted;

	if (is_plain(text)) {
		fputs(text, out);
		return;
	}
	quoted = json_string(*text == QUOTED ? text + 1 : text);
	json_dumpf(quoted, out, JSON_ENCODE_ANY);
	json_decref(quoted);
}

static void write_flow(FILE *out, const json_t *value)
{
	const char *key;
	json_t *child;
	size_t i;
	int n = 0;

	if (json_is_string(value)) {
		write_text(out, json_string_value(value));
	} else if (json_is_array(value)) {
		fputc('[', out);
		json_array_foreach (value, i, child) {
			fputs(n++ ? ", " : "", out);
			write_flow(out, child);
		}
		fputc(']', out);
	} else if (json_is_object(value)) {
		fputc('{', out);
		json_object_foreach ((json_t *)value, key, child) {
			fputs(n++ ? ", " : "", out);
			write_text(out, key);
			fputs(": ", out);
			write_flow(out, child);
		}
		fputc('}', out);
	} else {
		json_dumpf(value, out, JSON_ENCODE_ANY);
	}
}

/* The uppermost mapping line by line, as people write it. */
static char *to_yaml(const json_t *root, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);
	const char *key;
	json_t *child;

	if (!out)
		abort();
	if (!json_is_object(root))
		write_flow(out, root);
	json_object_foreach ((json_t *)root, key, child) {
		write_text(out, key);
		fputs(": ", out);
		write_flow(out, child);
		fputc('\n', out);
	}
	fclose(out);
	return text;
}

size_t mutate_yaml(uint8_t *data, size_t size, size_t max, const char *const *words)
{
	struct ynode *root = NULL;
	struct diag d;
	size_t used;
	char *text;
	json_t *tree;

	diag_init(&d, "");
	if (fuzz_below(8))
		yaml_load_text((const char *)data, size, &d, &root);
	diag_free(&d);
	if (!root)
		return LLVMFuzzerMutate(data, size, max);
	tree = mutate_tree(to_json(root), words);
	text = to_yaml(tree, &used);
	if (used <= max)
		memcpy(data, text, used);
	else
		used = LLVMFuzzerMutate(data, size, max);
	free(text);
	json_decref(tree);
	ynode_free(root);
	return used;
}
