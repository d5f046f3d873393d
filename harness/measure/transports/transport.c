#include "measure/transports/transport.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "common/err.h"
#include "common/feature.h"
#include "common/units.h"

const char *const role_names[] = {[ROLE_SOURCE] = "source", [ROLE_SINK] = "sink"};

const char *const poll_mode_names[] = {
    [POLL_BUSY] = "busy", [POLL_EVENT] = "event", [POLL_ADAPTIVE] = "adaptive", NULL};

struct transport_traits transport_traits_of(const struct transport_ops *ops, const void *settings)
{
	struct transport_traits traits = {.is_reliable = true, .buffers = -1, .sends = true, .signal_every = 1};

	if (ops->traits)
		ops->traits(settings, &traits);
	return traits;
}

json_t *transport_device_counters(struct transport *t)
{
	return t->ops->device_counters ? t->ops->device_counters(t) : json_object();
}

int transport_absent(const struct transport_config *config, const void *settings, struct transport **out,
		     json_t **address, struct err *e)
{
	char user[64];

	(void)settings, (void)out, (void)address;
	snprintf(user, sizeof(user), "the transport %s", config->ops->name);
	return feature_missing(config->ops->missing, user, e);
}

int transport_memlock_too_low(const char *object, const char *operation, size_t bytes, const char *less, struct err *e)
{
	struct rlimit limit = {0};
	char have[32], need[32];

	getrlimit(RLIMIT_MEMLOCK, &limit);
	return err_set(e, -ENOMEM, STATUS_IMPOSSIBLE, object, operation,
		       "it needs about %s of locked memory and the limit is %s (RLIMIT_MEMLOCK); raise it with `ulimit "
		       "-l unlimited`, or ask for %s",
		       unit_format(UNIT_BYTES, (int64_t)bytes, need, sizeof(need)),
		       unit_format(UNIT_BYTES, (int64_t)limit.rlim_cur, have, sizeof(have)), less);
}
