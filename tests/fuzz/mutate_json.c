/*
 * Mutations of a JSON document as a tree, so that what comes out is JSON again, and mostly one that its reader looks into.
 * Every eighth is of bytes, for the parser.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "mutate_tree.h"

#define SLOTS_MAX 4096
#define MANY	  70 /* more than most limits */

/* Where a value hangs. */
struct slot {
	json_t *parent; /* NULL: the root */
	const char *key;
	size_t index;
	json_t *value;
};

struct slots {
	struct slot *items;
	size_t count;
};

static void add_slots(struct slots *s, json_t *parent, const char *key, size_t index, json_t *value)
{
	json_t *child;
	const char *name;
	size_t i;

	if (s->count == SLOTS_MAX)
		return;
	s->items[s->count++] = (struct slot){parent, key, index, value};
	json_array_foreach (value, i, child)
		add_slots(s, value, NULL, i, child);
	json_object_foreach (value, name, child)
		add_slots(s, value, name, 0, child);
}

static json_t *some_number(void)
{
	static const json_int_t edges[] = {0,	       1,	  2,	     -1,	63,	   64,
					   65,	       255,	  4095,	     65535,	INT32_MAX, INT32_MIN,
					   UINT32_MAX, 1LL << 32, 1LL << 53, INT64_MAX, INT64_MIN, INT64_MIN + 1,
					   1000000000, 999999,	  10000000};
	static const double reals[] = {0.0, -0.0, 0.5, 1e308, -1e308, 5e-324, 1e18, 9.3e18, 1e-9};

	if (fuzz_below(4))
		return json_integer(edges[fuzz_below(sizeof(edges) / sizeof(edges[0]))]);
	return fuzz_below(2) ? json_real(reals[fuzz_below(sizeof(reals) / sizeof(reals[0]))])
			     : json_integer((json_int_t)fuzz_below(1 << 16));
}

static json_t *some_text(const char *const *words)
{
	static const char *const texts[] = {"",	  ".",	  "..", "/",	   "../../etc/passwd",	   "a.b",   "-1",  "0",
					    "*",  "%s%n", "\n", "\x1b[2J", "18446744073709551616", "1e999", "nan", "'",
					    "\"", "<b>",  ",",	"0-8191"};
	size_t count = 0;

	while (words && words[count])
		count++;
	if (count && fuzz_below(4))
		return json_string(words[fuzz_below((unsigned)count)]);
	if (!fuzz_below(16)) {
		char many[5000];

		memset(many, 'x', sizeof(many));
		return json_stringn(many, fuzz_below(sizeof(many)));
	}
	return json_string(texts[fuzz_below(sizeof(texts) / sizeof(texts[0]))]);
}

static json_t *some_scalar(const char *const *words)
{
	switch (fuzz_below(6)) {
	case 0:
		return json_null();
	case 1:
		return json_boolean(fuzz_below(2));
	case 2:
		return some_text(words);
	case 3:
		return fuzz_below(2) ? json_array() : json_object();
	default:
		return some_number();
	}
}

/* A text of other bytes, or a number near this one. */
static json_t *nearby(const json_t *value, const char *const *words)
{
	uint8_t bytes[256];
	size_t size;

	if (json_is_integer(value)) {
		uint64_t n = (uint64_t)json_integer_value(value);
		const uint64_t near[] = {n + 1, n - 1, n * 2, n / 2, 0 - n, n + (1u << fuzz_below(31))};

		return json_integer((json_int_t)near[fuzz_below(6)]);
	}
	if (json_is_real(value))
		return json_real(-json_real_value(value) * 2);
	if (!json_is_string(value) || json_string_length(value) > sizeof(bytes) / 2)
		return some_scalar(words);
	size = json_string_length(value);
	memcpy(bytes, json_string_value(value), size);
	size = LLVMFuzzerMutate(bytes, size, sizeof(bytes));
	return json_stringn((const char *)bytes, size) ?: some_text(words);
}

/* Takes `value` over. */
static void put(const struct slot *at, json_t *value)
{
	if (!value)
		return;
	if (at->key)
		json_object_set_new(at->parent, at->key, value);
	else
		json_array_set_new(at->parent, at->index, value);
}

