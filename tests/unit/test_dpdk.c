/*
 * The transport dpdk with both sides in this process, joined by memif: what is sent arrives once and in order, also when the
 * ring is full and in lists; what strangers send never does; and what the other side says about itself is checked.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "fixture_pair.h"
#include "fixture_params.h"
#include "measure/point/flow.h"
#include "measure/transports/dpdk.h"
#include "tap.h"

#define SIZE	    64
#define DESCRIPTORS 64
#define BATCH	    8
#define PORT_AT	    36 /* in a frame */

static const char *const names[2] = {"fedcba9876543210", "0123456789abcdef"};

/* Of a stream in lists. */
static json_t *params_of(void)
{
	json_t *params = fixture_params("stream", &dpdk_transport);

	json_object_set_new(params, "size_bytes", json_integer(SIZE));
	json_object_set_new(params, "batch", json_integer(BATCH));
	json_object_set_new(params, "descriptors", json_integer(DESCRIPTORS));
	json_object_set_new(params, "mempool", json_integer(128));
	json_object_set_new(params, "cache", json_integer(0));
	return params;
}

static bool open_sides(struct pair *p)
{
	json_t *params = params_of();
	struct err why = ERR_INIT;
	struct flow flow;
	bool possible = true;

	memset(p, 0, sizeof(*p));
	p->ops = &dpdk_transport;
	is_int(flow_load(&flow, "", params, &why), 0, "settings %s", why.text);
	for (int role = 0; role < 2; role++) {
		struct transport_config config = flow.config;

		config.role = (enum role)role;
		config.stop = &p->stop;
		config.name = names[role];
		config.cpu = -1;
		possible = possible && !p->ops->open(&config, flow.transport_settings, &p->side[role],
						     &p->address[role], &p->e[role]);
	}
	flow_free(&flow);
	json_decref(params);
	return possible;
}

static void prepare(struct pair *p)
{
	for (int role = 1; role >= 0; role--)
		is_int(p->ops->prepare(p->side[role], &p->e[role]), 0, "a repetition begins");
}

static struct dpdk *side(const struct pair *p, enum role role)
{
	return (struct dpdk *)p->side[role];
}

static int receive(struct pair *p, uint32_t *seq)
{
	int rc = 0;

	for (int i = 0; !rc && i < 1000; i++)
		rc = CALL(poll_recv, p->side[ROLE_SINK], seq);
	return rc;
}

static json_int_t count(struct pair *p, enum role role, const char *key)
{
	json_t *counters = p->ops->device_counters(p->side[role]);
	const json_int_t n = json_integer_value(json_object_get(counters, key));

	json_decref(counters);
	return n;
}

/* Numbers from..to arrive in order, with their payload, and nothing else. */
static bool arrive(struct pair *p, uint32_t from, uint32_t to)
{
	uint32_t seq = 0;
	bool all = true;

	for (uint32_t i = from; all && i < to; i++) {
		const bool is_there = receive(p, &seq) == 1;
		const unsigned char *payload = CALL(recv_buffer, p->side[ROLE_SINK]);

		all = is_there && seq == i && payload[0] == (unsigned char)i;
	}
	return all && !receive(p, &seq);
}

static void fill(struct pair *p, uint32_t seq)
{
	*(unsigned char *)CALL(send_buffer, p->side[ROLE_SOURCE], seq) = (unsigned char)seq;
}

static void test_messages(struct pair *p)
{
	uint32_t seq;
	bool all = true;

	prepare(p);
	for (uint32_t i = 0; i < 10 * DESCRIPTORS; i++) {
		fill(p, i);
		all = all && !CALL(post, p->side[ROLE_SOURCE], i, true) &&
		      CALL(poll_send, p->side[ROLE_SOURCE], &seq) == 1 && seq == i && receive(p, &seq) == 1 && seq == i;
	}
	ok(all, "messages arrive one by one");
	prepare(p);
	for (uint32_t i = 0; i < 20 * BATCH; i += BATCH) {
		for (uint32_t k = i; k < i + BATCH; k++) {
			fill(p, k);
			CALL(post_more, p->side[ROLE_SOURCE], k, true);
		}
		all = all && !CALL(flush, p->side[ROLE_SOURCE]) && CALL(poll_send, p->side[ROLE_SOURCE], &seq) == 1 &&
		      seq == i + BATCH - 1 && arrive(p, i, i + BATCH);
	}
	ok(all, "and in lists");
}

/* The sink is stopped. */
static void test_full(struct pair *p)
{
	const json_int_t sent = count(p, ROLE_SOURCE, "opackets"), received = count(p, ROLE_SINK, "ipackets");
	uint32_t posted = 0;

	prepare(p);
	for (int tries = 0; tries < 10 * DESCRIPTORS; tries++) {
		fill(p, posted);
		posted += (uint32_t)CALL(post_try, p->side[ROLE_SOURCE], posted, true);
	}
	ok(posted >= DESCRIPTORS / 2 && posted <= DESCRIPTORS, "a ring of %d takes %u messages and no more",
	   DESCRIPTORS, posted);
	ok(arrive(p, 0, posted), "all of which arrive");
	is_int(count(p, ROLE_SOURCE, "opackets") - sent, posted, "the port has sent as many");
	is_int(count(p, ROLE_SINK, "ipackets") - received, posted, "and the other one has received them");
}

