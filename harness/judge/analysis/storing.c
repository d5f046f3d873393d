/*
 * How fast the samples of a point were written to a file.
 *
 * {"stored_bytes", "bytes_per_s", "write_bytes_per_s", "waits"}: the total, the rate over the time
 * that passed, the rate over the time inside write(), and the number of samples that waited for it.
 */
#include "judge/analysis/summary.h"

static struct number stored_per_second(json_int_t bytes, json_int_t ns)
{
	return ns > 0 ? number_real((double)bytes / ((double)ns / 1e9)) : number_none();
}

static bool storing_make(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted,
			 struct summary_block *out)
{
	json_int_t bytes = 0, ns = 0, write_ns = 0, waits = 0;

	(void)granted;
	if (!f->traits.rules.stores)
		return false;
	for (size_t i = 0; i < count; i++) {
		bytes += rep_counter(&reps[i], "sink", "stored_bytes");
		ns += rep_counter(&reps[i], "sink", "store_ns");
		write_ns += rep_counter(&reps[i], "sink", "store_write_ns");
		waits += rep_counter(&reps[i], "sink", "store_waits");
	}
	out->numbers[STORED_BYTES] = number_integer(bytes);
	out->numbers[STORED_BYTES_PER_S] = stored_per_second(bytes, ns);
	out->numbers[STORED_WRITE_BYTES_PER_S] = stored_per_second(bytes, write_ns);
	out->numbers[STORED_WAITS] = number_integer(waits);
	return true;
}

static const struct block_statistic storing_statistics[] = {
    {.key = "stored_bytes",
     .number = STORED_BYTES,
     .label = "stored",
     .measure = MEASURE_BYTES,
     .help = "what was written"},
    {.key = "bytes_per_s",
     .number = STORED_BYTES_PER_S,
     .label = "bytes/s",
     .measure = MEASURE_BYTES,
     .worse = -1,
     .help = "stored bytes per second of elapsed time"},
    {.key = "write_bytes_per_s",
     .number = STORED_WRITE_BYTES_PER_S,
     .label = "bytes/s in write()",
     .measure = MEASURE_BYTE_RATE,
     .worse = -1,
     .help = "stored bytes per second of time inside write()"},
    {.key = "waits",
     .number = STORED_WAITS,
     .label = "waits",
     .measure = MEASURE_COUNT,
     .worse = 1,
     .help = "samples that had to wait for the file"},
    {.key = NULL},
};

const struct block storing_block = {
    .name = "sink",
    .make = storing_make,
    .statistics = storing_statistics,
};
