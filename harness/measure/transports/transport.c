#include "measure/transports/transport.h"

#include <stdio.h>

#include "common/feature.h"

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
