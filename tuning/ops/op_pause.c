/*
 * Pauses a daemon: SIGSTOP now, SIGCONT afterwards, so that it continues exactly as before, whoever
 * started it. One that somebody else has stopped is left stopped. data: "pid", "start".
 */
#include "tuning/ops/ops.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/process.h"
#include "tuning/machine/tasks.h"

static struct process daemon_of(const struct step *s)
{
	return (struct process){(pid_t)step_number(s, "pid"), (unsigned long long)step_number(s, "start")};
}

/* The state of its first thread ('T': stopped); '\0' if it has ended. */
static char state_of(const struct machine *m, const struct step *s)
{
	const struct process p = daemon_of(s);
	struct thread t;

	return tasks_read(m, (int)p.pid, (int)p.pid, &t) || t.start != p.start ? '\0' : t.state;
}

/* It is not an error if the daemon has ended. */
static int send_it(struct machine *m, const struct step *s, int number)
{
	const struct process p = daemon_of(s);
	int rc = m->root.live ? process_signal(&p, number) : 0;

	if (rc)
		return rc == -ESRCH ? 0 : rc;
	if (number && m->root.live)
		machine_changed(m);
	return 0;
}

static int pause_probe(struct machine *m, const struct step *s, char *why, size_t size)
{
	int rc = send_it(m, s, 0);

	if (rc)
		err_cause(rc, why, size);
	return rc;
}

static int pause_apply(struct machine *m, struct step *s, struct err *e)
{
	int rc;

	if (m->root.live && state_of(m, s) == 'T') {
		s->not_begun = true; /* stopped by somebody since it was planned */
		return 0;
	}
	rc = send_it(m, s, SIGSTOP);
	return rc ? err_sys(e, rc, s->path, "pause") : 0;
}

static enum check pause_check(struct machine *m, const struct step *s, char *now, size_t size)
{
	char state;

	if (!m->root.live)
		return CHECK_SAME;
	state = state_of(m, s);
	if (state == 'T')
		return CHECK_SAME;
	if (!state)
		snprintf(now, size, "it has ended%s", tasks_find(m, "irqbalance") ? ", and there is another" : "");
	else
		snprintf(now, size, "it is running again");
	return CHECK_DRIFT;
}

static int pause_undo(struct machine *m, const struct step *s, struct err *e)
{
	int rc = send_it(m, s, SIGCONT);

	return rc ? err_sys(e, rc, s->path, "continue") : 0;
}

const struct op op_pause = {
    .name = "pause",
    .right = "CAP_KILL",
    .creates = true,
    .probe = pause_probe,
    .apply = pause_apply,
    .check = pause_check,
    .undo = pause_undo,
};
