#include <stdio.h>
#include <string.h>

#include "claims/claims_select.h"
#include "common/diag.h"
#include "common/text.h"
#include "common/yaml.h"
#include "point/settings.h"
#include "spec/spec_claims_read.h"

static bool is_part(const char *name)
{
	return !strcmp(name, "kernel") || !strcmp(name, "transport");
}

/* The row of a setting as the spec's points have it; where none of them does, as anything has it (another experiment may).
 */
static const struct opt *find_row(const struct claim_reader *r, const char *name)
{
	const struct opt *row = NULL;
	const json_t *params;
	char owner[64];
	size_t i;

	json_array_foreach (r->points, i, params) {
		row = setting_find(kernel_find(json_string_value(json_object_get(params, "kernel"))),
				   transport_find(json_string_value(json_object_get(params, "transport"))), name);
		if (row)
			return row;
	}
	return setting_find_anywhere(name, owner, sizeof(owner));
}

bool claim_read_key(struct claim_reader *r, const struct ynode *n, const struct opt **row, char *key, size_t size)
{
	char text[SUGGESTION_MAX];

	*row = NULL;
	if (n->kind != YNODE_SCALAR) {
		claim_complain(r, n, "wants the name of a setting");
		return false;
	}
	snprintf(key, size, "%s", n->scalar);
	if (is_part(n->scalar))
		return true;
	*row = find_row(r, n->scalar);
	if (*row) {
		opt_key(*row, key, size);
		return true;
	}
	claim_complain(r, n, "unknown setting '%.64s'%s", n->scalar,
		       suggestion(setting_suggest(n->scalar), text, sizeof(text)));
	return false;
}

static json_t *parse_value(struct claim_reader *r, const struct ynode *at, const char *name, const struct opt *row,
			   const char *text)
{
	char why[256];
	json_t *value = row ? opt_parse(row, text, why, sizeof(why)) : json_string(text);

	if (!value)
		claim_complain(r, at, "%s %s", name, why);
	return value;
}

static const char *comparison_at(const char *text)
{
	for (const char *const *c = claim_comparisons; *c; c++)
		if (!strncmp(text, *c, strlen(*c)))
			return *c;
	return NULL;
}

/* ">=64B <=4KiB": an object of comparisons. */
static json_t *read_comparisons(struct claim_reader *r, const struct ynode *n, const char *name, const struct opt *row)
{
	json_t *all = json_object();
	const char *at = n->scalar;

	while (*at) {
		const char *how = comparison_at(at);
		size_t length;
		char word[128];
		json_t *value;

		if (!how) {
			claim_complain(r, n, "%s: '%s' is not understood; compare as in '>=64B <=4KiB'", name, at);
			break;
		}
		at += strlen(how);
		at += strspn(at, " ");
		length = strcspn(at, " ");
		snprintf(word, sizeof(word), "%.*s", (int)length, at);
		at += length;
		at += strspn(at, " ");
		value = parse_value(r, n, name, row, word);
		if (!value)
			break;
		if (strcmp(how, "!=") && !json_is_integer(value))
			claim_complain(r, n, "%s: only numbers can be compared with '%s'", name, how);
		json_object_set_new(all, how, value);
	}
	return all;
}

static void read_condition(struct claim_reader *r, json_t *alternatives, const struct ynode *n, const char *name,
			   const struct opt *row)
{
	json_t *condition = NULL;

	if (n->kind != YNODE_SCALAR)
		claim_complain(r, n, "%s wants a value or a list of values", name);
	else if (comparison_at(n->scalar))
		condition = read_comparisons(r, n, name, row);
	else
		condition = parse_value(r, n, name, row, n->scalar);
	if (condition)
		json_array_append_new(alternatives, condition);
}

static void read_setting(struct claim_reader *r, json_t *conditions, const struct ynode *name,
			 const struct ynode *value)
{
	json_t *alternatives;
	const struct opt *row;
	char key[96];

	if (!claim_read_key(r, name, &row, key, sizeof(key)))
		return;
	alternatives = json_array();
	if (value->kind == YNODE_SEQUENCE)
		for (size_t i = 0; i < value->count; i++)
			read_condition(r, alternatives, value->items[i], name->scalar, row);
	else
		read_condition(r, alternatives, value, name->scalar, row);
	if (!json_array_size(alternatives) && value->kind == YNODE_SEQUENCE)
		claim_complain(r, value, "%s wants a value or a list of values, not an empty list", name->scalar);
	json_object_set_new(conditions, key, alternatives);
}

static bool is_reserved(const char *name)
{
	return !strcmp(name, "experiment") || !strcmp(name, "metric");
}

json_t *claim_read_selection(struct claim_reader *r, const struct ynode *n, const char *what, bool reserved)
{
	json_t *conditions = json_object();

	if (n->kind != YNODE_MAPPING) {
		claim_complain(r, n, "'%s' wants a mapping of settings to values", what);
		return conditions;
	}
	for (size_t i = 0; i < n->count; i++)
		if (!reserved || !is_reserved(n->keys[i]->scalar))
			read_setting(r, conditions, n->keys[i], n->items[i]);
	return conditions;
}

void claim_check_selects(struct claim_reader *r, const struct ynode *n, const json_t *conditions, const char *what)
{
	const json_t *params;
	size_t i;

	if (!r->whole || r->d->count)
		return;
	json_array_foreach (r->points, i, params)
		if (claim_selects(conditions, params))
			return;
	claim_complain(r, n, "'%s' selects none of the spec's points", what);
}
