#include "state/read_holders.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/sysroot.h"
#include "state/capture.h"

#define DESCRIPTORS_MAX 200000 /* maximum number examined */

/* Does the process hold `device` open? -EACCES if that cannot be seen, -ENOENT if it is gone. */
static int is_holder(const struct sysroot *root, const char *pid, const char *device, size_t *budget)
{
	char path[512], target[4096], **names;
	int n, found = 0;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	n = sysroot_list(root, path, NULL, &names);
	if (n < 0)
		return n;
	for (int i = 0; i < n && !found && *budget; i++, --*budget) {
		snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, names[i]);
		found = !sysroot_readlink(root, path, target, sizeof(target)) && !strcmp(target, device);
	}
	sysroot_names_free(names);
	return found;
}

static void append_name(const struct sysroot *root, const char *pid, char *list, size_t size)
{
	char path[512], name[64];
	size_t used = strlen(list);

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	if (sysroot_line(root, path, name, sizeof(name)))
		snprintf(name, sizeof(name), "?");
	snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

/*
 * A request lasts as long as the descriptor, so every process that has the device open may be
 * limiting the latency. Their names are captured, because process IDs differ every time; also the
 * number of processes that could not be examined.
 */
void read_holders(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	const struct sysroot *root = capture_root(c);
	size_t budget = DESCRIPTORS_MAX;
	int hidden = 0, n;
	char list[1024] = "", **pids;

	(void)s;
	n = sysroot_list(root, "/proc", "[0-9]*", &pids);
	if (n <= 0) {
		capture_errno(c, key, n ? n : -ENOENT);
		if (!n)
			sysroot_names_free(pids);
		return;
	}
	for (int i = 0; i < n; i++) {
		int rc = is_holder(root, pids[i], path, &budget);

		hidden += rc == -EACCES || rc == -EPERM;
		if (rc > 0)
			append_name(root, pids[i], list, sizeof(list));
	}
	sysroot_names_free(pids);
	if (list[0]) /* not everybody may examine the descriptors of other processes */
		capture_be_private(c);
	if (!list[0] && hidden)
		capture_errno(c, key, -EACCES);
	else
		capture_text(c, key, NULL, list[0] ? list : "none", strlen(list[0] ? list : "none"));
	capture_int(c, "pm_qos.cpu_dma_latency_holders_hidden", NULL, hidden);
}
