/*
 * Logs of HdrHistogram: a line for each interval, with its histogram in the encoding V2, compressed and in base64.
 */
#ifndef KBLAT_IMPORT_FORMAT_HDR_H
#define KBLAT_IMPORT_FORMAT_HDR_H

#include "measure/import/reading.h"

int read_hdr(struct reading *r, struct err *e);

#endif
