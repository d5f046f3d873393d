/* kbtune dma-latency show, hold. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/text.h"
#include "common/units.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/machine/child.h"
#include "tuning/machine/latency.h"
#include "tuning/machine/machine.h"

const struct cli_command tune_latency_cli = {
    .name = "dma-latency",
    .synopsis = "show | hold US -- COMMAND [ARGUMENT]...",
    .summary =
	"Global PM QoS (/dev/cpu_dma_latency): the value in force and who holds it; hold one while a command runs.",
    .details =
	"The lowest request of all holders counts, and each lives as long as its holder keeps the device open: 0 keeps "
	"CPUs out of all idle states but polling. The holders' own values are not known to anybody but the kernel.",
    .min_args = 1,
    .max_args = 100000,
};

static bool holds(const struct machine *m, const char *pid, const char *fd)
{
	char *path = fs_path("/proc/%s/fd/%s", pid, fd), target[256];
	bool is_it = !sysroot_readlink(&m->root, path, target, sizeof(target)) && !strcmp(target, LATENCY_DEVICE);

	free(path);
	return is_it;
}

static bool is_holder(const struct machine *m, const char *pid)
{
	char *path = fs_path("/proc/%s/fd", pid), **fds;
	int n = sysroot_list(&m->root, path, NULL, &fds);
	bool found = false;

	for (int i = 0; i < n && !found; i++)
		found = holds(m, pid, fds[i]);
	if (n >= 0)
		sysroot_names_free(fds);
	free(path);
	return found;
}

static json_t *find_holders(const struct machine *m)
{
	json_t *list = json_array();
	char **pids;
	int n = sysroot_list(&m->root, "/proc", "[0-9]*", &pids);

	for (int i = 0; i < n; i++) {
		char *path = fs_path("/proc/%s/comm", pids[i]), name[64] = "?";

		if (is_holder(m, pids[i])) {
			sysroot_line(&m->root, path, name, sizeof(name));
			json_array_append_new(list, json_pack("{s:i, s:s}", "pid", atoi(pids[i]), "name", name));
		}
		free(path);
	}
	if (n >= 0)
		sysroot_names_free(pids);
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
		printf("  holders of other users are not to be seen without CAP_SYS_PTRACE\n");
}

static enum status show(struct machine *m, bool json, struct err *e)
{
	long long us = LATENCY_NONE;
	int rc = latency_read(m, &us);
	json_t *all;

	if (rc) {
		err_sys(e, rc, LATENCY_DEVICE, "read");
		if (rc == -ENOENT || rc == -EACCES || rc == -ENXIO || !m->root.live)
			e->status = STATUS_IMPOSSIBLE;
		return failed(e);
	}
	all = json_pack("{s:i, s:I, s:b, s:o}", "schema", 1, "us", (json_int_t)us, "in_force", us != LATENCY_NONE,
			"holders", find_holders(m));
	if (json)
		json_print(all, stdout);
	else
		print_holders(all, us);
	json_decref(all);
	return STATUS_OK;
}

static enum status hold(struct machine *m, const struct cli_list *args, struct err *e)
{
	char **command, quoted[TEXT_QUOTE_MAX];
	int64_t us;
	int fd, rc;

	if (args->count < 3 || unit_read(UNIT_ONE, args->items[1], &us) != UNIT_FINE || us < 0 || us >= LATENCY_NONE) {
		err_set(e, -EINVAL, STATUS_USAGE, "dma-latency", NULL, "hold wants microseconds and a command, not %s",
			args->count > 1 ? text_quote(args->items[1], quoted, sizeof(quoted)) : "nothing");
		return STATUS_USAGE;
	}
	fd = latency_open((int)us);
	if (fd < 0) {
		err_sys(e, fd, LATENCY_DEVICE, "hold");
		if (fd == -EACCES || fd == -ENOENT || fd == -EPERM)
			e->status = STATUS_IMPOSSIBLE;
		return failed(e);
	}
	command = command_words(args, 2);
	rc = child_run(m, NULL, command, e);
	free(command);
	close(fd);
	return rc < 0 ? failed(e) : (enum status)rc;
}

static enum status act(struct machine *m, const struct cli_list *args, void *json, struct err *e)
{
	if (!strcmp(args->items[0], "show") && args->count == 1)
		return show(m, *(bool *)json, e);
	if (!strcmp(args->items[0], "hold"))
		return hold(m, args, e);
	err_set(e, -EINVAL, STATUS_USAGE, "dma-latency", NULL, "wants show, or hold US -- COMMAND");
	return STATUS_USAGE;
}

enum status tune_latency(int argc, char **argv, struct err *e)
{
	bool json = false;
	const struct cli_flag flags[] = {COMMAND_JSON(&json), COMMAND_FLAGS_END};

	return command_run(&(struct command){&tune_latency_cli, flags, NULL, act, &json}, argc, argv, e);
}
