
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "measure/transports/sockets.h"
#include "measure/transports/verbs_device.h"
#include "measure/transports/verbs_settings.h"

#define UD_SIZE_MAX 4096 /* the largest path MTU */
#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))

/* The settings, and what the kernel requires. */
struct check {
	const struct verbs_settings *s;
	const struct transport_config *config;
};

static int check_inline(const struct check *c, char *why, size_t why_size)
{
	char quoted[TEXT_QUOTE_MAX];

	if (verbs_inline(c->s->inlined, 1) >= 0)
		return 0;
	snprintf(why, why_size, "inline must be off, on, or a number of bytes such as 128B, not %s",
		 text_quote(c->s->inlined, quoted, sizeof(quoted)));
	return -EINVAL;
}

static int check_numbers(const struct check *c, char *why, size_t why_size)
{
	const struct {
		const char *name, *text;
		int min;
	} rows[] = {{"port", c->s->port, 1},
		    {"gid_index", c->s->gid_index, 0},
		    {"source_gid_index", verbs_gid_index_of(c->s, ROLE_SOURCE), 0},
		    {"sink_gid_index", verbs_gid_index_of(c->s, ROLE_SINK), 0}};
	char quoted[TEXT_QUOTE_MAX];

	for (size_t i = 0; i < COUNT(rows); i++)
		if (verbs_number(rows[i].text, rows[i].min, 255) == -EINVAL) {
			snprintf(why, why_size, "%s must be auto or a number from %d to 255, not %s", rows[i].name,
				 rows[i].min, text_quote(rows[i].text, quoted, sizeof(quoted)));
			return -EINVAL;
		}
	return 0;
}

static int check_connect(const struct check *c, char *why, size_t why_size)
{
	if (c->s->qp != VERBS_UC || c->s->connect != VERBS_RDMACM)
		return 0;
	snprintf(why, why_size,
		 "qp uc and connect rdmacm: the connection manager sets up rc and ud only; use connect plain");
	return -EINVAL;
}

static int check_ud(const struct check *c, char *why, size_t why_size)
{
	const struct verbs_operation *op = &verbs_operations[c->s->op];
	const long long size = (long long)transport_largest_bytes(c->config);
	const char *setting = transport_size_setting(c->config, size);
	const int limit = c->s->mtu ? verbs_mtu_bytes((enum ibv_mtu)c->s->mtu) : 0;

	if (c->s->qp != VERBS_UD)
		return 0;
	if (op->is_write)
		snprintf(why, why_size, "op %s and qp ud: a datagram cannot write to memory; use op send_imm or qp rc",
			 op->name);
	else if (size > UD_SIZE_MAX)
		snprintf(why, why_size, "%s %lld and qp ud: a datagram holds one packet, at most %d bytes", setting,
			 size, UD_SIZE_MAX);
	else if (limit && size > limit)
		snprintf(why, why_size, "%s %lld and mtu %d: with qp ud a message is one packet", setting, size, limit);
	else
		return 0;
	return -EINVAL;
}

static int check_operation(const struct check *c, char *why, size_t why_size)
{
	const struct verbs_operation *op = &verbs_operations[c->s->op];
	const long long size = (long long)c->config->size, answer = (long long)c->config->answer;
	const long long least = (long long)(op->head + op->tail);

	if (!least || verbs_carrier_of(op, c->config) == VERBS_UNNUMBERED)
		return 0;
	if (size < least)
		snprintf(why, why_size, "size %lld and op %s: %lld bytes of the payload hold the message's number",
			 size, op->name, least);
	else if (answer && answer < least)
		snprintf(why, why_size, "answer %lld and op %s: %lld bytes of the payload hold the message's number",
			 answer, op->name, least);
	else if (c->config->rewrites)
		snprintf(why, why_size, "t_send and op %s: both use the payload; use op send_imm or write_imm",
			 op->name);
	else
		return 0;
	return -EINVAL;
}

