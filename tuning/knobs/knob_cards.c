#include "tuning/knobs/knob_cards.h"

#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "tuning/knobs/knob.h"
#include "tuning/machine/cards.h"
#include "tuning/machine/machine.h"

char *const *knob_cards_of(struct planner *p, const char *knob)
{
	if (!p->cards)
		p->cards = cards_list(p->m);
	if (!*p->cards)
		plan_missing(p->plan, knob, "network cards", "there are none here (interfaces with a device)");
	return p->cards;
}

static void fault_unknown(struct planner *p, const struct setting *s, const struct ynode *n)
{
	char **names = cards_list(p->m), quoted[TEXT_QUOTE_MAX], hint[SUGGESTION_MAX];

	setting_fault(s, n, "there is no network interface %s here%s", text_quote(n->scalar, quoted, sizeof(quoted)),
		      suggestion(suggest(n->scalar, (const char *const *)names), hint, sizeof(hint)));
	sysroot_names_free(names);
}

static bool is_among(char *const *names, const char *name)
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
		fault_unknown(p, s, n);
	else if (!is_among(p->cards, n->scalar)) {
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
