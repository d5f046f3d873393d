/*
 * What the drivers of network cards let be set, as ethtool(8) does, by generic netlink (Linux 5.6 and later). Values are
 * texts by name: {"rx": "256", "rx_max": "4096"}, {"adaptive_rx": "on"}, {"rx-lro": "off [fixed]"}.
 */
#ifndef KBLAT_TUNING_ETHTOOL_H
#define KBLAT_TUNING_ETHTOOL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ethtool_field {
	const char *name;
	uint16_t attribute, maximum; /* 0: none says how much it may be; as a value it is called NAME_max */
	bool is_switch;		     /* on or off, otherwise a number */
};

/* Values that are read and written together. */
struct ethtool_group {
	const char *name;
	uint8_t get, set;
	const struct ethtool_field *fields; /* NULL: offloads, which are those that the kernel names */
};

#define ETHTOOL_FIXED " [fixed]" /* ends the value of an offload that cannot be changed */

extern const struct ethtool_group ethtool_channels, ethtool_rings, ethtool_coalesce, ethtool_offloads;

/* NULL if there is none with that name. */
const struct ethtool_group *ethtool_find(const char *name);
const struct ethtool_field *ethtool_field(const struct ethtool_group *g, const char *name);

/*
 * Read all values of a card; write some. 0 or a negative errno, and why in the kernel's or the driver's words: -ENODEV there
 * is no such card, -EOPNOTSUPP its driver has none of these.
 */
int ethtool_read(const char *card, const struct ethtool_group *g, json_t **values, char *why, size_t size);
int ethtool_write(const char *card, const struct ethtool_group *g, const json_t *values, char *why, size_t size);

#endif
