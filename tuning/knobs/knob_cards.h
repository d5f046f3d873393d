/*
 * The network cards that a profile's settings of cards are for: those that `interfaces` names, or all.
 */
#ifndef KBLAT_TUNING_KNOB_CARDS_H
#define KBLAT_TUNING_KNOB_CARDS_H

struct planner;

/* Their names, NULL-terminated. If there are none, the plan says so for the knob. */
char *const *knob_cards_of(struct planner *p, const char *knob);

#endif
