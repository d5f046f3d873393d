#include "measure/transports/udp_frame.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>

#include "common/err.h"
#include "common/json.h"
#include "common/monotonic.h"

#define GREETING_MS    20
#define LAST_GREETINGS 3
#define HOPS	       64

json_t *udp_frame_describe(const struct udp_frame_end *own)
{
	const struct sockaddr_in *at = (const struct sockaddr_in *)&own->at.addr;
	char token[TOKEN_TEXT], address[INET_ADDRSTRLEN], mac[18];

	inet_ntop(AF_INET, &at->sin_addr, address, sizeof(address));
	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", own->mac[0], own->mac[1], own->mac[2], own->mac[3],
		 own->mac[4], own->mac[5]);
	return json_pack("{s:s, s:i, s:s, s:s}", "address", address, "port", ntohs(at->sin_port), "token",
			 token_text(&own->token, token), "mac", mac);
}

int udp_frame_read(struct udp_frame_end *peer, const json_t *description, struct err *e)
{
	const char *address = json_text(description, "address");
	const char *mac = json_text(description, "mac");
	const json_int_t port = json_integer_value(json_object_get(description, "port"));
	unsigned char *m = peer->mac;
	int end = 0;

	if (port < 1 || port > 65535 || !sockets_parse(address, (uint16_t)port, &peer->at) ||
	    peer->at.addr.ss_family != AF_INET ||
	    !token_read(json_string_value(json_object_get(description, "token")), &peer->token) ||
	    sscanf(mac, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5], &end) != 6 ||
	    end != 17 || mac[end])
		return err_set(e, -EPROTO, STATUS_FAILED, "the peer's address", NULL,
			       "has no valid address, port, token and MAC address");
	return 0;
}

static uint16_t checksum(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i += 2)
		sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

void udp_frame_headers(unsigned char headers[UDP_FRAME_HEADERS], const struct udp_frame_end *from,
		       const struct udp_frame_end *to, uint32_t length)
{
	const struct sockaddr_in *own = (const struct sockaddr_in *)&from->at.addr;
	const struct sockaddr_in *peer = (const struct sockaddr_in *)&to->at.addr;
	struct ethhdr ethernet = {.h_proto = htons(ETH_P_IP)};
	struct iphdr ip = {.version = 4, .ihl = 5, .ttl = HOPS, .protocol = IPPROTO_UDP};
	struct udphdr udp = {.source = own->sin_port, .dest = peer->sin_port};

	memcpy(ethernet.h_dest, to->mac, sizeof(to->mac));
	memcpy(ethernet.h_source, from->mac, sizeof(from->mac));
	ip.tot_len = htons((uint16_t)(length - sizeof(ethernet)));
	ip.frag_off = htons(IP_DF);
	ip.saddr = own->sin_addr.s_addr;
	ip.daddr = peer->sin_addr.s_addr;
	ip.check = checksum(&ip, sizeof(ip));
	udp.len = htons((uint16_t)(length - sizeof(ethernet) - sizeof(ip)));
	memcpy(headers, &ethernet, sizeof(ethernet));
	memcpy(headers + sizeof(ethernet), &ip, sizeof(ip));
	memcpy(headers + sizeof(ethernet) + sizeof(ip), &udp, sizeof(udp));
}

uint32_t udp_frame_payload(const char *number)
{
	struct udphdr udp;

	memcpy(&udp, number - UDP_FRAME_NUMBER + UDP_FRAME_HEADERS - sizeof(udp), sizeof(udp));
	return (uint16_t)(ntohs(udp.len) - sizeof(udp));
}

int udp_frame_check(const struct transport_config *config, char *why, size_t why_size)
{
	const int64_t least = UDP_FRAME_OVERHEAD + (config->rewrites ? (int64_t)sizeof(int64_t) : 0);

	if (config->size >= least)
		return 0;
	snprintf(why, why_size, "size %lld and transport %s: %lld bytes of a message hold its token and number%s",
		 (long long)config->size, config->ops->name, (long long)least,
		 config->rewrites ? " and the stamp of t_send" : "");
	return -EINVAL;
}

int udp_frame_meet(const struct udp_frame_meeting *m)
{
	const int64_t deadline_ms = monotonic_ms() + TOKEN_PATIENCE_MS;
	bool has_heard = false, is_heard = false;
	int rc = 0;

	while (!rc && !(has_heard && is_heard)) {
		const int64_t now_ms = monotonic_ms(), next_ms = now_ms + GREETING_MS;
		/* Sooner than the other side, who does not know why. */
		const bool is_misled = !has_heard && now_ms > deadline_ms - TOKEN_PATIENCE_MS / 2 && m->is_misled &&
				       m->is_misled(m->transport);

		if (is_misled || now_ms > deadline_ms)
			return -ENOMSG;
		rc = m->greet(m->transport, has_heard);
		while (!rc && !(has_heard && is_heard) && monotonic_ms() < next_ms) {
			has_heard |= m->hear(m->transport, &is_heard);
			poll(NULL, 0, 1);
		}
	}
	/* The other side may not know yet that it was received, and would not learn it later. */
	for (int i = 0; !rc && i < LAST_GREETINGS; i++)
		rc = m->greet(m->transport, true);
	return rc;
}
