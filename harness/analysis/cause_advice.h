/*
 * What can be done about a cause.
 */
#ifndef KBLAT_ANALYSIS_CAUSE_ADVICE_H
#define KBLAT_ANALYSIS_CAUSE_ADVICE_H

#include "analysis/cause.h"

/* What removes or moves it, as a phrase: knobs of kbtune, boot parameters, settings. "" if nothing does. */
const char *cause_advice(const struct cause *c);

#endif
