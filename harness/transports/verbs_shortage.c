#include "transports/verbs_shortage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/err.h"
#include "common/units.h"
#include "transports/verbs.h"

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
	char have[32], need[32], asked[ASKED_MAX];

	if (rc != -ENOMEM && rc != -EINVAL)
		return err_sys(e, rc ? rc : -EIO, t->object, operation);
	if (rc == -EINVAL || getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    (bytes <= limit.rlim_cur && !geteuid()))
		return err_set(e, rc, STATUS_IMPOSSIBLE, t->object, operation,
			       "%s; %s may be more than the device supports", strerror(-rc),
			       asked_for(t, asked, sizeof(asked)));
	return err_set(
	    e, rc, STATUS_IMPOSSIBLE, t->object, operation,
	    "it needs about %s of locked memory and the limit is %s (RLIMIT_MEMLOCK); raise it with `ulimit -l "
	    "unlimited`, or ask for less depth or size",
	    unit_format(UNIT_BYTES, (int64_t)bytes, need, sizeof(need)),
	    unit_format(UNIT_BYTES, (int64_t)limit.rlim_cur, have, sizeof(have)));
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
