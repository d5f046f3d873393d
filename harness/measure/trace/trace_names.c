#include "measure/trace/trace_events.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */
#define NAMES_MOST 4096	      /* limited, because "done" is sent as one line */
#define TASK_NAME  64	      /* 15 bytes of comm, each of which becomes at most three bytes when cleaned */

void trace_names_init(struct trace_names *n)
{
	*n =
	    (struct trace_names){json_array(), json_object(), json_object(), json_object(), json_object(), NULL, false};
}

void trace_names_free(struct trace_names *n)
{
	json_decref(n->list);
	json_decref(n->numbers);
	json_decref(n->functions);
	json_decref(n->threads);
	json_decref(n->cgroups);
	free(n->own_cgroup);
	*n = (struct trace_names){NULL};
}

static int64_t add_name(struct trace_names *n, const char *text)
{
	json_int_t number = (json_int_t)json_array_size(n->list);

	if (number == NAMES_MOST)
		return -1;
	json_array_append_new(n->list, json_string(text));
	json_object_set_new(n->numbers, text, json_integer(number));
	return number;
}

int64_t trace_names_of(struct trace_names *n, const char *text)
{
	const json_t *known = json_object_get(n->numbers, text);

	return known ? json_integer_value(known) : add_name(n, text);
}

/* --- tasks --- */

/* Remove what distinguishes instances: "/" or ":" and the number of a CPU, or the number of a work queue. */
static void cut_instance(char *name)
{
	char *slash = strchr(name, '/');

	if (slash && (isdigit((unsigned char)slash[1]) || slash[1] == 'u'))
		*slash = '\0';
}

/* Shortens each long hexadecimal number, as containers have. */
static void shorten_numbers(char *text)
{
	enum { LONG = 32, KEPT = 12 };
	char *to = text;

	while (*text) {
		const size_t digits = strspn(text, "0123456789abcdef"), kept = digits >= LONG ? KEPT : digits;

		memmove(to, text, kept);
		to += kept;
		text += digits;
		if (*text && !digits)
			*to++ = *text++;
	}
	*to = '\0';
}

char *trace_names_cgroup(const char *text, char *buf, size_t size)
{
	const char *best = "/";
	size_t length = 1;
	char *path;

	/* Each hierarchy has a line, "4:memory:/path", that of version 2 "0::/path": of several, the one that says most. */
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const size_t whole = strcspn(line, "\n");
		const char *colon = memchr(line, ':', whole),
			   *at = colon ? memchr(colon + 1, ':', whole - (size_t)(colon + 1 - line)) : NULL;

		if (at && whole - (size_t)(at + 1 - line) > length) {
			best = at + 1;
			length = whole - (size_t)(best - line);
		}
	}
	path = or_abort(strndup(best + (*best == '/'), length - (*best == '/')));
	shorten_numbers(path);
	text_clean(path, strlen(path), buf, size);
	free(path);
	return buf;
}

/* Of a process or thread; false: it has ended. */
static bool read_cgroup(pid_t tid, char *buf, size_t size)
{
	char path[64], *text = NULL;
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)tid);
	if (fs_read_followed(path, 1 << 16, &text, &length, NULL))
		return false;
	trace_names_cgroup(text, buf, size);
	free(text);
	return true;
}

void trace_names_see_cgroups(struct trace_names *n, pid_t pid)
{
	char name[TASK_NAME * 2];

	if (!n->mask && !n->own_cgroup && read_cgroup(pid, name, sizeof(name)))
		n->own_cgroup = or_abort(strdup(name));
}

/* "" if there is nothing to be said. */
static const char *foreign_cgroup(struct trace_names *n, pid_t tid)
{
	char key[16], name[TASK_NAME * 2];
	const json_t *known;

	if (!n->own_cgroup || tid <= 0)
		return "";
	snprintf(key, sizeof(key), "%d", (int)tid);
	known = json_object_get(n->cgroups, key);
	if (!known) {
		if (!read_cgroup(tid, name, sizeof(name)) || !strcmp(name, n->own_cgroup))
			*name = '\0';
		json_object_set_new(n->cgroups, key, json_string(name));
		known = json_object_get(n->cgroups, key);
	}
	return json_string_value(known);
}

int64_t trace_names_of_task(struct trace_names *n, const char *command, pid_t tid)
{
	const char *cgroup = foreign_cgroup(n, tid);
	char name[TASK_NAME * 4];
	size_t length;

	text_clean(command, strlen(command), name, TASK_NAME);
	cut_instance(name);
	length = strlen(name);
	if (*cgroup)
		snprintf(name + length, sizeof(name) - length, " (%s)", cgroup);
	return trace_names_of(n, name);
}

