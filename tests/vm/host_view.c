/*
 * What tests of kbtune compare of the guest, before and after. A program, for an emulated CPU takes a second for what a shell would start:
 *
 *   vm-host-view               what kbtune changes: files, sets of CPUs, tuned's profile, threads that may be moved, PM QoS
 *   vm-host-view CPU           threads that may be moved and may run on that CPU, and are not in the cpuset of a shield (its name begins with r)
 */
#include <glob.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_SETAFFINITY 0x04000000 /* PF_NO_SETAFFINITY: the kernel lets nobody move it */
#define LINES_MAX      4096

static const char *const files[] = {
    "/proc/irq/*/smp_affinity_list",
    "/proc/irq/default_smp_affinity",
    "/proc/sys/vm/swappiness",
    "/proc/sys/vm/stat_interval",
    "/proc/sys/vm/dirty_ratio",
    "/proc/sys/kernel/timer_migration",
    "/proc/sys/kernel/numa_balancing",
    "/proc/sys/kernel/watchdog_cpumask",
    "/proc/sys/kernel/sched_rt_runtime_us",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/devices/virtual/workqueue/cpumask",
    "/sys/fs/cgroup/cgroup.subtree_control",
    "/dev/cpuset/sched_load_balance",
    "/etc/tuned/active_profile",
};
static const char *const folders[] = {"/sys/fs/cgroup/*/", "/dev/cpuset/*/"};

/* Of threads that come and go, or (irq/) follow their interrupts when these fire the next time: how their names begin. */
static const char *const passing[] = {"kworker", "khugepaged", "irq/", "bats", "bash", "sort",
				      "grep",	 "cat",	       "tee",  "diff", "sh",   "vm-host-view"};

struct lines {
	char *line[LINES_MAX];
	size_t count;
};

/* The first bytes of a file, without the newline at its end; NULL where there is none, or no longer. */
static const char *read_text(const char *path)
{
	static char text[4096];
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		return NULL;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	if (n && text[n - 1] == '\n')
		text[n - 1] = '\0';
	return text;
}

static void show_globbed(const char *pattern, int with_text)
{
	glob_t found;

	if (!glob(pattern, 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *text = with_text ? read_text(found.gl_pathv[i]) : "";

			if (text)
				printf("%s %s\n", found.gl_pathv[i], text);
		}
	globfree(&found);
}

static void show_latency(void)
{
	int32_t us;
	FILE *f = fopen("/dev/cpu_dma_latency", "rbe");

	if (f && fread(&us, sizeof(us), 1, f) == 1)
		printf("PM QoS %d us\n", (int)us);
	if (f)
		fclose(f);
}

static int is_passing(const char *name)
{
	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (!strncmp(name, passing[i], strlen(passing[i])))
			return 1;
	return 0;
}

/* The CPUs of a set as "0,1,3". */
static void format_cpus(const cpu_set_t *set, char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE && used < size; cpu++)
		if (CPU_ISSET(cpu, set))
			used += (size_t)snprintf(out + used, size - used, "%s%d", used ? "," : "", cpu);
}

static int is_in_shield(const char *pid)
{
	char path[64];
	const char *cpuset;

	snprintf(path, sizeof(path), "/proc/%s/cpuset", pid);
	cpuset = read_text(path);
	return cpuset && !strncmp(cpuset, "/r", 2);
}

/* `cpu`: -1 for any. */
static void take_thread(struct lines *out, const char *pid, const char *tid, int cpu)
{
	char path[128], name[64], cpus[4096], *line;
	const char *text, *begin, *end;
	unsigned flags;
	cpu_set_t set;

	snprintf(path, sizeof(path), "/proc/%s/task/%s/stat", pid, tid);
	text = read_text(path);
	begin = text ? strchr(text, '(') : NULL;
	end = text ? strrchr(text, ')') : NULL;
	if (!begin || !end || sscanf(end + 2, "%*c %*d %*d %*d %*d %*d %u", &flags) != 1 || flags & NO_SETAFFINITY)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(end - begin - 1), begin + 1);
	if (sched_getaffinity(atoi(tid), sizeof(set), &set) || out->count == LINES_MAX)
		return;
	if (cpu < 0 ? is_passing(name) : !CPU_ISSET(cpu, &set) || is_in_shield(pid))
		return;
	format_cpus(&set, cpus, sizeof(cpus));
	if ((cpu < 0 ? asprintf(&line, "%s %s", name, cpus) : asprintf(&line, "%s %s %s", tid, name, cpus)) >= 0)
		out->line[out->count++] = line;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void show_threads(int cpu)
{
	static struct lines out;
	glob_t found;

	if (glob("/proc/[0-9]*/task/[0-9]*", GLOB_NOSORT, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char pid[16], tid[16];

		if (sscanf(found.gl_pathv[i], "/proc/%15[0-9]/task/%15[0-9]", pid, tid) == 2)
			take_thread(&out, pid, tid, cpu);
	}
	globfree(&found);
	qsort(out.line, out.count, sizeof(out.line[0]), compare_lines);
	for (size_t i = 0; i < out.count; i++)
		puts(out.line[i]);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		show_threads(atoi(argv[1]));
		return 0;
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		show_globbed(files[i], 1);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		show_globbed(folders[i], 0);
	show_threads(-1);
	show_latency();
	return 0;
}
