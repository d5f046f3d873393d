#include "measure/transports/verbs_limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/err.h"
#include "common/units.h"
#include "measure/transports/verbs_device.h"
#include "measure/transports/verbs_types.h"

/* --- iWARP --- */

#define WHY_MAX	 512
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

bool verbs_iwarp_is(const struct verbs *t)
{
	return t->port.transport == IBV_TRANSPORT_IWARP;
}

/* 0, or STATUS_IMPOSSIBLE with everything that the settings ask for and such a device does not support. */
static int iwarp_check(const struct verbs *t, struct err *e)
{
	const struct {
		bool asked;
		const char *setting, *value, *why;
	} rows[] = {
	    {t->kind->type != IBV_QPT_RC, "qp", t->kind->name, "it has reliable connections only (qp rc)"},
	    {t->settings.connect != VERBS_RDMACM, "connect", verbs_connect_names[t->settings.connect],
	     "only the connection manager makes them (connect rdmacm)"},
	    {t->operation->carrier == VERBS_IN_IMMEDIATE, "op", t->operation->name,
	     "it carries no immediate data (op send, or write)"},
	};
	char why[WHY_MAX] = "";
	size_t used = 0;

	if (!verbs_iwarp_is(t))
		return 0;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].asked && used < sizeof(why))
			used += (size_t)snprintf(why + used, sizeof(why) - used, "; %s %s: %s", rows[i].setting,
						 rows[i].value, rows[i].why);
	return used ? err_set(e, -EOPNOTSUPP, STATUS_IMPOSSIBLE, t->object, NULL, "the device speaks iWARP%s", why) : 0;
}

/* --- limits of the device --- */

#define STREAM_DEPTHS 2 /* a stream does not wait for the receiver */
/* iWARP has no receiver-not-ready retries: a message without a posted receive request ends the connection. */
#define IWARP_DEPTHS 16

