#include "measure/spec/observatory_spec.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "files/observatory/observatory_operations.h"

#define COUNT_MAX	1000000000ULL
#define SIZE_MAX_BYTES	4294967295ULL
#define REPETITIONS_MAX 100000ULL

struct checker {
	struct diag *d, *warnings;
};

bool observatory_config_is(const struct ynode *root)
{
	return root && root->kind == YNODE_MAPPING && !yaml_get(root, "kblat") &&
	       (yaml_get(root, "operations") || yaml_get(root, "resultName") || yaml_get(root, "detector"));
}

const struct ynode *observatory_config_parameter(const struct ynode *root, const char *key)
{
	const struct ynode *list = yaml_get(root, "parameters"), *found = NULL;

	for (size_t i = 0; list && i < list->count; i++)
		if (!strcmp(yaml_get(list->items[i], "key")->scalar, key))
			found = yaml_get(list->items[i], "value");
	return found;
}

const char *observatory_config_result_name(const struct ynode *root)
{
	const struct ynode *result = yaml_get(root, "resultName"), *class = yaml_get(root, "className");

	if (result && result->kind == YNODE_SCALAR && *result->scalar)
		return result->scalar;
	return class && class->kind == YNODE_SCALAR ? class->scalar : "";
}

bool observatory_config_has_detector(const struct ynode *root)
{
	const struct ynode *enabled = yaml_get(yaml_get(root, "detector"), "enabled");

	return enabled && !strcmp(enabled->scalar, "true");
}

unsigned long long observatory_config_number(const struct ynode *map, const char *key)
{
	return strtoull(yaml_get(map, key)->scalar, NULL, 10);
}

/* --- one value --- */

static const struct ynode *need(struct checker *c, const struct ynode *map, const char *key)
{
	const struct ynode *n = yaml_get(map, key);

	if (!n)
		diag_add(c->d, map->line, map->column, "'%s' is missing", key);
	return n;
}

static bool is_text(const struct ynode *n)
{
	return n->kind == YNODE_SCALAR && n->quoted;
}

/* The value of a string, or NULL, which is reported. */
static const char *quoted_text(struct checker *c, const struct ynode *n, const char *key)
{
	if (n && is_text(n))
		return n->scalar;
	if (n)
		diag_add(c->d, n->line, n->column, "'%s' must be a text in quotes", key);
	return NULL;
}

/* Only digits: no sign, fraction or exponent, because Observatory uses integers. */
static bool is_whole_number(const char *text, unsigned long long least, unsigned long long most)
{
	const size_t digits = strspn(text, "0123456789");
	const unsigned long long value = digits && digits < 19 ? strtoull(text, NULL, 10) : 0;

	return digits && digits < 19 && !text[digits] && value >= least && value <= most;
}

/* Is it a valid number? If not, that is reported. */
static bool check_number(struct checker *c, const struct ynode *map, const char *key, unsigned long long least,
			 unsigned long long most)
{
	const struct ynode *n = need(c, map, key);
	char quoted[TEXT_QUOTE_MAX];

	if (!n)
		return false;
	if (n->kind == YNODE_SCALAR && !n->quoted && is_whole_number(n->scalar, least, most))
		return true;
	diag_add(c->d, n->line, n->column, "'%s' must be a whole number from %llu to %llu%s%s", key, least, most,
		 n->kind == YNODE_SCALAR ? ", not " : "",
		 n->kind == YNODE_SCALAR ? text_quote(n->scalar, quoted, sizeof(quoted)) : "");
	return false;
}

static bool check_node_kind(struct checker *c, const struct ynode *n, enum ynode_kind kind, const char *what,
			    const char *wanted)
{
	if (n && n->kind == kind)
		return true;
	if (n)
		diag_add(c->d, n->line, n->column, "%s must be %s", what, wanted);
	return false;
}

/* A list to iterate over: an empty one if it is missing or not a list, which is reported. */
static const struct ynode *list_of(struct checker *c, const struct ynode *map, const char *key)
{
	static const struct ynode empty = {.kind = YNODE_SEQUENCE};
	const struct ynode *n = need(c, map, key);

	if (n && n->kind == YNODE_SEQUENCE && n->count)
		return n;
	if (n)
		diag_add(c->d, n->line, n->column, "'%s' must be a list with at least one entry", key);
	return &empty;
}

