/*
 * No transport: for kernels of one side, which send nothing. It has no hot path, and kernels that send do not run over
 * it.
 */
#include <stdlib.h>

#include "common/or_abort.h"
#include "measure/transports/transport.h"

extern const struct transport_ops none_transport;

static const struct opt none_options[] = {{.name = NULL}};

static int none_open(const struct transport_config *config, const void *settings, struct transport **out,
		     json_t **address, struct err *e)
{
	(void)config, (void)settings, (void)e;
	*out = or_abort(calloc(1, sizeof(**out)));
	(*out)->ops = &none_transport;
	*address = json_object();
	return 0;
}

static int none_connect(struct transport *t, const json_t *peer, struct err *e)
{
	(void)t, (void)peer, (void)e;
	return 0;
}

static int none_prepare(struct transport *t, struct err *e)
{
	(void)t, (void)e;
	return 0;
}

static json_t *none_granted(const struct transport *t)
{
	(void)t;
	return json_object();
}

static int none_failure(const struct transport *t, struct err *e)
{
	(void)t, (void)e;
	return 0;
}

static void none_close(struct transport *t)
{
	free(t);
}

const struct transport_ops none_transport = {
    .name = "none",
    .summary = "nothing is sent: for kernels of one side",
    .options = none_options,
    .poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT,
    .typical = {.post_ns = 1, .latency_ns = 1, .sleeping_ns = 1},
    .completes_in_post = true,
    .open = none_open,
    .connect = none_connect,
    .prepare = none_prepare,
    .granted = none_granted,
    .failure = none_failure,
    .close = none_close,
};
