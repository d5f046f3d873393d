#include "tuning/knobs/knob_irqbalance.h"

#include <stdio.h>

#include "tuning/machine/tasks.h"
#include "tuning/ops/op_pause.h"

void knob_irqbalance_plan(struct planner *p, const struct setting *s, const struct knob *k)
{
	bool pause = setting_is_word(s->value, "pause");
	int pid = tasks_find(p->m, "irqbalance");
	char path[64];
	struct thread t;

	if (!pause && !setting_is_word(s->value, "leave"))
		setting_must_be(s, s->value, s->key, "pause or leave");
	if (!pause || !pid || tasks_read(p->m, pid, pid, &t))
		return;
	snprintf(path, sizeof(path), "irqbalance (process %d)", pid);
	plan_step(p->plan, k->key, &op_pause, path, "running", "paused",
		  json_pack("{s:i, s:I}", "pid", pid, "start", (json_int_t)t.start));
}
