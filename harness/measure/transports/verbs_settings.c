#include "measure/transports/verbs_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "measure/transports/sockets.h"

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
static const char *const recv_queue_names[] = {[VERBS_RECV_QP] = "qp", [VERBS_RECV_SRQ] = "srq", NULL};
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
     .help = "operation: the message's number is sent as immediate data, in the payload (send), or the receiver polls "
	     "its memory (write); read and atomics (fetch_add, compare_swap of 8 bytes) involve no software there "
	     "(kernel stream, qp rc)"},
    {.name = "inline",
     FIELD(inlined),
     .type = OPT_STR,
     .deflt = "off",
     .help = "copy the payload into the work request: off, on, or for messages of up to this size"},
    {.name = "signal_every",
     FIELD(signal_every),
     .type = OPT_INT,
     .deflt = "1",
     .min = 1,
     .max = 1 << 20,
     .help = "request a send completion for every nth message, and for the last of a burst"},
    {.name = "buffers",
     FIELD(buffers),
     .type = OPT_INT,
     .deflt = "0",
     .min = 0,
     .max = 1 << 20,
     .help = "send buffers, used in turn; 1: all messages are sent from the same buffer; 0: as many as depth"},
    {.name = "recv_depth",
     FIELD(recv_depth),
     .type = OPT_INT,
     .deflt = "0",
     .min = 0,
     .max = 1 << 20,
     .help = "receive requests, each with its own memory; with op write, the messages for which the receiver has "
	     "memory; 0: as many as depth, for streams twice, over iWARP 16 times as many"},
    {.name = "recv_queue",
     FIELD(recv_queue),
     .type = OPT_ENUM,
     .deflt = "qp",
     .choices = recv_queue_names,
     .help = "post receive requests to the queue pair, or to a shared receive queue (SRQ); the device reports when "
	     "that runs empty"},
    {.name = "queue_pairs",
     FIELD(queue_pairs),
     .type = OPT_INT,
     .deflt = "1",
     .min = 1,
     .max = VERBS_QUEUE_PAIRS_MAX,
     .help = "queue pairs between the two sides, used in turn, which share the receive queue and the completion queues "
	     "(round trips, recv_queue srq)"},
    {.name = "receivers",
     FIELD(receivers),
     .type = OPT_INT,
     .deflt = "1",
     .min = 1,
     .max = VERBS_QUEUE_PAIRS_MAX,
     .help = "queue pairs of the sink that each get every message, which has arrived when all of them have it (round "
	     "trips, qp ud, recv_queue srq)"},
    {.name = "group",
     FIELD(group),
     .type = OPT_STR,
     .deflt = NO_GROUP,
     .help = "none: a datagram to each receiver; or the IPv4 address of a multicast group, joined by the RDMA "
	     "connection manager, which gets one (qp ud)"},
    {.name = "recv_sge",
     FIELD(recv_sge),
     .type = OPT_INT,
     .deflt = "1",
     .min = 1,
     .max = 1 << 10,
     .help = "scatter/gather entries for which a receive request has room (max_sge of its queue); only one is used"},
    {.name = "regions",
     FIELD(regions),
     .type = OPT_INT,
     .deflt = "1",
     .min = 1,
     .max = 1 << 20,
     .help = "number of memory regions in which the receive buffers are registered, each an equal part"},
    {.name = "return",
     FIELD(returns),
     .type = OPT_ENUM,
     .deflt = "each",
     .choices = return_names,
     .help =
	 "when receive requests are posted again: each, after every message; bulk, many in one call: after a burst, or "
	 "after half of recv_depth if that is smaller than a burst; for round trips, when all are used up"},
    {.name = "rd_atomic",
     FIELD(rd_atomic),
     .type = OPT_INT,
     .deflt = "0",
     .min = 0,
     .max = UINT8_MAX,
     .help = "outstanding reads and atomics of a queue pair; 0: as many as depth, up to the devices' limits"},
    {.name = "huge_pages",
     FIELD(huge_pages),
     .type = OPT_BOOL,
     .deflt = "no",
     .help = "buffers in huge pages, which must have been reserved (vm.nr_hugepages)"},
    {.name = "rnr_retry",
     FIELD(rnr_retry),
     .type = OPT_INT,
     .deflt = "7",
     .min = 0,
     .max = 7,
     .help = "retries of a reliable connection while no receive request is posted; 7: unlimited"},
    {.name = "rnr_timer",
     FIELD(rnr_timer),
     .type = OPT_INT,
     .deflt = "1",
     .min = 0,
     .max = 31,
     .help = "how long it waits between these, as an InfiniBand code: 1 is 10 us, 14 is 1.28 ms, 31 is 492 ms, 0 is "
	     "655 ms"},
    {.name = "retry_cnt",
     FIELD(retry_cnt),
     .type = OPT_INT,
     .deflt = "6",
     .min = 0,
     .max = 7,
     .help = "retries of a reliable connection without an acknowledgement; Soft-RoCE treats 7 as unlimited"},
    {.name = "ack_timeout",
     FIELD(ack_timeout),
     .type = OPT_INT,
     .deflt = "14",
     .min = 0,
     .max = 31,
     .help = "how long it waits for an acknowledgement, 4.096 us * 2^N (14: 67 ms) or the device's approximation; 0: "
	     "unlimited"},
    {.name = "sl", FIELD(sl), .type = OPT_INT, .deflt = "0", .min = 0, .max = 15, .help = "service level"},
    {.name = "connect",
     FIELD(connect),
     .type = OPT_ENUM,
     .deflt = "plain",
     .choices = verbs_connect_names,
     .help = "connect with queue pair numbers exchanged by kblat, or with the RDMA connection manager (rc, ud)"},
    {.name = "device",
     FIELD(device),
     .type = OPT_STR,
     .deflt = "auto",
     .help = "RDMA device; auto chooses one with an active port, if possible on the CPU's NUMA node, and of two "
	     "that are cabled with each other one for each side"},
    {.name = "source_device",
     FIELD(source_device),
     .type = OPT_STR,
     .deflt = "",
     .help = "device of the source, if different from `device`"},
    {.name = "sink_device", FIELD(sink_device), .type = OPT_STR, .deflt = "", .help = "the same for the sink"},
    {.name = "port",
     FIELD(port),
     .type = OPT_STR,
     .deflt = "auto",
     .help = "port of the device, 1 to 255; auto chooses an active one"},
    {.name = "gid_index",
     FIELD(gid_index),
     .type = OPT_STR,
     .deflt = "auto",
     .help =
	 "entry of the port's GID table; auto: one that goes with one of the other side; InfiniBand addresses by LID"},
    {.name = "source_gid_index",
     FIELD(source_gid_index),
     .type = OPT_STR,
     .deflt = "",
     .help = "entry of the source's table, if different from `gid_index`: tables differ between hosts"},
    {.name = "sink_gid_index", FIELD(sink_gid_index), .type = OPT_STR, .deflt = "", .help = "the same for the sink"},
    {.name = "mtu",
     FIELD(mtu),
     .type = OPT_ENUM,
     .deflt = "auto",
     .choices = mtu_names,
     .help = "path MTU in bytes; auto: the port's"},
    {.name = NULL},
};
#undef FIELD

/* --- types of queue pairs --- */

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

/* --- what follows from them --- */

static const struct verbs_operation *operation_of(const struct verbs_settings *s)
{
	return &verbs_operations[s->op];
}

const char *verbs_device_of(const struct verbs_settings *s, enum role role)
{
	const char *own = role == ROLE_SINK ? s->sink_device : s->source_device;

	return *own ? own : s->device;
}

const char *verbs_gid_index_of(const struct verbs_settings *s, enum role role)
{
	const char *own = role == ROLE_SINK ? s->sink_gid_index : s->source_gid_index;

	return *own ? own : s->gid_index;
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

bool verbs_has_group(const struct verbs_settings *s)
{
	return socket_has_group(s->group);
}

bool verbs_has_receivers(const struct verbs_settings *s)
{
	return s->receivers > 1 || verbs_has_group(s);
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
