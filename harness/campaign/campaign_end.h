/*
 * The end of a campaign: all runs that there are, judged together; what became of each experiment, and what is left.
 */
#ifndef KBLAT_CAMPAIGN_END_H
#define KBLAT_CAMPAIGN_END_H

#include "campaign/campaign_record.h"
#include "common/err.h"

/* Writes claims.json, claims.tsv and campaign.json, prints the table and, as the last line, the directory. */
enum status campaign_end(struct campaign *c, struct err *e);

/* The state of each experiment, a line each. */
void campaign_end_print(const struct campaign *c);

#endif
