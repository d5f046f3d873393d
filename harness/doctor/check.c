#include "doctor/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "measure/trace/trace_place.h"

void finding_raise(struct finding *f, enum level level, const char *advice)
{
	if (level > f->level)
		f->level = level;
	if (!f->advice[0])
		snprintf(f->advice, sizeof(f->advice), "%s", advice);
}

void finding_add(struct finding *f, const char *format, ...)
{
	size_t used = strlen(f->text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(f->text + used, sizeof(f->text) - used, format, ap);
	va_end(ap);
}

static const char *const level_names[LEVEL_COUNT] = {"ok", "warn", "bad"};

const char *finding_level_name(enum level level)
{
	return level_names[level];
}

json_t *finding_json(const char *name, const struct finding *f)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:O*}", "name", name, "level", finding_level_name(f->level), "finding",
			 f->text, "advice", f->advice, "data", f->data);
}

enum level finding_level(const json_t *finding)
{
	const char *name = json_text(finding, "level");
	enum level level = LEVEL_OK;

	while (level < LEVEL_BAD && strcmp(name, level_names[level]) != 0)
		level++;
	return level;
}

/* --- all checks --- */

#define CALIBRATION_MS 100

/* Where a run with busy polling and default CPUs would place its two sides. */
static int place_sides(struct host *h, struct err *e)
{
	struct survey *survey = or_abort(calloc(1, sizeof(*survey)));
	struct placement side[2];
	int rc = survey_take("source_cpu", "auto", NULL, survey, e);

	if (!rc) {
		side[0] = side[1] = (struct placement){.survey = survey, .host = "", .is_busy = true};
		placement_deal(side, 2);
		h->allowed = survey->allowed;
		h->source = side[0];
		h->sink = side[1];
		h->source.survey = h->sink.survey = NULL;
	}
	free(survey);
	return rc;
}

static int host_open(struct host *h, struct err *e)
{
	int rc = sysroot_open(&h->root, NULL, e);

	if (rc)
		return rc;
	rc = place_sides(h, e);
	if (rc) {
		sysroot_close(&h->root);
		return rc;
	}
	/* Before anything is measured: they would take part. */
	h->traces_removed = h->root.live ? trace_place_sweep() : 0;
	clock_calibrate(CALIBRATION_MS, &h->clock);
	h->clock.skew_ns = clock_skew_ns(h->source.cpu, h->sink.cpu, h->clock.hz);
	return 0;
}

int doctor_examine(void (*each)(const char *name, const struct finding *f, void *context), void *context, struct err *e)
{
	static const struct check *const tables[] = {cpu_checks, machine_checks};
	struct host h;
	int rc = host_open(&h, e);

	if (rc)
		return rc;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct check *c = tables[i]; c->name; c++) {
			struct finding f = {.level = LEVEL_OK};

			c->function(&h, &f);
			each(c->name, &f, context);
			json_decref(f.data);
		}
	sysroot_close(&h.root);
	return 0;
}

static void doctor_take_finding(const char *name, const struct finding *f, void *list)
{
	json_array_append_new(list, finding_json(name, f));
}

int doctor_findings(json_t **findings, struct err *e)
{
	int rc;

	*findings = json_array();
	rc = doctor_examine(doctor_take_finding, *findings, e);
	if (rc)
		json_decref(*findings);
	return rc;
}
