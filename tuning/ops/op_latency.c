/*
 * Global PM QoS: the kernel keeps a request as long as the descriptor that made it is open, and
 * applies the lowest of all. So a process holds it. data: "us".
 */
#include "tuning/ops/ops.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "tuning/machine/holder.h"
#include "tuning/machine/latency.h"
#include "tuning/machine/machine.h"

#define NAME "latency"

static int latency_probe(struct machine *m, const struct step *s, char *why, size_t size)
{
	return m->root.live ? machine_foresee_write(m, s->path, why, size) : 0;
}

static void hold_open(int ready, void *context)
{
	const struct step *s = context;
	int fd = latency_open((int)step_number(s, "us"));
	char cause[128];

	if (fd < 0) {
		err_cause(fd, cause, sizeof(cause));
		if (write(ready, cause, strlen(cause)) < 0)
			_exit(1);
		_exit(1);
	}
	if (write(ready, "", 1) != 1)
		_exit(1);
	close(ready);
	for (;;)
		pause();
}

static enum check latency_check(struct machine *m, const struct step *s, char *now, size_t size)
{
	long long us;

	if (!m->root.live)
		return CHECK_SAME;
	if (!holder_pid(m, NAME)) {
		snprintf(now, size, "the process that held it has ended");
		return CHECK_DRIFT;
	}
	if (latency_read(m, &us))
		return CHECK_SAME;
	snprintf(now, size, "%lld us", us);
	return us <= step_number(s, "us") ? CHECK_SAME : CHECK_DRIFT;
}

static int latency_apply(struct machine *m, struct step *s, struct err *e)
{
	char now[128];
	int rc;

	if (!m->root.live) {
		step_note(s, "simulated: nothing holds it on a recorded machine");
		return 0;
	}
	rc = holder_start(m, NAME, hold_open, s, 5000, e);
	if (!rc && latency_check(m, s, now, sizeof(now)) != CHECK_SAME)
		rc = err_set(e, -EIO, STATUS_FAILED, s->path, "hold", "requested %lld us, found %s",
			     step_number(s, "us"), now);
	return rc;
}

static int latency_undo(struct machine *m, const struct step *s, struct err *e)
{
	(void)s;
	return m->root.live ? holder_stop(m, NAME, 2000, e) : 0;
}

const struct op op_latency = {
    .name = "latency",
    .right = "CAP_DAC_OVERRIDE",
    .probe = latency_probe,
    .apply = latency_apply,
    .check = latency_check,
    .undo = latency_undo,
};
