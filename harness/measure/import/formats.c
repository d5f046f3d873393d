#include "measure/import/formats.h"

#include <string.h>

#include "common/err.h"

const struct import_format import_formats[] = {
    {"csv", "a column of a file of comma-separated values, and the like (also kblat export --samples)", true, true,
     read_csv},
    {"cyclictest", "cyclictest -v: each wake-up, a repetition for each thread", false, true, read_cyclic_lines},
    {"cyclictest-hist", "cyclictest -h N, or --histfile: histograms, a repetition for each thread", false, true,
     read_cyclic_histogram},
    {"cyclictest-json", "cyclictest -h N --json=FILE: histograms, a repetition for each thread", false, false,
     read_cyclic_json},
    {"fio", "fio --write_lat_log: its clat log, not averaged", true, true, read_fio},
    {"fio-json", "fio --output-format=json+: the histogram of clat, or another", true, false, read_fio_json},
    {"hdr", "logs of HdrHistogram, or its histograms in base64", true, true, read_hdr},
    {"hdr-percentiles", "HdrHistogram's list of percentiles, as wrk2 prints it, of which they are bins", false, true,
     read_hdr_percentiles},
    {"netperf", "netperf -v 2, configured with --enable-histogram: its histogram", false, false, read_netperf},
    {"perftest", "ib_send_lat -U and its like: every sample in order", false, false, read_perftest},
    {"rtla", "rtla timerlat hist, rtla osnoise hist: histograms, a repetition for each CPU", true, false, read_rtla},
    {"sockperf", "sockperf ping-pong (or under-load) --full-log FILE", false, false, read_sockperf},
    {"ucx_perftest", "refused: its reports have averages and one percentile, no samples", false, false, read_ucx},
    {.name = NULL},
};

const struct import_format *format_find(const char *name)
{
	for (const struct import_format *f = import_formats; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

int format_read(const struct import_format *f, struct reading *r, struct err *e)
{
	struct err why = ERR_INIT;
	int rc = f->read(r, e);

	reading_resolve(r);
	reading_free(r);
	if (!rc)
		rc = samples_end(r->to, &why);
	if (why.status)
		err_set(e, rc, why.status, r->path, NULL, "%s", why.text);
	return rc;
}
