/* In place of ethtool_netlink.c, in a build without libmnl: cards have none of these values. */
#include <errno.h>
#include <stdio.h>

#include "common/err.h"
#include "common/feature.h"
#include "tuning/machine/ethtool.h"

static int refuse(char *why, size_t size)
{
	struct err e = ERR_INIT;

	feature_missing("libmnl", "network cards", &e);
	snprintf(why, size, "%s", e.text);
	return -EOPNOTSUPP;
}

int ethtool_read(const char *card, const struct ethtool_group *g, json_t **values, char *why, size_t size)
{
	(void)card, (void)g;
	*values = NULL;
	return refuse(why, size);
}

int ethtool_write(const char *card, const struct ethtool_group *g, const json_t *values, char *why, size_t size)
{
	(void)card, (void)g, (void)values;
	return refuse(why, size);
}
