/*
 * What is to hold, as a spec says it: ratio, difference, value or order, with its bounds, `along`
 * and `tolerance`.
 */
#ifndef KBLAT_SPEC_CLAIMS_RELATION_H
#define KBLAT_SPEC_CLAIMS_RELATION_H

#include "spec/spec_claims_reader.h"

/* The metric was read. */
void claim_reader_relation(struct claim_reader *r);

#endif
