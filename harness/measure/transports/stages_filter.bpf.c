/*
 * On the sink's socket: when each message was handed to it. A datagram begins with its number; over a stream it is the
 * last message that a segment completes, by the bytes since the repetition's first message. All packets pass.
 */
#include <linux/bpf.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "measure/transports/bpf_code.h"

#define PASS (-1) /* the whole packet */

const volatile struct stages_wanted wanted;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct stages_filter);
} filter SEC(".maps");

/* By message: CLOCK_MONOTONIC, 0: none. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* as many as messages */
	__type(key, uint32_t);
	__type(value, uint64_t);
} stamps SEC(".maps");

static struct stages_filter *the_filter(void)
{
	const uint32_t first = 0;

	return bpf_map_lookup_elem(&filter, &first);
}

/* The first stamp of a message counts. */
static void stamp(uint32_t message, uint64_t now)
{
	uint64_t *at = bpf_map_lookup_elem(&stamps, &message);

	if (at && !*at)
		*at = now;
}

/* Of the message whose number is at that offset. */
static bool number_at(struct __sk_buff *packet, uint32_t offset, uint32_t *number)
{
	uint8_t read[sizeof(*number)]; /* the lowest first */

	if (bpf_skb_load_bytes(packet, offset, read, sizeof(read)))
		return false;
	*number = read[0] | read[1] << 8 | read[2] << 16 | (uint32_t)read[3] << 24;
	return true;
}

SEC("socket")
int of_datagrams(struct __sk_buff *packet)
{
	const uint64_t now = bpf_ktime_get_ns();
	const struct stages_filter *f = the_filter();
	uint32_t number;

	if (f && number_at(packet, sizeof(struct udphdr), &number) && (number & ~wanted.sequence_mask) == f->repetition)
		stamp(number & wanted.sequence_mask, now);
	return PASS;
}

/* The repetition begins with the segment whose first byte is that of message 0. */
static bool has_begun(struct __sk_buff *packet, struct stages_filter *f, uint32_t offset, uint32_t sequence)
{
	uint32_t number;

	if (f->has_begun)
		return true;
	if (!number_at(packet, offset, &number) || number != f->repetition)
		return false;
	f->has_begun = 1;
	f->end = 0;
	f->last = sequence;
	return true;
}

SEC("socket")
int of_streams(struct __sk_buff *packet)
{
	const uint64_t now = bpf_ktime_get_ns();
	struct stages_filter *f = the_filter();
	struct tcphdr tcp;
	uint32_t offset, end;
	int32_t fresh;

	if (!f || bpf_skb_load_bytes(packet, 0, &tcp, sizeof(tcp)))
		return PASS;
	offset = tcp.doff * 4;
	if (!has_begun(packet, f, offset, bpf_ntohl(tcp.seq)))
		return PASS;
	end = bpf_ntohl(tcp.seq) + packet->len - offset;
	fresh = (int32_t)(end - (uint32_t)f->last);
	if (fresh <= 0)
		return PASS;
	f->last = end;
	f->end += (uint32_t)fresh;
	if (f->end >= wanted.size)
		stamp((uint32_t)(f->end / wanted.size - 1), now);
	return PASS;
}

char license_text[] SEC("license") = "Apache-2.0";
