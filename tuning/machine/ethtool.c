#include "tuning/machine/ethtool.h"

#include <linux/ethtool_netlink.h>
#include <string.h>

static const struct ethtool_field channels[] = {
    {"rx", ETHTOOL_A_CHANNELS_RX_COUNT, ETHTOOL_A_CHANNELS_RX_MAX, false},
    {"tx", ETHTOOL_A_CHANNELS_TX_COUNT, ETHTOOL_A_CHANNELS_TX_MAX, false},
    {"other", ETHTOOL_A_CHANNELS_OTHER_COUNT, ETHTOOL_A_CHANNELS_OTHER_MAX, false},
    {"combined", ETHTOOL_A_CHANNELS_COMBINED_COUNT, ETHTOOL_A_CHANNELS_COMBINED_MAX, false},
    {.name = NULL},
};

static const struct ethtool_field rings[] = {
    {"rx", ETHTOOL_A_RINGS_RX, ETHTOOL_A_RINGS_RX_MAX, false},
    {"rx_mini", ETHTOOL_A_RINGS_RX_MINI, ETHTOOL_A_RINGS_RX_MINI_MAX, false},
    {"rx_jumbo", ETHTOOL_A_RINGS_RX_JUMBO, ETHTOOL_A_RINGS_RX_JUMBO_MAX, false},
    {"tx", ETHTOOL_A_RINGS_TX, ETHTOOL_A_RINGS_TX_MAX, false},
    {.name = NULL},
};

static const struct ethtool_field coalesce[] = {
    {"adaptive_rx", ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX, 0, true},
    {"adaptive_tx", ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX, 0, true},
    {"rx_us", ETHTOOL_A_COALESCE_RX_USECS, 0, false},
    {"rx_frames", ETHTOOL_A_COALESCE_RX_MAX_FRAMES, 0, false},
    {"rx_us_irq", ETHTOOL_A_COALESCE_RX_USECS_IRQ, 0, false},
    {"rx_frames_irq", ETHTOOL_A_COALESCE_RX_MAX_FRAMES_IRQ, 0, false},
    {"tx_us", ETHTOOL_A_COALESCE_TX_USECS, 0, false},
    {"tx_frames", ETHTOOL_A_COALESCE_TX_MAX_FRAMES, 0, false},
    {"tx_us_irq", ETHTOOL_A_COALESCE_TX_USECS_IRQ, 0, false},
    {"tx_frames_irq", ETHTOOL_A_COALESCE_TX_MAX_FRAMES_IRQ, 0, false},
    {"cqe_rx", ETHTOOL_A_COALESCE_USE_CQE_MODE_RX, 0, true},
    {"cqe_tx", ETHTOOL_A_COALESCE_USE_CQE_MODE_TX, 0, true},
    {.name = NULL},
};

const struct ethtool_group ethtool_channels = {"channels", ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_MSG_CHANNELS_SET,
					       channels};
const struct ethtool_group ethtool_rings = {"rings", ETHTOOL_MSG_RINGS_GET, ETHTOOL_MSG_RINGS_SET, rings};
const struct ethtool_group ethtool_coalesce = {"coalesce", ETHTOOL_MSG_COALESCE_GET, ETHTOOL_MSG_COALESCE_SET,
					       coalesce};
const struct ethtool_group ethtool_offloads = {"offloads", ETHTOOL_MSG_FEATURES_GET, ETHTOOL_MSG_FEATURES_SET, NULL};

const struct ethtool_group *ethtool_find(const char *name)
{
	static const struct ethtool_group *const groups[] = {&ethtool_channels, &ethtool_rings, &ethtool_coalesce,
							     &ethtool_offloads};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!strcmp(groups[i]->name, name))
			return groups[i];
	return NULL;
}

const struct ethtool_field *ethtool_field(const struct ethtool_group *g, const char *name)
{
	for (const struct ethtool_field *f = g->fields; f && f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}
