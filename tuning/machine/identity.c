#include "tuning/machine/identity.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fs.h"
#include "tuning/machine/cards.h"
#include "tuning/machine/machine.h"

#define LINK_MAX_BYTES 1024
#define ADDRESS_MAX    32 /* bytes; InfiniBand has 20 */

struct kind;
typedef char *describe(const struct machine *m, const struct kind *k, const char *name);

/* Files below `prefix`NAME/ belong to the thing NAME, all of which are listed in `folder`. */
struct kind {
	const char *prefix, *folder;
	describe *describe;
	bool is_place;	       /* the name itself says where it is plugged in */
	const char *traits[5]; /* files in its folder that stay the same */
};

/* --- a device of a class --- */

/* Where it is plugged in: its folder below /sys/devices, without what the kernel counts up: its name, and that of a virtio
 * device. "": it has none. */
static char *plug_of(const struct machine *m, const char *folder, const char *name)
{
	char link[LINK_MAX_BYTES], *path = fs_path("%s/%s", folder, name), *start, *cut;
	int rc = sysroot_readlink(&m->root, path, link, sizeof(link));

	free(path);
	if (rc || strstr(link, "devices/virtual/"))
		return fs_path("%s", "");
	start = strstr(link, "devices/");
	start = start ? start + strlen("devices/") : link;
	for (int i = 0; i < 2 && (cut = strrchr(start, '/')); i++)
		*cut = '\0';
	cut = strrchr(start, '/');
	if (cut && !strncmp(cut, "/virtio", 7))
		*cut = '\0';
	return fs_path("%s", start);
}

/* The last part of what a link in the folder of a thing leads to. */
static char *linked_name(const struct machine *m, const char *folder, const char *name, const char *link)
{
	char text[LINK_MAX_BYTES], *path = fs_path("%s/%s/%s", folder, name, link), *slash;
	int rc = sysroot_readlink(&m->root, path, text, sizeof(text));

	free(path);
	if (rc)
		return fs_path("%s", "");
	slash = strrchr(text, '/');
	return fs_path("%s", slash ? slash + 1 : text);
}

static char *trait(const struct machine *m, const char *folder, const char *name, const char *file)
{
	char line[256], *path = fs_path("%s/%s/%s", folder, name, file);
	int rc = sysroot_line(&m->root, path, line, sizeof(line));

	free(path);
	return fs_path("%s", rc ? "" : line);
}

/* Append it, whatever it contains. `more` is freed. */
static char *with(char *text, char *more)
{
	char *longer = fs_path("%s%s%s", text, *text ? " " : "", *more ? more : "-");

	free(text);
	free(more);
	return longer;
}

static char *describe_device(const struct machine *m, const struct kind *k, const char *name)
{
	char *text = k->is_place ? fs_path("%s", name) : plug_of(m, k->folder, name);
	bool any = *text;

	for (size_t i = 0; i < 5 && k->traits[i]; i++) {
		char *more = trait(m, k->folder, name, k->traits[i]);

		any |= *more != '\0';
		text = with(text, more);
	}
	if (any)
		return text;
	free(text);
	return NULL;
}

/* --- network cards --- */

/* The address that a card was made with, and that nobody can change. */
static char *permanent_address(const struct machine *m, const char *name)
{
	_Alignas(struct ethtool_perm_addr) uint8_t buffer[sizeof(struct ethtool_perm_addr) + ADDRESS_MAX] = {0};
	struct ethtool_perm_addr *answer = (struct ethtool_perm_addr *)buffer;
	struct ifreq request = {.ifr_data = (char *)buffer};
	char text[3 * ADDRESS_MAX + 1] = "";
	uint8_t any = 0;
	int fd;

	if (!m->root.live)
		return trait(m, CARDS, name, "address");
	*answer = (struct ethtool_perm_addr){.cmd = ETHTOOL_GPERMADDR, .size = ADDRESS_MAX};
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (fd >= 0 && !ioctl(fd, SIOCETHTOOL, &request) && answer->size <= ADDRESS_MAX)
		for (unsigned i = 0; i < answer->size; i++) {
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%02x", i ? ":" : "",
				 answer->data[i]);
			any |= answer->data[i];
		}
	if (fd >= 0)
		close(fd);
	return fs_path("%s", any ? text : "");
}

