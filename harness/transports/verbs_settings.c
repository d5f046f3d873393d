#include "transports/verbs_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/units.h"
#include "transports/verbs.h"
#include "transports/verbs_device.h"

#define UD_SIZE_MAX 4096 /* the largest path MTU there is */
#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))

/* --- settings --- */

static const char *const qp_names[] = {[VERBS_RC] = "rc", [VERBS_UC] = "uc", [VERBS_UD] = "ud", NULL};
static const char *const op_names[] = {[VERBS_SEND_IMM] = "send_imm",
				       [VERBS_SEND] = "send",
				       [VERBS_WRITE_IMM] = "write_imm",
				       [VERBS_WRITE] = "write",
				       [VERBS_READ] = "read",
				       [VERBS_FETCH_ADD] = "fetch_add",
				       [VERBS_COMPARE_SWAP] = "compare_swap",
				       NULL};
static const char *const return_names[] = {[VERBS_RETURN_EACH] = "each", [VERBS_RETURN_BULK] = "bulk", NULL};
const char *const verbs_connect_names[] = {[VERBS_PLAIN] = "plain", [VERBS_RDMACM] = "rdmacm", NULL};
static const char *const mtu_names[] = {[0] = "auto",
					[IBV_MTU_256] = "256",
					[IBV_MTU_512] = "512",
					[IBV_MTU_1024] = "1024",
					[IBV_MTU_2048] = "2048",
					[IBV_MTU_4096] = "4096",
					NULL};

