#include "tuning/knobs/knob_cards.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/units.h"
#include "tuning/knobs/knob.h"
#include "tuning/machine/cards.h"
#include "tuning/machine/ethtool.h"
#include "tuning/machine/machine.h"
#include "tuning/ops/op_card.h"
#include "tuning/ops/op_file.h"

char *const *knob_cards_of(struct planner *p, const char *knob)
{
	if (!p->cards)
		p->cards = cards_list(p->m);
	if (!*p->cards)
		plan_missing(p->plan, knob, "network cards", "there are none here (interfaces with a device)");
	return p->cards;
}

static void fault_card(struct planner *p, const struct setting *s, const struct ynode *n)
{
	char **names = cards_list(p->m), quoted[TEXT_QUOTE_MAX], hint[SUGGESTION_MAX];

	setting_fault(s, n, "there is no network interface %s here%s", text_quote(n->scalar, quoted, sizeof(quoted)),
		      suggestion(suggest(n->scalar, (const char *const *)names), hint, sizeof(hint)));
	sysroot_names_free(names);
}

static bool is_card_taken(char *const *names, const char *name)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names != NULL;
}

static void take_card(struct planner *p, const struct setting *s, const struct ynode *n, size_t *count)
{
	if (n->kind != YNODE_SCALAR)
		setting_must_be(s, n, s->key, "all, an interface such as eth0, or a list of these");
	else if (!strcmp(n->scalar, "lo"))
		setting_fault(s, n, "'lo' is no network card");
	else if (!cards_has(p->m, n->scalar))
		fault_card(p, s, n);
	else if (!is_card_taken(p->cards, n->scalar)) {
		p->cards = or_abort(reallocarray(p->cards, *count + 2, sizeof(*p->cards)));
		p->cards[(*count)++] = fs_path("%s", n->scalar);
		p->cards[*count] = NULL;
	}
}

void knob_cards_plan(struct planner *p, const struct setting *s, const struct knob *k)
{
	size_t count = 0;

	(void)k;
	if (setting_is_word(s->value, "all"))
		return;
	p->cards = or_abort(calloc(1, sizeof(*p->cards)));
	if (s->value->kind != YNODE_SEQUENCE)
		take_card(p, s, s->value, &count);
	for (size_t i = 0; s->value->kind == YNODE_SEQUENCE && i < s->value->count; i++)
		take_card(p, s, s->value->items[i], &count);
}

/* --- what drivers let be set --- */

/* ethtool's short names for offloads, and which of the kernel's they are. */
static const struct {
	const char *name, *pattern;
} short_names[] = {
    {"rx", "rx-checksum"},
    {"tx", "tx-checksum-*"},
    {"sg", "tx-scatter-gather*"},
    {"tso", "tx-tcp*-segmentation"},
    {"gso", "tx-generic-segmentation"},
    {"gro", "rx-gro"},
    {"lro", "rx-lro"},
    {"rxvlan", "rx-vlan-hw-parse"},
    {"txvlan", "tx-vlan-hw-insert"},
    {"ntuple", "rx-ntuple-filter"},
    {"rxhash", "rx-hashing"},
};

/* A value for the group's field, or NULL and a fault. */
static json_t *read_field(const struct setting *s, const struct ethtool_field *f, const struct ynode *key,
			  const struct ynode *value)
{
	char text[16];
	int64_t n;

	if (!f || f->is_switch)
		return json_string(setting_is_on(s, value, key->scalar) ? "on" : "off");
	if (f->maximum && setting_is_word(value, "max"))
		return json_string("max");
	if (value->kind != YNODE_SCALAR || unit_read(UNIT_ONE, value->scalar, &n) != UNIT_FINE || n < 0 ||
	    n > UINT32_MAX) {
		setting_must_be(s, value, key->scalar, f->maximum ? "a number from 0, or max" : "a number from 0");
		return NULL;
	}
	snprintf(text, sizeof(text), "%lld", (long long)n);
	return json_string(text);
}

static void check_field_names(const struct setting *s, const struct ethtool_group *g)
{
	const char *names[32] = {NULL};
	size_t count = 0;

	for (const struct ethtool_field *f = g->fields; f && f->name && count < 31; f++)
		names[count++] = f->name;
	if (g->fields)
		setting_check_keys(s, s->value, names);
}

