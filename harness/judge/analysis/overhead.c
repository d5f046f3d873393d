/*
 * The overhead of messages on the wire: their payload compared with the bytes that the RDMA port or
 * the network interface of the source counted meanwhile. The latter include headers,
 * acknowledgements in the same direction, and any other traffic.
 *
 * {"payload_bytes", "raw_bytes", "factor", "percent", "bytes_per_s", "why"}: if there is no byte
 * counter, the values that depend on it are null, and "why" gives the reason. Messages to the sink
 * are compared with transmitted bytes, messages from it with received ones.
 */
#include <stdint.h>

#include "common/fs.h"
#include "judge/analysis/summary.h"

/* Byte counters; those of InfiniBand are in units of four bytes (InfiniBand Architecture 1, 16.1.3.5). */
static const struct {
	const char *sent, *received;
	json_int_t unit;
} counters[] = {{"port_xmit_data", "port_rcv_data", 4}, {"tx_bytes", "rx_bytes", 1}};

struct overhead {
	json_int_t payload, raw, ns;
	const char *why; /* NULL: everything is known */
};

static json_int_t overhead_counter(const struct rep *r, const char *when, const char *key)
{
	const json_t *source = json_object_get(json_object_get(r->counters, "device"), "source");
	const json_t *count = json_object_get(json_object_get(source, when), key);

	return json_is_integer(count) ? json_integer_value(count) : -1;
}

/* The increase of a counter in bytes; -1 if it is unknown. */
static json_int_t rise(const struct rep *r, const char *key, json_int_t unit, const char **why)
{
	json_int_t before = overhead_counter(r, "before", key), after = overhead_counter(r, "after", key), bytes;

	if (before < 0 || after < 0)
		return -1;
	/* Counters of old ports stop at 2^32 - 1. */
	if (after >= before && after != UINT32_MAX && !__builtin_mul_overflow(after - before, unit, &bytes))
		return bytes;
	*why = "the byte counter overflowed, or was reset meanwhile";
	return -1;
}

/* The bytes of a repetition, in the directions of its messages; -1 if unknown. */
static json_int_t raw_bytes(const struct layout_flow *f, const struct rep *r, const char **why)
{
	*why = f->traits.device ? "the RDMA port has no byte counter"
				: "the messages only crossed the loopback interface, which has no wire";
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		json_int_t sent = f->wire.out_bytes ? rise(r, counters[i].sent, counters[i].unit, why) : 0;
		json_int_t received = f->wire.in_bytes ? rise(r, counters[i].received, counters[i].unit, why) : 0;

		if (sent >= 0 && received >= 0)
			return sent + received;
	}
	return -1;
}

static json_int_t payload_bytes(const struct layout_flow *f, const struct rep *r)
{
	json_int_t posted = rep_counter(r, "source", "posted");
	json_int_t answers = f->wire.fetches ? posted : rep_counter(r, "sink", "posted");

	return posted * f->wire.out_bytes + answers * f->wire.in_bytes;
}

static void overhead_add(struct overhead *t, const struct layout_flow *f, const struct rep *r)
{
	const json_int_t payload = payload_bytes(f, r);
	const char *why;
	json_int_t raw = raw_bytes(f, r, &why);

	if (raw >= 0 && raw < payload) {
		raw = -1;
		why = "fewer bytes were counted than the messages have: they took another path";
	}
	t->payload += payload;
	t->ns += rep_counter(r, "source", "duration_ns");
	if (raw < 0)
		t->why = why;
	else
		t->raw += raw;
}

static struct number quotient(const struct overhead *t, double dividend, double divisor)
{
	return !t->why && divisor > 0 ? number_real(dividend / divisor) : number_none();
}

static bool overhead_make(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted,
			  struct summary_block *out)
{
	struct overhead t = {.payload = 0};
	struct number *n = out->numbers;

	(void)granted;
	if (!f->wire.out_bytes && !f->wire.in_bytes)
		return false;
	for (size_t i = 0; i < count; i++)
		overhead_add(&t, f, &reps[i]);
	n[WIRE_PAYLOAD_BYTES] = number_integer(t.payload);
	n[WIRE_RAW_BYTES] = t.why ? number_none() : number_integer(t.raw);
	n[WIRE_FACTOR] = quotient(&t, (double)t.raw, (double)t.payload);
	n[WIRE_PERCENT] = quotient(&t, 100.0 * (double)(t.raw - t.payload), (double)t.payload);
	n[WIRE_BYTES_PER_S] = quotient(&t, (double)t.raw * 1e9, (double)t.ns);
	out->why = t.why ? fs_path("%s", t.why) : NULL;
	return true;
}

static const struct block_statistic overhead_statistics[] = {
    {.key = "payload_bytes",
     .number = WIRE_PAYLOAD_BYTES,
     .label = "payload bytes",
     .measure = MEASURE_BYTES,
     .help = "bytes of the messages"},
    {.key = "raw_bytes",
     .number = WIRE_RAW_BYTES,
     .label = "bytes on the wire",
     .measure = MEASURE_BYTES,
     .in_csv = true,
     .shown = SHOWN_REPORT,
     .help = "bytes counted by the port or the interface"},
    {.key = "factor",
     .number = WIRE_FACTOR,
     .label = "overhead factor",
     .measure = MEASURE_RATIO,
     .in_csv = true,
     .shown = SHOWN_REPORT,
     .worse = 1,
     .help = "bytes on the wire, divided by bytes of the messages"},
    {.key = "percent",
     .number = WIRE_PERCENT,
     .label = "% overhead",
     .measure = MEASURE_RATIO,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .drop_order = 4,
     .help = "additional bytes on the wire, in percent of the messages' bytes"},
    {.key = "bytes_per_s",
     .number = WIRE_BYTES_PER_S,
     .label = "MB/s on the wire",
     .measure = MEASURE_BYTE_RATE,
     .help = "bytes on the wire per second of the source's loop"},
    {.key = NULL},
};

const struct block overhead_block = {
    .name = "wire",
    .in_reps = true,
    .make = overhead_make,
    .statistics = overhead_statistics,
};