/* Observatory ignores all other keys. One that is similar to a known key is probably a typing error. */
static void warn_unknown(struct checker *c, const struct ynode *map, const char *const *known)
{
	char hint[SUGGESTION_MAX], quoted[TEXT_QUOTE_MAX];

	for (size_t i = 0; i < map->count; i++) {
		const struct ynode *key = map->keys[i];

		if (!text_is_among(key->scalar, known))
			diag_add(c->warnings, key->line, key->column, "warning: unknown key %s is ignored%s",
				 text_quote(key->scalar, quoted, sizeof(quoted)),
				 suggestion(suggest(key->scalar, known), hint, sizeof(hint)));
	}
}

/* --- operations --- */

static void check_iteration(struct checker *c, const struct ynode *n)
{
	static const char *const known[] = {"size", "count", "warmUp", NULL};
	bool counts, warms_up;

	if (!check_node_kind(c, n, YNODE_MAPPING, "an iteration", "{\"size\": …, \"count\": …, \"warmUp\": …}"))
		return;
	warn_unknown(c, n, known);
	check_number(c, n, "size", 1, SIZE_MAX_BYTES);
	counts = check_number(c, n, "count", 1, COUNT_MAX);
	warms_up = check_number(c, n, "warmUp", 0, COUNT_MAX);
	if (counts && warms_up && observatory_config_number(n, "warmUp") > observatory_config_number(n, "count"))
		diag_add(c->warnings, yaml_get(n, "warmUp")->line, yaml_get(n, "warmUp")->column,
			 "warning: the warm-up has more operations than the measurement");
}

static void check_mode(struct checker *c, const struct ynode *n, const struct observatory_operation *o)
{
	const char *mode = quoted_text(c, n, "modes");
	char quoted[TEXT_QUOTE_MAX];

	if (!mode)
		return;
	if (strcmp(mode, "unidirectional") && strcmp(mode, "bidirectional"))
		diag_add(c->d, n->line, n->column, "unknown mode %s; expected unidirectional or bidirectional",
			 text_quote(mode, quoted, sizeof(quoted)));
	else if (o && o->measure != OBSERVATORY_THROUGHPUT && !strcmp(mode, "bidirectional"))
		diag_add(c->d, n->line, n->column,
			 "%s cannot be bidirectional: only throughput is measured in both directions (Observatory "
			 "would stop here, in the middle of its run)",
			 o->name);
}

static void check_config_operation(struct checker *c, const struct ynode *n)
{
	static const char *const known[] = {"name", "modes", "repetitions", "iterations", NULL};
	const struct ynode *modes, *iterations;
	const struct observatory_operation *o;
	const char *name;
	char hint[SUGGESTION_MAX], quoted[TEXT_QUOTE_MAX];

	if (!check_node_kind(c, n, YNODE_MAPPING, "an operation",
			     "{\"name\": …, \"modes\": …, \"repetitions\": …, \"iterations\": …}"))
		return;
	warn_unknown(c, n, known);
	name = quoted_text(c, need(c, n, "name"), "name");
	o = name ? observatory_operations_find(name) : NULL;
	if (name && !o)
		diag_add(c->d, yaml_get(n, "name")->line, yaml_get(n, "name")->column, "unknown operation %s%s",
			 text_quote(name, quoted, sizeof(quoted)),
			 suggestion(suggest(name, observatory_operations_names()), hint, sizeof(hint)));
	check_number(c, n, "repetitions", 1, REPETITIONS_MAX);
	modes = list_of(c, n, "modes");
	for (size_t i = 0; i < modes->count; i++)
		check_mode(c, modes->items[i], o);
	iterations = list_of(c, n, "iterations");
	for (size_t i = 0; i < iterations->count; i++)
		check_iteration(c, iterations->items[i]);
}

/* --- other keys --- */

static const struct {
	const char *key;
	unsigned long long least, most;
} parameters[] = {{"deviceNumber", 0, 1023}, {"portNumber", 1, 255}, {"queueSize", 1, 1 << 20}};

#define PARAMETERS (sizeof(parameters) / sizeof(parameters[0]))

/* Observatory only accepts strings, but a plain number is just as clear. */
static void check_parameter_value(struct checker *c, const struct ynode *key, const struct ynode *value)
{
	char quoted[TEXT_QUOTE_MAX];
	size_t i = 0;

	while (i < PARAMETERS && strcmp(parameters[i].key, key->scalar))
		i++;
	if (i == PARAMETERS)
		diag_add(c->warnings, key->line, key->column,
			 "warning: the parameter %s has no meaning here and is ignored",
			 text_quote(key->scalar, quoted, sizeof(quoted)));
	else if (value->kind != YNODE_SCALAR ||
		 !is_whole_number(value->scalar, parameters[i].least, parameters[i].most))
		diag_add(c->d, value->line, value->column, "%s must be a whole number from %llu to %llu", key->scalar,
			 parameters[i].least, parameters[i].most);
}