/* {name: text}: what is asked for. */
static json_t *read_group(const struct setting *s, const struct ethtool_group *g)
{
	json_t *want = json_object();

	check_field_names(s, g);
	for (size_t i = 0; i < s->value->count; i++) {
		const struct ynode *key = s->value->keys[i];
		const struct ethtool_field *f = ethtool_field(g, key->scalar);

		if (f || !g->fields)
			json_object_set_new(want, key->scalar, read_field(s, f, key, s->value->items[i]));
	}
	return want;
}

static const char *pattern_of(const char *name)
{
	for (size_t i = 0; i < sizeof(short_names) / sizeof(short_names[0]); i++)
		if (!strcmp(short_names[i].name, name))
			return short_names[i].pattern;
	return name;
}

/* The card's own names for an offload: those that can be changed, if any, else all. */
static void add_offloads(const json_t *all, const char *asked, json_t *value, json_t *want)
{
	const char *pattern = pattern_of(asked), *name;
	bool any = false, changeable = false;
	json_t *now;

	json_object_foreach ((json_t *)all, name, now)
		if (!fnmatch(pattern, name, 0)) {
			any = true;
			changeable |= !strchr(json_string_value(now), ' ');
		}
	json_object_foreach ((json_t *)all, name, now)
		if (!fnmatch(pattern, name, 0) && changeable == !strchr(json_string_value(now), ' '))
			json_object_set(want, name, value);
	if (!any)
		json_object_set(want, asked, value);
}

/* As the kernel calls them: a new object. */
static json_t *expand_offloads(const struct planner *p, const char *card, const json_t *asked)
{
	json_t *want = json_object(), *all = NULL, *value;
	const char *name;
	char why[256];

	cards_read(p->m, card, &ethtool_offloads, &all, why, sizeof(why));
	json_object_foreach ((json_t *)asked, name, value)
		add_offloads(all, name, value, want);
	json_decref(all);
	return want;
}

static bool would_change(const struct planner *p, const char *card, const struct ethtool_group *g, const json_t *want)
{
	struct plan scratch;
	const struct step *s;
	bool would;

	plan_init(&scratch, "", "");
	s = op_card_plan(&scratch, p->m, "", card, g, want);
	would = s && strcmp(s->before, s->after) != 0;
	plan_free(&scratch);
	return would;
}

static void keep_masks(struct planner *p, const char *knob, const char *card, const char *files)
{
	char *pattern = fs_path(CARDS "/%s/%s", card, files), **paths;
	int n = sysroot_glob(&p->m->root, pattern, &paths);

	for (int i = 0; i < n; i++)
		op_file_plan_to_keep(p->plan, p->m, knob, paths[i], FORM_MASK);
	if (n >= 0)
		sysroot_names_free(paths);
	free(pattern);
}

static bool is_card_kept(const struct planner *p, const char *card)
{
	for (size_t i = 0; i < p->plan->step_count; i++) {
		const struct step *s = &p->plan->steps[i];

		if (s->op == &op_card && !strcmp(step_text(s, "card"), card) && json_object_get(s->data, "keep"))
			return true;
	}
	return false;
}

/*
 * Other channels or rings reset in many drivers what is set for each queue, and a queue that goes takes its masks along.
 * Steps are undone in reverse, so what is kept here is put back when channels and rings are as they were: rings,
 * coalescing, then the masks of queues that are there again.
 */
static void keep_others(struct planner *p, const char *knob, const char *card, const struct ethtool_group *g)
{
	if (is_card_kept(p, card))
		return;
	keep_masks(p, knob, card, "queues/tx-[0-9]*/xps_cpus");
	keep_masks(p, knob, card, "queues/rx-[0-9]*/rps_cpus");
	op_card_plan_to_keep(p->plan, p->m, knob, card, &ethtool_coalesce);
	op_card_plan_to_keep(p->plan, p->m, knob, card, g == &ethtool_channels ? &ethtool_rings : g);
}

void knob_cards_plan_group(struct planner *p, const struct setting *s, const struct knob *k)
{
	const struct ethtool_group *g = k->row;
	json_t *asked;

	if (s->value->kind != YNODE_MAPPING || !s->value->count) {
		setting_must_be(s, s->value, s->key, "a mapping {name: value}");
		return;
	}
	asked = read_group(s, g);
	for (char *const *card = knob_cards_of(p, k->key); *card && !profile_has_faults(p->profile); card++) {
		json_t *want = g->fields ? json_incref(asked) : expand_offloads(p, *card, asked);

		if ((g == &ethtool_channels || g == &ethtool_rings) && would_change(p, *card, g, want))
			keep_others(p, k->key, *card, g);
		op_card_plan(p->plan, p->m, k->key, *card, g, want);
		json_decref(want);
	}
	json_decref(asked);
}
