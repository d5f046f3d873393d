/*
 * On the interface: a frame of this point goes to the socket of its queue; all others go the way that they would have
 * gone without it. See Documentation/networking/af_xdp.rst of Linux.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/udp.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "measure/transports/bpf_code.h"

#define WITHOUT_OPTIONS 0x45   /* IPv4 with a header of 20 bytes */
#define FRAGMENT	0x3fff /* there are more, or it is not the first one; a message is in one frame */

const volatile struct xdp_wanted wanted;

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 1); /* more if the queue is another than 0 */
	__type(key, uint32_t);
	__type(value, uint32_t);
} sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct xdp_strays);
} strays SEC(".maps");

struct frame {
	struct ethhdr ethernet;
	uint8_t version; /* struct iphdr, by bytes */
	uint8_t tos;
	uint16_t length, id, fragment;
	uint8_t ttl, protocol;
	uint16_t check;
	uint32_t source, address;
	struct udphdr udp;
	uint64_t token;
} __attribute__((packed));

static void count_stray(uint32_t queue)
{
	const uint32_t first = 0;
	struct xdp_strays *s = bpf_map_lookup_elem(&strays, &first);

	if (!s)
		return;
	s->queue = queue;
	__sync_fetch_and_add(&s->frames, 1);
}

static bool is_of_the_point(const struct frame *f)
{
	return f->ethernet.h_proto == bpf_htons(ETH_P_IP) && f->version == WITHOUT_OPTIONS &&
	       !(f->fragment & bpf_htons(FRAGMENT)) && f->protocol == IPPROTO_UDP && f->address == wanted.address &&
	       f->udp.dest == wanted.port && f->token == wanted.token;
}

SEC("xdp")
int kblat_xdp(struct xdp_md *context)
{
	const struct frame *f = (const void *)(long)context->data;
	const void *end = (const void *)(long)context->data_end;
	const uint32_t queue = context->rx_queue_index;

	if ((const void *)(f + 1) > end || !is_of_the_point(f))
		return XDP_PASS;
	if (queue == wanted.queue)
		return (int)bpf_redirect_map(&sockets, queue, XDP_PASS);
	count_stray(queue);
	return XDP_PASS;
}

char license_text[] SEC("license") = "Apache-2.0";
