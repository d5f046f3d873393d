/*
 * Network cards on the PCI bus: which driver has one, what the system has by it, and who uses that. Texts that are returned
 * as `char *` are freed by the caller.
 */
#ifndef KBLAT_TUNING_PCI_H
#define KBLAT_TUNING_PCI_H

#include <stdbool.h>
#include <stddef.h>

struct machine;

#define PCI	       "/sys/bus/pci/devices"
#define PCI_DRIVERS    "/sys/bus/pci/drivers"
#define PCI_DRIVER_MAX 64
#define PCI_REASON_MAX 512

/* Where recorded machines have what getifaddrs(3) would say: a file for each interface, an address a line. */
#define PCI_ADDRESSES_RECORDED "/addresses"

/* The address ("0000:03:00.0") of the device with this address ("03:00.0" will do), or of that which an interface or an RDMA
 * device belongs to; NULL: there is none. */
char *pci_find(const struct machine *m, const char *name);

/* The addresses of all network controllers, in order, NULL-terminated; free with sysroot_names_free. */
char **pci_cards(const struct machine *m);
bool pci_is_card(const struct machine *m, const char *address);

/* The driver that has it, in `buf` of PCI_DRIVER_MAX bytes, which is returned; "": none. */
char *pci_driver(const struct machine *m, const char *address, char *buf);

/* Its network interfaces, as pci_cards(); its RDMA devices. */
char **pci_interfaces(const struct machine *m, const char *address);
char **pci_rdma_devices(const struct machine *m, const char *address);

/* The number of its IOMMU group; NULL: it has none. */
char *pci_iommu_group(const struct machine *m, const char *address);

/* Would it be missed if its driver gave it up now? `why` of PCI_REASON_MAX bytes says who uses it, and how to end that; not
 * for what carries the default route, the user's session, or storage. */
bool pci_is_in_use(const struct machine *m, const char *address, char *why);

/* The driver that alone may have it ("(null)", "": any), as it is in a file; take it from its driver; give it to one. 0 or a
 * negative errno. On recorded machines the interfaces stay. */
int pci_set_override(struct machine *m, const char *address, const char *driver);
int pci_unbind(struct machine *m, const char *address);
int pci_bind(struct machine *m, const char *address, const char *driver);

#endif
