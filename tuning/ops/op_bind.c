/*
 * The driver of a network card. data: "pci", its address; "had" and "want", drivers ("": none); "override", what
 * driver_override was; "interfaces": [{"name", "address"}], as they were, which come back when the card does: what was set
 * for them has steps of its own, made before and so undone after. It is known by looking how far it came.
 */
#include "tuning/ops/op_bind.h"

#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/card_drivers.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/text.h"
#include "tuning/machine/cards.h"
#include "tuning/machine/ethtool.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/pci.h"
#include "tuning/ops/op_card.h"
#include "tuning/ops/op_file.h"
#include "tuning/steps/plan.h"

#define NO_DRIVER   "no driver"
#define COMES_BACK  10000 /* ms: an interface, once its driver has the card */
#define IS_NAMED    1000  /* ms: then udev has given it its name, or does not */
#define LOOKS_EVERY 20	  /* ms */

const char *const op_bind_drivers[] = {DRIVER_VFIO, DRIVER_UIO, NULL};

/* --- planning --- */

/* Files of an interface that are new when it comes back. */
static const struct {
	const char *folder, *files;
	enum form form;
} kept[] = {
    {"/proc/sys/net/ipv4/conf/", "/*", FORM_TEXT},
    {"/proc/sys/net/ipv6/conf/", "/*", FORM_TEXT},
    {"/proc/sys/net/ipv4/neigh/", "/*", FORM_TEXT},
    {"/proc/sys/net/ipv6/neigh/", "/*", FORM_TEXT},
    {CARDS "/", "/queues/tx-[0-9]*/xps_cpus", FORM_MASK},
    {CARDS "/", "/queues/rx-[0-9]*/rps_cpus", FORM_MASK},
    {CARDS "/", "/threaded", FORM_TEXT},
    {CARDS "/", "/napi_defer_hard_irqs", FORM_TEXT},
    {CARDS "/", "/gro_flush_timeout", FORM_TEXT},
    {CARDS "/", "/tx_queue_len", FORM_TEXT},
    {CARDS "/", "/mtu", FORM_TEXT},
};

static void keep_files(struct plan *plan, const struct machine *m, const char *knob, const char *pattern,
		       enum form form)
{
	char **paths;
	int n = sysroot_glob(&m->root, pattern, &paths);
	mode_t mode;

	for (int i = 0; i < n; i++)
		if (!machine_mode(m, paths[i], &mode) && (mode & 0600) == 0600)
			op_file_plan_to_keep(plan, m, knob, paths[i], form);
	if (n >= 0)
		sysroot_names_free(paths);
}

static void keep_settings(struct plan *plan, const struct machine *m, const char *knob, const char *card)
{
	static const struct ethtool_group *const groups[] = {&ethtool_coalesce, &ethtool_rings, &ethtool_channels,
							     &ethtool_offloads};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		char *pattern = fs_path("%s%s%s", kept[i].folder, card, kept[i].files);

		keep_files(plan, m, knob, pattern, kept[i].form);
		free(pattern);
	}
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		op_card_plan_to_keep(plan, m, knob, card, groups[i]);
}

/* A line of a file of the card, or of an interface; "": there is none. */
static char *file_line(const struct machine *m, const char *folder, const char *name, const char *file, char *buf,
		       size_t size)
{
	char *path = fs_path("%s/%s/%s", folder, name, file);

	if (sysroot_line(&m->root, path, buf, size))
		buf[0] = '\0';
	free(path);
	return buf;
}

static bool is_loaded(const struct machine *m, const char *driver)
{
	char *path = fs_path(PCI_DRIVERS "/%s", driver);
	const bool is = sysroot_exists(&m->root, path);

	free(path);
	return is;
}

static bool lacks_iommu(const struct machine *m, const char *address)
{
	char *group = pci_iommu_group(m, address), unsafe[8] = "";
	const bool has_group = group != NULL;

	free(group);
	sysroot_line(&m->root, "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode", unsafe, sizeof(unsafe));
	return !has_group && *unsafe != 'Y';
}

/* Why it cannot be, as far as that can be seen; or it can. */
static bool is_possible(struct plan *plan, const struct machine *m, const char *knob, const char *address,
			const char *had, const char *driver)
{
	if (!pci_is_card(m, address))
		plan_missing(plan, knob, address, "it is no network card");
	else if (card_driver_shares(had))
		plan_missing(plan, knob, address, "DPDK uses cards of %s without taking them from the kernel", had);
	else if (!is_loaded(m, driver))
		plan_missing(plan, knob, address, "the driver %s is not loaded; `modprobe %s` does that", driver,
			     driver);
	else if (!strcmp(driver, DRIVER_VFIO) && lacks_iommu(m, address))
		plan_missing(plan, knob, address,
			     DRIVER_VFIO
			     " needs an IOMMU, and this card has none (the firmware's setting, and intel_iommu=on "
			     "or amd_iommu=on); " DRIVER_UIO " needs none");
	else
		return true;
	return false;
}

