#include "measure/spec/spec_claims.h"

#include <stdio.h>
#include <string.h>

#include "common/diag.h"
#include "common/yaml.h"
#include "files/claim/claim.h"
#include "measure/point/settings.h"

static bool is_part(const char *name)
{
	return !strcmp(name, "kernel") || !strcmp(name, "transport");
}

/* The row of a setting that the spec's points have in this flow ("": in any); if none of them has
 * it, any setting of this name, because another experiment may have it. */
static const struct opt *find_row(const struct claim_reader *r, const char *flow, const char *name)
{
	char owner[64];

	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < r->points[i].flow_count; k++) {
			const struct flow *f = &r->points[i].flow[k];
			const struct opt *row = setting_find(f->kernel, f->transport, name);

			if (row && (!*flow || !strcmp(f->name, flow)))
				return row;
		}
	return setting_find_anywhere(name, owner, sizeof(owner));
}

static void complain_unknown_setting(struct claim_reader *r, const struct ynode *n, const char *flow, const char *name)
{
	const char *nearest = setting_suggest(name);
	char text[SUGGESTION_MAX], full[CLAIM_KEY_MAX];

	setting_of_flow(flow, nearest ? nearest : "", full, sizeof(full));
	claim_reader_complain(r, n, "unknown setting '%.64s'%s", n->scalar,
			      suggestion(nearest ? full : NULL, text, sizeof(text)));
}

/* May a setting of this name belong to this flow ("": to none)? Otherwise reports an error and
 * returns false. */
static bool fits_flow(struct claim_reader *r, const struct ynode *n, enum claim_scope scope, const char *flow,
		      const char *name)
{
	char text[SUGGESTION_MAX];

	if (*flow && setting_is_of_point(name))
		claim_reader_complain(r, n, "'%s' belongs to the point, not to one of its flows", name);
	else if (*flow && scope != SCOPE_ELSEWHERE && !claim_reader_has_flow(r, flow))
		claim_reader_complain(r, n, "no point has a flow '%.32s'%s", flow,
				      suggestion(suggest(flow, r->flows), text, sizeof(text)));
	else if (!*flow && scope == SCOPE_POINTS && r->only_flows && !setting_is_of_point(name))
		claim_reader_complain(r, n, "all points have flows, and each its own '%s'; did you mean '%s.%s'?", name,
				      r->flows[0], name);
	else
		return true;
	return false;
}

bool claim_reader_key(struct claim_reader *r, const struct ynode *n, enum claim_scope scope, const struct opt **row,
		      char *key)
{
	char flow[FLOW_NAME_MAX], plain[64];
	const char *name;

	*row = NULL;
	if (n->kind != YNODE_SCALAR) {
		claim_reader_complain(r, n, "must be the name of a setting");
		return false;
	}
	name = setting_cut_flow(n->scalar, flow, sizeof(flow));
	*row = is_part(name) ? NULL : find_row(r, flow, name);
	if (!*row && !is_part(name)) {
		complain_unknown_setting(r, n, flow, name);
		return false;
	}
	if (*row)
		name = opt_key(*row, plain, sizeof(plain));
	setting_of_flow(flow, name, key, CLAIM_KEY_MAX);
	return fits_flow(r, n, scope, flow, *row ? (*row)->name : name);
}

static json_t *parse_value(struct claim_reader *r, const struct ynode *at, const char *name, const struct opt *row,
			   const char *text)
{
	char why[256];
	json_t *value = row ? opt_parse(row, text, why, sizeof(why)) : json_string(text);

	if (!value)
		claim_reader_complain(r, at, "%s %s", name, why);
	return value;
}

/* CLAIM_COMPARISONS: the text does not begin with a comparison. */
static enum claim_comparison comparison_at(const char *text)
{
	enum claim_comparison c = 0;

	while (claim_comparison_names[c] && strncmp(text, claim_comparison_names[c], strlen(claim_comparison_names[c])))
		c++;
	return c;
}

/* Copy the next word of a text to `word`, and return the text after it. */
static const char *next_word(const char *at, char *word, size_t size)
{
	size_t length;

	at += strspn(at, " ");
	length = strcspn(at, " ");
	snprintf(word, size, "%.*s", (int)length, at);
	at += length;
	return at + strspn(at, " ");
}

/* ">=64B <=4KiB" */
static void read_comparisons(struct claim_reader *r, const struct ynode *n, const char *name, const struct opt *row,
			     struct claim_alternative *a)
{
	const char *at = n->scalar;

	while (*at) {
		enum claim_comparison how = comparison_at(at);
		char word[128];
		json_t *value;

		if (how == CLAIM_COMPARISONS) {
			claim_reader_complain(r, n, "%s: cannot parse '%s'; write comparisons as in '>=64B <=4KiB'",
					      name, at);
			return;
		}
		at = next_word(at + strlen(claim_comparison_names[how]), word, sizeof(word));
		value = parse_value(r, n, name, row, word);
		if (!value)
			return;
		if (how != CLAIM_UNEQUAL && !json_is_integer(value))
			claim_reader_complain(r, n, "%s: only numbers can be compared with '%s'", name,
					      claim_comparison_names[how]);
		claim_alternative_add(a, how, value);
	}
}

static void read_alternative(struct claim_reader *r, const struct ynode *n, const char *name, const struct opt *row,
			     struct claim_condition *c)
{
	json_t *value;

	if (n->kind != YNODE_SCALAR)
		claim_reader_complain(r, n, "%s must be a value or a list of values", name);
	else if (comparison_at(n->scalar) != CLAIM_COMPARISONS)
		read_comparisons(r, n, name, row, claim_condition_add(c));
	else if ((value = parse_value(r, n, name, row, n->scalar)))
		claim_alternative_add(claim_condition_add(c), CLAIM_EQUAL, value);
}

static void read_condition(struct claim_reader *r, const struct ynode *name, const struct ynode *value,
			   enum claim_scope scope, struct claim_selection *s)
{
	struct claim_condition *c;
	const struct opt *row;
	char key[CLAIM_KEY_MAX];

	if (!claim_reader_key(r, name, scope, &row, key))
		return;
	c = claim_selection_add(s, key);
	if (value->kind != YNODE_SEQUENCE)
		read_alternative(r, value, name->scalar, row, c);
	for (size_t i = 0; value->kind == YNODE_SEQUENCE && i < value->count; i++)
		read_alternative(r, value->items[i], name->scalar, row, c);
	if (value->kind == YNODE_SEQUENCE && !c->count)
		claim_reader_complain(r, value, "%s must be a value or a list of values, not an empty list",
				      name->scalar);
}

static bool is_reserved(const char *name)
{
	return !strcmp(name, "experiment") || !strcmp(name, "metric");
}

void claim_reader_selection(struct claim_reader *r, const struct ynode *n, const char *what, enum claim_scope scope,
			    struct claim_selection *s)
{
	if (n->kind != YNODE_MAPPING) {
		claim_reader_complain(r, n, "'%s' must be a mapping of settings to values", what);
		return;
	}
	for (size_t i = 0; i < n->count; i++)
		if (strcmp(what, "against") || !is_reserved(n->keys[i]->scalar))
			read_condition(r, n->keys[i], n->items[i], scope, s);
}

void claim_reader_check_selects(struct claim_reader *r, const struct ynode *n, const struct claim_selection *s,
				const char *what)
{
	if (!r->whole || r->d->count)
		return;
	for (size_t i = 0; i < r->count; i++)
		if (claim_selects(s, r->points[i].params))
			return;
	claim_reader_complain(r, n, "'%s' selects none of the spec's points", what);
}
