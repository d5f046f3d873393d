#include "measure/transports/lane.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "common/text.h"
#include "measure/transports/interface.h"
#include "measure/transports/transport.h"
#include "measure/transports/verbs_counters.h"

#define DEVICE_SIZE 64
#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))

extern char **environ;

json_t *lane_environment(const char *prefix)
{
	json_t *list = json_array();
	char clean[256];

	for (char **at = environ; *at; at++)
		if (!strncmp(*at, prefix, strlen(prefix)))
			json_array_append_new(list, json_string(text_clean(*at, strlen(*at), clean, sizeof(clean))));
	return list;
}

int lane_setting(const struct lane_variable *v, struct err *e)
{
	const char *set = getenv(v->name);

	if (!strcmp(v->value, v->usual))
		return 0;
	if (set && strcmp(set, v->value) != 0)
		return err_set(e, -EINVAL, STATUS_FAILED, v->name, NULL,
			       "%.80s contradicts the setting %s: %s; unset one of them", set, v->key, v->value);
	return 1;
}

/* --- what must count the messages of a lane --- */

enum evidence { EVIDENCE_UNKNOWN, EVIDENCE_NONE, EVIDENCE_INTERFACE, EVIDENCE_PORT };
static const char *const evidence_names[] = {[EVIDENCE_UNKNOWN] = "unknown",
					     [EVIDENCE_NONE] = "none",
					     [EVIDENCE_INTERFACE] = "interface",
					     [EVIDENCE_PORT] = "port"};

struct lane_evidence {
	enum evidence kind;
	char device[DEVICE_SIZE];
	unsigned port;
	struct interface interface;
};

bool lane_is_memory(const char *lane)
{
	static const char *const ways[] = {"posix", "sysv", "self", "cma", "knem", "xpmem", "shm"};
	const size_t length = strcspn(lane, "/;");

	for (size_t i = 0; i < COUNT(ways); i++)
		if (strlen(ways[i]) == length && !strncmp(lane, ways[i], length))
			return true;
	return false;
}

static bool is_rdma(const struct sysroot *r, const char *device)
{
	char path[DEVICE_SIZE + 32];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s", device);
	return *device && sysroot_exists(r, path);
}

/* "lo.0", "mlx5_0:1.0" of UCX, whose last part numbers paths; "lo", "mlx5_0-dgram" of libfabric. */
static void read_device(const struct sysroot *r, const char *text, struct lane_evidence *w)
{
	const char *colon = strchr(text, ':');
	char *end;

	w->port = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 1;
	snprintf(w->device, sizeof(w->device), "%.*s", (int)(colon ? colon - text : (ptrdiff_t)strlen(text)), text);
	end = strrchr(w->device, '.');
	if (!colon && end && end[1] && strspn(end + 1, "0123456789") == strlen(end + 1))
		*end = '\0';
	end = strrchr(w->device, '-');
	if (end && !is_rdma(r, w->device)) {
		*end = '\0';
		if (!is_rdma(r, w->device))
			*end = '-';
	}
}

static struct lane_evidence find_evidence(const struct sysroot *r, const char *lane)
{
	struct lane_evidence w = {.kind = lane_is_memory(lane) ? EVIDENCE_NONE : EVIDENCE_UNKNOWN};
	const char *device = strrchr(lane, '/');

	if (w.kind == EVIDENCE_NONE || !device)
		return w;
	read_device(r, device + 1, &w);
	snprintf(w.interface.name, sizeof(w.interface.name), "%.*s", (int)sizeof(w.interface.name) - 1, w.device);
	if (is_rdma(r, w.device)) {
		w.kind = EVIDENCE_PORT;
	} else if (if_nametoindex(w.interface.name)) {
		w.kind = EVIDENCE_INTERFACE;
		w.interface.is_loopback = interface_is_loopback(w.interface.name);
	}
	return w;
}

void lane_grant(json_t *granted, const char *lane, const char *expected, const struct transport_config *config)
{
	struct sysroot r;
	struct lane_evidence w;
	char name[DEVICE_SIZE + 16];

	json_object_set_new(granted, "lane", json_string(lane));
	if (*expected)
		json_object_set_new(granted, "expected_lane", json_string(expected));
	if (sysroot_open(&r, NULL, NULL))
		return;
	w = find_evidence(&r, lane);
	sysroot_close(&r);
	if (w.kind == EVIDENCE_PORT)
		snprintf(name, sizeof(name), "%s:%u", w.device, w.port);
	else
		snprintf(name, sizeof(name), "%s", w.device);
	json_object_set_new(granted, "witness",
			    json_pack("{s:s, s:s, s:b, s:I, s:I}", "kind", evidence_names[w.kind], "name", name,
				      "loopback", w.interface.is_loopback, "sent_bytes",
				      (json_int_t)transport_sent_bytes(config), "received_bytes",
				      (json_int_t)transport_received_bytes(config)));
}

