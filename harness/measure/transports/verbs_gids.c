#include "measure/transports/verbs_gids.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_vlan.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/err.h"
#include "common/or_abort.h"

#define GIDS_MAX 2000 /* for all ports; the system call accepts at most 64 KiB of entries */
/* struct ibv_global_route has one byte for it, while tables may be longer (that of Soft-RoCE has 1024 entries). */
#define GID_INDEX_MAX 255
#define NOT_KNOWN     -1
#define SAID	      400

enum family { FAMILY_LINK, FAMILY_IPV6, FAMILY_IPV4 }; /* from the worst to the best */

static const struct in6_addr *address_of(const union ibv_gid *gid)
{
	return (const struct in6_addr *)(const void *)gid->raw;
}

static enum family family_of(const union ibv_gid *gid)
{
	return IN6_IS_ADDR_V4MAPPED(address_of(gid))	? FAMILY_IPV4
	       : IN6_IS_ADDR_LINKLOCAL(address_of(gid)) ? FAMILY_LINK
							: FAMILY_IPV6;
}

const char *verbs_gid_type(const struct verbs_gid *g)
{
	static const char *const names[] = {
	    [IBV_GID_TYPE_IB] = "IB", [IBV_GID_TYPE_ROCE_V1] = "RoCE v1", [IBV_GID_TYPE_ROCE_V2] = "RoCE v2"};

	return g->index >= 0 && g->type < sizeof(names) / sizeof(names[0]) ? names[g->type] : NULL;
}

/* RoCE v2 is preferred to v1, because it is routable and supported by new devices; IPv4 addresses are preferred, because
 * they are stable. */
static int rank_of(uint32_t type, const union ibv_gid *gid)
{
	return (type == IBV_GID_TYPE_ROCE_V2 ? 3 : 0) + (int)family_of(gid);
}

/* Those of the port with an index that can be used, or that is wanted. Free. */
static struct ibv_gid_entry *read_table(struct ibv_context *context, uint8_t port, int wanted, size_t *count)
{
	struct ibv_gid_entry *table = or_abort(calloc(GIDS_MAX, sizeof(*table)));
	const ssize_t all = ibv_query_gid_table(context, table, GIDS_MAX, 0);

	*count = 0;
	for (ssize_t i = 0; i < all; i++)
		if (table[i].port_num == port && table[i].gid_index <= GID_INDEX_MAX &&
		    (wanted < 0 || (int)table[i].gid_index == wanted))
			table[(*count)++] = table[i];
	return table;
}

static void name_netdev(const struct ibv_gid_entry *g, char out[IF_NAMESIZE])
{
	if (!g->ndev_ifindex || !if_indextoname(g->ndev_ifindex, out))
		*out = '\0';
}

void verbs_gid_choose(struct ibv_context *context, uint8_t port, bool is_ethernet, int wanted, struct verbs_gid *out)
{
	const struct ibv_gid_entry *best = NULL;
	size_t count;
	struct ibv_gid_entry *table = read_table(context, port, wanted, &count);

	*out = (struct verbs_gid){.index = -1};
	/* On InfiniBand, the port's own GID is the first one. */
	for (size_t i = 0; i < count; i++)
		if (!best ||
		    (is_ethernet && rank_of(table[i].gid_type, &table[i].gid) > rank_of(best->gid_type, &best->gid)))
			best = &table[i];
	if (best) {
		*out = (struct verbs_gid){.index = (int)best->gid_index, .gid = best->gid, .type = best->gid_type};
		name_netdev(best, out->netdev);
	}
	free(table);
}

/* --- what the other side is told --- */

