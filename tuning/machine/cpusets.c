#include "tuning/machine/cpusets.h"

#include <cpuset.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "tuning/machine/cgroups.h"
#include "tuning/machine/machine.h"

static int join_by_file(struct machine *m, const struct cgroups *cg, const char *name)
{
	char *path = cgroups_file(cg, name, cg->version == 1 ? "tasks" : "cgroup.procs"), text[32];
	int rc = machine_write(m, path, text, (size_t)snprintf(text, sizeof(text), "%d", (int)getpid()));

	free(path);
	return rc;
}

static int join_by_lib(const char *name)
{
	char *path = fs_path("/%s", name);
	int rc = cpuset_move(0, path) ? -errno : 0;

	free(path);
	return rc;
}

int cpusets_join(struct machine *m, const char *name, struct err *e)
{
	struct cgroups cg;
	char *folder;
	int rc;

	cgroups_find(m, &cg);
	if (!cg.version)
		return err_set(e, -ENODEV, STATUS_IMPOSSIBLE, name, "enter the cpuset",
			       "no mounted control groups have the cpuset controller");
	folder = fs_path("%s/%s", cg.root, name);
	if (!*name || strstr(name, "..") || !sysroot_exists(&m->root, folder))
		rc = err_set(e, -ENOENT, STATUS_USAGE, name, "enter the cpuset",
			     "there is none; see 'kbtune cpuset list'");
	else {
		rc = cg.lib ? join_by_lib(name) : join_by_file(m, &cg, name);
		if (rc) {
			err_sys(e, rc, folder, "enter the cpuset");
			if (e && (rc == -EACCES || rc == -EPERM))
				e->status = STATUS_IMPOSSIBLE;
		}
	}
	free(folder);
	return rc;
}
