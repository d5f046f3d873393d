#include "tuning/machine/pci.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/card_drivers.h"
#include "common/file_users.h"
#include "common/fs.h"
#include "common/mountinfo.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "tuning/machine/cards.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tasks.h"
#include "tuning/machine/topology.h"

#define LINK_MAX_BYTES 1024
#define TABLE_MAX      (4 << 20) /* of routes, of an environment */
#define ADDRESSES_MAX  1024
#define ABOVE_MAX      32 /* generations of processes */

/* --- names --- */

static bool is_address(const char *text)
{
	unsigned domain, bus, slot, function;
	int end = 0;

	return sscanf(text, "%8x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &end) == 4 && !text[end] &&
	       strspn(text, "0123456789abcdef:.") == (size_t)end;
}

/* That of the device which a link in /sys leads to, or which it is below. */
static char *address_of(const struct machine *m, const char *path)
{
	char link[LINK_MAX_BYTES], *rest = NULL, *found = NULL;

	if (sysroot_readlink(&m->root, path, link, sizeof(link)))
		return NULL;
	for (char *part = strtok_r(link, "/", &rest); part; part = strtok_r(NULL, "/", &rest))
		if (is_address(part)) {
			free(found);
			found = fs_path("%s", part);
		}
	return found;
}

char *pci_find(const struct machine *m, const char *name)
{
	char *longer = fs_path("0000:%s", name);
	char *path = topology_device(m, is_address(longer) ? longer : name);
	char *address = path ? address_of(m, path) : NULL;

	free(path);
	free(longer);
	return address;
}

/* The last part of what a link of the device leads to; NULL: there is none. */
static char *target_of_link(const struct machine *m, const char *address, const char *link)
{
	char target[LINK_MAX_BYTES], *path = fs_path(PCI "/%s/%s", address, link);
	const char *slash;
	int rc = sysroot_readlink(&m->root, path, target, sizeof(target));

	free(path);
	if (rc)
		return NULL;
	slash = strrchr(target, '/');
	return fs_path("%s", slash ? slash + 1 : target);
}

char *pci_driver(const struct machine *m, const char *address, char *buf)
{
	char *name = target_of_link(m, address, "driver");

	snprintf(buf, PCI_DRIVER_MAX, "%s", name ? name : "");
	free(name);
	return buf;
}

char *pci_iommu_group(const struct machine *m, const char *address)
{
	return target_of_link(m, address, "iommu_group");
}

bool pci_is_card(const struct machine *m, const char *address)
{
	char *path = fs_path(PCI "/%s/class", address), class[32];
	const int rc = sysroot_line(&m->root, path, class, sizeof(class));

	free(path);
	return !rc && !strncmp(class, "0x02", 4);
}

/* A list of names, NULL-terminated. */
struct names {
	char **items;
	size_t count;
};

static struct names no_names(void)
{
	return (struct names){.items = or_abort(calloc(1, sizeof(char *)))};
}

static void add_name(struct names *n, const char *name)
{
	if (text_is_among(name, (const char *const *)n->items))
		return;
	n->items = or_abort(reallocarray(n->items, n->count + 2, sizeof(*n->items)));
	n->items[n->count++] = fs_path("%s", name);
	n->items[n->count] = NULL;
}

/* Those in a folder of which `is` says so. */
static struct names some_of(const struct machine *m, const char *folder, const char *pattern,
			    bool (*is)(const struct machine *m, const char *name, const char *address),
			    const char *address)
{
	struct names kept = no_names();
	char **names;
	int n = sysroot_list(&m->root, folder, pattern, &names);

	for (int i = 0; i < n; i++)
		if (!is || is(m, names[i], address))
			add_name(&kept, names[i]);
	if (n >= 0)
		sysroot_names_free(names);
	return kept;
}

static bool is_network_controller(const struct machine *m, const char *name, const char *unused)
{
	(void)unused;
	return pci_is_card(m, name);
}

char **pci_cards(const struct machine *m)
{
	return some_of(m, PCI, NULL, is_network_controller, NULL).items;
}

static bool is_interface_of(const struct machine *m, const char *name, const char *address)
{
	char *path = fs_path(CARDS "/%s", name), *its = address_of(m, path);
	const bool is = its && !strcmp(its, address);

	free(its);
	free(path);
	return is;
}

char **pci_interfaces(const struct machine *m, const char *address)
{
	return some_of(m, CARDS, NULL, is_interface_of, address).items;
}

static char **in_folder(const struct machine *m, const char *address, const char *folder, const char *pattern)
{
	char *path = fs_path(PCI "/%s/%s", address, folder), **names = some_of(m, path, pattern, NULL, NULL).items;

	free(path);
	return names;
}

char **pci_rdma_devices(const struct machine *m, const char *address)
{
	return in_folder(m, address, "infiniband", NULL);
}

/* --- what is on top of its interfaces --- */

/* Its interfaces, then bonds, bridges, VLANs and what is on top of these. */
static struct names with_those_above(const struct machine *m, const struct names *own)
{
	struct names all = no_names();

	for (size_t i = 0; i < own->count; i++)
		add_name(&all, own->items[i]);
	for (size_t i = 0; i < all.count; i++) {
		char *folder = fs_path(CARDS "/%s", all.items[i]), **above;
		int n = sysroot_list(&m->root, folder, "upper_*", &above);

		for (int k = 0; k < n; k++)
			add_name(&all, above[k] + strlen("upper_"));
		if (n >= 0)
			sysroot_names_free(above);
		free(folder);
	}
	return all;
}

/* --- its addresses --- */

static void add_address(char *list, const char *address)
{
	const size_t used = strlen(list);

	snprintf(list + used, ADDRESSES_MAX - used, "%s%.*s", used ? " " : "", (int)strcspn(address, "%/\n"), address);
}

/* "10.0.0.5 fe80::1", in `list` of ADDRESSES_MAX bytes. */
static void list_addresses(const struct machine *m, const char *card, char *list)
{
	char *path = fs_path(PCI_ADDRESSES_RECORDED "/%s", card), *text, *rest = NULL, one[NI_MAXHOST];
	struct ifaddrs *all = NULL;

	list[0] = '\0';
	if (!m->root.live && !machine_read(m, path, &text)) {
		for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			add_address(list, line);
		free(text);
	}
	free(path);
	if (!m->root.live || getifaddrs(&all))
		return;
	for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
		const int family = a->ifa_addr ? a->ifa_addr->sa_family : AF_UNSPEC;
		const socklen_t size = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);

		if (!strcmp(a->ifa_name, card) && (family == AF_INET || family == AF_INET6) &&
		    !getnameinfo(a->ifa_addr, size, one, sizeof(one), NULL, 0, NI_NUMERICHOST))
			add_address(list, one);
	}
	freeifaddrs(all);
}

