#include "run/machine_state.h"

#include <stdlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/sysroot.h"
#include "state/before_after.h"
#include "state/state.h"

int machine_state_keep(const char *run_path, const char *host, const char *when, struct err *e)
{
	char *path = fs_path("%s/state/%s/%s", run_path, host, when);
	struct sysroot root;
	int rc = sysroot_open(&root, NULL, e);

	if (!rc) {
		rc = fs_mkdirs(path, e);
		if (!rc)
			rc = state_capture(&root, path, NULL, e);
		sysroot_close(&root);
	}
	free(path);
	return rc;
}

int machine_state_keep_changes(const char *run_path, const char *host, json_t *environments, struct err *e)
{
	char *before = fs_path("%s/state/%s/before", run_path, host);
	char *after = fs_path("%s/state/%s/after", run_path, host);
	char *path = fs_path("%s/state/%s/changes.json", run_path, host);
	json_t *changes = before_after_changes(before, after, e);
	int rc = changes ? 0 : -1;

	if (changes) {
		json_object_set(changes, "environments", environments);
		rc = json_write(path, changes, e);
	}
	json_decref(changes);
	free(before);
	free(after);
	free(path);
	return rc;
}
