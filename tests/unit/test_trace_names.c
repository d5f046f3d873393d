/*
 * Names of the kernel's events: each has a number, as far as there is room.
 */
#include "measure/trace/trace_names.h"
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
	is_int(trace_names_of_task(&n, "kworker/1:2"), 0, "the first name has the number 0");
	is_str(name_of(&n, 0), "kworker", "a worker of one CPU is a worker");
	is_int(trace_names_of_task(&n, "kworker/u8:3"), 0, "and so is one of any CPU");
	is_int(trace_names_of_task(&n, "a/b"), 1, "a program is another");
	is_str(name_of(&n, 1), "a/b", "whose name stays whole");
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
	test_room();
	return done_testing();
}