/* --- routes --- */

#define PREFIX_V4 96 /* IPv4 addresses are mapped: ::ffff:10.0.0.5 */

struct route {
	unsigned char net[16];
	int bits;
	char card[IF_NAMESIZE];
};

struct routes {
	struct route *items;
	size_t count;
};

#define ROUTE_REJECTS 0x200 /* RTF_REJECT of linux/route.h */

static bool read_route_v4(const char *line, struct route *r)
{
	uint32_t net, mask;
	unsigned flags;

	if (sscanf(line, "%15s %" SCNx32 " %*x %x %*d %*u %*d %" SCNx32, r->card, &net, &flags, &mask) != 4)
		return false;
	memset(r->net + 10, 0xff, 2);
	memcpy(r->net + 12, &net, sizeof(net));
	r->bits = PREFIX_V4 + __builtin_popcount(mask);
	return !(flags & ROUTE_REJECTS);
}

static bool read_route_v6(const char *line, struct route *r)
{
	char net[33];
	unsigned flags;

	if (sscanf(line, "%32s %x %*32s %*x %*32s %*x %*x %*x %x %15s", net, (unsigned *)&r->bits, &flags, r->card) !=
	    4)
		return false;
	for (size_t i = 0; i < sizeof(r->net); i++)
		if (sscanf(net + 2 * i, "%2hhx", &r->net[i]) != 1)
			return false;
	return !(flags & ROUTE_REJECTS) && strcmp(r->card, "lo") != 0;
}

static void add_routes(const struct machine *m, const char *path, bool (*read)(const char *line, struct route *r),
		       struct routes *all)
{
	char *text, *rest = NULL;

	if (sysroot_read(&m->root, path, TABLE_MAX, &text, NULL))
		return;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct route r = {.bits = 0};

		if (!read(line, &r))
			continue;
		all->items = or_abort(reallocarray(all->items, all->count + 1, sizeof(r)));
		all->items[all->count++] = r;
	}
	free(text);
}

