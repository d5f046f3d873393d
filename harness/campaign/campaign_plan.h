/*
 * What `kblat run STUDY --dry-run` prints: the experiments, how long each is expected to take, and what a budget leaves.
 */
#ifndef KBLAT_CAMPAIGN_PLAN_H
#define KBLAT_CAMPAIGN_PLAN_H

#include "campaign/campaign.h"
#include "campaign/campaign_study.h"

enum status campaign_plan_show(const struct study *s, const struct campaign_options *o);

#endif