/* The receiver is not notified of a write. */
static int check_write(const struct check *c, char *why, size_t why_size)
{
	const long long buffers = (long long)c->s->buffers, depth = (long long)c->config->depth;
	const long long slots = (long long)c->s->recv_depth;

	if (verbs_carrier_of(&verbs_operations[c->s->op], c->config) != VERBS_IN_MEMORY)
		return 0;
	if (c->config->poll_recv != POLL_BUSY)
		snprintf(why, why_size,
			 "poll %s and op write: a write raises no event at the receiver, which can only poll busily; "
			 "use op write_imm",
			 poll_mode_names[c->config->poll_recv]);
	else if (c->config->device_stamps)
		snprintf(why, why_size,
			 "t_hw and op write: the receiver sees no completion that could be stamped; use op write_imm");
	else if (c->s->returns == VERBS_RETURN_BULK)
		snprintf(why, why_size, "return bulk and op write: there are no receive requests to post again");
	else if (buffers && buffers < depth)
		snprintf(why, why_size,
			 "buffers %lld and depth %lld: with op write, messages in flight would overwrite each other; "
			 "use as many buffers as depth, or a smaller depth",
			 buffers, depth);
	else if (slots && slots < depth)
		snprintf(why, why_size,
			 "recv_depth %lld and depth %lld: with op write, messages in flight would overwrite each other "
			 "at the receiver; use a recv_depth of at least depth, or a smaller depth",
			 slots, depth);
	else
		return 0;
	return -EINVAL;
}

static int check_empty(const struct check *c, char *why, size_t why_size)
{
	const struct verbs_operation *op = &verbs_operations[c->s->op];

	if (!c->config->acknowledges || verbs_carrier_of(op, c->config) == VERBS_IN_IMMEDIATE)
		return 0;
	snprintf(
	    why, why_size,
	    "ack and op %s: an acknowledgement is a number without a payload, which only an immediate carries; use "
	    "op send_imm or write_imm",
	    op->name);
	return -EINVAL;
}

/* With fewer signals, the send queue would fill up with requests that never report completion. */
static int check_signals(const struct check *c, char *why, size_t why_size)
{
	const long long every = (long long)c->s->signal_every, depth = (long long)c->config->depth;

	if (every <= depth)
		return 0;
	snprintf(why, why_size,
		 "signal_every %lld and depth %lld: the send queue would be full before a completion was requested",
		 every, depth);
	return -EINVAL;
}

static int check_fetching(const struct check *c, char *why, size_t why_size)
{
	const struct verbs_operation *op = &verbs_operations[c->s->op];
	const long long size = (long long)c->config->size;

	if (!op->fetches)
		return 0;
	if (c->s->qp != VERBS_RC)
		snprintf(why, why_size, "op %s and qp %s: only a reliable connection has reads and atomics; use qp rc",
			 op->name, verbs_kinds[c->s->qp].name);
	else if (!c->config->is_passive)
		snprintf(why, why_size,
			 "op %s and a kernel that receives: nothing arrives at the sink; use kernel stream", op->name);
	else if (op->is_atomic && size != sizeof(uint64_t))
		snprintf(why, why_size, "size %lld and op %s: an atomic works on 8 bytes; use size 8B", size, op->name);
	else if (strcmp(c->s->inlined, "off") != 0)
		snprintf(why, why_size, "inline %s and op %s: no payload is sent that could be copied; use inline off",
			 c->s->inlined, op->name);
	else
		return 0;
	return -EINVAL;
}

/* Settings about receive requests require an operation that uses them, with memory chosen by the
 * receiver alone. */
static int check_receives(const struct check *c, char *why, size_t why_size)
{
	const struct verbs_operation *op = &verbs_operations[c->s->op];
	const long long depth = (long long)(c->s->recv_depth ? c->s->recv_depth : c->config->depth);
	const long long sge = (long long)c->s->recv_sge, regions = (long long)c->s->regions;
	const bool has_requests = verbs_carrier_of(op, c->config) != VERBS_IN_MEMORY && !c->config->is_passive;
	const bool has_memory = has_requests && !op->is_write;

	if (c->s->recv_queue == VERBS_RECV_SRQ && !has_requests)
		snprintf(why, why_size,
			 "recv_queue srq and op %s: there are no receive requests; use op send or send_imm", op->name);
	else if (sge > 1 && !has_memory)
		snprintf(why, why_size,
			 "recv_sge %lld and op %s: no receive request has memory of its own; use op send or send_imm",
			 sge, op->name);
	else if (regions > 1 && !has_memory)
		snprintf(why, why_size,
			 "regions %lld and op %s: the other side writes to one region, whose key it knows; use op send "
			 "or send_imm",
			 regions, op->name);
	else if (regions > depth)
		snprintf(why, why_size, "regions %lld and %s %lld: a region holds at least one receive buffer", regions,
			 c->s->recv_depth ? "recv_depth" : "depth", depth);
	else if (regions > 1 && c->config->any_payload)
		snprintf(why, why_size,
			 "regions %lld without a check: then all messages lie in one receive buffer; use check yes",
			 regions);
	else
		return 0;
	return -EINVAL;
}

