/*
 * A network card is taken from its driver and given to one that hands it over to a program (vfio-pci, uio_pci_generic), as
 * DPDK needs it.
 */
#ifndef KBLAT_TUNING_OP_BIND_H
#define KBLAT_TUNING_OP_BIND_H

#include "common/card_drivers.h"
#include "tuning/ops/ops.h"

struct err;
struct machine;
struct plan;

/* The drivers that a card can be bound to, the usual one first, NULL-terminated; how a message names them. */
extern const char *const op_bind_drivers[];
#define OP_BIND_DRIVERS DRIVER_VFIO " or " DRIVER_UIO

/*
 * Plan that the card at a PCI address is bound to such a driver, and before that what puts its interfaces' settings back
 * afterwards. What this machine lacks is recorded as not possible. 0, or -EBUSY and `e` if the card is in use.
 */
int op_bind_plan(struct plan *plan, const struct machine *m, const char *knob, const char *address, const char *driver,
		 struct err *e);

#endif
