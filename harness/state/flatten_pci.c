/*
 * PCI Express settings of a device, from its configuration space: PCI Express Base Specification,
 * "PCI Express Capability Structure"; offsets as in include/uapi/linux/pci_regs.h. Without
 * privileges, the kernel only shows the first 64 bytes, which do not include it.
 */
#include "state/flatten_pci.h"

#include <errno.h>
#include <linux/pci_regs.h>
#include <string.h>

#include "state/capture.h"

#define CAPABILITIES_MAX 48

static unsigned get16(const char *text, size_t at)
{
	const unsigned char *p = (const unsigned char *)text + at;

	return p[0] | (unsigned)p[1] << 8;
}

/* The offset of the capability; 0 if it does not exist. */
static size_t find_capability(const char *text, size_t length, unsigned id)
{
	size_t at = (unsigned char)text[PCI_CAPABILITY_LIST] & ~3U;

	for (int i = 0; i < CAPABILITIES_MAX && at >= 0x40 && at + PCI_EXP_LNKSTA + 2 <= length; i++) {
		if ((unsigned char)text[at] == id)
			return at;
		at = (unsigned char)text[at + 1] & ~3U;
	}
	return 0;
}

static void add_yes(struct capture *c, const char *key, const char *name, unsigned bit)
{
	capture_text(c, key, name, bit ? "yes" : "no", bit ? 3 : 2);
}

void flatten_pci_config(struct capture *c, const struct state_source *s, const char *key, const char *text,
			size_t length)
{
	static const char *const aspm[] = {"off", "L0s", "L1", "L0s L1"};
	unsigned control, link, status;
	size_t at;

	(void)s;
	if (length <= 64) {
		capture_errno(c, key, length == 64 ? -EACCES : -ENODATA);
		return;
	}
	at = find_capability(text, length, PCI_CAP_ID_EXP);
	if (!at) {
		capture_errno(c, key, -ENODATA);
		return;
	}
	control = get16(text, at + PCI_EXP_DEVCTL);
	link = get16(text, at + PCI_EXP_LNKCTL);
	status = get16(text, at + PCI_EXP_LNKSTA);
	capture_int(c, key, "max_payload_bytes", 128 << ((control & PCI_EXP_DEVCTL_PAYLOAD) >> 5));
	capture_int(c, key, "max_read_request_bytes", 128 << ((control & PCI_EXP_DEVCTL_READRQ) >> 12));
	add_yes(c, key, "relaxed_ordering", control & PCI_EXP_DEVCTL_RELAX_EN);
	add_yes(c, key, "no_snoop", control & PCI_EXP_DEVCTL_NOSNOOP_EN);
	capture_text(c, key, "aspm", aspm[link & PCI_EXP_LNKCTL_ASPMC], strlen(aspm[link & PCI_EXP_LNKCTL_ASPMC]));
	capture_int(c, key, "link_generation", status & PCI_EXP_LNKSTA_CLS);
	capture_int(c, key, "link_width", (status & PCI_EXP_LNKSTA_NLW) >> PCI_EXP_LNKSTA_NLW_SHIFT);
}
