#include "tuning/machine/families.h"

#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "tuning/machine/machine.h"

#define SYSCTL "/proc/sys/"
#define CPU    "/sys/devices/system/cpu/"
#define FREQ   CPU "cpu%/cpufreq/"
#define POLICY CPU "cpufreq/policy%/"
#define HUGE   "/sys/kernel/mm/hugepages/hugepages-*/"
#define THP    "/sys/kernel/mm/transparent_hugepage/"
#define IPV4   SYSCTL "net/ipv4/"
#define IPV6   SYSCTL "net/ipv6/"
#define QUEUE  "/sys/block/%/queue/"

/* Writing one of `written` may change all of `written`, and of `also`. "%" stands for the same name, or part of one, in all
 * of them; "*" for any. */
struct family {
	const char *written[8], *also[10];
	bool exclude; /* the two of `written` exclude each other */
};

/*
 * As the kernel's documentation (admin-guide/sysctl, networking/ip-sysctl, admin-guide/pm, admin-guide/mm) and its source
 * have it: mm/page-writeback.c, mm/util.c, mm/hugetlb.c, mm/khugepaged.c (which raises min_free_kbytes), net/ipv4/devinet.c
 * (default is copied to every interface that nobody has set), net/ipv6/addrconf.c, net/core/neighbour.c, kernel/watchdog.c,
 * kernel/events/core.c, drivers/cpufreq, block/elevator.c.
 */
