#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "commands/commands.h"
#include "common/json.h"
#include "common/table_print.h"
#include "common/units.h"
#include "doctor/cpu_noise.h"
#include "judge/analysis/cause.h"

#define CAUSES_SHOWN 10 /* per CPU */

const struct cli_command cmd_noise_cli = {
    .name = "noise",
    .synopsis = "[--cpus LIST] [--seconds N] [--json]",
    .summary = "show what takes time from which CPU, how much, and how to remove it",
    .details =
	"Runs a spinning thread on each of the CPUs, and uses kernel events to find out what ran instead when the "
	"thread did not. This needs root, or access to tracefs, and changes nothing. For each CPU it shows the causes, "
	"by total time: how often, how long at most, and which kbtune knob or boot parameter moves or removes it. "
	"docs/explain.md describes the causes.\n\nExit status 77: the kernel cannot be traced here.",
};

struct noise_options {
	const char *cpus;
	long seconds;
	bool json;
};

static int noise_read_cpus(const char *text, struct cpulist *out, struct err *e)
{
	const long last = sysconf(_SC_NPROCESSORS_CONF) - 1;
	char why[128];
	int rc;

	if (!text) {
		rc = cpulist_allowed(out);
		return rc ? err_sys(e, rc, "this process", "read the CPU mask of") : 0;
	}
	if (cpulist_parse(text, out, why, sizeof(why)) || !cpulist_count(out))
		return err_set(e, -EINVAL, STATUS_USAGE, "--cpus", NULL,
			       "must be a list of CPUs such as 1 or 2-5,8, not '%.40s'", text);
	if (cpulist_next(out, (int)last) >= 0)
		return err_set(e, -EINVAL, STATUS_USAGE, "--cpus", NULL,
			       "this machine has the CPUs 0 to %ld, and so not all of '%.40s'", last, text);
	return 0;
}

enum { TIME, TIMES, MAX, CAUSE, COLUMNS };

static void print_causes(const struct cpu_noise *n, const struct cpu_noise_cpu *c)
{
	static const struct table_column columns[COLUMNS] = {
	    [TIME] = {.label = "time", .align = TABLE_RIGHT, .least = 9},
	    [TIMES] = {.label = "times/s", .align = TABLE_RIGHT, .least = 8},
	    [MAX] = {.label = "max", .align = TABLE_RIGHT, .least = 9},
	    [CAUSE] = {.label = "cause", .most = TABLE_WHOLE},
	};
	struct table t = table_of(columns, COLUMNS, c->count < CAUSES_SHOWN ? c->count : CAUSES_SHOWN);
	char text[CAUSE_TEXT_MAX];

	for (size_t i = 0; i < t.rows; i++) {
		const struct cpu_noise_cause *one = &c->causes[i];
		const struct cause *cause = &n->causes.list[one->cause];

		table_in_unit(&t, TIME, i, (double)one->total_ns, "ns");
		table_text(&t, TIMES, i, "%.1f", (double)one->times * 1e9 / (double)c->watched_ns);
		table_in_unit(&t, MAX, i, (double)one->longest_ns, "ns");
		table_text(&t, CAUSE, i, "%s", cause_describe(cause, text, sizeof(text)));
		if (*cause_advice(cause))
			table_note(&t, i, "-> %s", cause_advice(cause));
	}
	table_print(&t, &(struct table_style){.indent = 2, .note_indent = 36}, stdout);
	table_free(&t);
}

static void print_cpu(const struct cpu_noise *n, const struct cpu_noise_cpu *c)
{
	char longest[32];

	printf("CPU %d: %.3f %% of %.1f s taken, %.0f times a second, %s at most%s\n", c->cpu,
	       100.0 * (double)c->taken_ns / (double)c->watched_ns, (double)c->watched_ns / 1e9,
	       (double)c->times * 1e9 / (double)c->watched_ns, unit_human_ns(c->longest_ns, longest, sizeof(longest)),
	       c->complete ? "" : "; events were lost, so there was more");
	if (c->count)
		print_causes(n, c);
	if (c->count > CAUSES_SHOWN)
		printf("  and %zu more\n", c->count - CAUSES_SHOWN);
}

static json_t *noise_json(const struct cpu_noise *n)
{
	json_t *cpus = json_array();

	for (size_t i = 0; i < n->count; i++) {
		const struct cpu_noise_cpu *c = &n->cpus[i];
		json_array_append_new(
		    cpus, json_pack("{s:i, s:I, s:I, s:I, s:I, s:b, s:I, s:o}", "cpu", c->cpu, "watched_ns",
				    (json_int_t)c->watched_ns, "taken_ns", (json_int_t)c->taken_ns, "longest_ns",
				    (json_int_t)c->longest_ns, "times", (json_int_t)c->times, "complete", c->complete,
				    "steal_ms", (json_int_t)c->steal_ms, "causes", cpu_noise_causes_json(n, c)));
	}
	return json_pack("{s:i, s:o}", "schema", 1, "cpus", cpus);
}

static enum status show_noise(const struct cli_list *args, void *options, struct err *e)
{
	const struct noise_options *o = options;
	struct cpulist cpus;
	struct cpu_noise n;
	json_t *json;

	(void)args;
	if (noise_read_cpus(o->cpus, &cpus, e))
		return e->status;
	if (!cpu_noise_watch(&cpus, (unsigned)o->seconds * 1000, &n, e)) {
		if (o->json) {
			json = noise_json(&n);
			json_print(json, stdout);
			json_decref(json);
		}
		for (size_t i = 0; !o->json && i < n.count; i++)
			print_cpu(&n, &n.cpus[i]);
	}
	cpu_noise_free(&n);
	return e->status;
}

enum status cmd_noise(int argc, char **argv, struct err *e)
{
	struct noise_options o = {.seconds = 5};
	const struct cli_flag flags[] = {
	    {"cpus", CLI_STRING, &o.cpus, "LIST", "such as 1 or 2-5,8 (all that this process may use)", 0, 0},
	    {"seconds", CLI_INT, &o.seconds, "N", "how long (5)", 1, 3600},
	    {"json", CLI_FLAG, &o.json, NULL, "an object: for each CPU its causes", 0, 0},
	    {.name = NULL},
	};

	return cli_run("kblat", &cmd_noise_cli, flags, argc, argv, show_noise, &o, e);
}