/* Completions of different queue pairs come in any order, so only one message may be in flight. */
static int check_pairs(const struct check *c, char *why, size_t why_size)
{
	const long long pairs = (long long)c->s->queue_pairs;

	if (pairs == 1)
		return 0;
	if (c->s->qp == VERBS_UD)
		snprintf(why, why_size,
			 "queue_pairs %lld and qp ud: a datagram is not sent over a connection, of which "
			 "there could be several; use qp rc or uc",
			 pairs);
	else if (c->s->connect != VERBS_PLAIN)
		snprintf(why, why_size,
			 "queue_pairs %lld and connect rdmacm: the connection manager sets up one; use "
			 "connect plain",
			 pairs);
	else if (c->s->recv_queue != VERBS_RECV_SRQ)
		snprintf(why, why_size,
			 "queue_pairs %lld and recv_queue qp: they receive from one shared receive queue; "
			 "use recv_queue srq",
			 pairs);
	else if (!c->config->duplex || c->config->is_stream || c->config->acknowledges)
		snprintf(why, why_size,
			 "queue_pairs %lld and several messages in flight: their order would be lost; use "
			 "kernel pingpong",
			 pairs);
	else if (c->s->signal_every > 1)
		snprintf(why, why_size,
			 "queue_pairs %lld and signal_every %lld: each of them needs completions of its "
			 "own; use signal_every 1",
			 pairs, (long long)c->s->signal_every);
	else
		return 0;
	return -EINVAL;
}

/* Copies of a message are told by the number in its payload, and only one message may be in flight. */
static int check_copies(const struct check *c, char *why, size_t why_size)
{
	char quoted[TEXT_QUOTE_MAX], what[96];

	if (!verbs_has_receivers(c->s))
		return 0;
	snprintf(what, sizeof(what), "receivers %lld, group %s", (long long)c->s->receivers,
		 text_quote(c->s->group, quoted, sizeof(quoted)));
	if (verbs_has_group(c->s) && !socket_group_is(c->s->group))
		snprintf(why, why_size, GROUP_REFUSED, quoted);
	else if (c->s->qp != VERBS_UD || c->s->connect != VERBS_PLAIN)
		snprintf(why, why_size,
			 "%s and qp %s, connect %s: only datagrams have no connection; use qp ud, connect plain", what,
			 verbs_kinds[c->s->qp].name, verbs_connect_names[c->s->connect]);
	else if (c->s->op != VERBS_SEND || c->s->recv_queue != VERBS_RECV_SRQ)
		snprintf(why, why_size,
			 "%s: messages carry their numbers, and one queue has all receive requests; use op send, "
			 "recv_queue srq",
			 what);
	else if (!c->config->duplex || c->config->is_stream || c->config->acknowledges || c->s->signal_every > 1)
		snprintf(why, why_size,
			 "%s: a message goes to all when the one before is answered; use kernel pingpong, "
			 "signal_every 1",
			 what);
	else
		return 0;
	return -EINVAL;
}

/* The receiver must know in advance where the last bytes of a message will be. */
static int check_answer(const struct check *c, char *why, size_t why_size)
{
	if (!c->config->answer || verbs_carrier_of(&verbs_operations[c->s->op], c->config) != VERBS_IN_MEMORY)
		return 0;
	snprintf(why, why_size,
		 "answer %lld and op write: the receiver watches the last bytes of messages that all have the size "
		 "%lld; use op write_imm or send",
		 (long long)c->config->answer, (long long)c->config->size);
	return -EINVAL;
}

int verbs_check(const void *settings, const struct transport_config *config, char *why, size_t why_size)
{
	static int (*const checks[])(const struct check *, char *, size_t) = {
	    check_connect, check_ud,	check_operation, check_write,  check_fetching, check_signals, check_inline,
	    check_numbers, check_empty, check_receives,	 check_answer, check_pairs,    check_copies,
	};
	const struct check check = {settings, config};
	int rc = 0;

	for (size_t i = 0; !rc && i < COUNT(checks); i++)
		rc = checks[i](&check, why, why_size);
	return rc;
}
