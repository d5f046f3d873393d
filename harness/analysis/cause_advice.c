#include "analysis/cause_advice.h"

#include <string.h>

/* The first row that matches applies: its class is that of the cause, and the cause's name begins
 * with its name ("": any). */
static const struct {
	enum cause_class class;
	const char *name, *advice;
} advice[] = {
    {CAUSE_INTERRUPT, "local timer", "boot parameter nohz_full for this CPU"},
    {CAUSE_INTERRUPT, "", "knob irqs: interrupts on other CPUs"},
    {CAUSE_IPI, "", "knob shields: fewer neighbours that share memory or wake threads here"},
    {CAUSE_SOFTIRQ, "RCU", "boot parameter rcu_nocbs for this CPU"},
    {CAUSE_SOFTIRQ, "NET_", "knob irqs: the device's interrupts on other CPUs"},
    {CAUSE_SOFTIRQ, "BLOCK", "knob irqs: the device's interrupts on other CPUs"},
    {CAUSE_SOFTIRQ, "", "boot parameter nohz_full for this CPU; knob timer_migration"},
    {CAUSE_NMI, "", "knob nmi_watchdog: off"},
    {CAUSE_KERNEL_THREAD, "kworker", "knob workqueues: unbound work on other CPUs; knob stat_interval"},
    {CAUSE_KERNEL_THREAD, "rcu", "boot parameter rcu_nocbs for this CPU"},
    {CAUSE_KERNEL_THREAD, "", "knob tasks: away"},
    {CAUSE_TASK, "", "knobs shields and tasks: a cpuset that excludes other tasks"},
    {CAUSE_IDLE_EXIT, "", "knob dma_latency: 0; or poll: busy"},
    {CAUSE_WAKE_UP, "", "knob dma_latency: 0; or poll: busy"},
    {CAUSE_FAULT, "", "setting touch: yes"},
    {CAUSE_FREQUENCY, "", "knob governor: performance"},
    {CAUSE_BELOW, "", "firmware settings (SMIs) or the hypervisor; nothing that this system can change"},
};

const char *cause_advice(const struct cause *c)
{
	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++)
		if (advice[i].class == c->class && !strncmp(c->name, advice[i].name, strlen(advice[i].name)))
			return advice[i].advice;
	return "";
}