static bool leads_to(const struct route *r, const unsigned char *address)
{
	const int whole = r->bits / 8, rest = r->bits % 8;

	return r->bits >= 0 && r->bits <= 128 && !memcmp(r->net, address, (size_t)whole) &&
	       (!rest || (r->net[whole] ^ address[whole]) >> (8 - rest) == 0);
}

/* The one of these cards over which the longest prefix leads there, or NULL. `bits`: how long it is. */
static const char *card_towards(const struct routes *all, const char *const *cards, const unsigned char *address,
				int *bits)
{
	const char *card = NULL;

	*bits = -1;
	for (size_t i = 0; i < all->count; i++)
		if (leads_to(&all->items[i], address) && all->items[i].bits > *bits)
			*bits = all->items[i].bits;
	for (size_t i = 0; i < all->count && !card; i++)
		if (all->items[i].bits == *bits && leads_to(&all->items[i], address) &&
		    text_is_among(all->items[i].card, cards))
			card = all->items[i].card;
	return card;
}

static bool read_address(const char *text, unsigned char *address)
{
	memset(address, 0, 10);
	memset(address + 10, 0xff, 2);
	return inet_pton(AF_INET, text, address + 12) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

static const char *card_of_default_route(const struct routes *all, const char *const *cards)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct route *r = &all->items[i];
		const bool is_v4 = r->bits == PREFIX_V4 && r->net[10] == 0xff && r->net[11] == 0xff;

		if ((is_v4 || r->bits == 0) && text_is_among(r->card, cards))
			return r->card;
	}
	return NULL;
}

/* --- the user's session --- */

/* What sshd tells a session. sudo does not pass it on, so those above this process are looked at, too. */
static bool read_session(const struct machine *m, char *buf, size_t size)
{
	static const char key[] = "SSH_CONNECTION=";
	const char *own = getenv("SSH_CONNECTION");
	int pid = getppid();

	snprintf(buf, size, "%s", own ? own : "");
	for (int i = 0; m->root.live && !*buf && pid > 1 && i < ABOVE_MAX; i++) {
		char process[16], parent[16], *path = fs_path("/proc/%d/environ", pid), *text;
		size_t length;

		if (!sysroot_read(&m->root, path, TABLE_MAX, &text, &length)) {
			for (size_t at = 0; at < length; at += strlen(text + at) + 1)
				if (!strncmp(text + at, key, sizeof(key) - 1))
					snprintf(buf, size, "%s", text + at + sizeof(key) - 1);
			free(text);
		}
		snprintf(process, sizeof(process), "%d", pid);
		pid = tasks_status(m, process, "PPid", parent, sizeof(parent)) ? 0 : atoi(parent);
		free(path);
	}
	return *buf != '\0';
}

/* The one of these cards that has the address at which the user's session arrives, or NULL. */
static const char *card_of_session(const struct machine *m, const char *const *cards)
{
	char session[256], server[64], addresses[ADDRESSES_MAX];

	if (!read_session(m, session, sizeof(session)) || sscanf(session, "%*s %*s %63[^ %%]", server) != 1)
		return NULL;
	for (; *cards; cards++) {
		list_addresses(m, *cards, addresses);
		if (text_has_word(addresses, strlen(addresses), server, " "))
			return *cards;
	}
	return NULL;
}

/* --- storage on other hosts --- */

static void add_up_to(struct names *hosts, const char *at, const char *ends)
{
	char *host = fs_path("%.*s", (int)strcspn(at, ends), at);

	add_name(hosts, host);
	free(host);
}

static void add_hosts_of_mounts(const struct machine *m, struct names *hosts)
{
	static const char *const kinds[] = {"nfs", "nfs4", "cifs", "smb3", "ceph", NULL};
	struct mounts all = mounts_read(&m->root);
	struct mount_line mount;

	while (mounts_next(&all, &mount)) {
		const char *at = strstr(mount.super, ",addr=");

		if (at && text_is_among(mount.kind, kinds))
			add_up_to(hosts, at + strlen(",addr="), ", ");
	}
	mounts_free(&all);
}

