/* A journal that something is wrong with: read, compared with the machine, undone. */
#include <stdlib.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "fuzz.h"
#include "machine_tree.h"
#include "tuning/journal/transaction.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"

static struct file_tree tree;
static char *folder, *path;

static void use(struct machine *m, struct journal *j)
{
	struct err e = ERR_INIT;
	struct drift d;

	transaction_verify(m, j, &d);
	json_decref(d.list);
	if (transaction_undo(m, j, NULL, NULL, NULL, &e))
		fuzz_require(*e.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	struct machine m;
	struct journal j;

	if (!path) {
		machine_tree_init(&tree);
		folder = fs_path("%s/run/kbtune", tree.path);
		path = fs_path("%s/journal.json", folder);
	}
	mkdir(folder, 0700);
	fuzz_write(path, data, size);
	chmod(path, 0600);
	fuzz_require(!machine_open(&m, tree.path, &e));
	if (!journal_find(&m, &j, &e)) {
		use(&m, &j);
		journal_free(&j);
	} else {
		fuzz_require(*e.text);
	}
	if (m.writes)
		file_tree_restore(&tree);
	machine_close(&m);
	return 0;
}

static const char *const words[] = {"program",
				    "kbtune",
				    "schema",
				    "boot_id",
				    "state",
				    "applying",
				    "applied",
				    "restoring",
				    "profile",
				    "about",
				    "steps",
				    "knob",
				    "op",
				    "path",
				    "before",
				    "after",
				    "data",
				    "form",
				    "raw",
				    "text",
				    "choice",
				    "number",
				    "cpus",
				    "mask",
				    "cpulist",
				    "controller",
				    "file",
				    "irq",
				    "cpuset",
				    "affinity",
				    "drain",
				    "latency",
				    "pause",
				    "tuned",
				    "card",
				    "group",
				    "channels",
				    "rings",
				    "coalesce",
				    "offloads",
				    "had",
				    "want",
				    "made",
				    "got",
				    "keep",
				    "of_card",
				    "eth0",
				    "rx",
				    "tx",
				    "adaptive_rx",
				    "rx_us",
				    "rx-gro",
				    "on",
				    "256",
				    "/sys/class/net/eth0/queues/rx-0/rps_cpus",
				    "unmade",
				    "note",
				    "/proc/irq/default_smp_affinity",
				    "/sys/fs/cgroup/rt",
				    "/sys/kernel/mm/ksm/run",
				    "/proc/irq/4/smp_affinity_list",
				    "pid",
				    "start",
				    "refused",
				    "name",
				    "version",
				    "lib",
				    "tasks",
				    "off",
				    "last",
				    "again",
				    "/run/kbtune/../../x",
				    "00000000-0000-0000-0000-000000000001",
				    NULL};

FUZZ_MUTATOR(mutate_json, words)
