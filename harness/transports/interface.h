/*
 * The network interface that an address is of, and how many bytes went over it. Control path.
 */
#ifndef KBLAT_TRANSPORTS_INTERFACE_H
#define KBLAT_TRANSPORTS_INTERFACE_H

#include <jansson.h>
#include <net/if.h>
#include <stdbool.h>
#include <sys/socket.h>

struct interface {
	char name[IF_NAMESIZE]; /* "": none has the address */
	bool is_loopback;
};

/* Of a local address; a name of "" where none has it. */
void interface_find(const struct sockaddr *address, struct interface *out);

/* Add "tx_bytes" and "rx_bytes" as of now, from `table`, a file such as /proc/self/net/dev; nothing where it has no
 * such interface. */
void interface_count(const char *table, const struct interface *i, json_t *counters);

#endif
