/*
 * One row of Observatory's results: what a repetition of a point says, under the names that Observatory has for it.
 */
#ifndef KBLAT_OBSERVATORY_ROW_H
#define KBLAT_OBSERVATORY_ROW_H

#include <jansson.h>

#include "observatory/observatory_operations.h"
#include "rundir/reader.h"

struct err;

/*
 * {"OperationThroughput": 1/s, "DataThroughput": bytes/s} of a throughput, else {"OperationThroughput", "AverageLatency",
 * "50thLatency", …} in seconds; where bytes on the wire were counted, "DataOverheadFactor" and its like, too. `point` and
 * `rep`: of summary.json. Quantiles are nearest rank and always given, however few samples there are. New reference, or
 * NULL.
 */
json_t *observatory_row_values(const struct run *run, const struct observatory_operation *o, const json_t *point,
			       const json_t *rep, struct err *e);

#endif
