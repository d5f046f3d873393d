/* What a difference means to a latency: a table, from patterns of keys to a phrase. The first that matches counts. */
#include <fnmatch.h>

#include "state/diff.h"

static const struct meaning {
	const char *keys, *phrase;
} meanings[] = {
    {"identity.kernel", "another kernel: every path through it may take another time"},
    {"identity.build", "the same release built again: another compiler, configuration or patch level"},
    {"identity.version", "who built the kernel, and with which compiler"},
    {"identity.cmdline", "boot parameters; each is told on its own below boot"},
    {"identity.tainted",
     "a module from elsewhere, a warning or an oops: code or paths that the other kernel did not have"},
    {"identity.lsm", "security modules are asked at every system call that opens or maps something"},
    {"identity.hypervisor*", "another hypervisor: other exits, other steal time"},
    {"identity.os.*", "another userland: other libraries"},
    {"boot.isolcpus",
     "isolated CPUs are not used by the scheduler's balancing: tasks that appear elsewhere disturb them"},
    {"boot.nohz_full", "without nohz_full the tick interrupts a polling CPU 100 to 1000 times a second"},
    {"boot.rcu_nocbs", "RCU callbacks run elsewhere instead of on the polling CPU"},
    {"boot.idle", "polling instead of idling: no wake-up costs, and a warmer, slower core beside it"},
    {"boot.*cstate", "which idle states there are, and so what a wake-up costs"},
    {"boot.mitigations", "mitigations cost something at every entry to the kernel and every switch of context"},
    {"boot.preempt", "when the kernel lets go of a CPU: none, voluntary or full"},
    {"boot.skew_tick", "ticks of all CPUs at one moment contend; skewed ones do not"},
    {"boot.threadirqs", "interrupts as threads: one switch of context more on the way of each"},
    {"boot.intel_iommu", "an IOMMU translates each access of the device"},
    {"boot.iommu*", "an IOMMU translates each access of the device"},
    {"boot.*", "a boot parameter changes the kernel as a whole"},
    {"module.*", "loaded code; a driver's module may add interrupts and timers"},

    {"firmware.*", "firmware decides about power limits, management interrupts and PCIe settings"},
    {"mitigation.*", "a mitigation costs something at every entry to the kernel and every switch of context"},
    {"cpu.microcode", "microcode changes the cost of mitigations, fences and idle exits"},
    {"cpu.online", "another number of CPUs: other neighbours, other shares of caches and of power"},
    {"cpu.present", "CPUs there are, or could be plugged in"},
    {"cpu.possible", "CPUs there are, or could be plugged in"},
    {"cpu.isolated",
     "isolated CPUs are not used by the scheduler's balancing: tasks that appear elsewhere disturb them"},
    {"cpu.nohz_full", "without nohz_full the tick interrupts a polling CPU 100 to 1000 times a second"},
    {"cpu.smt", "with SMT on, a sibling's work takes half of a polling CPU's pipeline"},
    {"cpu.virtual_machine", "a hypervisor takes CPUs away unseen: tails grow by milliseconds"},
    {"cpu.*.siblings", "which CPUs share a core"},
    {"cpu.*.cache.*", "how far a cache line has to travel"},
    {"cpu.*", "another processor: every latency is another"},
    {"numa.*.hugepages.*", "huge pages there are for buffers: fewer TLB misses"},
    {"numa.*", "which memory is near: a remote node costs about 100 ns an access"},

    {"frequency.*.governor", "clock rate while polling and after idling: all latencies scale with it"},
    {"frequency.*.driver", "who chooses the clock rate: the kernel, or the processor by itself"},
    {"frequency.*.energy_*", "a hint to save energy makes the processor slower to raise its clock rate"},
    {"frequency.*pstate", "who chooses the clock rate: the kernel, or the processor by itself"},
    {"frequency.boost", "turbo: faster while few CPUs are busy, and less even"},
    {"frequency.no_turbo", "turbo: faster while few CPUs are busy, and less even"},
    {"frequency.*", "bounds of the clock rate: all latencies scale with it"},
    {"idle.governor", "chooses the idle state, and so what each wake-up costs"},
    {"idle.driver", "which idle states there are: from halting (1 us) to C6 (over 100 us to leave)"},
    {"idle.*.disable", "a disabled idle state is never entered, nor its exit latency paid"},
    {"idle.*.latency_us", "what leaving the state costs, as the governor believes"},
    {"idle.*.residency_us", "from which expected pause on the governor chooses the state"},
    {"idle.*", "which idle states there are, and so what a wake-up costs"},
    {"pm_qos.cpu_dma_latency_us", "no idle state with a longer exit latency is entered on any CPU"},
    {"pm_qos.cpu_dma_latency_holders", "who asks for shallow idle states; it ends when they do"},
    {"pm_qos.*", "bounds how deep a CPU may sleep"},
    {"thermal.*", "a hot or throttled processor is a slow one"},

    {"clock.source", "the clock behind clock_gettime: TSC takes 20 ns, HPET or ACPI PM a microsecond"},
    {"clock.*", "how time is kept"},

    {"irq.default_affinity", "where interrupts that are born from now on go"},
    {"irq.*.effective", "the CPU that this interrupt really disturbs"},
    {"irq.*.affinity", "which CPUs this interrupt may disturb"},
    {"irq.irqbalance", "irqbalance moves interrupts while one measures"},
    {"irq.*", "which CPUs interrupts disturb"},

    {"cpuset.tree.*.cpus.partition", "an isolated partition keeps others' tasks and load balancing off its CPUs"},
    {"cpuset.tree.*.cpus.isolated", "CPUs that no load balancing touches"},
    {"cpuset.allowed_cpus", "which CPUs this process may use"},
    {"cpuset.allowed_nodes", "which memory this process may use"},
    {"cpuset.*", "which tasks share which CPUs"},

    {"pci.aspm_policy", "links that save power wake up in microseconds, on the way of the first message"},
    {"pci.*.aspm*", "links that save power wake up in microseconds, on the way of the first message"},
    {"pci.*.link_*", "a slower or narrower link takes longer for every transfer"},
    {"pci.*", "how the device is attached"},

    {"scheduling.preemption", "when the kernel lets go of a CPU: none, voluntary, full or real-time"},
    {"scheduling.rt_runtime_us",
     "real-time tasks are stopped when they have used this much of a period: 50 ms holes by default"},
    {"scheduling.rt_period_us", "real-time tasks are stopped when they have used their share of this period"},
    {"scheduling.numa_balancing", "unmaps pages to see who uses them: page faults in the middle of measuring"},
    {"scheduling.timer_migration", "timers of idle CPUs go to busy ones"},
    {"scheduling.*watchdog*", "a timer or NMI on every CPU, some seconds apart"},
    {"scheduling.workqueue*", "which CPUs the kernel's deferred work may run on"},
    {"scheduling.schedstats", "accounting at every switch of context"},
    {"scheduling.*", "who runs when"},

    {"memory.transparent_hugepages*",
     "huge pages save TLB misses; making them takes milliseconds of faults and compaction"},
    {"memory.ksm", "merges pages: write faults, and a thread that uses a CPU"},
    {"memory.swappiness", "pages that were not locked may have to be read again"},
    {"memory.hugepages*", "huge pages there are for buffers: fewer TLB misses"},
    {"memory.stat_interval_s", "how often each CPU is interrupted to fold its statistics"},
    {"memory.*", "when memory is moved, reclaimed or compacted"},

    {"rdma.*.firmware", "the adapter's firmware is part of every message's way"},
    {"rdma.*.pci_speed", "a slower link to the adapter: each doorbell and each transfer takes longer"},
    {"rdma.*.pci_width", "a narrower link to the adapter: each doorbell and each transfer takes longer"},
    {"rdma.*.numa_node", "a remote adapter costs some 100 ns at each doorbell and completion"},
    {"rdma.*.rate", "link rate: the time on the wire"},
    {"rdma.*.state", "a port that is not active carries nothing"},
    {"rdma.*.link_layer", "InfiniBand or Ethernet: another way through switches and software"},
    {"rdma.*.driver", "another driver: another data path, in hardware or in software"},
    {"rdma.*", "the device under test"},

    {"tuned.*", "a tuned profile sets governors, idle states and sysctls at once"},
};

const char *state_meaning(const char *key)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
		if (!fnmatch(meanings[i].keys, key, 0))
			return meanings[i].phrase;
	return "";
}
