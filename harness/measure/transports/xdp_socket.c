/*
 * The socket, its memory and its rings (Documentation/networking/af_xdp.rst of Linux), and the facts about the
 * interface. Control path.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/sockios.h>
#include <net/if_arp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "measure/transports/xdp_types.h"

/* Newer than libc's headers. */
#ifndef SO_PREFER_BUSY_POLL
#define SO_PREFER_BUSY_POLL 69
#endif
#ifndef SO_BUSY_POLL_BUDGET
#define SO_BUSY_POLL_BUDGET 70
#endif

#define LINK_MS	     5000
#define LINK_LOOK_MS 20
#define BIND_TRIES   200 /* 10 ms apart */

int xdp_refused(const struct xdp *t, int rc, const char *operation, const char *capability, struct err *e)
{
	char cause[128];

	err_cause(rc, cause, sizeof(cause));
	if (rc == -EPERM || rc == -EACCES)
		return err_set(e, rc, STATUS_IMPOSSIBLE, t->object, operation, "%s; it needs %s", cause, capability);
	if (rc == -EOPNOTSUPP || rc == -EINVAL || rc == -EAFNOSUPPORT || rc == -ENOSYS)
		return err_set(e, rc, STATUS_IMPOSSIBLE, t->object, operation,
			       "%s; the kernel or the driver %s lacks it", cause,
			       *t->card.driver ? t->card.driver : "of this interface");
	return err_set(e, rc, STATUS_FAILED, t->object, operation, "%s", cause);
}

/* --- the interface --- */

static int card_ask(int fd, const char *name, struct xdp_card *card, unsigned char mac[6])
{
	struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
	struct ifreq request = {0};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (ioctl(fd, SIOCGIFHWADDR, &request))
		return -errno;
	memcpy(mac, request.ifr_hwaddr.sa_data, 6);
	if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		return -EPROTONOSUPPORT;
	if (ioctl(fd, SIOCGIFMTU, &request))
		return -errno;
	card->mtu = request.ifr_mtu;
	request.ifr_data = (char *)&driver;
	if (!ioctl(fd, SIOCETHTOOL, &request)) {
		driver.driver[sizeof(driver.driver) - 1] = '\0';
		text_clean(driver.driver, strlen(driver.driver), card->driver, sizeof(card->driver));
	}
	if (ioctl(fd, SIOCGIFFLAGS, &request))
		return -errno;
	return request.ifr_flags & IFF_UP ? 0 : -ENETDOWN;
}

int xdp_card_read(struct xdp *t, struct err *e)
{
	struct xdp_card *card = &t->card;
	const char *name = card->interface.name;
	int rc;

	interface_find((const struct sockaddr *)&t->own.at.addr, &card->interface);
	if (card->interface.is_loopback || !*name)
		return err_set(
		    e, -ENODEV, STATUS_IMPOSSIBLE, t->object, NULL,
		    "no network card here has this address; see `ip address`, or use experiments/launch/netns");
	card->index = if_nametoindex(name);
	rc = card->index ? card_ask(t->port_fd, name, card, t->own.mac) : -errno;
	if (rc == -ENETDOWN)
		return err_set(e, rc, STATUS_IMPOSSIBLE, t->object, NULL,
			       "the interface %s is down; see `ip link show %s`", name, name);
	if (rc == -EPROTONOSUPPORT)
		return err_set(e, rc, STATUS_IMPOSSIBLE, t->object, NULL, "the interface %s is not an Ethernet", name);
	if (rc)
		return err_sys(e, rc, t->object, "read the interface's properties");
	if (t->out_length <= (uint32_t)card->mtu + ETH_HLEN)
		return 0;
	return err_set(e, -EMSGSIZE, STATUS_IMPOSSIBLE, t->object, NULL,
		       "messages of this size need an MTU of %u, and that of %s is %d", t->out_length - ETH_HLEN, name,
		       card->mtu);
}

int xdp_card_await_link(const struct xdp *t, struct err *e)
{
	const int64_t deadline_ms = monotonic_ms() + LINK_MS;
	const char *name = t->card.interface.name;
	struct ifreq request = {0};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	while (!ioctl(t->port_fd, SIOCGIFFLAGS, &request)) {
		if (request.ifr_flags & IFF_RUNNING)
			return 0;
		if (monotonic_ms() > deadline_ms)
			return err_set(e, -ENETDOWN, STATUS_IMPOSSIBLE, t->object, NULL,
				       "the interface %s has had no link for %d s; see `ip link show %s`", name,
				       LINK_MS / 1000, name);
		poll(NULL, 0, LINK_LOOK_MS);
	}
	return err_sys(e, -errno, t->object, "ask whether the interface has a link");
}

