/*
 * Drivers of network cards, as DPDK sees them.
 */
#ifndef KBLAT_COMMON_CARD_DRIVERS_H
#define KBLAT_COMMON_CARD_DRIVERS_H

#include <stdbool.h>

#define DRIVER_VFIO	   "vfio-pci"
#define DRIVER_UIO	   "uio_pci_generic"
#define DRIVER_UIO_OF_DPDK "igb_uio"

/* Does it only hand a card over to a program? */
bool card_driver_hands_over(const char *driver);

/* Does DPDK use its cards together with it, so that they need not be taken from it? */
bool card_driver_shares(const char *driver);

#endif
