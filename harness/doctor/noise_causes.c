#include "doctor/noise_causes.h"

#include "common/units.h"
#include "noise/cpu_noise.h"

#define SHOWN 3 /* causes shown per CPU */

static struct cpulist noise_causes_cpus(const json_t *list)
{
	struct cpulist cpus;
	const json_t *one;
	size_t i;

	cpulist_clear(&cpus);
	json_array_foreach (list, i, one) {
		const json_int_t cpu = json_integer_value(json_object_get(one, "cpu"));

		if (cpu >= 0)
			cpulist_add(&cpus, (unsigned)cpu);
	}
	return cpus;
}

static void tell_cpu(const struct cpu_noise *n, const struct cpu_noise_cpu *c, struct finding *f)
{
	char time[32], text[CAUSE_TEXT_MAX];

	finding_add(f, "; CPU %d by cause: ", c->cpu);
	for (size_t i = 0; i < c->count && i < SHOWN; i++)
		finding_add(f, "%s%s %s", i ? ", " : "", unit_human_ns(c->causes[i].total_ns, time, sizeof(time)),
			    cause_describe(&n->causes.list[c->causes[i].cause], text, sizeof(text)));
	if (!c->count)
		finding_add(f, "nothing");
}

void noise_causes_add(unsigned milliseconds, struct finding *f)
{
	const struct cpulist cpus = noise_causes_cpus(f->data);
	struct cpu_noise n = {.count = 0};
	const bool is_known = cpulist_count(&cpus) && !cpu_noise_watch(&cpus, milliseconds, &n, NULL);
	json_t *one;
	size_t i;

	json_array_foreach (f->data, i, one) {
		json_t *causes = json_null();

		for (size_t k = 0; is_known && k < n.count; k++)
			if (n.cpus[k].cpu == json_integer_value(json_object_get(one, "cpu"))) {
				causes = cpu_noise_causes_json(&n, &n.cpus[k]);
				tell_cpu(&n, &n.cpus[k], f);
			}
		json_object_set_new(one, "causes", causes);
	}
	cpu_noise_free(&n);
}
