#include "analysis/storing.h"

#include <string.h>

static json_t *per_second(json_int_t bytes, json_int_t ns)
{
	return ns > 0 ? json_real((double)bytes / ((double)ns / 1e9)) : json_null();
}

static json_t *storing_json(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted)
{
	const char *sink = json_string_value(json_object_get(f->params, "sink"));
	json_int_t bytes = 0, ns = 0, write_ns = 0, waits = 0;

	(void)granted;
	if (!sink || strcmp(sink, "file"))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		bytes += rep_counter(&reps[i], "sink", "stored_bytes");
		ns += rep_counter(&reps[i], "sink", "store_ns");
		write_ns += rep_counter(&reps[i], "sink", "store_write_ns");
		waits += rep_counter(&reps[i], "sink", "store_waits");
	}
	return json_pack("{s:I, s:o, s:o, s:I}", "stored_bytes", bytes, "bytes_per_s", per_second(bytes, ns),
			 "write_bytes_per_s", per_second(bytes, write_ns), "waits", waits);
}

static const struct block_statistic storing_statistics[] = {
    {.key = "stored_bytes", .label = "stored", .measure = MEASURE_BYTES, .help = "what was written"},
    {.key = "bytes_per_s",
     .label = "bytes/s",
     .measure = MEASURE_BYTES,
     .worse = -1,
     .help = "stored bytes per second of elapsed time"},
    {.key = "write_bytes_per_s",
     .label = "bytes/s in write()",
     .measure = MEASURE_BYTE_RATE,
     .worse = -1,
     .help = "stored bytes per second of time inside write()"},
    {.key = "waits",
     .label = "waits",
     .measure = MEASURE_COUNT,
     .worse = 1,
     .help = "samples that had to wait for the file"},
    {.key = NULL},
};

const struct block storing_block = {
    .name = "sink",
    .make = storing_json,
    .statistics = storing_statistics,
};
