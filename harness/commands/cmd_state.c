#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "common/json.h"
#include "common/sysroot.h"
#include "common/text.h"
#include "state/state.h"

#define SHOWN_LINES 40 /* of a class */
#define SHOWN_VALUE 60

struct options {
	const char *sysroot;
	bool json;
};

struct action {
	const char *name;
	size_t args;
	bool takes_sysroot, takes_json;
	const char *usage;
	enum status (*function)(const struct cli_list *args, const struct options *o, struct err *e);
};

const struct cli_command cmd_state_cli = {
    .name = "state",
    .synopsis = "capture DIR [--sysroot DIR] | diff A B [--json]",
    .summary = "capture what this machine is and how it is set, or compare two captures",
    .details =
	"capture reads what is known to move latencies: CPUs, idle states, frequencies, interrupts, PM QoS, cpusets, "
	"RDMA devices and more. Files are kept as they are under their own paths below DIR, what they say is in "
	"DIR/state.json; what is absent or refused is noted with its errno. Nothing is changed.\n\n"
	"diff tells what differs, first what is fatal to a comparison of latencies. Exit status 3: something fatal "
	"differs.",
    .min_args = 1,
    .max_args = 3,
};

static enum status capture(const struct cli_list *args, const struct options *o, struct err *e)
{
	struct sysroot root;
	int rc = sysroot_open(&root, o->sysroot, e);

	if (rc)
		return rc == -ENOENT || rc == -ENOTDIR ? STATUS_USAGE : e->status;
	rc = state_capture(&root, args->items[1], e);
	sysroot_close(&root);
	if (rc)
		return e->status;
	printf("%s\n", args->items[1]);
	return STATUS_OK;
}

static const char *show(const json_t *value, char *buf, size_t size)
{
	const char *text = json_string_value(value);

	if (json_is_integer(value))
		snprintf(buf, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (!text)
		snprintf(buf, size, "(not there)");
	else if (!*text)
		snprintf(buf, size, "(empty)");
	else
		text_clean(text, strlen(text), buf, size);
	return buf;
}

static void show_change(const json_t *change)
{
	char before[SHOWN_VALUE], after[SHOWN_VALUE];

	printf("  %-42s %s -> %s\n", json_string_value(json_object_get(change, "key")),
	       show(json_object_get(change, "before"), before, sizeof(before)),
	       show(json_object_get(change, "after"), after, sizeof(after)));
}

static bool is_of(const json_t *change, const char *class)
{
	return !strcmp(json_string_value(json_object_get(change, "class")), class);
}

static size_t count_of(const json_t *changed, const char *class)
{
	const json_t *change;
	size_t i, count = 0;

	json_array_foreach (changed, i, change)
		count += is_of(change, class);
	return count;
}

static void show_class(const json_t *changed, const char *class, const char *title)
{
	size_t i, shown = 0, count = count_of(changed, class);
	const json_t *change;

	if (!count)
		return;
	printf("%s\n", title);
	json_array_foreach (changed, i, change)
		if (is_of(change, class) && shown++ < SHOWN_LINES)
			show_change(change);
	if (count > SHOWN_LINES)
		printf("  ... and %zu more; --json lists all\n", count - SHOWN_LINES);
}

static void show_changes(const json_t *changed)
{
	size_t counters = count_of(changed, "volatile");

	show_class(changed, "fatal", "fatal to a comparison:");
	show_class(changed, "warn", "may matter:");
	show_class(changed, "informative", "good to know:");
	if (json_array_size(changed) == counters)
		printf("nothing differs but what moves by itself\n");
	printf("%zu fatal, %zu to look at, %zu counters moved%s\n", count_of(changed, "fatal"),
	       count_of(changed, "warn"), counters, counters ? " (--json lists them)" : "");
}

static enum status diff(const struct cli_list *args, const struct options *o, struct err *e)
{
	json_t *changes = state_changes(args->items[1], args->items[2], e);
	const json_t *changed = json_object_get(changes, "changed");
	enum status status;

	if (!changes)
		return e->status;
	status = count_of(changed, "fatal") ? STATUS_NO : STATUS_OK;
	if (o->json)
		json_print(changes, stdout);
	else
		show_changes(changed);
	json_decref(changes);
	return status;
}

static const struct action actions[] = {
    {"capture", 1, true, false, "capture DIR [--sysroot DIR]", capture},
    {"diff", 2, false, true, "diff A B [--json]", diff},
};

static enum status dispatch(const struct cli_list *args, const struct options *o, struct err *e)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
		const struct action *a = &actions[i];

		if (strcmp(a->name, args->items[0]))
			continue;
		if (args->count != a->args + 1 || (o->sysroot && !a->takes_sysroot) || (o->json && !a->takes_json)) {
			err_set(e, -EINVAL, STATUS_USAGE, "state", NULL, "wants: kblat state %s", a->usage);
			return e->status;
		}
		return a->function(args, o, e);
	}
	err_set(e, -EINVAL, STATUS_USAGE, "state", NULL, "wants capture or diff, not '%.48s'", args->items[0]);
	return e->status;
}

enum status cmd_state(int argc, char **argv, struct err *e)
{
	struct options o = {NULL, false};
	const struct cli_flag flags[] = {
	    {"sysroot", CLI_STRING, &o.sysroot, "DIR", "capture a recorded machine below DIR instead of this one", 0,
	     0},
	    {"json", CLI_FLAG, &o.json, NULL, "print the differences as JSON, counters with them", 0, 0},
	    {.name = NULL},
	};
	struct cli_list args = {NULL, 0};
	bool help = false;
	enum status status;

	if (cli_parse(&cmd_state_cli, flags, argc, argv, &args, &help, e))
		return e->status;
	if (help) {
		cli_help("kblat", &cmd_state_cli, flags, stdout);
		status = STATUS_OK;
	} else {
		status = dispatch(&args, &o, e);
	}
	cli_list_free(&args);
	return status;
}