/* iSCSI, and NVMe over TCP or RDMA. */
static void add_hosts_of_disks(const struct machine *m, const char *pattern, const char *key, struct names *hosts)
{
	char **paths, line[256];
	int n = sysroot_glob(&m->root, pattern, &paths);

	for (int i = 0; i < n; i++) {
		const char *at = sysroot_line(&m->root, paths[i], line, sizeof(line)) ? NULL : strstr(line, key);

		if (at)
			add_up_to(hosts, at + strlen(key), ",");
	}
	if (n >= 0)
		sysroot_names_free(paths);
}

static const char *card_of_storage(const struct machine *m, const struct routes *routes, const char *const *cards,
				   char *host, size_t size)
{
	struct names hosts = no_names();
	const char *card = NULL;
	unsigned char address[16];
	int bits;

	add_hosts_of_mounts(m, &hosts);
	add_hosts_of_disks(m, "/sys/class/iscsi_connection/*/address", "", &hosts);
	add_hosts_of_disks(m, "/sys/class/nvme/*/address", "traddr=", &hosts);
	for (size_t i = 0; i < hosts.count && !card; i++)
		if (read_address(hosts.items[i], address)) {
			card = card_towards(routes, cards, address, &bits);
			snprintf(host, size, "%s", hosts.items[i]);
		}
	sysroot_names_free(hosts.items);
	return card;
}

/* --- programs --- */

/* Files by which a program uses it: of an IOMMU group, of uio, of verbs. */
static struct names files_of(const struct machine *m, const char *address)
{
	static const struct {
		const char *folder, *pattern, *device;
	} kinds[] = {{"uio", "uio*", "/dev"},
		     {"vfio-dev", "vfio*", "/dev/vfio/devices"},
		     {"infiniband_verbs", "uverbs*", "/dev/infiniband"}};
	struct names files = no_names();
	char *group = pci_iommu_group(m, address), *path;

	for (int i = 0; group && i < 2; i++) {
		path = fs_path("/dev/vfio/%s%s", i ? "noiommu-" : "", group);
		add_name(&files, path);
		free(path);
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char **names = in_folder(m, address, kinds[i].folder, kinds[i].pattern);

		for (char **name = names; *name; name++) {
			path = fs_path("%s/%s", kinds[i].device, *name);
			add_name(&files, path);
			free(path);
		}
		sysroot_names_free(names);
	}
	free(group);
	return files;
}

static bool is_used_by_program(const struct machine *m, const char *address, char *why)
{
	struct names files = files_of(m, address);
	char comm[FILE_USER_MAX];
	const int pid =
	    m->root.live && files.count ? file_users_first(&m->root, (const char *const *)files.items, comm) : 0;

	sysroot_names_free(files.items);
	if (pid)
		snprintf(why, PCI_REASON_MAX, "the program %s (process %d) uses it", text_named(comm), pid);
	return pid != 0;
}

/* --- in use? --- */

static bool carries_what_matters(const struct machine *m, const char *const *cards, char *why)
{
	struct routes routes = {0};
	const char *card;
	char host[64];

	add_routes(m, "/proc/net/route", read_route_v4, &routes);
	add_routes(m, "/proc/net/ipv6_route", read_route_v6, &routes);
	if ((card = card_of_default_route(&routes, cards)) != NULL)
		snprintf(why, PCI_REASON_MAX, "the default route goes over %s", card);
	else if ((card = card_of_session(m, cards)) != NULL)
		snprintf(why, PCI_REASON_MAX, "your session comes over %s", card);
	else if ((card = card_of_storage(m, &routes, cards, host, sizeof(host))) != NULL)
		snprintf(why, PCI_REASON_MAX, "storage of the host %s is mounted over %s", text_named(host), card);
	free(routes.items);
	return card != NULL;
}

static bool is_up(const struct machine *m, const char *card)
{
	char *path = fs_path(CARDS "/%s/flags", card);
	int64_t flags = 0;

	sysroot_int(&m->root, path, &flags);
	free(path);
	return flags & IFF_UP;
}

/* What makes it free: `ip link set eth1 down; ip address flush dev eth1`. */
static char *freeing_command(const char *card, bool up, bool has_addresses)
{
	char *down = fs_path("ip link set %s down", card), *flush = fs_path("ip address flush dev %s", card);
	char *both = fs_path("%s%s%s", up ? down : "", up && has_addresses ? "; " : "", has_addresses ? flush : "");

	free(flush);
	free(down);
	return both;
}

