#include "tuning/knobs/knob.h"

#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/text.h"
#include "tuning/machine/cards.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/pci.h"
#include "tuning/ops/op_bind.h"

static void fault_unknown_card(struct planner *p, const struct setting *s, const struct ynode *n)
{
	char **names = cards_list(p->m), quoted[TEXT_QUOTE_MAX], hint[SUGGESTION_MAX];

	setting_fault(s, n, "there is no network card %s here: the PCI address of one, or an interface%s",
		      text_quote(n->scalar, quoted, sizeof(quoted)),
		      suggestion(suggest(n->scalar, (const char *const *)names), hint, sizeof(hint)));
	sysroot_names_free(names);
}

static bool is_known_driver(const struct ynode *n)
{
	for (const char *const *driver = op_bind_drivers; *driver; driver++)
		if (setting_is_word(n, *driver))
			return true;
	return false;
}

static bool is_planned(const struct plan *plan, const char *address)
{
	for (size_t i = 0; i < plan->step_count; i++)
		if (plan->steps[i].op == &op_bind && !strcmp(step_text(&plan->steps[i], "pci"), address))
			return true;
	return false;
}

static void plan_one(struct planner *p, const struct setting *s, const struct ynode *card, const struct ynode *driver)
{
	char *address = pci_find(p->m, card->scalar), quoted[TEXT_QUOTE_MAX];

	if (!address)
		fault_unknown_card(p, s, card);
	else if (!is_known_driver(driver))
		setting_must_be(s, driver, card->scalar, OP_BIND_DRIVERS);
	else if (is_planned(p->plan, address))
		setting_fault(s, card, "%s is the card %s, which has a driver already",
			      text_quote(card->scalar, quoted, sizeof(quoted)), address);
	else
		op_bind_plan(p->plan, p->m, s->key, address, driver->scalar, p->e);
	free(address);
}

void knob_bind_plan(struct planner *p, const struct setting *s, const struct knob *k)
{
	(void)k;
	if (s->value->kind != YNODE_MAPPING || !s->value->count)
		setting_must_be(s, s->value, s->key, "a mapping {card: driver}");
	for (size_t i = 0; s->value->kind == YNODE_MAPPING && i < s->value->count; i++)
		plan_one(p, s, s->value->keys[i], s->value->items[i]);
}
