/* kbtune dma-latency show, hold. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file_users.h"
#include "common/json.h"
#include "common/text.h"
#include "common/units.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/machine/child.h"
#include "tuning/machine/latency.h"
#include "tuning/machine/machine.h"

#define ARGS_MAX 100000

const struct cli_command tune_latency_cli = {
    .name = "dma-latency",
    .synopsis = "show | hold US -- COMMAND [ARGUMENT]...",
    .summary = "Global PM QoS (/dev/cpu_dma_latency): show the value in force and who holds it, or hold a value while "
	       "a command runs.",
    .details = "The lowest request counts, and a request lasts as long as its holder keeps the device open. 0 keeps "
	       "CPUs out of all idle states except polling. Only the kernel knows the value of each holder.",
    .min_args = 1,
    .max_args = ARGS_MAX,
};

struct request {
	struct machine *m;
	const struct cli_list *args;
	bool json;
	struct err *e;
};

static bool add_holder(void *list, int pid, const char *name)
{
	char shown[FILE_USER_MAX];

	text_clean(name, strlen(name), shown, sizeof(shown));
	json_array_append_new(list, json_pack("{s:i, s:s}", "pid", pid, "name", shown));
	return true;
}

static json_t *find_holders(const struct machine *m)
{
	static const char *const files[] = {LATENCY_DEVICE, NULL};
	json_t *list = json_array();

	file_users(&m->root, files, add_holder, list);
	return list;
}

static void print_holders(const json_t *all, long long us)
{
	const json_t *one, *list = json_object_get(all, "holders");
	size_t i;

	if (us == LATENCY_NONE)
		printf("no request is in force (%lld)\n", us);
	else
		printf("%lld us\n", us);
	json_array_foreach (list, i, one)
		printf("  held open by %s (process %lld)\n", json_string_value(json_object_get(one, "name")),
		       (long long)json_integer_value(json_object_get(one, "pid")));
	if (geteuid())
		printf("  holders that belong to other users are visible only with CAP_SYS_PTRACE\n");
}

static enum status latency_show(void *request)
{
	const struct request *r = request;
	long long us = LATENCY_NONE;
	int rc = latency_read(r->m, &us);
	json_t *all;

	if (rc) {
		err_sys(r->e, rc, LATENCY_DEVICE, "read");
		if (rc == -ENOENT || rc == -EACCES || rc == -ENXIO || !r->m->root.live)
			r->e->status = STATUS_IMPOSSIBLE;
		return err_status(r->e);
	}
	all = json_pack("{s:i, s:I, s:b, s:o}", "schema", 1, "us", (json_int_t)us, "in_force", us != LATENCY_NONE,
			"holders", find_holders(r->m));
	if (r->json)
		json_print(all, stdout);
	else
		print_holders(all, us);
	json_decref(all);
	return STATUS_OK;
}

static enum status latency_hold(void *request)
{
	const struct request *r = request;
	const struct cli_list *args = r->args;
	struct err *e = r->e;
	char **command, quoted[TEXT_QUOTE_MAX];
	int64_t us;
	int fd, rc;

	if (args->count < 3 || unit_read(UNIT_ONE, args->items[1], &us) != UNIT_FINE || us < 0 || us >= LATENCY_NONE) {
		err_set(e, -EINVAL, STATUS_USAGE, "dma-latency", NULL, "hold needs microseconds and a command, not %s",
			args->count > 1 ? text_quote(args->items[1], quoted, sizeof(quoted)) : "nothing");
		return STATUS_USAGE;
	}
	fd = latency_open((int)us);
	if (fd < 0) {
		err_sys(e, fd, LATENCY_DEVICE, "hold");
		if (fd == -EACCES || fd == -ENOENT || fd == -EPERM)
			e->status = STATUS_IMPOSSIBLE;
		return err_status(e);
	}
	command = command_words(args, 2);
	rc = child_run(r->m, NULL, command);
	free(command);
	close(fd);
	return (enum status)rc;
}

static const struct command_action actions[] = {
    {"show", 0, 0, latency_show},
    {"hold", 1, ARGS_MAX, latency_hold},
    {.name = NULL},
};

static enum status latency_act(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	struct request *r = request;

	r->m = m;
	r->args = args;
	r->e = e;
	return command_act("dma-latency", actions, args, r, e);
}

enum status tune_latency(int argc, char **argv, struct err *e)
{
	struct request r = {0};
	const struct cli_flag flags[] = {COMMAND_JSON(&r.json), COMMAND_FLAGS_END};

	return command_run(&(struct command){&tune_latency_cli, flags, NULL, latency_act, &r}, argc, argv, e);
}
