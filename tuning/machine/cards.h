/*
 * Network cards: interfaces that have a device, and so a driver. Bridges, tunnels and loopback have none.
 */
#ifndef KBLAT_TUNING_CARDS_H
#define KBLAT_TUNING_CARDS_H

#include <stdbool.h>

struct machine;

#define CARDS "/sys/class/net"

/* The names of all cards, in natural order, NULL-terminated; free with sysroot_names_free. */
char **cards_list(const struct machine *m);

/* Is there an interface of that name? Not whether it has a device. */
bool cards_has(const struct machine *m, const char *name);

#endif
