/*
 * The worst late messages of a run, with what happened meanwhile, for viewers of traces (Perfetto, chrome://tracing): the
 * Trace Event Format, in JSON.
 */
#ifndef KBLAT_ANALYSIS_EXPLAIN_TRACE_H
#define KBLAT_ANALYSIS_EXPLAIN_TRACE_H

#include <jansson.h>

#include "files/rundir/reader.h"

struct err;

/*
 * {"displayTimeUnit", "traceEvents"}: a process for each flow and repetition, with a track for each side or thread, on
 * which the parts of the worst messages (at most `worst` of a flow) are slices; the messages themselves are asynchronous
 * slices. Times are in us since the run's t0. NULL: -ENODATA and STATUS_NO if nothing was to be explained, or another
 * error.
 */
json_t *explain_trace(const struct run *run, long long point, size_t worst, struct err *e);

#endif
