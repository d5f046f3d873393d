#include "tuning/knobs/knob_latency.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/units.h"
#include "tuning/machine/latency.h"
#include "tuning/machine/machine.h"
#include "tuning/ops/op_latency.h"

void knob_latency_plan(struct planner *p, const struct setting *s, const struct knob *k)
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
