#include "measure/transports/interface.h"

#include <ifaddrs.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 512

/* Equal families and addresses; ports do not count. */
static bool same_address(const struct sockaddr *a, const struct sockaddr *b)
{
	if (!a || a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
	return a->sa_family == AF_INET6 &&
	       IN6_ARE_ADDR_EQUAL(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
				  &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr);
}

/* All of 127.0.0.0/8 belongs to the loopback interface, although it only has one of these addresses. */
static bool is_loopback_address(const struct sockaddr *a)
{
	return a->sa_family == AF_INET &&
	       ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

void interface_find(const struct sockaddr *address, struct interface *out)
{
	struct ifaddrs *all = NULL;

	*out = (struct interface){.is_loopback = is_loopback_address(address)};
	if (out->is_loopback || getifaddrs(&all))
		return;
	for (const struct ifaddrs *i = all; i && !*out->name; i = i->ifa_next)
		if (same_address(i->ifa_addr, address)) {
			snprintf(out->name, sizeof(out->name), "%s", i->ifa_name);
			out->is_loopback = i->ifa_flags & IFF_LOOPBACK;
		}
	freeifaddrs(all);
}

bool interface_is_loopback(const char *name)
{
	struct ifaddrs *all = NULL;
	bool is_loopback = false;

	if (getifaddrs(&all))
		return false;
	for (const struct ifaddrs *i = all; i; i = i->ifa_next)
		is_loopback |= !strcmp(i->ifa_name, name) && i->ifa_flags & IFF_LOOPBACK;
	freeifaddrs(all);
	return is_loopback;
}

/* What a line says, " eth0: 8 numbers about receiving, 8 about sending", as far as it is needed. */
struct traffic {
	int64_t received, sent;			    /* bytes */
	int64_t dropped_receiving, dropped_sending; /* packets */
};

static bool read_line(const char *line, const char *name, struct traffic *t)
{
	const char *colon = strrchr(line, ':');

	line += strspn(line, " ");
	return colon && strlen(name) == (size_t)(colon - line) && !strncmp(line, name, strlen(name)) &&
	       sscanf(colon + 1, "%" SCNd64 "%*s%*s%" SCNd64 "%*s%*s%*s%*s%" SCNd64 "%*s%*s%" SCNd64, &t->received,
		      &t->dropped_receiving, &t->sent, &t->dropped_sending) == 4;
}

static bool read_traffic(const char *table, const struct interface *i, struct traffic *t)
{
	char line[LINE_MAX_BYTES];
	FILE *f = *i->name ? fopen(table, "re") : NULL;
	bool is_found = false;

	while (f && !is_found && fgets(line, sizeof(line), f))
		is_found = read_line(line, i->name, t);
	if (f)
		fclose(f);
	return is_found;
}

void interface_count(const char *table, const struct interface *i, const char *sent_name, const char *received_name,
		     json_t *counters)
{
	struct traffic now;

	if (!read_traffic(table, i, &now))
		return;
	json_object_set_new(counters, sent_name, json_integer(now.sent));
	json_object_set_new(counters, received_name, json_integer(now.received));
}

void interface_count_drops(const char *table, const struct interface *i, json_t *counters)
{
	struct traffic now;

	if (!read_traffic(table, i, &now))
		return;
	json_object_set_new(counters, "interface_tx_dropped", json_integer(now.dropped_sending));
	json_object_set_new(counters, "interface_rx_dropped", json_integer(now.dropped_receiving));
}

void interface_count_all(const char *table, json_t *counters)
{
	char line[LINE_MAX_BYTES], name[IF_NAMESIZE], key[IF_NAMESIZE + 16];
	struct traffic now;
	FILE *f = fopen(table, "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " %15[^: ]", name) == 1 && read_line(line, name, &now)) {
			snprintf(key, sizeof(key), "%s.bytes", name);
			json_object_set_new(counters, key, json_integer(now.sent + now.received));
		}
	if (f)
		fclose(f);
}