/* The bits of the address' network; NOT_KNOWN: it is no address of an interface. */
static int prefix_of(const union ibv_gid *gid, const char *netdev, const struct ifaddrs *list)
{
	for (const struct ifaddrs *a = list; a; a = a->ifa_next) {
		const bool is_ipv4 = a->ifa_addr && a->ifa_addr->sa_family == AF_INET;
		const size_t size = is_ipv4 ? 4 : 16;
		const uint8_t *mask;
		int bits = 0;

		if (!a->ifa_addr || !a->ifa_netmask || strcmp(a->ifa_name, netdev) != 0 ||
		    (!is_ipv4 && a->ifa_addr->sa_family != AF_INET6) ||
		    memcmp(is_ipv4 ? (const void *)&((const struct sockaddr_in *)(const void *)a->ifa_addr)->sin_addr
				   : &((const struct sockaddr_in6 *)(const void *)a->ifa_addr)->sin6_addr,
			   gid->raw + 16 - size, size) != 0)
			continue;
		mask = is_ipv4 ? (const void *)&((const struct sockaddr_in *)(const void *)a->ifa_netmask)->sin_addr
			       : (const void *)&((const struct sockaddr_in6 *)(const void *)a->ifa_netmask)->sin6_addr;
		for (size_t i = 0; i < size; i++)
			bits += __builtin_popcount(mask[i]);
		return bits;
	}
	return NOT_KNOWN;
}

/* The VLAN of an interface, 0 if it has none. */
static int vlan_of(const char *netdev)
{
	struct vlan_ioctl_args args = {.cmd = GET_VLAN_VID_CMD};
	const int fd = *netdev ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
	int vlan = 0;

	if (fd < 0)
		return NOT_KNOWN;
	snprintf(args.device1, sizeof(args.device1), "%s", netdev);
	if (!ioctl(fd, SIOCGIFVLAN, &args))
		vlan = args.u.VID;
	close(fd);
	return vlan;
}

json_t *verbs_gids_tell(struct ibv_context *context, uint8_t port, int wanted)
{
	json_t *told = json_array();
	struct ifaddrs *list = NULL;
	size_t count;
	struct ibv_gid_entry *table = read_table(context, port, wanted, &count);

	if (getifaddrs(&list))
		list = NULL;
	for (size_t i = 0; i < count; i++) {
		char text[INET6_ADDRSTRLEN], netdev[IF_NAMESIZE];

		inet_ntop(AF_INET6, table[i].gid.raw, text, sizeof(text));
		name_netdev(&table[i], netdev);
		json_array_append_new(
		    told, json_pack("{s:i, s:s, s:i, s:i, s:i, s:s}", "index", (int)table[i].gid_index, "gid", text,
				    "type", (int)table[i].gid_type, "prefix", prefix_of(&table[i].gid, netdev, list),
				    "vlan", vlan_of(netdev), "netdev", netdev));
	}
	if (list)
		freeifaddrs(list);
	free(table);
	return told;
}

/* --- the choice of both --- */

/* An entry as one side tells it. */
struct told_gid {
	struct verbs_gid gid;
	int prefix, vlan;
};

struct told_gids {
	struct told_gid *list;
	size_t count;
};

static bool told_number(const json_t *entry, const char *key, int least, int most, int *out)
{
	const json_t *number = json_object_get(entry, key);

	*out = (int)json_integer_value(number);
	return json_is_integer(number) && json_integer_value(number) >= least && json_integer_value(number) <= most;
}

static int read_told(const json_t *told, struct told_gids *out, struct err *e)
{
	const json_t *entry;
	size_t i;

	*out = (struct told_gids){.list = or_abort(calloc(json_array_size(told) + 1, sizeof(*out->list)))};
	json_array_foreach (told, i, entry) {
		struct told_gid *g = &out->list[out->count++];
		const char *text = json_string_value(json_object_get(entry, "gid")),
			   *netdev = json_string_value(json_object_get(entry, "netdev"));
		int type;

		if (i > GID_INDEX_MAX || !text || inet_pton(AF_INET6, text, g->gid.gid.raw) != 1 || !netdev ||
		    strlen(netdev) >= sizeof(g->gid.netdev) ||
		    !told_number(entry, "index", 0, GID_INDEX_MAX, &g->gid.index) ||
		    !told_number(entry, "type", 0, INT16_MAX, &type) ||
		    !told_number(entry, "prefix", NOT_KNOWN, 128, &g->prefix) ||
		    !told_number(entry, "vlan", NOT_KNOWN, 4095, &g->vlan))
			return err_set(e, -EPROTO, STATUS_FAILED, "peer's address", NULL,
				       "\"gids\" has something that is no entry of a table of GIDs");
		g->gid.type = (uint32_t)type;
		snprintf(g->gid.netdev, sizeof(g->gid.netdev), "%s", netdev);
	}
	return 0;
}

