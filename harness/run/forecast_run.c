#include "run/forecast_run.h"

#include <string.h>

#include "run/former.h"

/* As in forecast.c. */
#define RUN_S	      0.5 /* calibration, the machine's state before and after, sealing */
#define ENVIRONMENT_S 2.0 /* applying and restoring a profile with kbtune */
#define SEAL_NS	      150 /* computing checksums of a message's stamps */

struct forecast forecast_run(const struct point *points, size_t count, const char *runs, const char *name,
			     struct forecast *each)
{
	struct forecast sum = {.rest_s = count ? RUN_S : 0, .is_former = count > 0};
	struct former former;
	const char *applied = "";

	former_open(&former, runs, name);
	for (size_t i = 0; i < count; i++) {
		const struct forecast t = former_forecast(&former, &points[i]);

		if (each)
			each[i] = t;
		forecast_add(&sum, t, 1);
		sum.rest_s += t.messages * SEAL_NS / 1e9;
		if (*points[i].environment && strcmp(points[i].environment, applied) != 0)
			sum.rest_s += ENVIRONMENT_S;
		applied = points[i].environment;
		sum.is_former &= t.is_former;
	}
	former_close(&former);
	return sum;
}
