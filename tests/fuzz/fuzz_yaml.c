/* YAML: what was read has places inside the text, and no key twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/yaml.h"
#include "fuzz.h"

static void check_node(const struct ynode *n, size_t size, unsigned depth)
{
	fuzz_require(depth <= YAML_MAX_DEPTH + 1 && n->line >= 1 && n->line <= size + 1 && n->column >= 1 &&
		     n->column <= size + 1);
	for (size_t i = 0; i < n->count; i++) {
		if (n->kind == YNODE_MAPPING)
			fuzz_require(yaml_get(n, n->keys[i]->scalar) == n->items[i]);
		check_node(n->items[i], size, depth + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *null;
	char *text = fuzz_text(data, size);
	struct ynode *root = NULL;
	struct diag d;

	null = null ? null : fopen("/dev/null", "we");
	diag_init(&d, "x");
	if (yaml_load_text(text, size, &d, &root))
		fuzz_require(d.count);
	else if (root)
		check_node(root, size, 1);
	diag_print(&d, null);
	diag_free(&d);
	ynode_free(root);
	free(text);
	return 0;
}

FUZZ_MUTATOR(mutate_yaml, NULL)
