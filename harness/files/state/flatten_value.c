#include <errno.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <string.h>

#include "common/cpulist.h"
#include "files/state/capture.h"
#include "files/state/piece.h"
#include "files/state/readers.h"

#define SETS_MAX   8192
#define VALUES_MAX 4096

static struct piece first_line(const char *text, size_t length)
{
	struct piece rest = {text, length};

	return piece_trim(piece_cut(&rest, '\n'));
}

void flatten_line(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	struct piece line = first_line(text, length);

	(void)s;
	capture_text(c, key, NULL, line.p, line.n);
}

void flatten_int(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	(void)s;
	capture_value(c, key, NULL, first_line(text, length));
}

/* Values from several columns or lines, separated by single blanks. */
void flatten_words(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	struct piece rest = {text, length}, word = piece_word(&rest);
	char all[VALUES_MAX];
	size_t used = 0;
	int64_t number;

	(void)s;
	if (!piece_trim(rest).n && piece_int(word, &number)) {
		capture_int(c, key, NULL, number);
		return;
	}
	for (; word.n && used + word.n + 2 < sizeof(all); word = piece_word(&rest))
		used +=
		    (size_t)snprintf(all + used, sizeof(all) - used, "%s%.*s", used ? " " : "", (int)word.n, word.p);
	capture_text(c, key, NULL, all, used);
}

static void flatten_set(struct capture *c, const char *key, struct piece line,
			int (*parse)(const char *, struct cpulist *, char *, size_t))
{
	char buf[SETS_MAX];
	struct cpulist set;

	snprintf(buf, sizeof(buf), "%.*s", (int)line.n, line.p);
	if (line.n >= sizeof(buf) || parse(buf, &set, NULL, 0)) {
		capture_text(c, key, NULL, line.p, line.n);
		return;
	}
	cpulist_format(&set, buf, sizeof(buf));
	capture_text(c, key, NULL, buf, strlen(buf));
}

void flatten_cpulist(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	(void)s;
	flatten_set(c, key, first_line(text, length), cpulist_parse);
}

void flatten_cpumask(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	(void)s;
	flatten_set(c, key, first_line(text, length), cpulist_parse_mask);
}

/* "always [madvise] never"; debugfs writes "none (voluntary) full". */
void flatten_choice(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	struct piece line = first_line(text, length), rest = line;

	(void)s;
	while (rest.n && *rest.p != '[' && *rest.p != '(') {
		rest.p++;
		rest.n--;
	}
	if (rest.n > 1) {
		char closing = *rest.p == '[' ? ']' : ')';

		rest = (struct piece){rest.p + 1, rest.n - 1};
		line = piece_cut(&rest, closing);
	}
	capture_text(c, key, NULL, line.p, line.n);
}

void flatten_s32(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	int32_t value;

	(void)s;
	if (length != sizeof(value)) {
		capture_errno(c, key, -EINVAL);
		return;
	}
	memcpy(&value, text, sizeof(value));
	capture_int(c, key, NULL, value);
}

/*
 * --- PCIe ---
 *
 * PCI Express settings of a device, from its configuration space: PCI Express Base Specification,
 * "PCI Express Capability Structure"; offsets as in include/uapi/linux/pci_regs.h. Without
 * privileges, the kernel only shows the first 64 bytes, which do not include it.
 */

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
