#include "rundir/legacy.h"

#include <string.h>

#include "common/json.h"

static bool is_always_reliable(const json_t *params)
{
	(void)params;
	return true;
}

static bool is_never_reliable(const json_t *params)
{
	(void)params;
	return false;
}

/* A publisher drops messages that a subscriber cannot take. */
static bool is_pair(const json_t *params)
{
	return !strcmp(json_text(params, "pattern"), "pair");
}

static bool is_connected_reliably(const json_t *params)
{
	const char *qp = json_text(params, "qp");

	return strcmp(qp, "uc") && strcmp(qp, "ud");
}

static bool is_declared_reliable(const json_t *params)
{
	return json_is_true(json_object_get(params, "reliable"));
}

static const struct {
	const char *transport;
	bool (*is_reliable)(const json_t *params);
	bool has_own_clock, has_device;
} transports[] = {
    {"shmem", is_always_reliable, false, false},
    {"verbs", is_connected_reliably, false, true},
    {"tcp", is_always_reliable, false, false},
    {"udp", is_never_reliable, false, false},
    {"zeromq", is_pair, false, false},
    {"nanomsg", is_pair, false, false},
    {"scripted", is_declared_reliable, true, false},
    {NULL, is_always_reliable, false, false},
};

struct layout_traits legacy_traits(const json_t *params)
{
	size_t i = 0;

	while (transports[i].transport && strcmp(transports[i].transport, json_text(params, "transport")) != 0)
		i++;
	return (struct layout_traits){transports[i].is_reliable(params), transports[i].has_own_clock,
				      transports[i].has_device};
}

bool legacy_is_bookkeeping(const char *key)
{
	static const char *const keys[] = {"messages", "repetitions", "warmup", "timeout_ns",
					   "drain_ns", "limit_ns",    "depth",	NULL};

	for (size_t i = 0; keys[i]; i++)
		if (!strcmp(keys[i], key))
			return true;
	return false;
}