#define FIELD(field) .offset = offsetof(struct verbs_settings, field)
const struct opt verbs_options[] = {
    {.name = "qp",
     FIELD(qp),
     .type = OPT_ENUM,
     .deflt = "rc",
     .choices = qp_names,
     .help = "queue pair: reliable connection, unreliable connection, unreliable datagram"},
    {.name = "op",
     FIELD(op),
     .type = OPT_ENUM,
     .deflt = "send_imm",
     .choices = op_names,
     .help = "operation: the number of a message travels as immediate, in the payload (send), or the receiver watches "
	     "its memory (write); read and atomics (fetch_add, compare_swap, of 8 bytes) need nobody there (kernel "
	     "stream, qp rc)"},
    {.name = "inline",
     FIELD(inlined),
     .type = OPT_STR,
     .deflt = "off",
     .help = "copy the payload into the work request: off, on, or for messages of up to so many bytes"},
    {.name = "signal_every",
     FIELD(signal_every),
     .type = OPT_INT,
     .deflt = "1",
     .min = 1,
     .max = 1 << 20,
     .help = "ask for a send completion of every so many messages, and of the last of a burst"},
    {.name = "buffers",
     FIELD(buffers),
     .type = OPT_INT,
     .deflt = "0",
     .min = 0,
     .max = 1 << 20,
     .help = "send buffers, used in turn; 1: all messages are sent from one; 0: as many as depth needs"},
    {.name = "recv_depth",
     FIELD(recv_depth),
     .type = OPT_INT,
     .deflt = "0",
     .min = 0,
     .max = 1 << 20,
     .help = "receive requests, each with memory of its own; with op write, messages that the receiver has memory for; "
	     "0: as many as depth, for streams twice that"},
    {.name = "return",
     FIELD(returns),
     .type = OPT_ENUM,
     .deflt = "each",
     .choices = return_names,
     .help = "receive requests are posted again one by one, after each message, or linked, in one call: after the last "
	     "of a burst, of half of them where recv_depth does not hold a burst, and of round trips when all of "
	     "them are used up"},
    {.name = "rd_atomic",
     FIELD(rd_atomic),
     .type = OPT_INT,
     .deflt = "0",
     .min = 0,
     .max = UINT8_MAX,
     .help = "reads and atomics that a queue pair has outstanding at the other side; 0: as many as depth, if the "
	     "devices take so many"},
    {.name = "huge_pages",
     FIELD(huge_pages),
     .type = OPT_BOOL,
     .deflt = "no",
     .help = "buffers in huge pages, which must have been set aside (vm.nr_hugepages)"},
    {.name = "rnr_retry",
     FIELD(rnr_retry),
     .type = OPT_INT,
     .deflt = "7",
     .min = 0,
     .max = 7,
     .help = "how often a reliable connection tries again where no receive is posted; 7: for ever"},
    {.name = "rnr_timer",
     FIELD(rnr_timer),
     .type = OPT_INT,
     .deflt = "1",
     .min = 0,
     .max = 31,
     .help = "how long a reliable connection is told to wait then, in InfiniBand's code: 1 is 10 us, 14 1.28 ms, "
	     "31 492 ms, 0 655 ms"},
    {.name = "retry_cnt",
     FIELD(retry_cnt),
     .type = OPT_INT,
     .deflt = "6",
     .min = 0,
     .max = 7,
     .help = "how often a reliable connection sends again what is not acknowledged; Soft-RoCE takes 7 for ever"},
    {.name = "ack_timeout",
     FIELD(ack_timeout),
     .type = OPT_INT,
     .deflt = "14",
     .min = 0,
     .max = 31,
     .help = "how long it waits for that, 4.096 us * 2^N (14: 67 ms) or what the device makes of it; 0: for ever"},
    {.name = "sl", FIELD(sl), .type = OPT_INT, .deflt = "0", .min = 0, .max = 15, .help = "service level"},
    {.name = "connect",
     FIELD(connect),
     .type = OPT_ENUM,
     .deflt = "plain",
     .choices = verbs_connect_names,
     .help = "set-up by exchanged queue pair numbers, or by the RDMA connection manager (rc, ud)"},
    {.name = "device",
     FIELD(device),
     .type = OPT_STR,
     .deflt = "auto",
     .help = "RDMA device; auto takes one with an active port, on the CPU's NUMA node if there is one"},
    {.name = "source_device",
     FIELD(source_device),
     .type = OPT_STR,
     .deflt = "",
     .help = "device of the source, where it is to be another one than device says"},
    {.name = "sink_device", FIELD(sink_device), .type = OPT_STR, .deflt = "", .help = "likewise of the sink"},
    {.name = "port",
     FIELD(port),
     .type = OPT_STR,
     .deflt = "auto",
     .help = "port of the device, 1 to 255; auto takes an active one"},
    {.name = "gid_index",
     FIELD(gid_index),
     .type = OPT_STR,
     .deflt = "auto",
     .help = "entry of the port's GID table; auto prefers RoCE v2 and IPv4, and addresses by LID on InfiniBand"},
    {.name = "mtu",
     FIELD(mtu),
     .type = OPT_ENUM,
     .deflt = "auto",
     .choices = mtu_names,
     .help = "path MTU in bytes; auto takes the port's"},
    {.name = NULL},
};
#undef FIELD

/* --- kinds --- */

#define INIT_COMMON (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT)
#define RTR_COMMON  (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RTS_COMMON  (IBV_QP_STATE | IBV_QP_SQ_PSN)
#define RTS_RETRY   (IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)

const struct verbs_kind verbs_kinds[] = {
    [VERBS_RC] = {"rc", IBV_QPT_RC, RDMA_PS_TCP, true, 0, INIT_COMMON | IBV_QP_ACCESS_FLAGS,
		  RTR_COMMON | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, RTS_COMMON | RTS_RETRY},
    [VERBS_UC] = {"uc", IBV_QPT_UC, 0, false, 0, INIT_COMMON | IBV_QP_ACCESS_FLAGS, RTR_COMMON, RTS_COMMON},
    [VERBS_UD] = {"ud", IBV_QPT_UD, RDMA_PS_UDP, false, sizeof(struct ibv_grh), INIT_COMMON | IBV_QP_QKEY, IBV_QP_STATE,
		  RTS_COMMON},
};

#define TO_WRITE  IBV_ACCESS_REMOTE_WRITE
#define TO_READ	  IBV_ACCESS_REMOTE_READ
#define TO_CHANGE IBV_ACCESS_REMOTE_ATOMIC