/* A program gets all of a group, or nothing. */
static void warn_of_group(struct plan *plan, const struct machine *m, const char *address, const char *group)
{
	char *folder = fs_path(PCI "/%s/iommu_group/devices", address), **names, driver[PCI_DRIVER_MAX];
	int n = sysroot_list(&m->root, folder, NULL, &names);

	for (int i = 0; i < n; i++) {
		pci_driver(m, names[i], driver);
		if (strcmp(names[i], address) != 0 && *driver && strcmp(driver, "pcieport") != 0 &&
		    !card_driver_hands_over(driver))
			plan_warn(plan,
				  "%s is in IOMMU group %s together with %s, which %s has: no program can use the card "
				  "before that is bound to " DRIVER_VFIO ", too",
				  address, group, names[i], driver);
	}
	if (n >= 0)
		sysroot_names_free(names);
	free(folder);
}

static void warn_of_iommu(struct plan *plan, const struct machine *m, const char *address, const char *driver)
{
	char *group = pci_iommu_group(m, address), type[32];

	file_line(m, PCI, address, "iommu_group/type", type, sizeof(type));
	if (group && !strcmp(driver, DRIVER_VFIO))
		warn_of_group(plan, m, address, group);
	else if (group && !strncmp(type, "DMA", 3))
		plan_warn(
		    plan,
		    "%s is behind an IOMMU, which does not let it use the physical addresses that a program gives "
		    "it through " DRIVER_UIO "; " DRIVER_VFIO " works",
		    address);
	free(group);
}

static void add_gone(struct plan *plan, char *const *names, char **list)
{
	for (; *names; names++) {
		text_list_add(list, ", ", "%s", *names);
		plan_gone(plan, *names);
	}
}

static void tell_what_goes(struct plan *plan, const struct machine *m, const char *address, const char *driver,
			   char *const *interfaces)
{
	char **rdma = pci_rdma_devices(m, address), *gone = NULL;

	add_gone(plan, interfaces, &gone);
	add_gone(plan, rdma, &gone);
	if (gone)
		plan_warn(
		    plan,
		    "while %s is bound to %s, the system does not have %s; restored with the card: name, hardware "
		    "address, MTU, sysctls, queues and what ethtool sets; not: filters, queueing disciplines, XDP "
		    "programs",
		    address, driver, gone);
	free(gone);
	sysroot_names_free(rdma);
}

static json_t *describe_interfaces(const struct machine *m, char *const *names)
{
	json_t *list = json_array();
	char address[64];

	for (; *names; names++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s}", "name", *names, "address",
						file_line(m, CARDS, *names, "address", address, sizeof(address))));
	return list;
}

static void plan_binding(struct plan *plan, const struct machine *m, const char *knob, const char *address,
			 const char *had, const char *driver)
{
	char **interfaces = pci_interfaces(m, address), *path = fs_path(PCI "/%s/driver_override", address), *override;
	char *shown = fs_path(PCI "/%s/driver", address);

	if (machine_read(m, path, &override))
		override = fs_path("%s", "");
	for (char **card = interfaces; *card; card++)
		keep_settings(plan, m, knob, *card);
	plan_step(plan, knob, &op_bind, shown, *had ? had : NO_DRIVER, driver,
		  json_pack("{s:s, s:s, s:s, s:s, s:o}", "pci", address, "had", had, "want", driver, "override",
			    override, "interfaces", describe_interfaces(m, interfaces)));
	tell_what_goes(plan, m, address, driver, interfaces);
	warn_of_iommu(plan, m, address, driver);
	free(shown);
	free(override);
	free(path);
	sysroot_names_free(interfaces);
}

int op_bind_plan(struct plan *plan, const struct machine *m, const char *knob, const char *address, const char *driver,
		 struct err *e)
{
	char had[PCI_DRIVER_MAX], why[PCI_REASON_MAX], *path;

