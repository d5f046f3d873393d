/*
 * Histograms: of each bin its lower edge is taken, and how wide it is becomes the resolution. Samples beyond the last bin,
 * whose values nobody knows, are refused, as is what has only percentiles.
 */
#ifndef KBLAT_IMPORT_FORMAT_HISTOGRAMS_H
#define KBLAT_IMPORT_FORMAT_HISTOGRAMS_H

#include "measure/import/reading.h"

int read_cyclic_json(struct reading *r, struct err *e);
int read_cyclic_histogram(struct reading *r, struct err *e);
int read_fio_json(struct reading *r, struct err *e);
int read_netperf(struct reading *r, struct err *e);
int read_rtla(struct reading *r, struct err *e);
int read_ucx(struct reading *r, struct err *e); /* has neither samples nor a histogram */

#endif
