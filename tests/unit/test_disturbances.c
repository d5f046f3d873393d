/* What interrupted a CPU, by the kernel's counters. */
#include "common/err.h"
#include "common/fs.h"
#include "common/sysroot.h"
#include "doctor/check.h"
#include "tap.h"

static void put(const char *base, const char *name, const char *text)
{
	char *dir = fs_path("%s/proc", base), *file = fs_path("%s/%s", dir, name);
	struct err e = ERR_INIT;

	fs_mkdirs(dir, &e);
	tap_file(file, text, strlen(text));
	free(dir);
	free(file);
}

int main(void)
{
	char *base = tap_dir(), text[160];
	struct err e = ERR_INIT;
	struct sysroot root;
	json_t *before, *after, *grown, *other;

	put(base, "interrupts",
	    "        CPU0 CPU2\n 24:   5  7  IO-APIC 24-edge  virtio0-input\nLOC:   100 200   Local timer\nERR: 3\n");
	put(base, "softirqs", "        CPU0 CPU2\n TIMER:  1 10\n");
	put(base, "stat", "cpu 1\ncpu2 1 1 1 1 1 1 1 4 0 0\n");
	is_int(sysroot_open(&root, base, &e), 0, "a machine %s", e.text);
	before = disturbances_read(&root, 2);
	put(base, "interrupts",
	    "        CPU0 CPU2\n 24:   9  8  IO-APIC 24-edge  virtio0-input\nLOC:   100 250   Local timer\nERR: 3\n");
	put(base, "softirqs", "        CPU0 CPU2\n TIMER:  1 14\nHI: 0 2\n");
	put(base, "stat", "cpu 1\ncpu2 1 1 1 1 1 1 1 7 0 0\n");
	after = disturbances_read(&root, 2);
	grown = disturbances_between(before, after);
	is_str(disturbances_text(grown, text, sizeof(text)), "50 LOC, 4 softirq TIMER, 3 steal ticks, 2 softirq HI",
	       "the most frequent first, four of them");
	is_int(json_integer_value(json_object_get(grown, "24 virtio0-input")), 1, "a device's by its name");
	json_decref(grown);
	grown = disturbances_between(after, after);
	is_str(disturbances_text(grown, text, sizeof(text)), "nothing that the kernel counts",
	       "nothing between the same");
	other = disturbances_read(&root, 1);
	is_int((long long)json_object_size(other), 0, "a CPU that is not there");
	json_decref(other);
	json_decref(grown);
	json_decref(before);
	json_decref(after);
	sysroot_close(&root);
	tap_dir_remove(base);
	return done_testing();
}
