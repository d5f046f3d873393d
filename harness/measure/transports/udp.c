#include <stdio.h>

#include "common/err.h"
#include "measure/transports/udp_hot.h"

static const struct opt udp_options[] = {
    SOCKET_OPTIONS,
    SOCKET_CALL_OPTIONS,
    {.name = NULL},
};

/* The sockets are connected, so all datagrams come from the other side. A greeting may arrive
 * twice, and late. */
int udp_recv_other(struct udp *t, ssize_t n, uint32_t *seq)
{
	if (n < 0 && errno == EINTR)
		return 0;
	if (n < 0)
		return frames_note(&t->frames, -errno, "receive", "the other side has ended");
	if (n == FRAMES_NUMBER && t->acknowledges)
		return frames_take_number(&t->frames, seq);
	if (sockets_is_greeting(&t->end, t->frames.in, (size_t)n, t->frames.size))
		return 0;
	return frames_note(&t->frames, -EMSGSIZE, "receive", "received a datagram that does not belong to this run");
}

static int udp_check(const void *settings, const struct transport_config *config, char *why, size_t why_size)
{
	if (config->size <= UDP_SIZE_MAX)
		return sockets_check(settings, config, why, why_size);
	snprintf(why, why_size, "size %lld and transport udp: a datagram holds at most %d bytes",
		 (long long)config->size, UDP_SIZE_MAX);
	return -EINVAL;
}

static void udp_traits(const void *settings, struct transport_traits *out)
{
	(void)settings;
	out->is_reliable = false;
	out->overhead = FRAMES_NUMBER;
}

static int udp_open(const struct transport_config *config, const void *settings, struct transport **out,
		    json_t **address, struct err *e)
{
	if (config->size > UDP_SIZE_MAX)
		return err_set(e, -EMSGSIZE, STATUS_USAGE, "udp", NULL, "a datagram holds at most %d bytes",
			       UDP_SIZE_MAX);

	int rc = sockets_open(&udp_transport, SOCK_DGRAM, sizeof(struct udp), config, settings, out, address, e);

	if (!rc)
		((struct udp *)*out)->acknowledges = config->acknowledges;
	return rc;
}

static int udp_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	struct udp *t = (struct udp *)transport;
	int rc = sockets_meet_datagram(&t->end, peer, t->frames.size, e);

	return rc ? rc : sockets_connected((struct socket_transport *)t, false, e);
}

/* Empty the receive buffer; messages that arrive later are recognised by their numbers and ignored. */
static int udp_prepare(struct transport *transport, struct err *e)
{
	struct udp *t = (struct udp *)transport;
	char byte;

	while (recv(t->end.fd, &byte, sizeof(byte), MSG_DONTWAIT) >= 0)
		t->frames.stragglers++;
	frames_next_repetition(&t->frames);
	return sockets_prepare_stages((struct socket_transport *)t, false, e);
}

const struct transport_ops udp_transport = {
    .name = "udp",
    .summary = "UDP datagrams through the kernel's sockets; losses are counted",
    .options = udp_options,
    .settings_size = sizeof(struct socket_settings),
    .has_wire = true,
    .poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT | 1 << POLL_ADAPTIVE,
    .typical = {.post_ns = 2500, .latency_ns = 10000, .sleeping_ns = 25000},
    .completes_in_post = true,
    .check = udp_check,
    .traits = udp_traits,
    .open = udp_open,
    .connect = udp_connect,
    .prepare = udp_prepare,
    .stamps_stages = true,
    .read_clock = sockets_read_clock,
    .set_column = sockets_set_column,
    .granted = sockets_granted,
    .device_counters = sockets_device_counters,
    .failure = sockets_failure,
    .close = sockets_close,
};