static char *describe_card(const struct machine *m, const struct kind *k, const char *name)
{
	char *device = fs_path("%s/%s/device", k->folder, name), *text, *index;
	const bool has = sysroot_exists(&m->root, device);

	free(device);
	if (has) {
		text = with(plug_of(m, k->folder, name), linked_name(m, k->folder, name, "device"));
		text = with(text, linked_name(m, k->folder, name, "device/driver"));
		return with(with(text, permanent_address(m, name)), trait(m, k->folder, name, "dev_port"));
	}
	index = trait(m, k->folder, name, "ifindex");
	text = *index ? fs_path("interface %s", index) : NULL;
	free(index);
	return text;
}

static const struct kind kinds[] = {
    {CARDS "/", CARDS, describe_card, false, {NULL}},
    {"/proc/sys/net/ipv4/conf/", CARDS, describe_card, false, {NULL}},
    {"/proc/sys/net/ipv6/conf/", CARDS, describe_card, false, {NULL}},
    {"/proc/sys/net/ipv4/neigh/", CARDS, describe_card, false, {NULL}},
    {"/proc/sys/net/ipv6/neigh/", CARDS, describe_card, false, {NULL}},
    {"/proc/sys/net/mpls/conf/", CARDS, describe_card, false, {NULL}},
    {"/sys/class/infiniband/", "/sys/class/infiniband", describe_device, false, {"node_guid", NULL}},
    {"/sys/class/nvme/", "/sys/class/nvme", describe_device, false, {"serial", "cntlid", NULL}},
    {"/sys/block/", "/sys/block", describe_device, false, {"wwid", "device/wwid", "device/serial", "dm/uuid", NULL}},
    {"/sys/class/block/",
     "/sys/class/block",
     describe_device,
     false,
     {"wwid", "device/wwid", "device/serial", "dm/uuid", NULL}},
    {"/sys/bus/pci/devices/",
     "/sys/bus/pci/devices",
     describe_device,
     true,
     {"vendor", "device", "subsystem_vendor", "subsystem_device", NULL}},
    {"/sys/class/hwmon/", "/sys/class/hwmon", describe_device, false, {"name", NULL}},
    {"/proc/irq/", "/sys/kernel/irq", describe_device, false, {"chip_name", "hwirq", NULL}},
};

static const struct kind *kind_of_path(const char *path)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(path, kinds[i].prefix, strlen(kinds[i].prefix)))
			return &kinds[i];
	return NULL;
}

/* NULL if the path has none. The caller frees. */
static char *name_in(const struct kind *k, const char *path)
{
	const char *name = path + strlen(k->prefix);
	size_t length = strcspn(name, "/");

	return length && name[0] != '.' ? fs_path("%.*s", (int)length, name) : NULL;
}

char *identity_of(const struct machine *m, const char *path)
{
	const struct kind *k = kind_of_path(path);
	char *name = k ? name_in(k, path) : NULL, *text = name ? k->describe(m, k, name) : NULL;

	free(name);
	return text;
}

/* The name of the only thing that is this one, or NULL. */
static char *find_thing(const struct machine *m, const struct kind *k, const char *identity)
{
	char **names, *found = NULL;
	int n = sysroot_list(&m->root, k->folder, NULL, &names), count = 0;

	for (int i = 0; i < n; i++) {
		char *text = k->describe(m, k, names[i]);

		if (text && !strcmp(text, identity) && !count++)
			found = fs_path("%s", names[i]);
		free(text);
	}
	if (count > 1) {
		free(found);
		found = NULL;
	}
	if (n >= 0)
		sysroot_names_free(names);
	return found;
}

int identity_follow(const struct machine *m, const char *path, const char *identity, char **now)
{
	const struct kind *k = kind_of_path(path);
	char *is = identity_of(m, path), *name = NULL;
	const bool same = !k || (is && !strcmp(is, identity));

	free(is);
	if (!same)
		name = find_thing(m, k, identity);
	if (!same && !name)
		return -ENODEV;
	if (same)
		*now = fs_path("%s", path);
	else
		*now = fs_path("%s%s%s", k->prefix, name,
			       path + strlen(k->prefix) + strcspn(path + strlen(k->prefix), "/"));
	free(name);
	return 0;
}
