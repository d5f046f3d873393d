#include "spec/spec_claims.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "claims/claims_needs.h"
#include "common/diag.h"
#include "common/text.h"
#include "common/units.h"
#include "common/yaml.h"
#include "spec/spec_claims_read.h"

void claim_complain(struct claim_reader *r, const struct ynode *at, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	diag_add(r->d, at->line, at->column, "%s", text);
}

/* "hca", or {cpus: 4}. */
static void read_need(struct claim_reader *r, json_t *needs, const struct ynode *n)
{
	const struct ynode *name = n->kind == YNODE_MAPPING && n->count == 1 ? n->keys[0] : n;
	const struct ynode *count = name == n ? NULL : n->items[0];
	const struct claim_need *need = name->kind == YNODE_SCALAR ? claim_need_find(name->scalar) : NULL;
	const char *names[32] = {NULL};
	int64_t number = 0;
	json_t *j;
	char text[SUGGESTION_MAX];

	for (size_t i = 0; i < 31 && claim_needs[i].name; i++)
		names[i] = claim_needs[i].name;
	if (!need) {
		claim_complain(
		    r, n, "unknown need%s",
		    suggestion(name->kind == YNODE_SCALAR ? suggest(name->scalar, names) : NULL, text, sizeof(text)));
		return;
	}
	if (need->counts != (count != NULL)) {
		claim_complain(r, n, need->counts ? "'%s' wants a number: {%s: 4}" : "'%s' takes no number", need->name,
			       need->name);
		return;
	}
	if (count &&
	    (count->kind != YNODE_SCALAR || unit_parse(UNIT_ONE, count->scalar, &number, NULL, 0) || number < 1))
		claim_complain(r, count, "'%s' wants a number such as 4", need->name);
	j = json_pack("{s:s}", "need", need->name);
	if (count)
		json_object_set_new(j, "count", json_integer(number));
	json_array_append_new(needs, j);
}

static void read_needs(struct claim_reader *r, const struct ynode *n)
{
	json_t *needs = json_object_get(r->claim, "needs");

	if (n->kind != YNODE_SEQUENCE) {
		claim_complain(r, n, "'needs' wants a list such as [hca, {cpus: 4}]");
		return;
	}
	for (size_t i = 0; i < n->count; i++)
		read_need(r, needs, n->items[i]);
}

static bool is_id(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return n > 0 && n <= 64 && !s[n];
}

static void read_id(struct claim_reader *r, const struct ynode *n)
{
	if (n->kind != YNODE_SCALAR || !is_id(n->scalar))
		claim_complain(r, n, "'id' wants up to 64 lower-case letters, digits, '-' and '_'");
	else
		json_object_set_new(r->claim, "id", json_string(n->scalar));
}

static void read_text(struct claim_reader *r, const char *key)
{
	const struct ynode *n = yaml_get(r->node, key);

	if (n && (n->kind != YNODE_SCALAR || strlen(n->scalar) > 1000))
		claim_complain(r, n, "'%s' wants a text of at most 1000 bytes", key);
	json_object_set_new(r->claim, key, json_string(n && n->kind == YNODE_SCALAR ? n->scalar : ""));
}

static void read_claim_text(struct claim_reader *r, const struct ynode *n)
{
	read_text(r, "claim");
	if (n->kind == YNODE_SCALAR && !*n->scalar)
		claim_complain(r, n, "'claim' is empty: it wants the sentence that is checked");
}

static void read_points(struct claim_reader *r, const struct ynode *n)
{
	json_t *conditions = claim_read_selection(r, n, "points", false);

	json_object_set_new(r->claim, "points", conditions);
	claim_check_selects(r, n, conditions, "points");
}

static void read_against(struct claim_reader *r, const struct ynode *n)
{
	const struct ynode *experiment = yaml_get(n, "experiment"), *metric = yaml_get(n, "metric");
	json_t *conditions = claim_read_selection(r, n, "against", true), *against;

	if (experiment && (experiment->kind != YNODE_SCALAR || !is_id(experiment->scalar)))
		claim_complain(r, experiment, "'experiment' wants the name of an experiment");
	if (metric)
		claim_check_metric(r, metric);
	against = json_pack("{s:n, s:O?, s:o}", "experiment", "metric", json_object_get(r->claim, "metric"), "points",
			    conditions);
	if (experiment && experiment->kind == YNODE_SCALAR)
		json_object_set_new(against, "experiment", json_string(experiment->scalar));
	else
		claim_check_selects(r, n, conditions, "against");
	if (metric && metric->kind == YNODE_SCALAR)
		json_object_set_new(against, "metric", json_string(metric->scalar));
	json_object_set_new(r->claim, "against", against);
}