static void drop(const struct slot *at)
{
	if (at->key)
		json_object_del(at->parent, at->key);
	else
		json_array_remove(at->parent, at->index);
}

static void add_copies(const struct slot *at, unsigned times)
{
	char name[32];

	for (unsigned i = 0; i < times; i++) {
		if (!at->key) {
			json_array_append_new(at->parent, json_deep_copy(at->value));
			continue;
		}
		snprintf(name, sizeof(name), "%.20s%u", at->key, i);
		json_object_set_new(at->parent, name, json_deep_copy(at->value));
	}
}

static void rename_key(const struct slot *at, const struct slot *other, const char *const *words)
{
	json_t *value = json_incref(at->value), *parent = at->parent, *word = some_text(words);
	char *name = strdup(other->key && fuzz_below(2) ? other->key : json_string_value(word) ?: "x");

	drop(at);
	json_object_set_new(parent, name, value);
	json_decref(word);
	free(name);
}

static void mutate_slot(const struct slot *at, const struct slot *other, const char *const *words)
{
	switch (fuzz_below(10)) {
	case 0:
	case 1:
		put(at, some_scalar(words));
		break;
	case 2:
	case 3:
	case 4:
		put(at, nearby(at->value, words));
		break;
	case 5:
		put(at, json_deep_copy(other->value));
		break;
	case 6:
		drop(at);
		break;
	case 7:
		add_copies(at, fuzz_below(8) ? 1 : MANY);
		break;
	case 8:
		put(at, fuzz_below(2) ? json_pack("[O]", at->value) : json_pack("{s:O}", at->key ?: "x", at->value));
		break;
	default:
		if (at->key)
			rename_key(at, other, words);
	}
}

json_t *mutate_tree(json_t *root, const char *const *words)
{
	struct slots s = {.items = or_abort(calloc(SLOTS_MAX, sizeof(*s.items)))};

	/* After a change, slots of what was dropped are of no use: found anew each time. */
	for (unsigned times = 1 + fuzz_below(3); times; times--) {
		const struct slot *at;

		s.count = 0;
		add_slots(&s, NULL, NULL, 0, root);
		at = &s.items[fuzz_below((unsigned)s.count)];
		if (at->parent)
			mutate_slot(at, &s.items[fuzz_below((unsigned)s.count)], words);
		else if (json_is_object(root) && !fuzz_below(4))
			json_object_set_new(root, "x", some_scalar(words));
	}
	free(s.items);
	return root;
}

size_t mutate_json(uint8_t *data, size_t size, size_t max, const char *const *words)
{
	json_t *root = fuzz_below(8) ? json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL) : NULL;
	size_t used;

	if (!root)
		return LLVMFuzzerMutate(data, size, max);
	mutate_tree(root, words);
	used = json_dumpb(root, (char *)data, max, JSON_COMPACT);
	json_decref(root);
	return used && used <= max ? used : LLVMFuzzerMutate(data, size < max ? size : max, max);
}

size_t mutate_lines(uint8_t *data, size_t size, size_t max, const char *const *words)
{
	size_t lines = 1, first = 0, length, changed, rest;
	uint8_t *line;

	for (size_t i = 0; i + 1 < size; i++)
		lines += data[i] == '\n';
	if (!size || !fuzz_below(8))
		return LLVMFuzzerMutate(data, size, max);
	for (unsigned skip = fuzz_below((unsigned)lines); skip; first++)
		skip -= data[first] == '\n';
	length = strnlen((const char *)data + first, size - first);
	if (memchr(data + first, '\n', length))
		length = (size_t)((uint8_t *)memchr(data + first, '\n', length) - data - first);
	rest = size - first - length;
	line = or_abort(malloc(max + 1));
	memcpy(line, data + first, length);
	changed = mutate_json(line, length, max - first - rest, words);
	memmove(data + first + changed, data + first + length, rest);
	memcpy(data + first, line, changed);
	free(line);
	return first + changed + rest;
}