static bool is_of_kernel_by_name(const char *command)
{
	static const char *const starts[] = {"kworker/", "ksoftirqd/",	 "migration/", "rcu",	    "irq/",  "kthread",
					     "cpuhp/",	 "idle_inject/", "ktimers/",   "watchdog/", "kswapd"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(command, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static bool look_thread_up(pid_t tid, const char *command)
{
	char path[64], *text = NULL, *at;
	unsigned flags = 0;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	if (fs_read_followed(path, 4096, &text, &size, NULL))
		return is_of_kernel_by_name(command);
	at = strrchr(text, ')');
	if (at && sscanf(at, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		flags = 0;
	free(text);
	return flags & PF_KTHREAD;
}

bool trace_names_is_kernel_thread(struct trace_names *n, pid_t tid, const char *command)
{
	char key[16];
	const json_t *known;
	bool is_kernels;

	snprintf(key, sizeof(key), "%d", (int)tid);
	known = json_object_get(n->threads, key);
	if (known)
		return json_is_true(known);
	is_kernels = look_thread_up(tid, command);
	json_object_set_new(n->threads, key, json_boolean(is_kernels));
	return is_kernels;
}

/* --- system calls --- */

/* Calls that allocate memory, wait, or yield the CPU; those of programs that serve requests. */
#define CALL(name) SYS_##name, #name
static const struct {
	int64_t number;
	const char *name;
} calls[] = {
    {CALL(brk)},	  {CALL(mmap)},
    {CALL(munmap)},	  {CALL(mprotect)},
    {CALL(madvise)},	  {CALL(mlock)},
    {CALL(futex)},	  {CALL(sched_yield)},
    {CALL(nanosleep)},	  {CALL(clock_nanosleep)},
    {CALL(read)},	  {CALL(write)},
    {CALL(ioctl)},	  {CALL(ppoll)},
    {CALL(pselect6)},	  {CALL(epoll_pwait)},
    {CALL(epoll_ctl)},
#ifdef SYS_poll /* arm64 has only the newer calls */
    {CALL(poll)},	  {CALL(select)},
    {CALL(epoll_wait)},	  {CALL(fork)},
    {CALL(vfork)},	  {CALL(open)},
    {CALL(unlink)},	  {CALL(rename)},
    {CALL(pause)},
#endif
    {CALL(clone)},	  {CALL(clone3)},
    {CALL(execve)},	  {CALL(wait4)},
    {CALL(openat)},	  {CALL(close)},
    {CALL(readv)},	  {CALL(writev)},
    {CALL(pread64)},	  {CALL(pwrite64)},
    {CALL(sendto)},	  {CALL(recvfrom)},
    {CALL(sendmsg)},	  {CALL(recvmsg)},
    {CALL(sendmmsg)},	  {CALL(recvmmsg)},
    {CALL(sendfile)},	  {CALL(splice)},
    {CALL(accept)},	  {CALL(accept4)},
    {CALL(connect)},	  {CALL(fsync)},
    {CALL(fdatasync)},	  {CALL(sync_file_range)},
    {CALL(fallocate)},	  {CALL(ftruncate)},
    {CALL(unlinkat)},	  {CALL(mremap)},
    {CALL(msync)},	  {CALL(io_uring_enter)},
    {CALL(io_getevents)}, {CALL(rt_sigtimedwait)},
    {CALL(exit)},	  {CALL(exit_group)},
    {CALL(membarrier)},
#ifdef __x86_64__
    {335, "uretprobe"}, /* with which a probe at a function's return ends; newer than the C library */
#endif
    {CALL(rt_sigreturn)}, {CALL(restart_syscall)},
};

int64_t trace_names_of_call(struct trace_names *n, int64_t number)
{
	char text[32];

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number)
			return trace_names_of(n, calls[i].name);
	snprintf(text, sizeof(text), "number %" PRId64, number);
	return trace_names_of(n, text);
}

/* --- functions --- */

int64_t trace_names_of_function(struct trace_names *n, uint64_t address)
{
	char key[20];
	const json_t *known;
	int64_t number;

	snprintf(key, sizeof(key), "@%016" PRIx64, address);
	known = json_object_get(n->numbers, key);
	if (known)
		return json_integer_value(known);
	number = add_name(n, key);
	if (number >= 0)
		json_object_set_new(n->functions, key, json_integer(number));
	return number;
}

/* "ffffffff81234567 t name\t[module]" */
static void look_line_up(struct trace_names *n, const char *line)
{
	char key[20], name[128];
	const json_t *number;
	uint64_t address;

	if (sscanf(line, "%" SCNx64 " %*c %127[^ \t\n]", &address, name) != 2 || !address)
		return;
	snprintf(key, sizeof(key), "@%016" PRIx64, address);
	number = json_object_get(n->functions, key);
	if (!number)
		return;
	json_array_set_new(n->list, (size_t)json_integer_value(number), json_string(name));
	json_object_del(n->functions, key);
}

void trace_names_resolve(struct trace_names *n)
{
	FILE *in = json_object_size(n->functions) ? fopen("/proc/kallsyms", "re") : NULL;
	char line[512];
	const char *key;
	json_t *number;

	while (in && json_object_size(n->functions) && fgets(line, sizeof(line), in))
		look_line_up(n, line);
	if (in)
		fclose(in);
	json_object_foreach (n->functions, key, number)
		json_array_set_new(n->list, (size_t)json_integer_value(number),
				   json_string("a function of the kernel"));
	json_object_clear(n->functions);
}