static void test_late(struct pair *p)
{
	const json_int_t before = count(p, ROLE_SINK, "late_messages");
	struct err e = ERR_INIT;
	uint32_t seq;

	prepare(p);
	fill(p, 1);
	CALL(post, p->side[ROLE_SOURCE], 1, true);
	is_int(p->ops->prepare(p->side[ROLE_SINK], &e), 0, "the sink begins anew");
	CALL(post, p->side[ROLE_SOURCE], 2, true);
	is_int(receive(p, &seq), 0, "messages of the last repetition do not arrive");
	is_int(count(p, ROLE_SINK, "late_messages") - before, 2, "and are counted");
	p->ops->prepare(p->side[ROLE_SOURCE], &e);
}

/* --- strangers --- */

/* A frame of the source's, changed. */
static void send_changed(struct pair *p, size_t at, unsigned char value, uint16_t length)
{
	struct dpdk *t = side(p, ROLE_SOURCE);
	struct rte_mbuf *m = t->out[t->head & t->mask];
	unsigned char *frame = rte_pktmbuf_mtod(m, unsigned char *), was = frame[at];
	const uint16_t whole = m->data_len;

	frame[at] ^= value;
	m->data_len = length;
	m->pkt_len = length;
	rte_mbuf_refcnt_set(m, 2);
	is_int(t->tx_burst(t->tx_queue, &m, 1), 1, "a frame of %u bytes is sent", length);
	frame[at] = was;
	m->data_len = whole;
	m->pkt_len = whole;
}

static void test_strangers(struct pair *p)
{
	const uint16_t whole = UDP_FRAME_HEADERS + SIZE;
	const json_int_t before = count(p, ROLE_SINK, "stranger_messages"),
			 others = count(p, ROLE_SINK, "other_frames");
	uint32_t seq = 0;

	prepare(p);
	send_changed(p, PORT_AT, 1, UDP_FRAME_HEADERS + 1);
	send_changed(p, UDP_FRAME_HEADERS, 1, whole);
	send_changed(p, UDP_FRAME_NUMBER - 1, 0x80, whole);
	send_changed(p, UDP_FRAME_HEADERS, 1, UDP_FRAME_HEADERS);
	send_changed(p, UDP_FRAME_HEADERS, 1, whole + 100);
	for (uint16_t length = 14; length < UDP_FRAME_NUMBER; length += 9)
		send_changed(p, UDP_FRAME_HEADERS, 1, length);
	is_int(receive(p, &seq), 0, "what has not the token does not arrive");
	is_int(count(p, ROLE_SINK, "stranger_messages") - before, 4, "what was meant for the sink is counted");
	is_int(count(p, ROLE_SINK, "other_frames") - others, 5, "and so are others");
	fill(p, 7);
	CALL(post, p->side[ROLE_SOURCE], 7, true);
	is_int(receive(p, &seq), 1, "what has it does");
	is_int(seq, 7, "with its number");
}

static void test_misshapen(struct pair *p)
{
	struct err e = ERR_INIT;
	uint32_t seq = 0;

	prepare(p);
	send_changed(p, 0, 0, UDP_FRAME_HEADERS + SIZE - 1);
	is_int(receive(p, &seq), -EMSGSIZE, "a message that is cut is an error");
	p->ops->failure(p->side[ROLE_SINK], &e);
	contains(e.text, "received a frame that is no message of this run", "with its message");
}

/* --- what the other side says --- */

static void refuses(struct pair *p, const char *key, const char *value, const char *why)
{
	json_t *peer = json_copy(p->address[ROLE_SINK]);
	struct err e = ERR_INIT;

	json_object_set_new(peer, key, json_string(value));
	ok(p->ops->connect(p->side[ROLE_SOURCE], peer, &e) < 0, "%s %s is refused", key, value);
	contains(e.text, why, "with the reason");
	json_decref(peer);
}

static void test_peers(struct pair *p)
{
	refuses(p, "version", "DPDK 20.11.3", "the other DPDK 20.11.3; install the same on both");
	refuses(p, "version", "", "the other none; install the same on both");
	refuses(p, "version", "DPDK 22.110.1", "install the same on both");
	refuses(p, "rendezvous", "kblat-1,zero-copy=yes", "names no valid meeting place");
	refuses(p, "rendezvous", "", "names no valid meeting place");
	refuses(p, "token", "00", "has no valid address, port, token and MAC address");
	refuses(p, "mac", "1:2", "has no valid address, port, token and MAC address");
}

static void test_texts(void)
{
	static const char *const cards[] = {"0000:00:06.0", "00:06.0", "0000:aF:1f.7", "00:06.0,rx=1"};
	static const char *const others[] = {"memif",	      "net_memif0", "eth0",	    "00:06",
					     "0000:00:06.0x", "",	    "net_x,00:06.0"};

	for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]); i++)
		ok(dpdk_port_is_pci(cards[i]), "a PCI address: %s", cards[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ok(!dpdk_port_is_pci(others[i]), "none: '%s'", others[i]);
}

int main(void)
{
	struct pair p;

	test_texts();
	if (!open_sides(&p)) {
		skip("%s%s", p.e[0].text, p.e[1].text);
		close_pair(&p);
		return done_testing();
	}
	test_peers(&p);
	connect_pair(&p);
	test_messages(&p);
	test_full(&p);
	test_late(&p);
	test_strangers(&p);
	test_misshapen(&p);
	close_pair(&p);
	return done_testing();
}
