/*
 * Flattener of a PCI device's configuration space. Pure.
 */
#ifndef KBLAT_STATE_FLATTEN_PCI_H
#define KBLAT_STATE_FLATTEN_PCI_H

#include "state/sources.h"

state_flattener flatten_pci_config; /* PCIe settings of configuration space */

#endif
