/*
 * A campaign in progress: campaign.json, its directory, and what is to be done with it.
 */
#ifndef KBLAT_CAMPAIGN_RECORD_H
#define KBLAT_CAMPAIGN_RECORD_H

#include <jansson.h>
#include <stdbool.h>

#include "campaign/campaign_budget.h"

struct err;

struct campaign {
	char *path;
	json_t *j; /* campaign.json */
	int lock;
	bool json;	       /* nothing but JSON on standard output */
	const char *verbosity; /* as in campaign_options */
	struct budget budget;
};

int record_save(const struct campaign *c, struct err *e);

/* Of an experiment (or another run that is recorded likewise), or how many of them are in that state. */
bool record_is_state(const json_t *x, const char *state);
void record_set_state(json_t *x, const char *state, const char *why);

/* Its run was interrupted or has failed: it is moved to "earlier", and no longer counts. */
void record_put_away(json_t *x);
size_t record_count(const struct campaign *c, const char *state);

#endif