static const struct family families[] = {
    {{SYSCTL "vm/dirty_bytes", SYSCTL "vm/dirty_ratio"}, {NULL}, true},
    {{SYSCTL "vm/dirty_background_bytes", SYSCTL "vm/dirty_background_ratio"}, {NULL}, true},
    {{SYSCTL "vm/overcommit_kbytes", SYSCTL "vm/overcommit_ratio"}, {NULL}, true},
    {{SYSCTL "vm/nr_hugepages", SYSCTL "vm/nr_hugepages_mempolicy", HUGE "nr_hugepages", HUGE "nr_hugepages_mempolicy",
      "/sys/devices/system/node/node*/hugepages/hugepages-*/nr_hugepages"},
     {NULL},
     false},
    {{SYSCTL "vm/nr_overcommit_hugepages", HUGE "nr_overcommit_hugepages"}, {NULL}, false},
    {{THP "enabled", THP "hugepages-*/enabled"}, {SYSCTL "vm/min_free_kbytes"}, false},
    {{SYSCTL "vm/min_free_kbytes", SYSCTL "vm/watermark_scale_factor", SYSCTL "vm/watermark_boost_factor"},
     {SYSCTL "vm/lowmem_reserve_ratio"},
     false},
    {{"/sys/kernel/mm/ksm/advisor_mode"}, {"/sys/kernel/mm/ksm/pages_to_scan", "/sys/kernel/mm/ksm/advisor_*"}, false},
    {{SYSCTL "kernel/watchdog", SYSCTL "kernel/nmi_watchdog", SYSCTL "kernel/soft_watchdog"}, {NULL}, false},
    {{SYSCTL "kernel/perf_cpu_time_max_percent", SYSCTL "kernel/perf_event_max_sample_rate"}, {NULL}, false},
    {{SYSCTL "kernel/sched_rt_runtime_us", SYSCTL "kernel/sched_rt_period_us"}, {NULL}, false},
    {{SYSCTL "kernel/sched_deadline_period_min_us", SYSCTL "kernel/sched_deadline_period_max_us"}, {NULL}, false},
    {{SYSCTL "kernel/sched_util_clamp_min", SYSCTL "kernel/sched_util_clamp_max",
      SYSCTL "kernel/sched_util_clamp_min_rt_default"},
     {NULL},
     false},
    {{SYSCTL "kernel/sched_tunable_scaling", "/sys/kernel/debug/sched/tunable_scaling"},
     {SYSCTL "kernel/sched_latency_ns", SYSCTL "kernel/sched_min_granularity_ns",
      SYSCTL "kernel/sched_wakeup_granularity_ns", "/sys/kernel/debug/sched/*_ns"},
     false},
    {{SYSCTL "kernel/numa_balancing"}, {SYSCTL "kernel/numa_balancing_*"}, false},
    {{SYSCTL "net/netfilter/nf_conntrack_max", SYSCTL "net/nf_conntrack_max",
      SYSCTL "net/netfilter/nf_conntrack_buckets", "/sys/module/nf_conntrack/parameters/hashsize"},
     {SYSCTL "net/netfilter/nf_conntrack_expect_max"},
     false},
    {{IPV4 "tcp_congestion_control"}, {IPV4 "tcp_allowed_congestion_control"}, false},
    {{IPV4 "ip_local_port_range", IPV4 "ip_unprivileged_port_start", IPV4 "ip_local_reserved_ports"}, {NULL}, false},
    {{IPV4 "ip_forward", IPV4 "conf/all/forwarding"},
     {IPV4 "conf/*/forwarding", IPV4 "conf/*/accept_redirects", IPV4 "conf/*/send_redirects", IPV4 "conf/*/rp_filter"},
     false},
    {{IPV4 "conf/default/%"}, {IPV4 "conf/*/%"}, false},
    {{IPV4 "conf/all/%"}, {IPV4 "conf/*/%"}, false},
    {{IPV6 "conf/all/%"}, {IPV6 "conf/*/%"}, false},
    {{IPV6 "conf/default/%"}, {IPV6 "conf/*/%"}, false},
    {{IPV6 "conf/%/forwarding"}, {IPV6 "conf/%/accept_ra", IPV6 "conf/%/accept_redirects"}, false},
    {{IPV6 "conf/%/stable_secret"}, {IPV6 "conf/%/addr_gen_mode"}, false},
    {{IPV6 "conf/default/stable_secret"}, {IPV6 "conf/*/addr_gen_mode"}, false},
    {{IPV4 "neigh/default/%"}, {IPV4 "neigh/*/%"}, false},
    {{IPV6 "neigh/default/%"}, {IPV6 "neigh/*/%"}, false},
    {{SYSCTL "net/%/retrans_time", SYSCTL "net/%/retrans_time_ms"}, {NULL}, false},
    {{SYSCTL "net/%/base_reachable_time", SYSCTL "net/%/base_reachable_time_ms"}, {NULL}, false},
    {{SYSCTL "net/%/unres_qlen", SYSCTL "net/%/unres_qlen_bytes"}, {NULL}, false},
    {{"/sys/class/net/%/mtu"}, {IPV6 "conf/%/mtu"}, false},
    {{FREQ "scaling_governor", FREQ "energy_performance_preference", FREQ "scaling_min_freq", FREQ "scaling_max_freq",
      FREQ "scaling_setspeed"},
     {CPU "cpu%/power/energy_perf_bias", FREQ "ondemand/*", FREQ "conservative/*", FREQ "schedutil/*",
      CPU "cpufreq/ondemand/*", CPU "cpufreq/conservative/*", CPU "cpufreq/schedutil/*"},
     false},
    {{POLICY "scaling_governor", POLICY "energy_performance_preference", POLICY "scaling_min_freq",
      POLICY "scaling_max_freq", POLICY "scaling_setspeed"},
     {POLICY "ondemand/*", POLICY "conservative/*", POLICY "schedutil/*"},
     false},
    {{CPU "cpufreq/boost", CPU "cpu*/cpufreq/boost"},
     {CPU "cpu*/cpufreq/scaling_min_freq", CPU "cpu*/cpufreq/scaling_max_freq"},
     false},
    {{CPU "intel_pstate/no_turbo", CPU "intel_pstate/min_perf_pct", CPU "intel_pstate/max_perf_pct",
      CPU "intel_pstate/status", CPU "intel_pstate/hwp_dynamic_boost", CPU "amd_pstate/status"},
     {CPU "cpu*/cpufreq/scaling_min_freq", CPU "cpu*/cpufreq/scaling_max_freq", CPU "cpu*/cpufreq/scaling_governor",
      CPU "cpu*/cpufreq/energy_performance_preference"},
     false},
    {{CPU "smt/control", CPU "cpu[0-9]*/online"},
     {CPU "cpu*/cpufreq/scaling_min_freq", CPU "cpu*/cpufreq/scaling_max_freq", CPU "cpu*/cpufreq/scaling_governor",
      CPU "cpu*/cpufreq/energy_performance_preference", CPU "cpu*/power/energy_perf_bias"},
     false},
    {{QUEUE "scheduler"},
     {QUEUE "nr_requests", QUEUE "wbt_lat_usec", QUEUE "read_ahead_kb", QUEUE "rq_affinity", QUEUE "nomerges",
      QUEUE "iosched/*"},
     false},
};

