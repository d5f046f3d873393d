#include "doctor/doctor.h"

#include "doctor/check.h"
#include "doctor/cpu_checks.h"
#include "doctor/machine_checks.h"

#define CALIBRATION_MS 100

static int host_open(struct host *h, struct err *e)
{
	struct common_settings s = {.poll = POLL_BUSY, .source_cpu = "auto", .sink_cpu = "auto"};
	int rc = sysroot_open(&h->root, NULL, e);

	if (rc)
		return rc;
	cpulist_allowed(&h->allowed);
	rc = placement_choose(ROLE_SOURCE, &s, NULL, &h->source, e);
	if (!rc)
		rc = placement_choose(ROLE_SINK, &s, NULL, &h->sink, e);
	if (rc) {
		sysroot_close(&h->root);
		return rc;
	}
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
