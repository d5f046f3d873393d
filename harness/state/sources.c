#include "state/sources.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "state/capture.h"

#define LINE		 read_file, flatten_line, NULL
#define INT		 read_file, flatten_int, NULL
#define CPULIST		 read_file, flatten_cpulist, NULL
#define CPUMASK		 read_file, flatten_cpumask, NULL
#define CHOICE		 read_file, flatten_choice, NULL
#define RAW		 read_file, NULL, NULL
#define LINK		 read_link, NULL, NULL
#define AS(flatten, arg) read_file, flatten_##flatten, arg

/* A row that reads nothing: the class of keys that another row's reader adds. */
#define ADDED NULL, NULL, NULL, NULL

#define F STATE_FATAL
#define W STATE_WARN
#define I STATE_INFORMATIVE
#define V STATE_VOLATILE

#define CPU	    "/sys/devices/system/cpu"
#define EACHCPU	    CPU "/cpu[0-9]*"
#define POLICY	    CPU "/cpufreq/policy[0-9]*"
#define NODE	    "/sys/devices/system/node/node[0-9]*"
#define KERNEL	    "/proc/sys/kernel"
#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0"
#define RDMA	    "/sys/class/infiniband/*"
#define PORT	    RDMA "/ports/[0-9]*"

/* clang-format off */
const struct state_source state_sources[] = {
	{"identity", F, "kernel", KERNEL "/osrelease", LINE},
	{"identity", F, "build", KERNEL "/version", LINE},
	{"identity", I, "cmdline", "/proc/cmdline", LINE}, /* each parameter is a key, too */
	{"identity", W, "version", "/proc/version", LINE},
	{"identity", W, "tainted", KERNEL "/tainted", INT},
	{"identity", W, "lsm", "/sys/kernel/security/lsm", LINE},
	{"identity", W, "hypervisor_type", "/sys/hypervisor/type", LINE},
	{"identity", I, "hostname", KERNEL "/hostname", LINE},
	{"identity", I, "boot_id", KERNEL "/random/boot_id", LINE},
	{"identity", I, "os.*", "/etc/os-release", AS(pairs, "=")},
	{"boot", I, "BOOT_IMAGE", ADDED},
	{"boot", I, "initrd", ADDED},
	{"boot", I, "root", ADDED},
	{"boot", I, "--", ADDED}, /* init's arguments */
	{"boot", F, "*", "/proc/cmdline", AS(parameters, NULL)},
	{"module", I, "*", "/proc/modules", AS(modules, NULL)},

	{"firmware", W, "vendor", "/sys/class/dmi/id/sys_vendor", LINE},
	{"firmware", W, "product", "/sys/class/dmi/id/product_name", LINE},
	{"firmware", W, "bios_version", "/sys/class/dmi/id/bios_version", LINE},

	{"cpu", F, "model", "/proc/cpuinfo", AS(field, "model name")},
	{"cpu", I, "vendor", "/proc/cpuinfo", AS(field, "vendor_id")},
	{"cpu", F, "family", "/proc/cpuinfo", AS(field, "cpu family")},
	{"cpu", F, "model_number", "/proc/cpuinfo", AS(field, "model")},
	{"cpu", F, "stepping", "/proc/cpuinfo", AS(field, "stepping")},
	{"cpu", F, "part", "/proc/cpuinfo", AS(field, "CPU part")}, /* ARM's */
	{"cpu", F, "microcode", "/proc/cpuinfo", AS(field, "microcode")},
	{"cpu", F, "flags", "/proc/cpuinfo", AS(field, "flags")},
	{"cpu", F, "features", "/proc/cpuinfo", AS(field, "Features")},
	{"cpu", W, "bugs", "/proc/cpuinfo", AS(field, "bugs")},
	{"cpu", F, "virtual_machine", "/proc/cpuinfo", AS(flag, "hypervisor")},
	{"cpu", F, "online", CPU "/online", CPULIST},
	{"cpu", W, "present", CPU "/present", CPULIST},
	{"cpu", W, "possible", CPU "/possible", CPULIST},
	{"cpu", F, "isolated", CPU "/isolated", CPULIST},
	{"cpu", F, "nohz_full", CPU "/nohz_full", CPULIST},
	{"cpu", F, "smt", CPU "/smt/active", INT},
	{"cpu", W, "*.siblings", EACHCPU "/topology/thread_siblings_list", CPULIST},
	{"cpu", W, "*.core", EACHCPU "/topology/core_id", INT},
	{"cpu", W, "*.package", EACHCPU "/topology/physical_package_id", INT},
	{"cpu", W, "*.cache.*.level", EACHCPU "/cache/index[0-9]*/level", INT},
	{"cpu", W, "*.cache.*.type", EACHCPU "/cache/index[0-9]*/type", LINE},
	{"cpu", W, "*.cache.*.size", EACHCPU "/cache/index[0-9]*/size", LINE},
	{"cpu", W, "*.cache.*.shared_cpus", EACHCPU "/cache/index[0-9]*/shared_cpu_list", CPULIST},
	{"cpu", V, "*.throttled.*", EACHCPU "/thermal_throttle/*_count", INT},
	{"mitigation", F, "*", CPU "/vulnerabilities/*", LINE},

	{"numa", F, "online", "/sys/devices/system/node/online", CPULIST},
	{"numa", F, "*.cpus", NODE "/cpulist", CPULIST},
	{"numa", W, "*.distance", NODE "/distance", LINE},
	{"numa", W, "*.hugepages.*", NODE "/hugepages/*/nr_hugepages", INT},
	{"numa", V, "*.free_hugepages.*", NODE "/hugepages/*/free_hugepages", INT},
	{"numa", V, "*.meminfo", NODE "/meminfo", RAW},
	{"numa", V, "*.stat.*", NODE "/numastat", AS(pairs, " ")},

	{"frequency", F, "*.driver", POLICY "/scaling_driver", LINE},
	{"frequency", F, "*.governor", POLICY "/scaling_governor", LINE},
	{"frequency", F, "*.min_khz", POLICY "/scaling_min_freq", INT},
	{"frequency", F, "*.max_khz", POLICY "/scaling_max_freq", INT},
	{"frequency", F, "*.hardware_min_khz", POLICY "/cpuinfo_min_freq", INT},
	{"frequency", F, "*.hardware_max_khz", POLICY "/cpuinfo_max_freq", INT},
	{"frequency", F, "*.energy_preference", POLICY "/energy_performance_preference", LINE},
	{"frequency", W, "*.cpus", POLICY "/affected_cpus", LINE},
	{"frequency", V, "*.now_khz", POLICY "/scaling_cur_freq", INT},
	{"frequency", F, "*.energy_bias", EACHCPU "/power/energy_perf_bias", INT},
	{"frequency", F, "boost", CPU "/cpufreq/boost", INT},
	{"frequency", F, "no_turbo", CPU "/intel_pstate/no_turbo", INT},
	{"frequency", F, "intel_pstate", CPU "/intel_pstate/status", LINE},
	{"frequency", F, "amd_pstate", CPU "/amd_pstate/status", LINE},

	{"idle", F, "driver", CPU "/cpuidle/current_driver", LINE},
	{"idle", F, "governor", CPU "/cpuidle/current_governor", LINE},
	{"idle", F, "*.*.name", EACHCPU "/cpuidle/state[0-9]*/name", LINE},
	{"idle", F, "*.*.disable", EACHCPU "/cpuidle/state[0-9]*/disable", INT},
	{"idle", F, "*.*.latency_us", EACHCPU "/cpuidle/state[0-9]*/latency", INT},
	{"idle", F, "*.*.residency_us", EACHCPU "/cpuidle/state[0-9]*/residency", INT},
	{"idle", V, "*.*.usage", EACHCPU "/cpuidle/state[0-9]*/usage", INT},
	{"idle", V, "*.*.time_us", EACHCPU "/cpuidle/state[0-9]*/time", INT},

	{"pm_qos", F, "cpu_dma_latency_us", "/dev/cpu_dma_latency", AS(s32, NULL)},
	{"pm_qos", W, "cpu_dma_latency_holders", "/dev/cpu_dma_latency", read_holders, NULL, NULL},
	{"pm_qos", V, "cpu_dma_latency_holders_hidden", ADDED},
	{"pm_qos", F, "cpu_wakeup_latency_us", "/dev/cpu_wakeup_latency", AS(s32, NULL)},
	{"pm_qos", F, "*.resume_latency_us", EACHCPU "/power/pm_qos_resume_latency_us", INT},

	{"clock", F, "source", CLOCKSOURCE "/current_clocksource", LINE},
	{"clock", W, "available", CLOCKSOURCE "/available_clocksource", LINE},

	{"irq", V, "count.*", "/proc/interrupts", AS(columns, NULL)},
	{"irq", V, "softirq.*", "/proc/softirqs", AS(columns, NULL)},
	{"irq", W, "default_affinity", "/proc/irq/default_smp_affinity", CPUMASK},
	{"irq", W, "*.affinity", "/proc/irq/[0-9]*/smp_affinity_list", CPULIST},
	{"irq", W, "*.effective", "/proc/irq/[0-9]*/effective_affinity_list", CPULIST},
	{"irq", I, "*.actions", "/sys/kernel/irq/[0-9]*/actions", LINE},

	{"cpuset", F, "tree.*.cpus.partition", ADDED},
	{"cpuset", F, "tree.*.cpus.isolated", ADDED},
	{"cpuset", V, "tree.*.memory_pressure", ADDED},
	{"cpuset", W, "tree.*", ADDED},
	{"cpuset", I, "own", ADDED},
	{"cpuset", W, "version", "/proc/self/mountinfo", read_cpusets, NULL, NULL},
	{"cpuset", W, "allowed_cpus", "/proc/self/status", AS(field, "Cpus_allowed_list")},
	{"cpuset", W, "allowed_nodes", "/proc/self/status", AS(field, "Mems_allowed_list")},

	{"pci", F, "aspm_policy", "/sys/module/pcie_aspm/parameters/policy", CHOICE},

	{"scheduling", F, "preemption", "/sys/kernel/debug/sched/preempt", CHOICE},
	{"scheduling", F, "rt_runtime_us", KERNEL "/sched_rt_runtime_us", INT},
	{"scheduling", F, "rt_period_us", KERNEL "/sched_rt_period_us", INT},
	{"scheduling", F, "numa_balancing", KERNEL "/numa_balancing", INT},
	{"scheduling", W, "timer_migration", KERNEL "/timer_migration", INT},
	{"scheduling", W, "autogroup", KERNEL "/sched_autogroup_enabled", INT},
	{"scheduling", W, "schedstats", KERNEL "/sched_schedstats", INT},
	{"scheduling", W, "watchdog", KERNEL "/watchdog", INT},
	{"scheduling", W, "nmi_watchdog", KERNEL "/nmi_watchdog", INT},
	{"scheduling", W, "soft_watchdog", KERNEL "/soft_watchdog", INT},
	{"scheduling", W, "watchdog_cpus", KERNEL "/watchdog_cpumask", CPULIST},
	{"scheduling", W, "workqueue_cpus", "/sys/devices/virtual/workqueue/cpumask", CPUMASK},
	{"scheduling", W, "workqueue_requested", "/sys/devices/virtual/workqueue/cpumask_requested", CPUMASK},
	{"scheduling", W, "workqueue_isolated", "/sys/devices/virtual/workqueue/cpumask_isolated", CPUMASK},
	{"scheduling", W, "workqueue.*", "/sys/devices/virtual/workqueue/*/cpumask", CPUMASK},

	{"memory", I, "info.MemTotal_kB", ADDED},
	{"memory", V, "info.*", "/proc/meminfo", AS(pairs, ":")},
	{"memory", V, "vmstat.*", "/proc/vmstat", AS(pairs, " ")},
	{"memory", F, "transparent_hugepages", "/sys/kernel/mm/transparent_hugepage/enabled", CHOICE},
	{"memory", W, "transparent_hugepages_shmem", "/sys/kernel/mm/transparent_hugepage/shmem_enabled", CHOICE},
	{"memory", W, "transparent_hugepages_defrag", "/sys/kernel/mm/transparent_hugepage/defrag", CHOICE},
	{"memory", W, "hugepages.*", "/sys/kernel/mm/hugepages/*/nr_hugepages", INT},
	{"memory", W, "ksm", "/sys/kernel/mm/ksm/run", INT},
	{"memory", W, "swappiness", "/proc/sys/vm/swappiness", INT},
	{"memory", W, "stat_interval_s", "/proc/sys/vm/stat_interval", INT},
	{"memory", W, "zone_reclaim_mode", "/proc/sys/vm/zone_reclaim_mode", INT},
	{"memory", W, "compaction_proactiveness", "/proc/sys/vm/compaction_proactiveness", INT},
	{"memory", W, "overcommit_memory", "/proc/sys/vm/overcommit_memory", INT},

	{"load", V, "average", "/proc/loadavg", LINE},
	{"load", V, "stat.*", "/proc/stat", AS(stat, NULL)},
	{"load", V, "pressure.cpu.*", "/proc/pressure/cpu", AS(psi, NULL)},
	{"load", V, "pressure.memory.*", "/proc/pressure/memory", AS(psi, NULL)},
	{"load", V, "pressure.io.*", "/proc/pressure/io", AS(psi, NULL)},

	{"rdma", F, "*.firmware", RDMA "/fw_ver", LINE},
	{"rdma", F, "*.node_type", RDMA "/node_type", LINE},
	{"rdma", F, "*.hca_type", RDMA "/hca_type", LINE},
	{"rdma", F, "*.board", RDMA "/board_id", LINE},
	{"rdma", F, "*.driver", RDMA "/device/driver", LINK},
	{"rdma", W, "*.pci_slot", RDMA "/device", LINK},
	{"rdma", F, "*.numa_node", RDMA "/device/numa_node", INT},
	{"rdma", F, "*.pci_speed", RDMA "/device/current_link_speed", LINE},
	{"rdma", F, "*.pci_width", RDMA "/device/current_link_width", INT},
	{"rdma", W, "*.pci_speed_max", RDMA "/device/max_link_speed", LINE},
	{"rdma", W, "*.pci_width_max", RDMA "/device/max_link_width", INT},
	{"rdma", F, "*.port*.state", PORT "/state", LINE},
	{"rdma", F, "*.port*.physical_state", PORT "/phys_state", LINE},
	{"rdma", F, "*.port*.rate", PORT "/rate", LINE},
	{"rdma", F, "*.port*.link_layer", PORT "/link_layer", LINE},
	{"rdma", W, "*.port*.net_device", PORT "/gid_attrs/ndevs/0", LINE},
	{"rdma", V, "*.port*.counter.*", PORT "/counters/*", INT},
	{"rdma", V, "*.port*.hw_counter.*", PORT "/hw_counters/*", INT},
	{"rdma", V, "*.hw_counter.*", RDMA "/hw_counters/*", INT},

	{"tuned", W, "active_profile", "/etc/tuned/active_profile", LINE},
	{"tuned", W, "profile_mode", "/etc/tuned/profile_mode", LINE},
	{"tuned", I, "post_loaded_profile", "/etc/tuned/post_loaded_profile", LINE},
	{"tuned", I, "pid", "/run/tuned/tuned.pid", INT},

	{"capture", V, "*", ADDED},
	{NULL, I, NULL, NULL, NULL, NULL, NULL},
};
/* clang-format on */

static int matches(const struct state_source *s, const char *key)
{
	size_t n = strlen(s->group);

	return !strncmp(key, s->group, n) && key[n] == '.' && !fnmatch(s->key, key + n + 1, 0);
}

const struct state_source *state_source_of(const char *key)
{
	for (const struct state_source *s = state_sources; s->group; s++)
		if (matches(s, key))
			return s;
	return NULL;
}

enum state_class state_class_of(const char *key)
{
	const struct state_source *s = state_source_of(key);

	return s ? s->class : STATE_INFORMATIVE;
}

const char *state_class_name(enum state_class class)
{
	static const char *const names[] = {"fatal", "warn", "informative", "volatile"};

	return names[class];
}