/* --- rings --- */

static int map_ring(struct xdp *t, struct xdp_ring *r, const struct xdp_ring_offset *offset, uint32_t entries,
		    size_t entry, off_t page, struct err *e)
{
	r->map_size = offset->desc + entries * entry;
	r->map = mmap(NULL, r->map_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, t->fd, page);
	if (r->map == MAP_FAILED) {
		r->map = NULL;
		return err_sys(e, -errno, t->object, "map a ring");
	}
	r->producer = (_Atomic uint32_t *)((char *)r->map + offset->producer);
	r->consumer = (_Atomic uint32_t *)((char *)r->map + offset->consumer);
	r->flags = (_Atomic uint32_t *)((char *)r->map + offset->flags);
	r->entries = (char *)r->map + offset->desc;
	r->mask = entries - 1;
	return 0;
}

static int set_entries(const struct xdp *t, int option, const char *operation, uint32_t entries, struct err *e)
{
	return setsockopt(t->fd, SOL_XDP, option, &entries, sizeof(entries)) ? err_sys(e, -errno, t->object, operation)
									     : 0;
}

/* Frames that are received, then those that are sent. */
static int make_rings(struct xdp *t, uint32_t in, uint32_t out, struct err *e)
{
	struct xdp_mmap_offsets offsets;
	socklen_t size = sizeof(offsets);
	int rc = set_entries(t, XDP_UMEM_FILL_RING, "make the fill ring", in, e);

	if (!rc)
		rc = set_entries(t, XDP_RX_RING, "make the receive ring", in, e);
	if (!rc)
		rc = set_entries(t, XDP_UMEM_COMPLETION_RING, "make the completion ring", out, e);
	if (!rc)
		rc = set_entries(t, XDP_TX_RING, "make the send ring", out, e);
	if (!rc && (getsockopt(t->fd, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &size) || size != sizeof(offsets)))
		rc = err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, t->object, "ask for the rings' layout",
			     "the kernel is older than Linux 5.4");
	if (!rc)
		rc = map_ring(t, &t->fill, &offsets.fr, in, sizeof(uint64_t), XDP_UMEM_PGOFF_FILL_RING, e);
	if (!rc)
		rc = map_ring(t, &t->rx, &offsets.rx, in, sizeof(struct xdp_desc), XDP_PGOFF_RX_RING, e);
	if (!rc)
		rc = map_ring(t, &t->completion, &offsets.cr, out, sizeof(uint64_t), XDP_UMEM_PGOFF_COMPLETION_RING, e);
	return rc ? rc : map_ring(t, &t->tx, &offsets.tx, out, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING, e);
}

/* All chunks of the first half are given to the kernel to receive into, those of the second are free to send from. */
static void share_out(struct xdp *t, uint32_t in, uint32_t out)
{
	t->seqs = or_abort(calloc(out, sizeof(*t->seqs)));
	t->free = or_abort(calloc(out, sizeof(*t->free)));
	for (uint32_t i = 0; i < in; i++)
		((uint64_t *)t->fill.entries)[i] = (uint64_t)i * t->chunk;
	for (uint32_t i = 0; i < out; i++)
		t->free[i] = ((uint64_t)in + i) * t->chunk;
	t->filled = in;
	atomic_store_explicit(t->fill.producer, in, memory_order_release);
}

static int register_memory(struct xdp *t, uint32_t chunks, int numa_node, struct err *e)
{
	struct xdp_umem_reg memory = {.chunk_size = t->chunk, .headroom = XDP_ROOM};
	int rc = memory_alloc(&t->memory, (size_t)chunks * t->chunk, numa_node, e);

	if (rc)
		return rc;
	t->umem = t->memory.data;
	memory.addr = (uintptr_t)t->umem;
	memory.len = (uint64_t)chunks * t->chunk;
	if (!setsockopt(t->fd, SOL_XDP, XDP_UMEM_REG, &memory, sizeof(memory)))
		return 0;
	if (errno == ENOBUFS)
		return err_set(e, -errno, STATUS_IMPOSSIBLE, t->object, "register memory for frames",
			       "%u KiB cannot be locked; raise the limit (ulimit -l), or choose a smaller ring",
			       (unsigned)(memory.len / 1024));
	return xdp_refused(t, -errno, "register memory for frames", "CAP_IPC_LOCK", e);
}

/* --- options --- */

