/*
 * Reader of a network interface's settings and counters, as ethtool shows them. The live machine
 * only.
 */
#ifndef KBLAT_STATE_READ_NETDEV_H
#define KBLAT_STATE_READ_NETDEV_H

#include "state/sources.h"

state_reader read_ethtool; /* path: of an interface in /sys/class/net */

#endif
