#include "files/state/sources.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "files/state/readers.h"

#define FILE_AS(flattener) .read = read_file, .flatten = flatten_##flattener
#define LINE		   FILE_AS(line)
#define INT		   FILE_AS(int)
#define WORDS		   FILE_AS(words)
#define CPULIST		   FILE_AS(cpulist)
#define CPUMASK		   FILE_AS(cpumask)
#define CHOICE		   FILE_AS(choice)
#define RAW		   .read = read_file
#define LINK		   .read = read_link
#define BY(reader)	   .read = read_##reader
#define AS(flattener, arg) FILE_AS(flattener), arg

/* A row that reads nothing: the class of keys that another row's reader adds. */
#define ADDED .path = NULL

/* Only root may read it. */
#define ROOT .needs_root = true

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
#define IRQ	    "/proc/irq/[0-9]*"
#define KIRQ	    "/sys/kernel/irq/[0-9]*"
#define NET	    "/sys/class/net/*"
#define DMI	    "/sys/class/dmi/id"
#define SCHED	    "/sys/kernel/debug/sched"
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
	{"identity", W, "livepatch.*", "/sys/kernel/livepatch/*/enabled", INT},
	{"config", F, "PREEMPT*", ADDED},
	{"config", F, "HZ", ADDED},
	{"config", F, "NO_HZ*", ADDED},
	{"config", F, "RCU_NOCB*", ADDED},
	{"config", F, "HIGH_RES_TIMERS", ADDED},
	{"config", F, "CPU_IDLE*", ADDED},
	{"config", F, "KASAN*", ADDED},
	{"config", F, "PROVE_LOCKING", ADDED},
	{"config", F, "DEBUG_PREEMPT", ADDED},
	{"config", W, "CC_VERSION_TEXT", ADDED},
	{"config", I, "*", "/proc/config.gz", BY(config)},
	{"boot", I, "BOOT_IMAGE", ADDED},
	{"boot", I, "initrd", ADDED},
	{"boot", I, "root", ADDED},
	{"boot", I, "--", ADDED}, /* init's arguments */
	{"boot", F, "*", "/proc/cmdline", AS(parameters, NULL)},
	{"module", I, "*", "/proc/modules", AS(modules, NULL)},
	{"parameter", F, "*idle*", ADDED},
	{"parameter", F, "kvm*halt_poll*", ADDED},
	{"parameter", F, "mlx*", ADDED},
	{"parameter", W, "ib_*", ADDED},
	{"parameter", W, "rdma_*", ADDED},
	{"parameter", I, "*.*", "/sys/module/*/parameters/*", WORDS},

	{"firmware", W, "vendor", DMI "/sys_vendor", LINE},
	{"firmware", W, "product", DMI "/product_name", LINE},
	{"firmware", W, "bios_version", DMI "/bios_version", LINE},
	{"firmware", W, "bios_vendor", DMI "/bios_vendor", LINE},
	{"firmware", W, "bios_date", DMI "/bios_date", LINE},
	{"firmware", W, "bios_release", DMI "/bios_release", LINE},
	{"firmware", W, "board", DMI "/board_name", LINE},
	{"firmware", I, "serial.*", DMI "/*_serial", LINE, ROOT},
	{"firmware", I, "uuid", DMI "/product_uuid", LINE, ROOT},
	{"firmware", W, "microcode.*", EACHCPU "/microcode/version", LINE, ROOT},
	{"firmware", V, "smi_count.*", "/dev/cpu/[0-9]*/msr", BY(smis), ROOT},

	{"cpu", F, "model", "/proc/cpuinfo", AS(field, "model name")},
	{"cpu", I, "vendor", "/proc/cpuinfo", AS(field, "vendor_id")},
	{"cpu", F, "family", "/proc/cpuinfo", AS(field, "cpu family")},
	{"cpu", F, "model_number", "/proc/cpuinfo", AS(field, "model")},
	{"cpu", F, "stepping", "/proc/cpuinfo", AS(field, "stepping")},
	{"cpu", F, "part", "/proc/cpuinfo", AS(field, "CPU part")}, /* ARM only */
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
	{"cpu", W, "*.die", EACHCPU "/topology/die_id", INT},
	{"cpu", W, "*.capacity", EACHCPU "/cpu_capacity", INT},
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
	{"thermal", I, "*.type", "/sys/class/thermal/thermal_zone[0-9]*/type", LINE},
	{"thermal", V, "*.millidegrees", "/sys/class/thermal/thermal_zone[0-9]*/temp", INT},
	{"power", W, "*.limit.*", "/sys/class/powercap/*/constraint_[0-9]_power_limit_uw", INT},
	{"power", V, "*.energy_uj", "/sys/class/powercap/*/energy_uj", INT, ROOT},

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
	{"frequency", F, "min_percent", CPU "/intel_pstate/min_perf_pct", INT},
	{"frequency", F, "max_percent", CPU "/intel_pstate/max_perf_pct", INT},
	{"frequency", F, "hwp_dynamic_boost", CPU "/intel_pstate/hwp_dynamic_boost", INT},
	{"frequency", F, "uncore.*.min_khz", CPU "/intel_uncore_frequency/*/min_freq_khz", INT},
	{"frequency", F, "uncore.*.max_khz", CPU "/intel_uncore_frequency/*/max_freq_khz", INT},

	{"idle", F, "driver", CPU "/cpuidle/current_driver", LINE},
	{"idle", F, "governor", CPU "/cpuidle/current_governor", LINE},
	{"idle", F, "*.*.name", EACHCPU "/cpuidle/state[0-9]*/name", LINE},
	{"idle", F, "*.*.disable", EACHCPU "/cpuidle/state[0-9]*/disable", INT},
	{"idle", F, "*.*.latency_us", EACHCPU "/cpuidle/state[0-9]*/latency", INT},
	{"idle", F, "*.*.residency_us", EACHCPU "/cpuidle/state[0-9]*/residency", INT},
	{"idle", V, "*.*.usage", EACHCPU "/cpuidle/state[0-9]*/usage", INT},
	{"idle", V, "*.*.time_us", EACHCPU "/cpuidle/state[0-9]*/time", INT},
	{"idle", V, "*.*.above", EACHCPU "/cpuidle/state[0-9]*/above", INT},
	{"idle", V, "*.*.below", EACHCPU "/cpuidle/state[0-9]*/below", INT},
	{"idle", V, "*.*.rejected", EACHCPU "/cpuidle/state[0-9]*/rejected", INT},

	{"pm_qos", F, "cpu_dma_latency_us", "/dev/cpu_dma_latency", AS(s32, NULL)},
	{"pm_qos", W, "cpu_dma_latency_holders", "/dev/cpu_dma_latency", BY(holders)},
	{"pm_qos", V, "cpu_dma_latency_holders_hidden", ADDED},
	{"pm_qos", F, "cpu_wakeup_latency_us", "/dev/cpu_wakeup_latency", AS(s32, NULL)},
	{"pm_qos", F, "*.resume_latency_us", EACHCPU "/power/pm_qos_resume_latency_us", INT},

	{"clock", F, "source", CLOCKSOURCE "/current_clocksource", LINE},
	{"clock", W, "available", CLOCKSOURCE "/available_clocksource", LINE},
	{"clock", F, "event.*", "/sys/devices/system/clockevents/clockevent[0-9]*/current_device", LINE},
	{"clock", W, "ntp.synchronized", ADDED},
	{"clock", V, "ntp.*", "/adjtimex(2)", BY(ntp)},
	{"clock", I, "ptp.*", "/sys/class/ptp/*/clock_name", LINE},
	{"clock", I, "log", ADDED},

	{"irq", V, "count.*", "/proc/interrupts", AS(columns, NULL)},
	{"irq", V, "softirq.*", "/proc/softirqs", AS(columns, NULL)},
	{"irq", W, "default_affinity", "/proc/irq/default_smp_affinity", CPUMASK},
	{"irq", W, "*.affinity", IRQ "/smp_affinity_list", CPULIST},
	{"irq", W, "*.effective", IRQ "/effective_affinity_list", CPULIST},
	{"irq", W, "*.mode", IRQ "/smp_affinity", BY(mode)},
	{"irq", W, "*.node", IRQ "/node", INT},
	{"irq", I, "*.hint", IRQ "/affinity_hint", CPUMASK},
	{"irq", I, "*.actions", KIRQ "/actions", LINE},
	{"irq", I, "*.chip", KIRQ "/chip_name", LINE},
	{"irq", F, "irqbalance_runs", ADDED},
	{"irq", I, "irqbalance_options", "/etc/default/irqbalance", RAW},

	{"cpuset", F, "tree.*.cpus.partition", ADDED},
	{"cpuset", F, "tree.*.cpus.isolated", ADDED},
	{"cpuset", V, "tree.*.memory_pressure", ADDED},
	{"cpuset", W, "tree.*", ADDED},
	{"cpuset", I, "own", ADDED},
	{"cpuset", W, "version", "/proc/self/mountinfo", BY(cpusets)},
	{"cpuset", W, "allowed_cpus", "/proc/self/status", AS(field, "Cpus_allowed_list")},
	{"cpuset", W, "allowed_nodes", "/proc/self/status", AS(field, "Mems_allowed_list")},

	{"pci", F, "aspm_policy", "/sys/module/pcie_aspm/parameters/policy", CHOICE},
	{"pci", W, "iommu_type.*", "/sys/kernel/iommu_groups/[0-9]*/type", LINE},
	{"pci", W, "iommu.*", "/sys/class/iommu/*", LINK},

	{"scheduling", F, "preemption", SCHED "/preempt", CHOICE, ROOT},
	{"scheduling", F, "features", SCHED "/features", WORDS, ROOT},
	{"scheduling", F, "base_slice_ns", SCHED "/base_slice_ns", INT, ROOT},
	{"scheduling", F, "latency_ns", SCHED "/latency_ns", INT, ROOT},
	{"scheduling", F, "min_granularity_ns", SCHED "/min_granularity_ns", INT, ROOT},
	{"scheduling", F, "wakeup_granularity_ns", SCHED "/wakeup_granularity_ns", INT, ROOT},
	{"scheduling", F, "migration_cost_ns", SCHED "/migration_cost_ns", INT, ROOT},
	{"scheduling", W, "rcu_expedited", "/sys/kernel/rcu_expedited", INT},
	{"scheduling", W, "rcu_normal", "/sys/kernel/rcu_normal", INT},
	{"scheduling", V, "statistics", "/proc/schedstat", RAW},
	{"thread", W, "kernel.*", ADDED},
	{"thread", W, "realtime.*", ADDED},
	{"thread", I, "*", "/proc", BY(threads)},
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
	{"memory", V, "transparent_hugepages_daemon.full_scans", ADDED},
	{"memory", V, "transparent_hugepages_daemon.pages_collapsed", ADDED},
	{"memory", W, "transparent_hugepages_daemon.*", "/sys/kernel/mm/transparent_hugepage/khugepaged/*", INT},
	{"memory", W, "generations", "/sys/kernel/mm/lru_gen/enabled", LINE},
	{"memory", W, "swaps", "/proc/swaps", WORDS},
	{"memory", V, "buddies", "/proc/buddyinfo", RAW},
	{"memory", W, "ksm", "/sys/kernel/mm/ksm/run", INT},
	{"memory", W, "swappiness", "/proc/sys/vm/swappiness", INT},
	{"memory", W, "stat_interval_s", "/proc/sys/vm/stat_interval", INT},
	{"memory", W, "zone_reclaim_mode", "/proc/sys/vm/zone_reclaim_mode", INT},
	{"memory", W, "compaction_proactiveness", "/proc/sys/vm/compaction_proactiveness", INT},
	{"memory", W, "overcommit_memory", "/proc/sys/vm/overcommit_memory", INT},

	{"sysctl", V, "kernel.random.*", ADDED},
	{"sysctl", V, "kernel.ns_last_pid", ADDED},
	{"sysctl", V, "kernel.pty.nr", ADDED},
	{"sysctl", V, "net.netfilter.nf_conntrack_count", ADDED},
	{"sysctl", F, "kernel.sched_*", ADDED},
	{"sysctl", F, "net.core.busy_*", ADDED},
	{"sysctl", I, "net.ipv?.conf.*", ADDED},
	{"sysctl", I, "net.ipv?.neigh.*", ADDED},
	{"sysctl", W, "kernel.*", KERNEL, BY(sysctls)},
	{"sysctl", W, "vm.*", "/proc/sys/vm", BY(sysctls)},
	{"sysctl", W, "net.*", "/proc/sys/net", BY(sysctls)},

	{"load", V, "threads", ADDED},
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
	{"rdma", I, "*.node_guid", RDMA "/node_guid", LINE},
	{"rdma", I, "*.id.vendor", RDMA "/device/vendor", LINE},
	{"rdma", I, "*.id.device", RDMA "/device/device", LINE},
	{"rdma", W, "*.cpus_near", RDMA "/device/local_cpulist", CPULIST},
	{"rdma", W, "*.power", RDMA "/device/power/control", LINE},
	{"rdma", F, "*.link_saving.*", RDMA "/device/link/*aspm", INT},
	{"rdma", F, "*.iommu", RDMA "/device/iommu_group/type", LINE},
	{"rdma", F, "*.driver_version", RDMA "/device/driver/module/version", LINE},
	{"rdma", F, "*.pcie.*", RDMA "/device/config", AS(pci_config, NULL), ROOT},
	{"rdma", I, "*.port*.gid.*", PORT "/gids/[0-9]", LINE},
	{"rdma", I, "*.port*.gid_type.*", PORT "/gid_attrs/types/[0-9]", LINE},
	{"rdma", F, "*.port*.state", PORT "/state", LINE},
	{"rdma", F, "*.port*.physical_state", PORT "/phys_state", LINE},
	{"rdma", F, "*.port*.rate", PORT "/rate", LINE},
	{"rdma", F, "*.port*.link_layer", PORT "/link_layer", LINE},
	{"rdma", W, "*.port*.net_device", PORT "/gid_attrs/ndevs/0", LINE},
	{"rdma", V, "*.port*.counter.*", PORT "/counters/*", INT},
	{"rdma", V, "*.port*.hw_counter.*", PORT "/hw_counters/*", INT},
	{"rdma", V, "*.hw_counter.*", RDMA "/hw_counters/*", INT},

	{"net", F, "*.mtu", NET "/mtu", INT},
	{"net", F, "*.speed_mbit", NET "/speed", INT},
	{"net", W, "*.operational", NET "/operstate", LINE},
	{"net", I, "*.address", NET "/address", LINE},
	{"net", W, "*.queue_length", NET "/tx_queue_len", INT},
	{"net", F, "*.threaded", NET "/threaded", INT},
	{"net", F, "*.gro_flush_ns", NET "/gro_flush_timeout", INT},
	{"net", F, "*.defer_irqs", NET "/napi_defer_hard_irqs", INT},
	{"net", W, "*.numa_node", NET "/device/numa_node", INT},
	{"net", W, "*.rps.*", NET "/queues/rx-[0-9]*/rps_cpus", CPUMASK},
	{"net", W, "*.xps.*", NET "/queues/tx-[0-9]*/xps_cpus", CPUMASK},
	{"net", V, "*.counter.*", ADDED},
	{"net", F, "*.coalesce.*", ADDED},
	{"net", F, "*.driver", ADDED},
	{"net", F, "*.firmware", ADDED},
	{"net", I, "*.driver_version", ADDED},
	{"net", I, "*.bus", ADDED},
	{"net", W, "*.ring.*", ADDED},
	{"net", W, "*.channels.*", ADDED},
	{"net", W, "*.pause.*", ADDED},
	{"net", W, "*.feature.*", ADDED},
	{"net", V, "*.stat.*", ADDED},
	{"net", I, "*.*", NET, BY(ethtool)},
	{"net", W, "namespace", "/proc/self/ns/net", LINK},
	{"net", V, "*", "/proc/net/dev", AS(interfaces, NULL)},

	{"software", I, "providers", "/etc/libibverbs.d/*", RAW},
	{"software", F, "kblat.build_id", ADDED},
	{"software", F, "kblat.sha256", ADDED},
	{"software", F, "version", ADDED},
	{"software", F, "commit", ADDED},
	{"software", F, "compiler", ADDED},
	{"software", W, "*", "/proc/self/exe", BY(program)},
	{"environment", F, "LD_PRELOAD", ADDED},
	{"environment", F, "GLIBC_TUNABLES", ADDED},
	{"environment", F, "MALLOC_*", ADDED},
	{"environment", F, "MLX?_*", ADDED},
	{"environment", F, "RDMAV_*", ADDED},
	{"environment", F, "IBV_*", ADDED},
	{"environment", I, "*", "/environ(7)", BY(environment)},
	{"limits", W, "*", "/proc/self/limits", AS(limits, NULL)},
	{"limits", W, "capabilities", "/proc/self/status", AS(field, "CapEff")},
	{"limits", W, "seccomp", "/proc/self/status", AS(field, "Seccomp")},

	{"event", V, "log*", "/syslog(2)", BY(kernel_log), ROOT},
	{"event", V, "edac.*", "/sys/devices/system/edac/mc/mc[0-9]*/[cu]e_count", INT},
	{"event", W, "cpus_offline", CPU "/offline", CPULIST},

	{"tuned", I, "text", "/etc/tuned/active_profile", BY(tuned)},
	{"tuned", W, "active_profile", "/etc/tuned/active_profile", LINE},
	{"tuned", W, "profile_mode", "/etc/tuned/profile_mode", LINE},
	{"tuned", I, "post_loaded_profile", "/etc/tuned/post_loaded_profile", LINE},
	{"tuned", I, "pid", "/run/tuned/tuned.pid", INT},

	{"capture", V, "*", ADDED},
	{.group = NULL},
};
/* clang-format on */

static int is_from_row(const struct state_source *s, const char *key)
{
	size_t n = strlen(s->group);

	return !strncmp(key, s->group, n) && key[n] == '.' && !fnmatch(s->key, key + n + 1, 0);
}

const struct state_source *state_source_of(const char *key)
{
	for (const struct state_source *s = state_sources; s->group; s++)
		if (is_from_row(s, key))
			return s;
	return NULL;
}

enum state_class state_class_of(const char *key)
{
	const struct state_source *s = state_source_of(key);

	return s ? s->class : STATE_INFORMATIVE;
}

bool state_is_set(const char *key)
{
	const struct state_source *s = state_source_of(key);

	return s && (s->flatten == flatten_cpulist || s->flatten == flatten_cpumask) && !strchr(s->key, '*');
}

const char *state_class_name(enum state_class class)
{
	static const char *const names[] = {"fatal", "warn", "informative", "volatile"};

	return names[class];
}