static int prefer_busy_polling(struct xdp *t, struct err *e)
{
	const struct {
		int option, value;
		const char *operation;
	} options[] = {{SO_PREFER_BUSY_POLL, 1, "prefer busy polling (needs Linux 5.11)"},
		       {SO_BUSY_POLL, (int)(t->settings.busy_poll / 1000), "set busy_poll"},
		       {SO_BUSY_POLL_BUDGET, (int)t->settings.budget, "set the budget of busy polling"}};

	if (!t->settings.busy_poll)
		return 0;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (setsockopt(t->fd, SOL_SOCKET, options[i].option, &options[i].value, sizeof(int)))
			return xdp_refused(t, -errno, options[i].operation, "CAP_NET_ADMIN", e);
	return 0;
}

/* The kernel gives a queue back some time after the socket that had it is closed (xp_release_deferred), so that what was
 * measured just before may seem to have it still. */
static int bind_patiently(const struct xdp *t, const struct sockaddr_xdp *where)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	int rc = -EBUSY;

	for (int i = 0; i < BIND_TRIES && rc == -EBUSY; i++) {
		if (i)
			nanosleep(&pause, NULL);
		rc = bind(t->fd, (const struct sockaddr *)where, sizeof(*where)) ? -errno : 0;
	}
	return rc;
}

static int bind_queue(struct xdp *t, struct err *e)
{
	static const uint16_t copies[] = {
	    [XDP_ZEROCOPY_AUTO] = 0, [XDP_ZEROCOPY_YES] = XDP_ZEROCOPY, [XDP_ZEROCOPY_NO] = XDP_COPY};
	const struct sockaddr_xdp where = {
	    .sxdp_family = AF_XDP,
	    .sxdp_flags =
		(uint16_t)(copies[t->settings.zerocopy] | (t->settings.need_wakeup ? XDP_USE_NEED_WAKEUP : 0)),
	    .sxdp_ifindex = t->card.index,
	    .sxdp_queue_id = (uint32_t)t->settings.queue};
	struct xdp_options granted = {0};
	socklen_t size = sizeof(granted);
	const int rc = bind_patiently(t, &where);

	if (rc) {
		if (rc == -EBUSY)
			return err_set(e, rc, STATUS_FAILED, t->object, "bind to the queue",
				       "another socket has queue %lld of %s, or a program in another mode is there",
				       (long long)t->settings.queue, t->card.interface.name);
		if (rc == -EINVAL)
			return err_set(e, rc, STATUS_IMPOSSIBLE, t->object, "bind to the queue",
				       "%s has no queue %lld; see `ethtool -l %s`", t->card.interface.name,
				       (long long)t->settings.queue, t->card.interface.name);
		return xdp_refused(
		    t, rc, t->settings.zerocopy == XDP_ZEROCOPY_YES ? "bind without copying" : "bind to the queue",
		    "CAP_NET_RAW", e);
	}
	t->is_zerocopy =
	    !getsockopt(t->fd, SOL_XDP, XDP_OPTIONS, &granted, &size) && granted.flags & XDP_OPTIONS_ZEROCOPY;
	return 0;
}

int xdp_socket_open(struct xdp *t, const struct transport_config *config, struct err *e)
{
	const uint32_t out = transport_ring_slots(config->depth);
	const uint32_t in = transport_ring_slots(t->settings.ring);
	int rc;

	t->chunk = t->out_length + XDP_KERNEL + XDP_ROOM <= XDP_CHUNK_MAX / 2 ? XDP_CHUNK_MAX / 2 : XDP_CHUNK_MAX;
	t->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (t->fd < 0)
		return xdp_refused(t, -errno, "make an AF_XDP socket", "CAP_NET_RAW", e);
	rc = register_memory(t, in + out, config->numa_node, e);
	if (!rc)
		rc = make_rings(t, in, out, e);
	if (rc)
		return rc;
	share_out(t, in, out);
	rc = prefer_busy_polling(t, e);
	if (!rc)
		rc = bind_queue(t, e);
	t->kicks_always = !t->settings.need_wakeup;
	t->nudges = t->settings.busy_poll || (t->is_zerocopy && t->settings.need_wakeup);
	return rc;
}

void xdp_socket_close(struct xdp *t)
{
	struct xdp_ring *const rings[] = {&t->rx, &t->tx, &t->fill, &t->completion};

	for (size_t i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
		if (rings[i]->map)
			munmap(rings[i]->map, rings[i]->map_size);
		*rings[i] = (struct xdp_ring){.map = NULL};
	}
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	memory_free(&t->memory);
	free(t->seqs);
	free(t->free);
	t->seqs = NULL;
	t->free = NULL;
}

int xdp_socket_statistics(const struct xdp *t, struct xdp_statistics *out)
{
	socklen_t size = sizeof(*out);

	memset(out, 0, sizeof(*out));
	return getsockopt(t->fd, SOL_XDP, XDP_STATISTICS, out, &size) ? -errno : 0;
}
