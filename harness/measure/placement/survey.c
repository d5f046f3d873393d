#include "measure/placement/survey.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/sysroot.h"

#define LIST_SIZE 4096

static void survey_read_core(const struct sysroot *root, int cpu, uint16_t core[CPULIST_MAX])
{
	char path[128], line[LIST_SIZE];
	struct cpulist siblings;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	if (sysroot_line(root, path, line, sizeof(line)) < 0 || cpulist_parse(line, &siblings, NULL, 0))
		return;
	for (int c = cpulist_first(&siblings); c >= 0; c = cpulist_next(&siblings, c))
		core[c] = (uint16_t)cpulist_first(&siblings);
}

void survey_cores(const struct cpulist *of, uint16_t core[CPULIST_MAX])
{
	struct sysroot root;

	for (unsigned cpu = 0; cpu < CPULIST_MAX; cpu++)
		core[cpu] = (uint16_t)cpu;
	if (sysroot_open(&root, NULL, NULL))
		return;
	for (int cpu = cpulist_first(of); cpu >= 0; cpu = cpulist_next(of, cpu))
		if (core[cpu] == cpu)
			survey_read_core(&root, cpu, core);
	sysroot_close(&root);
}

int survey_take(const char *setting, const char *text, const char *device, struct survey *out, struct err *e)
{
	struct sysroot root;
	int rc = cpulist_allowed(&out->allowed);

	if (rc)
		return err_sys(e, rc, "this process", "read the CPU mask of");
	rc = sysroot_open(&root, NULL, e);
	if (rc)
		return rc;
	rc = cpu_choice_read(&root, setting, text, device, &out->allowed, &out->choice, e);
	sysroot_close(&root);
	if (!rc)
		survey_cores(&out->allowed, out->core);
	return rc;
}

/* --- JSON --- */

static json_t *survey_list_json(const struct cpulist *set)
{
	char text[LIST_SIZE];

	return json_string(cpulist_format(set, text, sizeof(text)));
}

/* Only cores with several CPUs. */
static json_t *cores_json(const struct survey *s)
{
	json_t *cores = json_array();

	for (int first = cpulist_first(&s->allowed); first >= 0; first = cpulist_next(&s->allowed, first)) {
		struct cpulist core;

		cpulist_clear(&core);
		for (int cpu = first; cpu >= 0; cpu = cpulist_next(&s->allowed, cpu))
			if (s->core[cpu] == s->core[first])
				cpulist_add(&core, (unsigned)cpu);
		for (int cpu = cpulist_first(&s->allowed); cpu >= 0 && cpu < first;
		     cpu = cpulist_next(&s->allowed, cpu))
			if (s->core[cpu] == s->core[first])
				cpulist_clear(&core); /* it was listed at its first CPU */
		if (cpulist_count(&core) > 1)
			json_array_append_new(cores, survey_list_json(&core));
	}
	return cores;
}

json_t *survey_json(const struct survey *s)
{
	return json_pack("{s:o, s:b, s:o, s:o}", "cpus", survey_list_json(&s->choice.cpus), "told", s->choice.is_told,
			 "allowed", survey_list_json(&s->allowed), "cores", cores_json(s));
}

static int survey_read_list(const json_t *j, struct cpulist *out)
{
	return json_is_string(j) ? cpulist_parse(json_string_value(j), out, NULL, 0) : -EINVAL;
}

int survey_from_json(const json_t *j, struct survey *out, struct err *e)
{
	const json_t *core;
	struct cpulist cpus;
	size_t i;
	int rc = survey_read_list(json_object_get(j, "cpus"), &out->choice.cpus);

	if (!rc)
		rc = survey_read_list(json_object_get(j, "allowed"), &out->allowed);
	if (rc || !cpulist_count(&out->choice.cpus))
		return err_set(e, -EPROTO, STATUS_FAILED, "survey", NULL, "the endpoint's list of CPUs cannot be read");
	out->choice.is_told = json_is_true(json_object_get(j, "told"));
	for (unsigned cpu = 0; cpu < CPULIST_MAX; cpu++)
		out->core[cpu] = (uint16_t)cpu;
	json_array_foreach (json_object_get(j, "cores"), i, core)
		if (!survey_read_list(core, &cpus))
			for (int cpu = cpulist_first(&cpus); cpu >= 0; cpu = cpulist_next(&cpus, cpu))
				out->core[cpu] = (uint16_t)cpulist_first(&cpus);
	return 0;
}
