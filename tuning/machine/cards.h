/*
 * Network cards: interfaces that have a device, and so a driver. Bridges, tunnels and loopback have none.
 */
#ifndef KBLAT_TUNING_CARDS_H
#define KBLAT_TUNING_CARDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct ethtool_group;
struct machine;

#define CARDS "/sys/class/net"

/* Where recorded machines have what netlink would say: a file /ethtool/CARD/GROUP/NAME for each value. */
#define CARDS_RECORDED "/ethtool"

/* The names of all cards, in natural order, NULL-terminated; free with sysroot_names_free. */
char **cards_list(const struct machine *m);

/* Is there an interface of that name? Not whether it has a device. */
bool cards_has(const struct machine *m, const char *name);

/* ethtool_read() and ethtool_write(), also on recorded machines. Of these, /habits may say "/ethtool/CARD/GROUP write
 * ERRNO", as well as that of a value's file. */
int cards_read(const struct machine *m, const char *card, const struct ethtool_group *g, json_t **values, char *why,
	       size_t size);
int cards_write(struct machine *m, const char *card, const struct ethtool_group *g, const json_t *values, char *why,
		size_t size);

#endif