static bool is_interface_in_use(const struct machine *m, const char *card, char *why)
{
	char *folder = fs_path(CARDS "/%s", card), **above, addresses[ADDRESSES_MAX], *command;
	int n = sysroot_list(&m->root, folder, "upper_*", &above);
	const bool up = is_up(m, card);

	list_addresses(m, card, addresses);
	command = freeing_command(card, up, *addresses);
	if (n > 0)
		snprintf(why, PCI_REASON_MAX, "%s is part of %s, or below it; take it out of that first", card,
			 above[0] + strlen("upper_"));
	else if (up || *addresses)
		snprintf(why, PCI_REASON_MAX,
			 "its interface %s is %s%s%.200s; run `%s` first, and see to it that nothing sets it up again",
			 card, up ? "up" : "down", *addresses ? ", with " : "", addresses, command);
	if (n >= 0)
		sysroot_names_free(above);
	free(command);
	free(folder);
	return n > 0 || up || *addresses;
}

static bool is_used_by_network(const struct machine *m, const char *address, const struct names *own, char *why)
{
	char *path = fs_path(PCI "/%s/sriov_numvfs", address), driver[PCI_DRIVER_MAX];
	int64_t functions = 0;

	sysroot_int(&m->root, path, &functions);
	free(path);
	for (size_t i = 0; i < own->count; i++)
		if (is_interface_in_use(m, own->items[i], why))
			return true;
	pci_driver(m, address, driver);
	if (functions)
		snprintf(why, PCI_REASON_MAX,
			 "it has %lld virtual functions, which would be gone; first `echo 0 >" PCI "/%s/sriov_numvfs`",
			 (long long)functions, address);
	else if (!own->count && *driver && !card_driver_hands_over(driver) && pci_is_card(m, address))
		snprintf(why, PCI_REASON_MAX,
			 "%s has it, and it has no interface here: that is in another network namespace, to which it "
			 "would not come back",
			 driver);
	else
		return false;
	return true;
}

bool pci_is_in_use(const struct machine *m, const char *address, char *why)
{
	struct names own = some_of(m, CARDS, NULL, is_interface_of, address), all = with_those_above(m, &own);
	const bool is = carries_what_matters(m, (const char *const *)all.items, why) ||
			is_used_by_network(m, address, &own, why) || is_used_by_program(m, address, why);

	sysroot_names_free(all.items);
	sysroot_names_free(own.items);
	return is;
}

/* --- changes --- */

int pci_set_override(struct machine *m, const char *address, const char *driver)
{
	char *path = fs_path(PCI "/%s/driver_override", address);
	/* The kernel's word for none is not one that it takes. */
	const char *text = m->root.live && !strncmp(driver, "(null)", 6) ? "\n" : driver;
	char *now;
	int rc = machine_read(m, path, &now);

	if (!rc) {
		const size_t length = strcspn(driver, "\n");

		if (!m->root.live ? strcmp(now, driver) != 0
				  : strcspn(now, "\n") != length || strncmp(now, driver, length) != 0)
			rc = machine_write(m, path, text, strlen(text));
		free(now);
	}
	free(path);
	return rc;
}

/* On a recorded machine the link is all that there is. */
static int link_recorded(struct machine *m, const char *address, const char *driver)
{
	char *folder = fs_path(PCI "/%s", address), *target = fs_path("../../../bus/pci/drivers/%s", driver);
	int fd = machine_openat(m, folder, O_PATH | O_DIRECTORY), rc = fd < 0 ? fd : 0;

	if (!rc && symlinkat(target, fd, "driver"))
		rc = -errno;
	if (fd >= 0)
		close(fd);
	if (!rc)
		machine_changed(m);
	free(target);
	free(folder);
	return rc;
}

int pci_unbind(struct machine *m, const char *address)
{
	char *link = fs_path(PCI "/%s/driver", address), *path = fs_path("%s/unbind", link);
	int rc = m->root.live ? machine_write(m, path, address, strlen(address)) : machine_refuses(m, path);

	if (!rc && !m->root.live)
		rc = machine_unlink(m, link);
	free(path);
	free(link);
	return rc;
}

int pci_bind(struct machine *m, const char *address, const char *driver)
{
	char *path = fs_path(PCI_DRIVERS "/%s/bind", driver);
	int rc = m->root.live ? machine_write(m, path, address, strlen(address)) : machine_refuses(m, path);

	if (!rc && !m->root.live)
		rc = link_recorded(m, address, driver);
	free(path);
	return rc;
}