	pci_driver(m, address, had);
	if (!strcmp(had, driver)) {
		path = fs_path(PCI "/%s/driver", address);
		plan_step(plan, knob, &op_bind, path, had, driver,
			  json_pack("{s:s, s:s, s:s, s:[]}", "pci", address, "had", had, "want", driver, "interfaces"));
		free(path);
		return 0;
	}
	if (!is_possible(plan, m, knob, address, had, driver))
		return 0;
	if (pci_is_in_use(m, address, why))
		return err_set(e, -EBUSY, STATUS_IMPOSSIBLE, address, "take it from the kernel", "%s", why);
	plan_binding(plan, m, knob, address, had, driver);
	return 0;
}

/* --- making and undoing it --- */

static int bind_probe(struct machine *m, const struct step *s, char *why, size_t size)
{
	char *path = fs_path(PCI "/%s/driver_override", step_text(s, "pci"));
	int rc = step_is_change(s) ? machine_foresee_write(m, path, why, size) : 0;

	free(path);
	return rc;
}

static bool is_bound_to(const struct machine *m, const struct step *s, const char *driver, char *now)
{
	return !strcmp(pci_driver(m, step_text(s, "pci"), now), driver);
}

static int bind_failed(const struct step *s, int rc, const char *driver, struct err *e)
{
	char cause[128];

	err_cause(rc, cause, sizeof(cause));
	if (rc == -ENOENT)
		return err_set(e, rc, STATUS_FAILED, step_text(s, "pci"), "bind it",
			       "the driver %s is not there; `modprobe %s` loads it", driver, driver);
	if (rc == -EINVAL && !strcmp(driver, DRIVER_VFIO))
		return err_set(e, rc, STATUS_FAILED, step_text(s, "pci"), "bind it",
			       "%s: %s; this kernel has no VFIO without an IOMMU", driver, cause);
	return err_set(e, rc, STATUS_FAILED, step_text(s, "pci"), "bind it", "%s: %s", driver, cause);
}

/* From whatever has it to `driver`. The override comes first, so that no other driver gets it meanwhile. */
static int hand_over(struct machine *m, const struct step *s, const char *driver, const char *override, struct err *e)
{
	const char *address = step_text(s, "pci");
	char now[PCI_DRIVER_MAX], why[PCI_REASON_MAX];
	int rc;

	if (pci_is_in_use(m, address, why))
		return err_set(e, -EBUSY, STATUS_FAILED, address, "bind it to another driver", "%s", why);
	rc = *override ? pci_set_override(m, address, override) : 0;
	if (!rc && !is_bound_to(m, s, "", now))
		rc = pci_unbind(m, address);
	if (!rc && *driver)
		rc = pci_bind(m, address, driver);
	if (rc)
		return bind_failed(s, rc, driver, e);
	return is_bound_to(m, s, driver, now)
		   ? 0
		   : err_set(e, -EIO, STATUS_FAILED, address, "bind it", "its driver is now %s, not %s",
			     *now ? now : "none", *driver ? driver : "none");
}

static int bind_apply(struct machine *m, struct step *s, struct err *e)
{
	const char *want = step_text(s, "want"), *had = step_text(s, "had");
	char now[PCI_DRIVER_MAX];

	if (is_bound_to(m, s, want, now))
		return 0;
	if (strcmp(now, had) != 0)
		return err_set(e, -EBUSY, STATUS_FAILED, step_text(s, "pci"), "bind it",
			       "its driver is meanwhile %s, and was %s", *now ? now : "none", *had ? had : "none");
	return hand_over(m, s, want, want, e);
}

static enum check bind_check(struct machine *m, const struct step *s, char *now, size_t size)
{
	char driver[PCI_DRIVER_MAX];
	const bool same = is_bound_to(m, s, step_text(s, "want"), driver);

	snprintf(now, size, "%s", *driver ? driver : NO_DRIVER);
	return same ? CHECK_SAME : CHECK_DRIFT;
}

/* --- its interfaces come back --- */

static size_t count_names(char *const *names)
{
	size_t n = 0;

	while (names[n])
		n++;
	return n;
}

static bool are_all_named(const json_t *interfaces, const char *const *now)
{
	const json_t *one;
	size_t i;

	json_array_foreach (interfaces, i, one)
		if (!text_is_among(json_text(one, "name"), now))
			return false;
	return true;
}

