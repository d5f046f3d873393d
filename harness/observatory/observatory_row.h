/*
 * One row of Observatory's results: the values of a repetition of a point, under the names used by
 * Observatory.
 */
#ifndef KBLAT_OBSERVATORY_ROW_H
#define KBLAT_OBSERVATORY_ROW_H

#include <jansson.h>

#include "observatory/observatory_operations.h"
#include "rundir/reader.h"

struct err;

/*
 * {"OperationThroughput": 1/s, "DataThroughput": bytes/s} for a throughput; otherwise
 * {"OperationThroughput", "AverageLatency", "50thLatency", …} in seconds. If bytes on the wire were
 * counted, also "DataOverheadFactor" and so on. `point` and `rep`: from summary.json. Quantiles are
 * nearest-rank, and always given, however few samples there are. New reference, or NULL.
 */
json_t *observatory_row_values(const struct run *run, const struct observatory_operation *o, const json_t *point,
			       const json_t *rep, struct err *e);

#endif