const struct verbs_operation verbs_operations[] = {
    [VERBS_SEND_IMM] = {"send_imm", IBV_WR_SEND_WITH_IMM, VERBS_IN_IMMEDIATE, .sends = true},
    [VERBS_SEND] = {"send", IBV_WR_SEND, VERBS_IN_PAYLOAD, .head = sizeof(uint32_t), .sends = true},
    [VERBS_WRITE_IMM] = {"write_imm", IBV_WR_RDMA_WRITE_WITH_IMM, VERBS_IN_IMMEDIATE, true, .access = TO_WRITE,
			 .sends = true},
    [VERBS_WRITE] = {"write", IBV_WR_RDMA_WRITE, VERBS_IN_MEMORY, true, .tail = sizeof(uint64_t), .access = TO_WRITE,
		     .sends = true},
    [VERBS_READ] = {"read", IBV_WR_RDMA_READ, VERBS_UNNUMBERED, .access = TO_READ, .fetches = true},
    [VERBS_FETCH_ADD] = {"fetch_add", IBV_WR_ATOMIC_FETCH_AND_ADD, VERBS_UNNUMBERED, .access = TO_CHANGE, .sends = true,
			 .fetches = true, .is_atomic = true},
    [VERBS_COMPARE_SWAP] = {"compare_swap", IBV_WR_ATOMIC_CMP_AND_SWP, VERBS_IN_OPERANDS, .access = TO_CHANGE,
			    .sends = true, .fetches = true, .is_atomic = true},
};

/* --- contradictions --- */

static const struct verbs_operation *operation_of(const struct verbs_settings *s)
{
	return &verbs_operations[s->op];
}

const char *verbs_device_of(const struct verbs_settings *s, enum role role)
{
	const char *own = role == ROLE_SINK ? s->sink_device : s->source_device;

	return *own ? own : s->device;
}

enum verbs_carrier verbs_carrier_of(const struct verbs_operation *op, const struct transport_config *config)
{
	if (op->is_atomic)
		return op->carrier;
	if (config->is_passive || (config->any_payload && op->carrier == VERBS_IN_PAYLOAD))
		return VERBS_UNNUMBERED;
	return op->carrier;
}

void verbs_traits(const void *settings, struct transport_traits *out)
{
	const struct verbs_settings *s = settings;

	out->is_reliable = verbs_kinds[s->qp].is_reliable;
	out->is_one_sided = operation_of(s)->carrier == VERBS_IN_MEMORY || operation_of(s)->fetches;
	out->sends = operation_of(s)->sends;
	out->fetches = operation_of(s)->fetches;
	out->overhead = operation_of(s)->head + operation_of(s)->tail;
	out->buffers = s->buffers;
	out->copies_payload = strcmp(s->inlined, "off") != 0;
	out->signal_every = (uint32_t)s->signal_every;
	out->device[ROLE_SOURCE] = verbs_device_of(s, ROLE_SOURCE);
	out->device[ROLE_SINK] = verbs_device_of(s, ROLE_SINK);
}

int verbs_number(const char *text, int min, int max)
{
	char *end;

	if (!strcmp(text, "auto"))
		return -1;
	if (*text < '0' || *text > '9')
		return -EINVAL;
	long value = strtol(text, &end, 10);

	return *end || value < min || value > max ? -EINVAL : (int)value;
}

int64_t verbs_inline(const char *text, int64_t size)
{
	int64_t limit;

	if (!strcmp(text, "off"))
		return 0;
	if (!strcmp(text, "on"))
		return size;
	if (*text < '0' || *text > '9' || unit_read(UNIT_BYTES, text, &limit) != UNIT_FINE)
		return -EINVAL;
	return size <= limit ? size : 0;
}