int verbs_impossible(const struct verbs *t, struct err *e, const char *setting, int64_t value, const char *limit,
		     int64_t most)
{
	return err_set(e, -ERANGE, STATUS_IMPOSSIBLE, t->object, NULL,
		       "%s %" PRId64 " is above what the device can do: %s is %" PRId64, setting, value, limit, most);
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static bool is_shared(const struct verbs *t)
{
	return t->settings.recv_queue == VERBS_RECV_SRQ;
}

/* What a setting asks for, and the device's limit. */
struct limit {
	const char *setting;
	int64_t asked;
	const char *name;
	int64_t most;
};

static int check_each(const struct verbs *t, const struct limit *limits, size_t count, struct err *e)
{
	for (size_t i = 0; i < count; i++)
		if (limits[i].asked > limits[i].most)
			return verbs_impossible(t, e, limits[i].setting, limits[i].asked, limits[i].name,
						limits[i].most);
	return 0;
}

/* The default: as many times the depth as the device has room for, but at least once. */
static int64_t usual_recv_depth(const struct verbs *t)
{
	const struct verbs_port *p = &t->port;
	const int64_t most = smaller(is_shared(t) ? p->max_srq_wr : p->max_qp_wr, p->max_cqe);
	const int64_t depths = verbs_iwarp_is(t) && verbs_has_receives(t) ? IWARP_DEPTHS
			       : t->config.is_stream			  ? STREAM_DEPTHS
									  : t->settings.receivers;
	const int64_t wanted = smaller(depths * t->config.depth, most);

	return wanted > t->config.depth ? wanted : t->config.depth;
}

/* The depth of queues limits requests and completions. */
static int check_send_limits(const struct verbs *t, struct err *e)
{
	const struct verbs_port *p = &t->port;
	const struct limit limits[] = {{"depth", t->config.depth, "max_qp_wr", p->max_qp_wr},
				       {"depth", t->config.depth, "max_cqe", p->max_cqe}};

	return check_each(t, limits, COUNT(limits), e);
}

/* A shared receive queue has limits of its own. */
static int check_receive_limits(const struct verbs *t, struct err *e)
{
	const struct verbs_port *p = &t->port;
	const bool shared = is_shared(t);
	const struct limit limits[] = {
	    {"recv_depth", t->recv_depth, shared ? "max_srq_wr" : "max_qp_wr", shared ? p->max_srq_wr : p->max_qp_wr},
	    {"recv_depth", t->recv_depth, "max_cqe", p->max_cqe},
	    {"recv_sge", t->settings.recv_sge, shared ? "max_srq_sge" : "max_sge",
	     shared ? p->max_srq_sge : p->max_sge},
	    {"regions", t->settings.regions, "max_mr", p->max_mr},
	    {"with a group, receivers", verbs_has_group(&t->settings) ? t->settings.receivers : 0,
	     "max_mcast_qp_attach", p->max_mcast_qp_attach},
	};

	if (!verbs_has_receives(t))
		return 0;
	if (shared && p->max_srq < 1)
		return err_set(e, -EOPNOTSUPP, STATUS_IMPOSSIBLE, t->object, NULL,
			       "the device does not support recv_queue srq: it has no shared receive queues (max_srq)");
	return check_each(t, limits, COUNT(limits), e);
}

/* The number of reads and atomics that may be outstanding. Other operations do not count; for them
 * it is 1, as in earlier versions. */
static int check_outstanding(struct verbs *t, struct err *e)
{
	const bool is_source = t->config.role == ROLE_SOURCE;
	const int64_t most = is_source ? t->port.max_qp_init_rd_atom : t->port.max_qp_rd_atom;
	const int64_t wanted = t->settings.rd_atomic ? t->settings.rd_atomic : smaller(t->config.depth, most);

	t->rd_atomic = 1;
	if (!t->operation->fetches)
		return 0;
	if (t->operation->is_atomic && !t->port.has_atomics)
		return err_set(e, -EOPNOTSUPP, STATUS_IMPOSSIBLE, t->object, NULL,
			       "the device does not support op %s: it has no atomics (atomic_cap)", t->operation->name);
	if (most < 1 || wanted > most)
		return verbs_impossible(t, e, "rd_atomic", wanted > most ? wanted : 1,
					is_source ? "max_qp_init_rd_atom" : "max_qp_rd_atom", most);
	t->rd_atomic = (uint8_t)smaller(wanted, UINT8_MAX);
	return 0;
}

static int check_size(const struct verbs *t, struct err *e)
{
	const int64_t size = transport_largest_bytes(&t->config);
	const char *setting = transport_size_setting(&t->config, size);
	char with_ud[32];

	snprintf(with_ud, sizeof(with_ud), "with qp ud, %s", setting);
	if (t->kind->type == IBV_QPT_UD && size > t->mtu_bytes)
		return verbs_impossible(t, e, with_ud, size, "the port's active MTU", t->mtu_bytes);
	if (size > t->port.max_message_bytes)
		return verbs_impossible(t, e, setting, size, "its largest message", t->port.max_message_bytes);
	return 0;
}

int verbs_limits_check(struct verbs *t, struct err *e)
{
	int64_t mtu = t->settings.mtu ? verbs_mtu_bytes((enum ibv_mtu)t->settings.mtu) : 0;
	int64_t active = verbs_mtu_bytes(t->port.active_mtu);
	int rc = iwarp_check(t, e);

	if (!t->settings.recv_depth)
		t->recv_depth = usual_recv_depth(t);
	if (!rc)
		rc = check_send_limits(t, e);
	if (!rc)
		rc = check_receive_limits(t, e);
	if (!rc)
		rc = check_outstanding(t, e);
	if (rc)
		return rc;
	if (mtu > active)
		return verbs_impossible(t, e, "mtu", mtu, "the port's active MTU", active);
	t->mtu_bytes = (int)(mtu ? mtu : active);
	return check_size(t, e);
}

/* --- what an attempt was short of --- */

#define ASKED_MAX   128
#define QUEUE_BYTES 128 /* approximately what a device needs for one work request and its completion */

static size_t total_bytes(const struct verbs *t)
{
	return verbs_ring_bytes(&t->send_ring) + verbs_ring_bytes(&t->recv_ring) +
	       ((size_t)t->send_ring.depth + t->recv_ring.depth) * QUEUE_BYTES;
}

/* "depth 8, recv_depth 64 with size 32": the settings that determine memory and queues. */
static const char *asked_for(const struct verbs *t, char *buf, size_t size)
{
	const int64_t bytes = transport_largest_bytes(&t->config);
	char more[48] = "";

	if (t->settings.recv_depth)
		snprintf(more, sizeof(more), ", recv_depth %" PRId64, t->recv_depth);
	snprintf(buf, size, "depth %" PRId64 "%s with %s %" PRId64, t->config.depth, more,
		 transport_size_setting(&t->config, bytes), bytes);
	return buf;
}

/* If the driver reports a lack of memory, the reason is usually this process' limit of locked memory. */
int verbs_shortage(const struct verbs *t, int rc, const char *operation, struct err *e)
{
	size_t bytes = total_bytes(t);
	struct rlimit limit;
	char asked[ASKED_MAX];

	if (rc != -ENOMEM && rc != -EINVAL)
		return err_sys(e, rc ? rc : -EIO, t->object, operation);
	if (rc == -EINVAL || getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    (bytes <= limit.rlim_cur && !geteuid()))
		return err_set(e, rc, STATUS_IMPOSSIBLE, t->object, operation,
			       "%s; %s may be more than the device supports", strerror(-rc),
			       asked_for(t, asked, sizeof(asked)));
	return transport_memlock_too_low(t->object, operation, bytes, "less depth or size", e);
}

/* Prefaulting more memory than exists would trigger the kernel's out-of-memory killer. */
int verbs_shortage_of_memory(const struct verbs *t, struct err *e)
{
	size_t most = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	char have[32], need[32], asked[ASKED_MAX];

	if (total_bytes(t) < most)
		return 0;
	return err_set(e, -ENOMEM, STATUS_IMPOSSIBLE, t->object, NULL, "%s needs %s of memory, and this machine has %s",
		       asked_for(t, asked, sizeof(asked)),
		       unit_format(UNIT_BYTES, (int64_t)total_bytes(t), need, sizeof(need)),
		       unit_format(UNIT_BYTES, (int64_t)most, have, sizeof(have)));
}
