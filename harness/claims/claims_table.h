/*
 * Prints verdicts as tables.
 */
#ifndef KBLAT_CLAIMS_CLAIMS_TABLE_H
#define KBLAT_CLAIMS_CLAIMS_TABLE_H

#include <stdio.h>

#include "claims/claim_verdict.h"

/* For reading, 100 columns wide; with the experiment if there are several. */
void claims_table(const struct claim_verdicts *v, FILE *out);

/* Tab-separated, for papers and spreadsheets: experiment, id, claim, source, measured_by_source,
 * metric, wanted, measured, verdict, why. */
void claims_tsv(const struct claim_verdicts *v, FILE *out);

#endif
