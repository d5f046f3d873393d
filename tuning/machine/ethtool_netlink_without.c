/* In place of ethtool_netlink.c, in a build without libmnl: values of cards can be neither read nor written, which is not
 * the same as that a card has none (-EOPNOTSUPP). */
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
	return -ENOSYS;
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