/* Does the pattern fit, whose "%" stands for `part`? */
static bool fits(const char *pattern, const char *path, char *part, size_t size)
{
	const char *hole = strchr(pattern, '%'), *end;
	size_t before, after, length = strlen(path);

	part[0] = '\0';
	if (!hole)
		return !fnmatch(pattern, path, FNM_PATHNAME);
	before = (size_t)(hole - pattern);
	after = strlen(hole + 1);
	if (length <= before + after || strncmp(pattern, path, before) || strcmp(hole + 1, path + length - after))
		return false;
	end = path + length - after;
	snprintf(part, size, "%.*s", (int)(end - path - (ptrdiff_t)before), path + before);
	return strlen(part) < size - 1 &&
	       (!strchr(part, '/') || !strncmp(pattern, SYSCTL "net/%", strlen(SYSCTL "net/%")));
}

static bool is_in_paths(char *const *paths, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(paths[i], path))
			return true;
	return false;
}

struct found {
	char **paths;
	size_t count;
};

static void take_path(struct found *f, const char *path)
{
	f->paths = or_abort(reallocarray(f->paths, f->count + 2, sizeof(*f->paths)));
	f->paths[f->count++] = fs_path("%s", path);
	f->paths[f->count] = NULL;
}

static void find_beside(const struct machine *m, const char *pattern, const char *part, const char *but,
			struct found *f)
{
	const char *hole = strchr(pattern, '%');
	char *glob =
		 hole ? fs_path("%.*s%s%s", (int)(hole - pattern), pattern, part, hole + 1) : fs_path("%s", pattern),
	     **paths;
	const size_t already = f->count;
	int n = sysroot_glob(&m->root, glob, &paths);

	for (int i = 0; i < n; i++)
		if (strcmp(paths[i], but) && !is_in_paths(f->paths, already, paths[i]))
			take_path(f, paths[i]);
	if (n >= 0)
		sysroot_names_free(paths);
	free(glob);
}

static bool find_hole(const struct family *f, const char *path, char *part, size_t size)
{
	for (size_t i = 0; i < 8 && f->written[i]; i++)
		if (fits(f->written[i], path, part, size))
			return true;
	return false;
}

size_t families_beside(const struct machine *m, const char *path, char ***paths)
{
	struct found found = {.paths = or_abort(calloc(1, sizeof(*found.paths)))};
	char part[256];

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		const struct family *f = &families[i];

		if (!find_hole(f, path, part, sizeof(part)))
			continue;
		for (size_t k = 0; k < 8 && f->written[k]; k++)
			find_beside(m, f->written[k], part, path, &found);
		for (size_t k = 0; k < 10 && f->also[k]; k++)
			find_beside(m, f->also[k], part, path, &found);
	}
	*paths = found.paths;
	return found.count;
}

bool families_exclude(const char *path, const char *other)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		const struct family *f = &families[i];

		if (f->exclude && ((!strcmp(f->written[0], path) && !strcmp(f->written[1], other)) ||
				   (!strcmp(f->written[1], path) && !strcmp(f->written[0], other))))
			return true;
	}
	return false;
}
