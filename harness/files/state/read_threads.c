#include "files/state/readers.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cpulist.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "common/text.h"
#include "files/state/capture.h"
#include "files/state/readable.h"

#define CPUS_LABEL "Cpus_allowed_list:"

enum {
	THREADS_MAX = 50000,
	KERNEL_THREAD = 0x00200000, /* PF_KTHREAD, include/linux/sched.h */
};

struct thread {
	long pid, tid;
	char name[64];
	unsigned long flags;
	long nice, processor, priority, policy;
	char cpus[1024];
};

struct scan {
	struct capture *c;
	json_t *keys; /* "kernel.NAME": the set of attributes of the threads of this name */
	FILE *table;
	size_t count, refused;
};

/* include/uapi/linux/sched.h */
static const char *policy_name(long policy)
{
	static const char *const names[] = {"other", "fifo", "rr", "batch", "4", "idle", "deadline", "ext"};

	return policy >= 0 && policy < 8 ? names[policy] : "unknown";
}

/* The name is in parentheses, and may itself contain parentheses: man 5 proc_pid_stat. */
static bool parse_stat(const char *text, struct thread *t)
{
	const char *open = strchr(text, '('), *end = strrchr(text, ')');

	if (!open || !end || end < open)
		return false;
	snprintf(t->name, sizeof(t->name), "%.*s", (int)(end - open - 1), open + 1);
	return sscanf(end + 1,
		      " %*c %*d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d %*d %ld %*d %*d %*u %*u %*d %*u "
		      "%*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*d %ld %ld %ld",
		      &t->flags, &t->nice, &t->processor, &t->priority, &t->policy) == 5;
}

/* By a system call if possible: /proc's status is ten times as expensive. */
static int read_thread_cpus(const struct sysroot *root, struct thread *t)
{
	struct cpulist set;
	char path[128], *text, *line;
	int rc;

	if (root->live) {
		rc = cpulist_of_thread((pid_t)t->tid, &set);
		if (!rc)
			cpulist_format(&set, t->cpus, sizeof(t->cpus));
		return rc;
	}
	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/status", t->pid, t->tid);
	rc = sysroot_read(root, path, 65536, &text, NULL);
	if (rc)
		return rc;
	line = strstr(text, CPUS_LABEL);
	line = line ? line + strlen(CPUS_LABEL) : text + strlen(text);
	line += strspn(line, " \t");
	snprintf(t->cpus, sizeof(t->cpus), "%.*s", (int)strcspn(line, "\n"), line);
	free(text);
	return 0;
}

/* False for workers, which are created, ended and renamed as needed. */
static bool is_worth_a_key(const struct thread *t)
{
	return strncmp(t->name, "kworker/", 8) != 0 && t->pid != getpid();
}

static const char *kind_of(const struct thread *t)
{
	if (t->flags & KERNEL_THREAD)
		return "kernel";
	return t->policy == 1 || t->policy == 2 || t->policy == 6 ? "realtime" : "user";
}

static void add_key(struct scan *scan, const struct thread *t)
{
	char name[160], value[1200];
	json_t *values;

	snprintf(name, sizeof(name), "%s.%s", kind_of(t), t->name);
	snprintf(value, sizeof(value), "%s:%ld:%s", policy_name(t->policy),
		 t->policy == 1 || t->policy == 2 ? t->priority : t->nice, t->cpus);
	values = json_object_get(scan->keys, name);
	if (!values) {
		values = json_object();
		json_object_set_new(scan->keys, name, values);
	}
	json_object_set_new(values, value, json_true());
}

static void add_thread(struct scan *scan, const char *pid, const char *tid)
{
	const struct sysroot *root = capture_root(scan->c);
	struct thread t = {.pid = atol(pid), .tid = atol(tid)};
	char path[128], clean[64], *text;
	int rc;

	snprintf(path, sizeof(path), "/proc/%s/task/%s/stat", pid, tid);
	rc = sysroot_read(root, path, 65536, &text, NULL);
	if (!rc) {
		rc = parse_stat(text, &t) ? read_thread_cpus(root, &t) : -EINVAL;
		free(text);
	}
	scan->refused += rc == -EACCES || rc == -EPERM;
	if (rc)
		return;
	text_clean(t.name, strlen(t.name), clean, sizeof(clean));
	snprintf(t.name, sizeof(t.name), "%s", clean);
	scan->count++;
	fprintf(scan->table, "%ld\t%ld\t%s\t%s\t%s\t%ld\t%ld\t%ld\t%s\n", t.pid, t.tid, kind_of(&t), t.name,
		policy_name(t.policy), t.priority, t.nice, t.processor, t.cpus);
	if (is_worth_a_key(&t))
		add_key(scan, &t);
}

static void scan_process(struct scan *scan, const char *pid)
{
	char path[64], **tids;
	int n;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	n = sysroot_list(capture_root(scan->c), path, "[0-9]*", &tids);
	for (int i = 0; i < n && scan->count < THREADS_MAX; i++)
		add_thread(scan, pid, tids[i]);
	if (n >= 0)
		sysroot_names_free(tids);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The different attributes of the threads of a name, in order. */
static void join_values(json_t *values, char *out, size_t size)
{
	const char **sorted = or_abort(calloc(json_object_size(values) + 1, sizeof(*sorted))), *value;
	size_t count = 0, used = 0;
	json_t *set;

	*out = '\0';
	json_object_foreach (values, value, set)
		sorted[count++] = value;
	qsort(sorted, count, sizeof(*sorted), compare_texts);
	for (size_t i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " " : "", sorted[i]);
	free(sorted);
}

static void add_thread_keys(struct scan *scan, const char *key)
{
	const char *name, *balance = "no";
	json_t *values;

	json_object_foreach (scan->keys, name, values) {
		char joined[4096];

		join_values(values, joined, sizeof(joined));
		capture_text(scan->c, key, name, joined, strlen(joined));
		if (!strcmp(name, "user.irqbalance") || !strcmp(name, "realtime.irqbalance"))
			balance = "yes";
	}
	capture_text(scan->c, "irq.irqbalance_runs", NULL, balance, strlen(balance));
	capture_int(scan->c, "load.threads", NULL, (int64_t)scan->count);
}

void read_threads(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	struct scan scan = {.c = c};
	char *text = NULL, **pids;
	size_t length = 0;
	int n = sysroot_list(capture_root(c), path, "[0-9]*", &pids);

	(void)s;
	if (n < 0) {
		capture_errno(c, key, n);
		return;
	}
	scan.keys = json_object();
	scan.table = or_abort(open_memstream(&text, &length));
	fputs("pid\ttid\tkind\tname\tpolicy\tpriority\tnice\tlast_cpu\tcpus\n", scan.table);
	for (int i = 0; i < n && scan.count < THREADS_MAX; i++)
		scan_process(&scan, pids[i]);
	fclose(scan.table);
	if (scan.count)
		capture_made(c, "threads.tsv", readable_processes(capture_root(c)), text, length);
	add_thread_keys(&scan, key);
	free(text);
	json_decref(scan.keys);
	sysroot_names_free(pids);
}
