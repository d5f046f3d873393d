#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "common/json.h"
#include "doctor/doctor.h"

#define CALIBRATION_MS 100

const struct cli_command cmd_doctor_cli = {
    .name = "doctor",
    .synopsis = "[--json]",
    .summary = "can this machine measure? clock, CPUs, noise, memory, devices",
    .details = "Each line is ok, warn (the error grows) or bad (numbers would be invalid, or a run impossible), with "
	       "what was found and "
	       "what to do. It takes under a second, and CPUs spin meanwhile; nothing is changed.\n\n"
	       "Exit status 3: something is bad.",
};

static const char *const level_names[] = {"ok", "warn", "bad"};

void finding_raise(struct finding *f, enum level level, const char *advice)
{
	if (level > f->level)
		f->level = level;
	if (!f->advice[0])
		snprintf(f->advice, sizeof(f->advice), "%s", advice);
}

void finding_say(struct finding *f, const char *format, ...)
{
	size_t used = strlen(f->text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(f->text + used, sizeof(f->text) - used, format, ap);
	va_end(ap);
}

static int examine(struct doctor *d, struct err *e)
{
	struct common_settings s = {.poll = POLL_BUSY, .source_cpu = "auto", .sink_cpu = "auto"};
	int rc = sysroot_open(&d->root, NULL, e);

	if (rc)
		return rc;
	cpulist_allowed(&d->allowed);
	rc = placement_choose(ROLE_SOURCE, &s, NULL, &d->source, e);
	if (!rc)
		rc = placement_choose(ROLE_SINK, &s, NULL, &d->sink, e);
	if (rc) {
		sysroot_close(&d->root);
		return rc;
	}
	clock_calibrate(CALIBRATION_MS, &d->clock);
	d->clock.skew_ns = clock_skew_ns(d->source.cpu, d->sink.cpu, d->clock.hz);
	return 0;
}

static void show(const struct check *c, const struct finding *f)
{
	printf("%-16s %-5s %s\n", c->name, level_names[f->level], f->text);
	if (f->advice[0])
		printf("%-22s -> %s\n", "", f->advice);
	fflush(stdout);
}

static json_t *finding_json(const struct check *c, const struct finding *f)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:O*}", "name", c->name, "level", level_names[f->level], "finding",
			 f->text, "advice", f->advice, "data", f->data);
}

/* How many findings there are of each level. */
struct tally {
	unsigned count[3];
};

static void run_checks(const struct check *c, const struct doctor *d, json_t *report, struct tally *tally)
{
	for (; c->name; c++) {
		struct finding f = {.level = LEVEL_OK};

		c->function(d, &f);
		if (report)
			json_array_append_new(report, finding_json(c, &f));
		else
			show(c, &f);
		json_decref(f.data);
		tally->count[f.level]++;
	}
}

static void conclude(const struct tally *t, json_t *checks)
{
	const unsigned *n = t->count;
	enum level worst = n[LEVEL_BAD] ? LEVEL_BAD : n[LEVEL_WARN] ? LEVEL_WARN : LEVEL_OK;
	json_t *report;

	if (!checks) {
		printf("\n%s: %u ok, %u warn, %u bad\n",
		       worst == LEVEL_BAD ? "not fit to measure as it is" : "fit to measure", n[LEVEL_OK],
		       n[LEVEL_WARN], n[LEVEL_BAD]);
		return;
	}
	report = json_pack("{s:i, s:s, s:O}", "schema", 1, "worst", level_names[worst], "checks", checks);
	json_print(report, stdout);
	json_decref(report);
}

static enum status diagnose(bool json, struct err *e)
{
	struct tally tally = {{0}};
	struct doctor d;
	json_t *checks;

	if (examine(&d, e))
		return e->status;
	checks = json ? json_array() : NULL;
	run_checks(cpu_checks, &d, checks, &tally);
	run_checks(machine_checks, &d, checks, &tally);
	conclude(&tally, checks);
	json_decref(checks);
	sysroot_close(&d.root);
	return tally.count[LEVEL_BAD] ? STATUS_NO : STATUS_OK;
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
