/*
 * For version 1: moves the programs of the root cpuset to another one, so that only programs placed
 * explicitly run on a shield. Their children start in that cpuset, too. Restoring moves all of them
 * back. data: as op_cpuset's, where "name" is the destination.
 */
#include "tuning/ops/op_drain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "tuning/machine/cgroups.h"
#include "tuning/machine/cpuset_library.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tasks.h"
#include "tuning/ops/op_cpuset.h"
#include "tuning/steps/plan.h"

#define ROUNDS 20 /* new processes may be created meanwhile */

void op_drain_plan(struct plan *plan, const char *knob, const struct cgroups *cg, const char *name)
{
	char *path = fs_path("%s/tasks", cg->root), *after = fs_path("programs in %s", name);

	plan_step(plan, knob, &op_drain, path, "programs in the root cpuset", after,
		  op_cpuset_data(cg, name, "", "", ""));
	free(path);
	free(after);
}

static int drain_probe(struct machine *m, const struct step *s, char *why, size_t size)
{
	struct cgroups cg = op_cpuset_hierarchy(m, s);
	char *path = cgroups_file(&cg, "", "tasks");
	int rc = machine_foresee_write(m, path, why, size);

	free(path);
	return rc;
}

static int move(struct machine *m, const struct cgroups *cg, const char *name, int tid)
{
	char *path, text[32];
	int rc;

	if (cg->lib) {
		path = fs_path("/%s", name);
		rc = cpuset_library_move(tid, path);
		if (!rc)
			machine_changed(m);
	} else {
		path = cgroups_file(cg, name, "tasks");
		rc = machine_write(m, path, text, (size_t)snprintf(text, sizeof(text), "%d", tid));
	}
	free(path);
	return rc;
}

/* Move programs from one cpuset to another; kernel threads stay (op_affinity changes their
 * affinity). Returns the number of programs found, or a negative errno. */
static int move_programs(struct machine *m, const struct cgroups *cg, const char *from, const char *to, bool all)
{
	char *path = cgroups_file(cg, from, "tasks"), *text, *rest, *line;
	int rc = sysroot_read(&m->root, path, (size_t)4 << 20, &text, NULL), count = 0;
	struct thread t;

	free(path);
	if (rc)
		return rc;
	for (rest = text; !rc && (line = strsep(&rest, "\n"));) {
		int tid = atoi(line);

		if (tid <= 0 || tasks_read(m, tid, tid, &t) || (t.is_kernel && !all))
			continue;
		rc = move(m, cg, to, tid);
		if (rc == -ESRCH)
			rc = 0;
		else
			count++;
	}
	free(text);
	return rc ? rc : count;
}

static int drain_apply(struct machine *m, struct step *s, struct err *e)
{
	struct cgroups cg = op_cpuset_hierarchy(m, s);
	int n = 1;

	if (!m->root.live) {
		step_note(s, "simulated: the programs of a recorded machine stay where they are");
		return 0;
	}
	for (int i = 0; i < ROUNDS && n > 0; i++)
		n = move_programs(m, &cg, "", step_text(s, "name"), false);
	if (n < 0)
		return err_sys(e, n, s->path, "move programs");
	return n ? err_set(e, -EBUSY, STATUS_FAILED, s->path, "empty the root cpuset", "%d programs are still there", n)
		 : 0;
}

static enum check drain_check(struct machine *m, const struct step *s, char *now, size_t size)
{
	struct cgroups cg = op_cpuset_hierarchy(m, s);
	char *path = cgroups_file(&cg, "", "tasks"), *text, *rest, *line;
	struct thread t;
	int count = 0;

	if (m->root.live && !sysroot_read(&m->root, path, (size_t)4 << 20, &text, NULL)) {
		for (rest = text; (line = strsep(&rest, "\n"));)
			count += *line && !tasks_read(m, atoi(line), atoi(line), &t) && !t.is_kernel;
		free(text);
	}
	free(path);
	snprintf(now, size, "%d programs are in the root cpuset", count);
	return count ? CHECK_DRIFT : CHECK_SAME;
}

static int drain_undo(struct machine *m, const struct step *s, struct err *e)
{
	struct cgroups cg = op_cpuset_hierarchy(m, s);
	int n = 1;

	if (!m->root.live)
		return 0;
	for (int i = 0; i < ROUNDS && n > 0; i++)
		n = move_programs(m, &cg, step_text(s, "name"), "", true);
	return n < 0 && n != -ENOENT ? err_sys(e, n, s->path, "move programs back") : 0;
}

const struct op op_drain = {
    .name = "drain",
    .right = "CAP_SYS_ADMIN",
    .probe = drain_probe,
    .apply = drain_apply,
    .check = drain_check,
    .undo = drain_undo,
};