/* Those that there are once all have their names, or udev has had the time to name them. */
static char **await_interfaces(const struct machine *m, const char *address, const json_t *interfaces)
{
	const struct timespec moment = {.tv_nsec = LOOKS_EVERY * 1000000};
	int64_t end_ms = monotonic_ms() + COMES_BACK;
	bool are_back = false;
	char **now;

	for (;;) {
		now = pci_interfaces(m, address);
		if (!are_back && count_names(now) >= json_array_size(interfaces)) {
			are_back = true;
			end_ms = monotonic_ms() + IS_NAMED;
		}
		if (are_all_named(interfaces, (const char *const *)now) || monotonic_ms() >= end_ms)
			return now;
		sysroot_names_free(now);
		nanosleep(&moment, NULL);
	}
}

/* The one that this was: by its name, its address, or as there is only one. NULL: it has not come back. */
static const char *find_interface(const struct machine *m, const json_t *interface, char *const *now)
{
	char address[64];

	if (text_is_among(json_text(interface, "name"), (const char *const *)now))
		return json_text(interface, "name");
	for (char *const *name = now; *name; name++)
		if (!strcmp(file_line(m, CARDS, *name, "address", address, sizeof(address)),
			    json_text(interface, "address")))
			return *name;
	return count_names(now) == 1 ? now[0] : NULL;
}

static int ask_kernel(unsigned long request, struct ifreq *r)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	rc = ioctl(fd, request, r) ? -errno : 0;
	close(fd);
	return rc;
}

/* Random ones are other ones now, and some were set. */
static int put_back_address(const char *name, const char *address)
{
	struct ifreq r = {.ifr_hwaddr = {.sa_family = ARPHRD_ETHER}};
	unsigned b[6];
	int end = 0;

	if (sscanf(address, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &end) != 6 ||
	    address[end])
		return 0; /* of InfiniBand: nobody sets it */
	for (size_t i = 0; i < 6; i++)
		r.ifr_hwaddr.sa_data[i] = (char)b[i];
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	return ask_kernel(SIOCSIFHWADDR, &r);
}

static int put_back_name(const char *now, const char *name)
{
	struct ifreq r = {.ifr_flags = 0};

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", now);
	snprintf(r.ifr_newname, sizeof(r.ifr_newname), "%s", name);
	return ask_kernel(SIOCSIFNAME, &r);
}

static int put_back_interface(struct machine *m, const json_t *interface, const char *now, struct err *e)
{
	const char *name = json_text(interface, "name"), *address = json_text(interface, "address");
	char own[64];
	int rc = 0;

	if (strcmp(file_line(m, CARDS, now, "address", own, sizeof(own)), address) != 0) {
		rc = put_back_address(now, address);
		machine_changed(m);
	}
	if (rc)
		return err_sys(e, rc, now, "set its hardware address");
	if (!strcmp(now, name))
		return 0;
	rc = put_back_name(now, name);
	machine_changed(m);
	return rc ? err_set(e, rc, STATUS_FAILED, now, "rename it", "it was %s: %s", name,
			    rc == -EEXIST ? "another interface has that name now" : strerror(-rc))
		  : 0;
}

static int put_back_interfaces(struct machine *m, const struct step *s, struct err *e)
{
	const json_t *interfaces = json_object_get(s->data, "interfaces"), *one;
	char **now;
	size_t i;
	int rc = 0;

	if (!m->root.live || !json_array_size(interfaces))
		return 0;
	now = await_interfaces(m, step_text(s, "pci"), interfaces);
	json_array_foreach (interfaces, i, one) {
		const char *name = find_interface(m, one, now);
		int failed = name ? put_back_interface(m, one, name, e)
				  : err_set(e, -ETIMEDOUT, STATUS_FAILED, step_text(s, "pci"), "put it back",
					    "%s has the card again, but its interface %s has not come back",
					    step_text(s, "had"), text_shown(json_text(one, "name")));

		rc = rc ? rc : failed;
	}
	sysroot_names_free(now);
	return rc;
}

static int bind_undo(struct machine *m, const struct step *s, struct err *e)
{
	const char *had = step_text(s, "had"), *override = step_text(s, "override");
	char now[PCI_DRIVER_MAX];
	int rc = 0;

	if (!step_is_change(s))
		return 0;
	if (!is_bound_to(m, s, had, now))
		rc = hand_over(m, s, had, override, e);
	else if (*override && pci_set_override(m, step_text(s, "pci"), override))
		rc = err_set(e, -EIO, STATUS_FAILED, step_text(s, "pci"), "put it back",
			     "driver_override cannot be written");
	return rc ? rc : put_back_interfaces(m, s, e);
}

const struct op op_bind = {
    .name = "bind",
    .right = "CAP_DAC_OVERRIDE",
    .probe = bind_probe,
    .apply = bind_apply,
    .check = bind_check,
    .undo = bind_undo,
};