/* What is checked: the settings, and what the kernel asks for. */
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
	} rows[] = {{"port", c->s->port, 1}, {"gid_index", c->s->gid_index, 0}};
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
	const struct verbs_operation *op = operation_of(c->s);
	const long long size = (long long)c->config->size;
	const int limit = c->s->mtu ? verbs_mtu_bytes((enum ibv_mtu)c->s->mtu) : 0;

	if (c->s->qp != VERBS_UD)
		return 0;
	if (op->is_write)
		snprintf(why, why_size, "op %s and qp ud: a datagram cannot write to memory; use op send_imm or qp rc",
			 op->name);
	else if (size > UD_SIZE_MAX)
		snprintf(why, why_size, "size %lld and qp ud: a datagram holds one packet, at most %d bytes", size,
			 UD_SIZE_MAX);
	else if (limit && size > limit)
		snprintf(why, why_size, "size %lld and mtu %d: with qp ud a message is one packet", size, limit);
	else
		return 0;
	return -EINVAL;
}

static int check_operation(const struct check *c, char *why, size_t why_size)
{
	const struct verbs_operation *op = operation_of(c->s);
	const long long size = (long long)c->config->size, least = (long long)(op->head + op->tail);

	if (!least || verbs_carrier_of(op, c->config) == VERBS_UNNUMBERED)
		return 0;
	if (size < least)
		snprintf(why, why_size, "size %lld and op %s: %lld bytes of the payload hold the message's number",
			 size, op->name, least);
	else if (c->config->rewrites)
		snprintf(why, why_size, "t_send and op %s: both want the payload; use op send_imm or write_imm",
			 op->name);
	else
		return 0;
	return -EINVAL;
}

/* A write tells nobody that it has come. */
static int check_write(const struct check *c, char *why, size_t why_size)
{
	const long long buffers = (long long)c->s->buffers, depth = (long long)c->config->depth;
	const long long slots = (long long)c->s->recv_depth;

	if (verbs_carrier_of(operation_of(c->s), c->config) != VERBS_IN_MEMORY)
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
			 "use as many buffers, or less depth",
			 buffers, depth);
	else if (slots && slots < depth)
		snprintf(why, why_size,
			 "recv_depth %lld and depth %lld: with op write, messages in flight would overwrite each other "
			 "at the receiver; use as much recv_depth, or less depth",
			 slots, depth);
	else
		return 0;
	return -EINVAL;
}

static int check_empty(const struct check *c, char *why, size_t why_size)
{
	const struct verbs_operation *op = operation_of(c->s);

	if (!c->config->acknowledges || verbs_carrier_of(op, c->config) == VERBS_IN_IMMEDIATE)
		return 0;
	snprintf(
	    why, why_size,
	    "ack and op %s: an acknowledgement is a number without a payload, which only an immediate carries; use "
	    "op send_imm or write_imm",
	    op->name);
	return -EINVAL;
}

/* With fewer signals than that the send queue would be full of requests that nobody hears of. */
static int check_signals(const struct check *c, char *why, size_t why_size)
{
	const long long every = (long long)c->s->signal_every, depth = (long long)c->config->depth;

	if (every <= depth)
		return 0;
	snprintf(why, why_size,
		 "signal_every %lld and depth %lld: the send queue would be full before a completion was asked for",
		 every, depth);
	return -EINVAL;
}

static int check_fetching(const struct check *c, char *why, size_t why_size)
{
	const struct verbs_operation *op = operation_of(c->s);
	const long long size = (long long)c->config->size;

	if (!op->fetches)
		return 0;
	if (c->s->qp != VERBS_RC)
		snprintf(why, why_size, "op %s and qp %s: only a reliable connection has reads and atomics; use qp rc",
			 op->name, qp_names[c->s->qp]);
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

int verbs_check(const void *settings, const struct transport_config *config, char *why, size_t why_size)
{
	static int (*const checks[])(const struct check *, char *, size_t) = {
	    check_connect, check_ud,	 check_operation, check_write, check_fetching,
	    check_signals, check_inline, check_numbers,	  check_empty,
	};
	const struct check check = {settings, config};
	int rc = 0;

	for (size_t i = 0; !rc && i < COUNT(checks); i++)
		rc = checks[i](&check, why, why_size);
	return rc;
}
