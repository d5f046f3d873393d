#include "state/under_test.h"

#include <fnmatch.h>
#include <string.h>

/*
 * Differences that come with another kernel. An interface that only one of two kernels has is also
 * due to the kernel, unless it may be missing because of a setting, such as the idle states with
 * idle=poll.
 */
static const struct alias {
	const char *name, *keys;
	bool one_sided_only;
} aliases[] = {
    {"kernel", "identity.kernel", false},
    {"kernel", "identity.build", false},
    {"kernel", "identity.version", false},
    {"kernel", "boot.BOOT_IMAGE", false},
    {"kernel", "boot.initrd", false},
    {"kernel", "config.*", false},
    {"kernel", "module.*", false},
    {"kernel", "parameter.*", true},
    {"kernel", "mitigation.*", true},
    {"kernel", "sysctl.*", true},
    {"kernel", "scheduling.*", true},
    {"kernel", "cpuset.tree.*", true},
    {"kernel", "memory.*", true},
    {"kernel", "pm_qos.cpu_wakeup_latency_us", true},
    {"microcode", "cpu.microcode", false},
    {"microcode", "firmware.microcode*", false},
    {"microcode", "mitigation.*", false},
    {"mitigations", "mitigation.*", false},
    {"mitigations", "boot.mitigations", false},
};

const char *const *under_test_names(void)
{
	static const char *const names[] = {"kernel", "microcode", "mitigations", NULL};

	return names;
}

static bool is_group(const char *name, const char *key)
{
	size_t n = strlen(name);

	return !strncmp(key, name, n) && key[n] == '.';
}

bool under_test_covers(const char *name, const char *key, bool one_sided)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++)
		if (!strcmp(aliases[i].name, name) && (one_sided || !aliases[i].one_sided_only) &&
		    !fnmatch(aliases[i].keys, key, 0))
			return true;
	return is_group(name, key) || !fnmatch(name, key, 0);
}
