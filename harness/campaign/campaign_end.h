/*
 * The end of a campaign: judges all runs together, and reports the outcome of each experiment and what is left.
 */
#ifndef KBLAT_CAMPAIGN_END_H
#define KBLAT_CAMPAIGN_END_H

#include "campaign/campaign_record.h"
#include "common/err.h"

/* Writes claims.json, claims.tsv and campaign.json, prints the table and, as the last line, the directory. */
enum status campaign_end(struct campaign *c, struct err *e);

/* Prints the state of each experiment on a line. */
void campaign_end_print(const struct campaign *c);

#endif
