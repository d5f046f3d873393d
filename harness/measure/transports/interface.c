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

/* " eth0: 8 numbers about receiving, 8 about sending": bytes are the first of each. */
static bool read_line(const char *line, const char *name, int64_t *received, int64_t *sent)
{
	const char *colon = strrchr(line, ':');

	line += strspn(line, " ");
	return colon && strlen(name) == (size_t)(colon - line) && !strncmp(line, name, strlen(name)) &&
	       sscanf(colon + 1, "%" SCNd64 "%*s%*s%*s%*s%*s%*s%*s%" SCNd64, received, sent) == 2;
}

void interface_count(const char *table, const struct interface *i, const char *sent_name, const char *received_name,
		     json_t *counters)
{
	char line[LINE_MAX_BYTES];
	int64_t received, sent;
	FILE *f = *i->name ? fopen(table, "re") : NULL;

	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		if (read_line(line, i->name, &received, &sent)) {
			json_object_set_new(counters, sent_name, json_integer(sent));
			json_object_set_new(counters, received_name, json_integer(received));
			break;
		}
	fclose(f);
}

void interface_count_all(const char *table, json_t *counters)
{
	char line[LINE_MAX_BYTES], name[IF_NAMESIZE], key[IF_NAMESIZE + 16];
	int64_t received, sent;
	FILE *f = fopen(table, "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " %15[^: ]", name) == 1 && read_line(line, name, &received, &sent)) {
			snprintf(key, sizeof(key), "%s.bytes", name);
			json_object_set_new(counters, key, json_integer(sent + received));
		}
	if (f)
		fclose(f);
}
