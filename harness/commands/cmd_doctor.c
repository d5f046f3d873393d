#include <stdio.h>

#include "commands/commands.h"
#include "common/json.h"
#include "doctor/doctor.h"

const struct cli_command cmd_doctor_cli = {
    .name = "doctor",
    .synopsis = "[--json]",
    .summary = "can this machine measure? clock, CPUs, noise, memory, devices",
    .details =
	"Each line is ok, warn (the error grows) or bad (numbers would be invalid, or a run impossible), with "
	"what was found and what to do. It takes under a second, and CPUs spin meanwhile; nothing is changed.\n\n"
	"Exit status 3: something is bad.",
};

/* What is told of the findings, and how many there are of each level. */
struct answer {
	json_t *checks; /* NULL: print each as it comes */
	unsigned count[LEVEL_COUNT];
};

static void print_finding(const char *name, const struct finding *f)
{
	printf("%-16s %-5s %s\n", name, finding_level_name(f->level), f->text);
	if (f->advice[0])
		printf("%-22s -> %s\n", "", f->advice);
	fflush(stdout);
}

static json_t *finding_json(const char *name, const struct finding *f)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:O*}", "name", name, "level", finding_level_name(f->level), "finding",
			 f->text, "advice", f->advice, "data", f->data);
}

static void take_finding(const char *name, const struct finding *f, void *context)
{
	struct answer *a = context;

	if (a->checks)
		json_array_append_new(a->checks, finding_json(name, f));
	else
		print_finding(name, f);
	a->count[f->level]++;
}

static void print_conclusion(const struct answer *a)
{
	const unsigned *n = a->count;
	enum level worst = n[LEVEL_BAD] ? LEVEL_BAD : n[LEVEL_WARN] ? LEVEL_WARN : LEVEL_OK;
	json_t *report;

	if (!a->checks) {
		printf("\n%s: %u ok, %u warn, %u bad\n",
		       worst == LEVEL_BAD ? "not fit to measure as it is" : "fit to measure", n[LEVEL_OK],
		       n[LEVEL_WARN], n[LEVEL_BAD]);
		return;
	}
	report = json_pack("{s:i, s:s, s:O}", "schema", 1, "worst", finding_level_name(worst), "checks", a->checks);
	json_print(report, stdout);
	json_decref(report);
}

static enum status diagnose(bool json, struct err *e)
{
	struct answer a = {.checks = json ? json_array() : NULL};
	int rc = doctor_examine(take_finding, &a, e);

	if (!rc)
		print_conclusion(&a);
	json_decref(a.checks);
	return rc ? e->status : a.count[LEVEL_BAD] ? STATUS_NO : STATUS_OK;
}

enum status cmd_doctor(int argc, char **argv, struct err *e)
{
	bool json = false, help = false;
	const struct cli_flag flags[] = {
	    {"json", CLI_FLAG, &json, NULL, "print the findings as JSON", 0, 0},
	    {.name = NULL},
	};
	struct cli_list args = {NULL, 0};

	if (cli_parse(&cmd_doctor_cli, flags, argc, argv, &args, &help, e))
		return e->status;
	cli_list_free(&args);
	if (!help)
		return diagnose(json, e);
	cli_help("kblat", &cmd_doctor_cli, flags, stdout);
	return STATUS_OK;
}
