/*
 * Which number of a point a claim is about: "lat_ns.p50", and what it is measured in.
 */
#ifndef KBLAT_SPEC_CLAIMS_METRIC_H
#define KBLAT_SPEC_CLAIMS_METRIC_H

#include "common/units.h"
#include "spec/spec_claims_reader.h"

/* What a statistic is measured in: the series' unit, a share, or messages. */
enum measure { MEASURE_SERIES, MEASURE_SHARE, MEASURE_COUNT };

/* Check it and keep it. */
void claim_reader_metric(struct claim_reader *r, const struct ynode *n, struct claim_metric *m);

/* Of a metric that was read; `*unit`: the series'. */
enum measure claim_metric_measure(const struct claim_metric *m, enum unit *unit);

#endif
