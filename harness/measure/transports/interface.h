/*
 * The network interface that has an address, and its counters. Control path.
 */
#ifndef KBLAT_TRANSPORTS_INTERFACE_H
#define KBLAT_TRANSPORTS_INTERFACE_H

#include <jansson.h>
#include <net/if.h>
#include <stdbool.h>
#include <sys/socket.h>

#define NET_DEV "/proc/self/net/dev"

struct interface {
	char name[IF_NAMESIZE]; /* "": no interface has the address */
	bool is_loopback;
};

/* Find the interface with a local address; its name is "" if there is none. */
void interface_find(const struct sockaddr *address, struct interface *out);

bool interface_is_loopback(const char *name);

/* Add the current numbers of bytes from `table`, a file such as /proc/self/net/dev, as counters of
 * these names; nothing if it does not contain the interface. */
void interface_count(const char *table, const struct interface *i, const char *sent_name, const char *received_name,
		     json_t *counters);

/* Likewise the packets that it has dropped: "interface_tx_dropped", "interface_rx_dropped". */
void interface_count_drops(const char *table, const struct interface *i, json_t *counters);

/* The bytes of all that it contains, the sum of both directions: "eth0.bytes". */
void interface_count_all(const char *table, json_t *counters);

#endif
