/*
 * Names of the kernel's events: each has a number, as far as there is room.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/trace/trace_events.h"
#include "tap.h"

#define MOST	4096
#define NOWHERE UINT64_C(0xfffffffffffffff0) /* no function is there */

static const char *name_of(const struct trace_names *n, int64_t number)
{
	return json_string_value(json_array_get(n->list, (size_t)number));
}

static void test_tasks(void)
{
	struct trace_names n;

	trace_names_init(&n);
	is_int(trace_names_of_task(&n, "kworker/1:2", 0), 0, "the first name has the number 0");
	is_str(name_of(&n, 0), "kworker", "a worker of one CPU is a worker");
	is_int(trace_names_of_task(&n, "kworker/u8:3", 0), 0, "and so is one of any CPU");
	is_int(trace_names_of_task(&n, "a/b", 0), 1, "a program is another");
	is_str(name_of(&n, 1), "a/b", "whose name stays whole");
	trace_names_free(&n);
}

static const char *cgroup(const char *text)
{
	static char name[128];

	return trace_names_cgroup(text, name, sizeof(name));
}

static void test_cgroups(void)
{
	struct trace_names n;

	is_str(cgroup("0::/\n"), "", "the root has no name");
	is_str(cgroup(""), "", "nor has what is not known");
	is_str(cgroup("0::/system.slice/cron.service\n"), "system.slice/cron.service", "version 2");
	is_str(cgroup("9:name=systemd:/\n4:memory:/jobs/1\n0::/\n"), "jobs/1", "version 1");
	is_str(cgroup("1:name=systemd:/somewhere/else\n0::/here\n"), "somewhere/else", "both: the one that says more");
	is_str(
	    cgroup("0::/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope\n"),
	    "system.slice/docker-0123456789ab.scope", "a container's number is shortened");
	is_str(cgroup("0::/a\033[31m\n"), "a?[31m", "what would not be text is not printed");
	trace_names_init(&n);
	trace_names_see_cgroups(&n, getpid());
	is_int(trace_names_of_task(&n, "shell", getpid()), 0, "a task of the same group");
	is_str(name_of(&n, 0), "shell", "has no other name");
	free(n.own_cgroup);
	n.own_cgroup = strdup("elsewhere");
	json_object_clear(n.cgroups);
	json_object_set_new(n.cgroups, "77", json_string("jobs/2"));
	is_str(name_of(&n, trace_names_of_task(&n, "shell/1", 77)), "shell (jobs/2)",
	       "one of another group is named with it");
	is_str(name_of(&n, trace_names_of_task(&n, "shell", 0)), "shell", "but for one that is not known");
	trace_names_free(&n);
}

static void test_room(void)
{
	struct trace_names n;
	char text[32];
	int64_t last = -1;

	trace_names_init(&n);
	trace_names_of(&n, "name 0");
	is_int(trace_names_of_function(&n, NOWHERE), 1, "a function has a number at once");
	for (int i = 2; i < MOST; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		last = trace_names_of(&n, text);
	}
	is_int(last, MOST - 1, "there is room for so many names");
	is_int(trace_names_of(&n, "one more"), -1, "and for none more");
	is_int(trace_names_of_function(&n, NOWHERE + 1), -1, "nor for a function's");
	is_int(trace_names_of_function(&n, NOWHERE), 1, "but what has a number keeps it");
	trace_names_resolve(&n);
	is_str(name_of(&n, 1), "a function of the kernel", "which is looked up later, and may not be known");
	is_str(name_of(&n, 0), "name 0", "others stay what they were");
	is_int((long long)json_array_size(n.list), MOST, "no name is added");
	trace_names_free(&n);
}

int main(void)
{
	test_tasks();
	test_cgroups();
	test_room();
	return done_testing();
}