/* "mlx5_0:1.packets" */
static void count_port(const struct lane_evidence *w, const char *device, unsigned port, json_t *counters)
{
	static const char *const sent[] = {"port_xmit_packets", "sent_pkts"};
	json_t *all = verbs_counters(device, port), *packets = NULL;
	char name[DEVICE_SIZE + 32];

	for (size_t i = 0; i < COUNT(sent) && !packets; i++)
		packets = json_object_get(all, sent[i]);
	snprintf(name, sizeof(name), "%.*s:%u.packets", DEVICE_SIZE, device, port);
	if (packets)
		json_object_set(counters, name, packets);
	if (w->kind == EVIDENCE_PORT && w->port == port && !strcmp(w->device, device))
		json_object_update_missing(counters, all);
	json_decref(all);
}

static void count_ports(const struct sysroot *r, const struct lane_evidence *w, json_t *counters)
{
	char **paths, device[DEVICE_SIZE];
	unsigned port;

	if (sysroot_glob(r, "/sys/class/infiniband/*/ports/*", &paths) < 0)
		return;
	for (size_t i = 0; paths[i]; i++)
		if (sscanf(paths[i], "/sys/class/infiniband/%63[^/]/ports/%u", device, &port) == 2)
			count_port(w, device, port, counters);
	sysroot_names_free(paths);
}

/* What the TCP connections of this process have moved, in both directions, and what they have not sent yet; -1: not known. */
struct socket_bytes {
	json_int_t moved, unsent;
};

static struct socket_bytes own_sockets(const struct sysroot *r)
{
	struct socket_bytes sum = {0, 0};
	char **names;

	if (sysroot_list(r, "/proc/self/fd", NULL, &names) < 0)
		return (struct socket_bytes){-1, 0};
	for (size_t i = 0; names[i]; i++) {
		struct tcp_info info = {.tcpi_state = 0};
		socklen_t size = sizeof(info);

		if (!getsockopt(atoi(names[i]), IPPROTO_TCP, TCP_INFO, &info, &size)) {
			sum.moved += (json_int_t)(info.tcpi_bytes_acked + info.tcpi_bytes_received);
			sum.unsent += info.tcpi_notsent_bytes;
		}
	}
	sysroot_names_free(names);
	return sum;
}

#define STUCK_MS 1000

/* A post ends when the kernel has the message, which no interface has counted yet. Waits until it is sent, or nothing is
 * sent for a while. */
static json_int_t settled_sockets(const struct sysroot *r)
{
	struct socket_bytes last = own_sockets(r), now = last;
	int64_t since_ms = monotonic_ms();

	while (now.unsent && monotonic_ms() - since_ms < STUCK_MS) {
		usleep(1000);
		last = now;
		now = own_sockets(r);
		if (now.unsent != last.unsent)
			since_ms = monotonic_ms();
	}
	return now.moved;
}

void lane_count(json_t *counters, const char *lane)
{
	struct lane_evidence w;
	struct sysroot r;

	if (sysroot_open(&r, NULL, NULL))
		return;
	w = find_evidence(&r, lane);
	json_object_set_new(counters, "socket_bytes", json_integer(settled_sockets(&r)));
	interface_count_all(NET_DEV, counters);
	count_ports(&r, &w, counters);
	sysroot_close(&r);
	if (w.kind == EVIDENCE_INTERFACE && !w.interface.is_loopback)
		interface_count(NET_DEV, &w.interface, "tx_bytes", "rx_bytes", counters);
}

/* --- strangers --- */

static bool listens_for_tcp(int fd)
{
	int listens = 0, protocol = 0;
	socklen_t size = sizeof(int);

	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) && listens &&
	       !getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) && protocol == IPPROTO_TCP;
}

/* A socket that is closed, or shut down, behind a library's back would be its error; one that drops all packets is silent. */
void lane_admit_no_more(void)
{
	struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog program = {.len = 1, .filter = &drop};
	struct sysroot r;
	char **names;

	if (sysroot_open(&r, NULL, NULL))
		return;
	if (sysroot_list(&r, "/proc/self/fd", NULL, &names) >= 0) {
		for (size_t i = 0; names[i]; i++)
			if (listens_for_tcp(atoi(names[i])))
				setsockopt(atoi(names[i]), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
		sysroot_names_free(names);
	}
	sysroot_close(&r);
}

/* --- addresses --- */

json_t *lane_address(const void *bytes, size_t size)
{
	char *text = or_abort(calloc(1, 2 * size + 1));
	json_t *address;

	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)bytes)[i]);
	address = json_string(text);
	free(text);
	return address;
}

int lane_read_address(const json_t *address, unsigned char *bytes, size_t most)
{
	const char *text = json_string_value(address);
	const size_t size = text ? strlen(text) : 0;
	unsigned byte;

	if (!size || size % 2 || size / 2 > most || strspn(text, "0123456789abcdef") != size)
		return -EPROTO;
	for (size_t i = 0; i < size / 2; i++) {
		sscanf(text + 2 * i, "%2x", &byte);
		bytes[i] = (unsigned char)byte;
	}
	return 0;
}
