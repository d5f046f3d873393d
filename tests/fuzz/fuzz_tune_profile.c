/* A profile, and its whole plan on a recorded machine. */
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "fuzz.h"
#include "machine_tree.h"
#include "tuning/knobs/knobs.h"
#include "tuning/machine/machine.h"
#include "tuning/profile/profile.h"

static struct file_tree tree;
static char *path;
static FILE *null;

static int plan(struct machine *m, struct profile *profile, struct err *e)
{
	struct plan p = {0};
	int rc = knobs_plan(m, profile, &p, e);

	if (!rc) {
		json_decref(plan_to_json(&p));
		plan_print(&p, null);
	}
	plan_free(&p);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	struct profile profile;
	struct machine m;
	int rc;

	if (!path) {
		machine_tree_init(&tree);
		path = fs_path("%s/profile.yaml", fuzz_folder());
		null = fopen("/dev/null", "we");
		setenv("KBTUNE_PROFILES", "profiles", 1);
	}
	fuzz_write(path, data, size);
	rc = profile_load(path, knobs_keys(), &profile, &e);
	if (!rc) {
		fuzz_require(!machine_open(&m, tree.path, &e));
		rc = plan(&m, &profile, &e);
		fuzz_require(!m.writes);
		machine_close(&m);
	}
	fuzz_require(!rc || *e.text || profile_has_faults(&profile));
	profile_print_faults(&profile, null);
	profile_free(&profile);
	return 0;
}

static const char *const words[] = {"kbtune",
				    "title",
				    "include",
				    "thesis",
				    "isolated",
				    "baseline",
				    "shields",
				    "name",
				    "place",
				    "node",
				    "take",
				    "1/3",
				    "cpus",
				    "all",
				    "partition",
				    "root",
				    "member",
				    "tasks",
				    "away",
				    "irqbalance",
				    "pause",
				    "irqs",
				    "default",
				    "housekeeping",
				    "workqueues",
				    "watchdog_cpus",
				    "nmi_watchdog",
				    "off",
				    "on",
				    "timer_migration",
				    "numa_balancing",
				    "stat_interval",
				    "sched_rt_runtime",
				    "unlimited",
				    "thp",
				    "never",
				    "ksm",
				    "aspm",
				    "performance",
				    "epb",
				    "epp",
				    "governor",
				    "kernel_arguments",
				    "isolcpus",
				    "nohz_full",
				    "tuned",
				    "own",
				    "latency-performance",
				    "dma_latency",
				    "cstates",
				    "0us",
				    "max_frequency",
				    "min_frequency",
				    "turbo",
				    "smt",
				    "interfaces",
				    "eth0",
				    "eth2",
				    "channels",
				    "combined",
				    "rings",
				    "rx",
				    "tx",
				    "coalesce",
				    "adaptive_rx",
				    "rx_us",
				    "offloads",
				    "gro",
				    "tso",
				    "rx-lro",
				    "napi_defer_irqs",
				    "gro_flush_timeout",
				    "napi_threaded",
				    "busy_poll",
				    "rps",
				    "xps",
				    "spread",
				    "sysctl",
				    "vm.swappiness",
				    "min",
				    "max",
				    "device:mlx5_0",
				    "0-3",
				    "1",
				    "kernel.x",
				    "50%",
				    "network",
				    "storage",
				    NULL};

FUZZ_MUTATOR(mutate_yaml, words)