static void read_by(struct claim_reader *r, const struct ynode *n)
{
	json_t *by = json_array();
	const struct opt *row;
	char key[96];

	if (n->kind != YNODE_SEQUENCE)
		claim_complain(r, n, "'by' wants a list of settings such as [qp]");
	for (size_t i = 0; n->kind == YNODE_SEQUENCE && i < n->count; i++)
		if (claim_read_key(r, n->items[i], &row, key, sizeof(key)))
			json_array_append_new(by, json_string(key));
	json_object_set_new(r->claim, "by", by);
}

/* Keys in the order in which they are read; NULL: read with others, or plain texts. */
static const struct {
	const char *name;
	bool required;
	void (*read)(struct claim_reader *r, const struct ynode *n);
} keys[] = {
    {"id", true, read_id},
    {"claim", true, read_claim_text},
    {"source", false, NULL},
    {"measured_by_source", false, NULL},
    {"metric", true, claim_read_metric},
    {"points", true, read_points},
    {"against", false, read_against},
    {"by", false, read_by},
    {"needs", false, read_needs},
    {"ratio", false, NULL},
    {"difference", false, NULL},
    {"value", false, NULL},
    {"order", false, NULL},
    {"along", false, NULL},
    {"tolerance", false, NULL},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static void check_keys(struct claim_reader *r)
{
	const char *names[KEYS + 1] = {NULL};
	char text[SUGGESTION_MAX];

	for (size_t k = 0; k < KEYS; k++)
		names[k] = keys[k].name;
	for (size_t i = 0; i < r->node->count; i++) {
		const struct ynode *key = r->node->keys[i];
		size_t k = 0;

		while (k < KEYS && strcmp(names[k], key->scalar))
			k++;
		if (k == KEYS)
			claim_complain(r, key, "unknown key '%.64s' of a claim%s", key->scalar,
				       suggestion(suggest(key->scalar, names), text, sizeof(text)));
	}
}

static json_t *read_claim(struct claim_reader *r)
{
	r->claim = json_pack("{s:s, s:s, s:s, s:s, s:n, s:{}, s:n, s:n, s:s, s:n, s:n, s:n, s:f, s:[]}", "id", "",
			     "claim", "", "source", "", "measured_by_source", "", "metric", "points", "against", "by",
			     "relation", "", "min", "max", "along", "tolerance", 0.0, "needs");
	check_keys(r);
	for (size_t k = 0; k < KEYS; k++) {
		const struct ynode *n = yaml_get(r->node, keys[k].name);

		if (!n && keys[k].required)
			claim_complain(r, r->node, "'%s' of a claim is missing", keys[k].name);
		if (n && keys[k].read)
			keys[k].read(r, n);
	}
	read_text(r, "source");
	read_text(r, "measured_by_source");
	claim_read_relation(r);
	return r->claim;
}

static bool has_id(const json_t *claims, const json_t *id)
{
	const json_t *claim;
	size_t i;

	json_array_foreach (claims, i, claim)
		if (json_equal(json_object_get(claim, "id"), id))
			return *json_string_value(id) != '\0';
	return false;
}

json_t *spec_claims_read(const struct ynode *root, const json_t *points, bool whole, struct diag *d)
{
	const struct ynode *all = yaml_get(root, "claims");
	struct claim_reader r = {.d = d, .points = points, .whole = whole};
	json_t *claims = json_array();

	if (!all)
		return claims;
	if (all->kind != YNODE_SEQUENCE || all->count > SPEC_MAX_CLAIMS) {
		diag_add(d, all->line, all->column, "'claims' wants a list of at most %d claims, each a mapping",
			 SPEC_MAX_CLAIMS);
		return claims;
	}
	for (size_t i = 0; i < all->count; i++) {
		json_t *claim;

		r.node = all->items[i];
		if (r.node->kind != YNODE_MAPPING) {
			claim_complain(&r, r.node, "a claim wants a mapping with 'id', 'claim', 'metric', 'points', …");
			continue;
		}
		claim = read_claim(&r);
		if (has_id(claims, json_object_get(claim, "id")))
			claim_complain(&r, yaml_get(r.node, "id"), "a claim with this 'id' stands above already");
		json_array_append_new(claims, claim);
	}
	return claims;
}
