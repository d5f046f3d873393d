#include "tuning/knobs/knob.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/units.h"
#include "tuning/machine/latency.h"
#include "tuning/machine/machine.h"
#include "tuning/ops/op_file.h"
#include "tuning/ops/ops.h"

#define CPUIDLE "/sys/devices/system/cpu/cpu%d/cpuidle"

/* "all", or the maximum exit latency of a state in ns. */
static bool read_limit(const struct setting *s, int64_t *ns)
{
	char why[200];

	*ns = INT64_MAX;
	if (s->value->kind != YNODE_SCALAR) {
		setting_must_be(s, s->value, s->key, "a time such as 10us, or all");
		return false;
	}
	if (!strcmp(s->value->scalar, "all"))
		return true;
	if (!unit_parse(UNIT_TIME_NS, s->value->scalar, ns, why, sizeof(why)))
		return true;
	setting_fault(s, s->value, "%s, or all", why);
	return false;
}

static void plan_state(struct planner *p, const struct setting *s, const char *folder, int64_t limit)
{
	char *latency = fs_path("%s/latency", folder), *path = fs_path("%s/disable", folder), cause[128];
	int64_t us = 0;
	int rc = sysroot_int(&p->m->root, latency, &us);

	if (rc)
		plan_missing(p->plan, s->key, latency, "the exit latency of this idle state cannot be read: %s",
			     err_cause(rc, cause, sizeof(cause)));
	else
		op_file_plan(p->plan, p->m, s->key, path, FORM_TEXT, us * 1000 > limit ? "1" : "0",
			     "this idle state cannot be switched off");
	free(latency);
	free(path);
}

void knob_idle_plan_states(struct planner *p, const struct setting *s, const struct knob *k)
{
	int64_t limit;
	int found = 0;

	(void)k;
	if (!read_limit(s, &limit))
		return;
	for (int cpu = cpulist_first(&p->topo.online); cpu >= 0; cpu = cpulist_next(&p->topo.online, cpu)) {
		char *folder = fs_path(CPUIDLE, cpu), **states;
		int n = sysroot_list(&p->m->root, folder, "state[0-9]*", &states);

		for (int i = 0; i < n; i++) {
			char *state = fs_path("%s/%s", folder, states[i]);

			plan_state(p, s, state, limit);
			free(state);
		}
		if (n >= 0)
			sysroot_names_free(states);
		found += n > 0 ? n : 0;
		free(folder);
	}
	if (!found)
		plan_missing(p->plan, s->key, "cpuidle", "there are no idle states here (no cpuidle driver)");
}

void knob_idle_plan_latency(struct planner *p, const struct setting *s, const struct knob *k)
{
	char before[32] = "?", after[32];
	long long now;
	int64_t us;

	if (s->value->kind != YNODE_SCALAR || unit_read(UNIT_ONE, s->value->scalar, &us) != UNIT_FINE || us < 0 ||
	    us >= LATENCY_NONE) {
		setting_must_be(s, s->value, s->key, "a number of microseconds from 0");
		return;
	}
	if (!sysroot_exists(&p->m->root, LATENCY_DEVICE)) {
		plan_missing(p->plan, k->key, LATENCY_DEVICE,
			     "this kernel has no idle states to forbid (CONFIG_CPU_IDLE)");
		return;
	}
	if (p->m->root.live && !latency_read(p->m, &now)) {
		snprintf(before, sizeof(before), "%lld us", now);
		if (now <= us)
			plan_warn(p->plan,
				  "%s is already held at %lld us: this request changes nothing; see 'kbtune "
				  "dma-latency show'",
				  LATENCY_DEVICE, now);
	}
	snprintf(after, sizeof(after), "%lld us, held", (long long)us);
	plan_step(p->plan, k->key, &op_latency, LATENCY_DEVICE, before, after,
		  json_pack("{s:I}", "us", (json_int_t)us));
}
