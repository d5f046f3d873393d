/*
 * Values of a network card that its driver lets be set: channels, rings, coalescing, offloads.
 */
#ifndef KBLAT_TUNING_OP_CARD_H
#define KBLAT_TUNING_OP_CARD_H

#include <jansson.h>
#include <stdbool.h>

#include "tuning/ops/ops.h"

struct ethtool_group;
struct machine;
struct plan;

/*
 * A step for a card that is to have some values ({name: text}; "max": the maximum that its driver names); what it does not
 * have is recorded as not possible. NULL if nothing is left.
 */
struct step *op_card_plan(struct plan *plan, const struct machine *m, const char *knob, const char *card,
			  const struct ethtool_group *g, const json_t *want);

/* A step that changes nothing, and puts all values of the group back as they are now; none if the card has none. */
void op_card_plan_to_keep(struct plan *plan, const struct machine *m, const char *knob, const char *card,
			  const struct ethtool_group *g);

/* The receive or send queues that the card will have after a step of its channels; -1 if there is no such step. */
long op_card_queues(const struct plan *plan, const char *card, bool receive);

#endif