static int common_bits(const union ibv_gid *a, const union ibv_gid *b)
{
	int bits = 0;

	for (size_t i = 0; i < sizeof(a->raw); i++) {
		const unsigned differs = a->raw[i] ^ b->raw[i];

		bits += differs ? __builtin_clz(differs) - 24 : 8;
		if (differs)
			break;
	}
	return bits;
}

/* Where nothing says how long the network's part is: 24 bits of IPv4, 64 of IPv6, as is usual. */
static bool reaches(const struct told_gid *g, int common)
{
	const bool is_ipv4 = family_of(&g->gid.gid) == FAMILY_IPV4;
	const int bits = g->prefix != NOT_KNOWN ? g->prefix : is_ipv4 ? 24 : 64;

	return common >= bits + (is_ipv4 ? 96 : 0);
}

/* How well they go together; 0: not at all. */
static int rank_pair(const struct told_gid *a, const struct told_gid *b)
{
	const enum family family = family_of(&a->gid.gid);
	const int common = common_bits(&a->gid.gid, &b->gid.gid);

	if (a->gid.type != b->gid.type || family != family_of(&b->gid.gid) ||
	    (a->vlan != b->vlan && a->vlan != NOT_KNOWN && b->vlan != NOT_KNOWN))
		return 0;
	return 1 + rank_of(a->gid.type, &a->gid.gid) +
	       (family != FAMILY_LINK && reaches(a, common) && reaches(b, common) ? 10 : 0);
}

static void list_gids(const struct told_gids *all, char out[SAID])
{
	size_t length = 0;

	*out = '\0';
	for (size_t i = 0; i < all->count && length < SAID; i++) {
		char text[INET6_ADDRSTRLEN];
		const struct told_gid *g = &all->list[i];

		inet_ntop(AF_INET6, g->gid.gid.raw, text, sizeof(text));
		length += (size_t)snprintf(out + length, SAID - length, "%s%s (%s", i ? ", " : "", text,
					   verbs_gid_type(&g->gid) ?: "another type");
		if (length < SAID && g->vlan > 0)
			length += (size_t)snprintf(out + length, SAID - length, ", VLAN %d", g->vlan);
		if (length < SAID)
			length += (size_t)snprintf(out + length, SAID - length, ")");
	}
}

static int complain_of_pairs(const struct told_gids all[2], const char *object, struct err *e)
{
	char lists[2][SAID];

	for (size_t i = 0; i < 2; i++)
		list_gids(&all[i], lists[i]);
	return err_set(e, -EADDRNOTAVAIL, STATUS_IMPOSSIBLE, object, NULL,
		       "no GID of the source goes with one of the sink (version of RoCE, family of addresses, VLAN): "
		       "%.200s; %.200s; source_gid_index and sink_gid_index force two",
		       *lists[0] ? lists[0] : "none", *lists[1] ? lists[1] : "none");
}

int verbs_gids_pair(const json_t *source, const json_t *sink, const char *object, struct verbs_gid pair[2],
		    struct err *e)
{
	struct told_gids all[2] = {{.list = NULL}};
	int best = 0, rc = read_told(source, &all[0], e) ?: read_told(sink, &all[1], e);

	for (size_t i = 0; !rc && i < all[0].count; i++)
		for (size_t k = 0; k < all[1].count; k++) {
			const int rank = rank_pair(&all[0].list[i], &all[1].list[k]);

			if (rank <= best)
				continue;
			best = rank;
			pair[0] = all[0].list[i].gid;
			pair[1] = all[1].list[k].gid;
		}
	if (!rc && !best)
		rc = complain_of_pairs(all, object, e);
	free(all[0].list);
	free(all[1].list);
	return rc;
}
