#include "run/machine_state.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/sysroot.h"
#include "state/before_after.h"
#include "state/state.h"

const char *machine_state_sysroot(void)
{
	const char *asked = getenv("KBLAT_SYSROOT");

	return asked && *asked ? asked : NULL;
}

int machine_state_keep(const char *run_path, const char *host, const char *when, bool mask, struct err *e)
{
	char *path = fs_path("%s/state/%s/%s", run_path, host, when);
	struct sysroot root;
	int rc = sysroot_open(&root, machine_state_sysroot(), e);

	if (!rc) {
		rc = fs_mkdirs(path, e);
		if (!rc)
			rc = state_capture(&root, path, &(struct state_options){.mask = mask}, e);
		sysroot_close(&root);
	}
	free(path);
	return rc;
}

/* Everybody may read the changes if everybody may read both captures. */
static mode_t changes_mode(const char *before, const char *after)
{
	const char *const dirs[] = {before, after};
	mode_t mode = 0666;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		char *path = fs_path("%s/state.json", dirs[i]);
		struct stat st;

		if (!stat(path, &st) && !(st.st_mode & S_IROTH))
			mode = 0600;
		free(path);
	}
	return mode;
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
		rc = json_write_mode(path, changes, changes_mode(before, after), e);
	}
	json_decref(changes);
	free(before);
	free(after);
	free(path);
	return rc;
}