/* `seen`: an object with the keys of the parameters before. */
static void check_parameter(struct checker *c, const struct ynode *n, json_t *seen)
{
	static const char *const known[] = {"key", "value", NULL};
	const struct ynode *key, *value;
	bool repeated;

	if (!check_node_kind(c, n, YNODE_MAPPING, "a parameter", "{\"key\": …, \"value\": …}"))
		return;
	warn_unknown(c, n, known);
	key = need(c, n, "key");
	value = need(c, n, "value");
	if (!quoted_text(c, key, "key"))
		return;
	repeated = json_object_get(seen, key->scalar);
	json_object_set_new_nocheck(seen, key->scalar, json_true());
	if (!value)
		return;
	if (repeated)
		diag_add(c->d, key->line, key->column, "the parameter '%s' is given twice", key->scalar);
	else
		check_parameter_value(c, key, value);
}

static void check_parameters(struct checker *c, const struct ynode *list)
{
	json_t *seen;

	if (!list || !check_node_kind(c, list, YNODE_SEQUENCE, "'parameters'", "a list"))
		return;
	seen = json_object();
	for (size_t i = 0; i < list->count; i++)
		check_parameter(c, list->items[i], seen);
	json_decref(seen);
}

/* Counters are read in the way that Observatory calls compat. */
static void check_detector(struct checker *c, const struct ynode *n)
{
	static const char *const known[] = {"enabled", "deviceNumber", "mode", NULL}, *const ways[] = {"mad", "compat",
												       NULL};
	const struct ynode *enabled;
	const char *way;

	if (!n ||
	    !check_node_kind(c, n, YNODE_MAPPING, "'detector'", "{\"enabled\": …, \"deviceNumber\": …, \"mode\": …}"))
		return;
	warn_unknown(c, n, known);
	enabled = need(c, n, "enabled");
	if (enabled && (enabled->kind != YNODE_SCALAR || enabled->quoted ||
			(strcmp(enabled->scalar, "true") && strcmp(enabled->scalar, "false"))))
		diag_add(c->d, enabled->line, enabled->column, "'enabled' must be true or false");
	if (yaml_get(n, "deviceNumber"))
		check_number(c, n, "deviceNumber", 0, 1023);
	way = quoted_text(c, yaml_get(n, "mode"), "mode");
	if (way && strcmp(way, ways[0]) && strcmp(way, ways[1]))
		diag_add(c->d, yaml_get(n, "mode")->line, yaml_get(n, "mode")->column, "'mode' must be mad or compat");
	if (way && !strcmp(way, ways[0]) && enabled && enabled->kind == YNODE_SCALAR &&
	    !strcmp(enabled->scalar, "true"))
		diag_add(c->warnings, yaml_get(n, "mode")->line, yaml_get(n, "mode")->column,
			 "warning: mode mad is not implemented: the port's counters are read from the kernel, as with "
			 "compat");
}

static void check_names(struct checker *c, const struct ynode *root)
{
	const struct ynode *result = yaml_get(root, "resultName");

	quoted_text(c, yaml_get(root, "className"), "className");
	if (!result && !yaml_get(root, "className"))
		need(c, root, "resultName");
	else if ((!result || quoted_text(c, result, "resultName")) && !*observatory_config_result_name(root))
		diag_add(c->d, root->line, root->column,
			 "'resultName' is empty, and there is no 'className' to be used instead");
}

/* YAML allows more than JSON: comments, trailing commas, strings without quotes. */
static void check_json(struct checker *c, const char *text, size_t length)
{
	json_error_t error;
	json_t *json = json_loadb(text, length, JSON_DECODE_INT_AS_REAL, &error);

	if (!json)
		diag_add(c->d, error.line > 0 ? (unsigned)error.line : 0, error.column > 0 ? (unsigned)error.column : 1,
			 "not valid JSON: %s", error.text);
	json_decref(json);
}

void observatory_config_check(const struct ynode *root, const char *text, size_t length, struct diag *d,
			      struct diag *warnings)
{
	static const char *const known[] = {"resultName", "className", "parameters", "detector", "operations", NULL};
	struct checker c = {d, warnings};
	const struct ynode *operations;

	check_json(&c, text, length);
	warn_unknown(&c, root, known);
	check_names(&c, root);
	check_parameters(&c, yaml_get(root, "parameters"));
	check_detector(&c, yaml_get(root, "detector"));
	operations = list_of(&c, root, "operations");
	for (size_t i = 0; i < operations->count; i++)
		check_config_operation(&c, operations->items[i]);
}
