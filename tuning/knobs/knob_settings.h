/*
 * Splits a profile into its knobs, so that some of them can be applied: each knob in a form that can be used in another
 * profile, with its cost.
 */
#ifndef KBLAT_TUNING_KNOB_SETTINGS_H
#define KBLAT_TUNING_KNOB_SETTINGS_H

#include <jansson.h>

#include "tuning/profile/profile.h"
#include "tuning/steps/plan.h"

/*
 * plan_to_json() with "settings": [{"knob": the key, "name": for people, "setting": {key: value},
 * "cost": a text or "", "folder": that of the file which contains it}]. Included profiles are part
 * of it; each name of sysctl, sysfs and offloads is a separate knob. `interfaces` is no knob, and part of the setting of
 * each knob of cards. Values are texts, as they were written.
 */
json_t *knob_settings_plan(const struct plan *plan, const struct profile *profile);

#endif
