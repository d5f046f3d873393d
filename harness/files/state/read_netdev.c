#include "files/state/readers.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/or_abort.h"
#include "common/sysroot.h"
#include "files/state/capture.h"

#define STRINGS_MAX 16384

struct netdev {
	struct capture *c;
	int socket;
	const char *key; /* "net.eth0.*" */
	char name[IFNAMSIZ];
};

static int ask(const struct netdev *d, void *request)
{
	struct ifreq r;

	memset(&r, 0, sizeof(r));
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", d->name);
	r.ifr_data = request;
	return ioctl(d->socket, SIOCETHTOOL, &r) ? -errno : 0;
}

static void add_netdev_text(const struct netdev *d, const char *name, const char *text, size_t size)
{
	capture_text(d->c, d->key, name, text, strnlen(text, size));
}

static int read_netdev_driver(const struct netdev *d)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	int rc = ask(d, &info);

	if (rc)
		return rc;
	add_netdev_text(d, "driver", info.driver, sizeof(info.driver));
	add_netdev_text(d, "driver_version", info.version, sizeof(info.version));
	add_netdev_text(d, "firmware", info.fw_version, sizeof(info.fw_version));
	add_netdev_text(d, "bus", info.bus_info, sizeof(info.bus_info));
	return 0;
}

/* Fields of the answer to a request, by offset. */
struct field {
	const char *name;
	size_t offset;
};

static void read_fields(const struct netdev *d, void *request, const struct field *f)
{
	if (ask(d, request))
		return;
	for (; f->name; f++) {
		uint32_t value;

		memcpy(&value, (char *)request + f->offset, sizeof(value));
		capture_int(d->c, d->key, f->name, value);
	}
}

#define FIELD(type, key, member)                                                                                       \
	{                                                                                                              \
		key, offsetof(struct type, member)                                                                     \
	}

static void read_coalescing(const struct netdev *d)
{
	static const struct field fields[] = {
	    FIELD(ethtool_coalesce, "coalesce.rx_us", rx_coalesce_usecs),
	    FIELD(ethtool_coalesce, "coalesce.rx_frames", rx_max_coalesced_frames),
	    FIELD(ethtool_coalesce, "coalesce.tx_us", tx_coalesce_usecs),
	    FIELD(ethtool_coalesce, "coalesce.tx_frames", tx_max_coalesced_frames),
	    FIELD(ethtool_coalesce, "coalesce.adaptive_rx", use_adaptive_rx_coalesce),
	    FIELD(ethtool_coalesce, "coalesce.adaptive_tx", use_adaptive_tx_coalesce),
	    {NULL, 0},
	};
	struct ethtool_coalesce request = {.cmd = ETHTOOL_GCOALESCE};

	read_fields(d, &request, fields);
}

static void read_rings(const struct netdev *d)
{
	static const struct field fields[] = {
	    FIELD(ethtool_ringparam, "ring.rx", rx_pending),
	    FIELD(ethtool_ringparam, "ring.tx", tx_pending),
	    {NULL, 0},
	};
	struct ethtool_ringparam request = {.cmd = ETHTOOL_GRINGPARAM};

	read_fields(d, &request, fields);
}

static void read_channels(const struct netdev *d)
{
	static const struct field fields[] = {
	    FIELD(ethtool_channels, "channels.rx", rx_count),
	    FIELD(ethtool_channels, "channels.tx", tx_count),
	    FIELD(ethtool_channels, "channels.combined", combined_count),
	    {NULL, 0},
	};
	struct ethtool_channels request = {.cmd = ETHTOOL_GCHANNELS};

	read_fields(d, &request, fields);
}

static void read_pause(const struct netdev *d)
{
	static const struct field fields[] = {
	    FIELD(ethtool_pauseparam, "pause.autoneg", autoneg),
	    FIELD(ethtool_pauseparam, "pause.rx", rx_pause),
	    FIELD(ethtool_pauseparam, "pause.tx", tx_pause),
	    {NULL, 0},
	};
	struct ethtool_pauseparam request = {.cmd = ETHTOOL_GPAUSEPARAM};

	read_fields(d, &request, fields);
}

/* The names of a set, ETH_GSTRING_LEN bytes each; NULL if there are none. The caller frees. */
static struct ethtool_gstrings *read_names(const struct netdev *d, uint32_t set)
{
	union {
		struct ethtool_sset_info info;
		char room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} asked = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << set}};
	struct ethtool_gstrings *names = NULL;
	uint32_t count = 0;

	if (!ask(d, &asked) && asked.info.sset_mask)
		memcpy(&count, asked.room + sizeof(asked.info), sizeof(count));
	if (count && count <= STRINGS_MAX)
		names = or_abort(calloc(1, sizeof(*names) + (size_t)count * ETH_GSTRING_LEN));
	if (!names)
		return NULL;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = set;
	names->len = count;
	if (!ask(d, names) && names->len <= count)
		return names;
	free(names);
	return NULL;
}

static void netdev_name(const struct ethtool_gstrings *names, uint32_t i, const char *prefix, char *out, size_t size)
{
	snprintf(out, size, "%s.%.*s", prefix, ETH_GSTRING_LEN, (const char *)names->data + i * ETH_GSTRING_LEN);
}

/* ethtool -S */
static void read_statistics(const struct netdev *d)
{
	struct ethtool_gstrings *names = read_names(d, ETH_SS_STATS);
	struct ethtool_stats *values;
	char name[ETH_GSTRING_LEN + 16];

	if (!names)
		return;
	values = or_abort(calloc(1, sizeof(*values) + names->len * sizeof(uint64_t)));
	values->cmd = ETHTOOL_GSTATS;
	values->n_stats = names->len;
	if (!ask(d, values))
		for (uint32_t i = 0; i < names->len && i < values->n_stats; i++) {
			netdev_name(names, i, "stat", name, sizeof(name));
			capture_int(d->c, d->key, name, (int64_t)values->data[i]);
		}
	free(values);
	free(names);
}

/* ethtool -k */
static void read_features(const struct netdev *d)
{
	struct ethtool_gstrings *names = read_names(d, ETH_SS_FEATURES);
	struct ethtool_gfeatures *features;
	char name[ETH_GSTRING_LEN + 16];
	uint32_t blocks;

	if (!names)
		return;
	blocks = (names->len + 31) / 32;
	features = or_abort(calloc(1, sizeof(*features) + blocks * sizeof(features->features[0])));
	features->cmd = ETHTOOL_GFEATURES;
	features->size = blocks;
	if (!ask(d, features))
		for (uint32_t i = 0; i < names->len; i++) {
			const char *value = features->features[i / 32].active & 1U << i % 32 ? "on" : "off";

			netdev_name(names, i, "feature", name, sizeof(name));
			if (names->data[i * ETH_GSTRING_LEN])
				capture_text(d->c, d->key, name, value, strlen(value));
		}
	free(features);
	free(names);
}

void read_ethtool(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	struct netdev d = {.c = c, .key = key};
	const char *name = strrchr(path, '/') + 1;
	int rc;

	(void)s;
	if (!capture_root(c)->live || strlen(name) >= sizeof(d.name))
		return;
	strcpy(d.name, name);
	d.socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	rc = d.socket < 0 ? -errno : read_netdev_driver(&d);
	if (!rc) {
		read_coalescing(&d);
		read_rings(&d);
		read_channels(&d);
		read_pause(&d);
		read_features(&d);
		read_statistics(&d);
	} else if (rc != -EOPNOTSUPP && rc != -ENODEV) {
		capture_errno(c, key, rc);
	}
	if (d.socket >= 0)
		close(d.socket);
}
