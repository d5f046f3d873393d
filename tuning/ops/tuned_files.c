#include "tuning/ops/tuned_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tuned.h"
#include "tuning/ops/tuned_effects.h"
#include "tuning/steps/step.h"

#define ACTIVE "/etc/tuned/active_profile"
#define FOLDER "/etc/tuned" /* of tuned before 2.23 */

/* NULL if it cannot be read, or is not text. */
static json_t *record_file(const struct machine *m, const char *path)
{
	char *text = NULL;
	int rc = machine_read(m, path, &text);
	json_t *one = rc == -ENOENT ? json_pack("{s:s, s:b}", "path", path, "absent", true)
		      : rc	    ? NULL
				    : json_pack("{s:s, s:s}", "path", path, "raw", text);

	free(text);
	return one;
}

/* tuned records its active profile, even in one-shot mode. */
static json_t *read_notes(const struct machine *m)
{
	static const char *const files[] = {ACTIVE, "/etc/tuned/profile_mode", "/etc/tuned/post_loaded_profile"};
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		json_t *one = record_file(m, files[i]);

		if (one)
			json_array_append_new(list, one);
	}
	return list;
}

static void plan_others(const struct machine *m, struct step *s, const json_t *resolved)
{
	json_t *paths = tuned_effects_files(m, resolved), *path;
	size_t i;

	json_array_foreach (paths, i, path) {
		json_t *one = record_file(m, json_string_value(path));

		if (one)
			json_object_set_new(one, "of_others", json_true());
		if (one)
			json_array_append_new(json_object_get(s->data, "files"), one);
		else
			step_cannot_undo(s, true, json_string_value(path),
					 "it cannot be recorded: only tuned can undo its changes");
	}
	json_decref(paths);
}

/* The last folder of profiles wins over the others, and belongs to the administrator. */
static const char *profiles_folder(const json_t *resolved)
{
	const json_t *dirs = json_object_get(resolved, "dirs");
	const char *last = json_string_value(json_array_get(dirs, json_array_size(dirs) - 1));

	return last ? last : FOLDER;
}

void tuned_files_plan(const struct machine *m, struct step *s, const char *name, const char *own,
		      const json_t *resolved)
{
	char *folder = fs_path("%s/%s", profiles_folder(resolved), name), *text;

	json_object_set_new(s->data, "files", read_notes(m));
	plan_others(m, s, resolved);
	if (own) {
		text = fs_path("%s%s", TUNED_OURS, own);
		json_object_set_new(s->data, "install", json_string(text));
		json_object_set_new(s->data, "folder", json_string(folder));
		free(text);
	}
	free(folder);
}

static char *conf_path(const struct step *s)
{
	return fs_path("%s/tuned.conf", step_text(s, "folder"));
}

/* A forgotten profile: its text identifies it as one of kbtune's. */
static int replace_forgotten(struct machine *m, const char *conf)
{
	return tuned_is_ours(m, conf) ? machine_unlink(m, conf) : -EEXIST;
}

int tuned_files_install(struct machine *m, const struct step *s, struct err *e)
{
	const char *text = step_text(s, "install"), *folder = step_text(s, "folder");
	char *conf;
	int rc;

	if (!*text)
		return 0;
	conf = conf_path(s);
	rc = machine_mkdir(m, folder);
	if (rc == -EEXIST)
		rc = replace_forgotten(m, conf);
	if (!rc)
		rc = machine_create(m, conf, text, strlen(text), 0644);
	free(conf);
	return rc ? err_sys(e, rc, folder, "install the tuned profile") : 0;
}

/* Does it contain what kbtune wrote, or the beginning of it if kbtune was killed while writing? 1,
 * 0, or a negative errno. */
static int is_of_step(struct machine *m, const struct step *s, const char *conf)
{
	char *text;
	int rc = machine_read(m, conf, &text);

	if (rc)
		return rc;
	rc = !strncmp(step_text(s, "install"), text, strlen(text));
	free(text);
	return rc;
}

int tuned_files_uninstall(struct machine *m, const struct step *s, struct err *e)
{
	const char *folder = step_text(s, "folder");
	char *conf;
	int rc;

	if (!*folder)
		return 0;
	conf = conf_path(s);
	rc = is_of_step(m, s, conf);
	if (rc > 0)
		rc = machine_unlink(m, conf);
	if (!rc || rc == -ENOENT)
		rc = machine_rmdir(m, folder);
	free(conf);
	/* There are other files. */
	if (rc == -ENOTEMPTY || rc == -ENOENT)
		rc = 0;
	return rc ? err_sys(e, rc, folder, "remove the tuned profile") : 0;
}

bool tuned_files_name(const struct machine *m, const char *profile)
{
	char line[256];

	return !sysroot_line(&m->root, ACTIVE, line, sizeof(line)) && !strcmp(line, profile);
}

/* Unlike kernel files, these must be truncated: at the end, so that a boot loader's file is never empty. tuned writes
 * through symbolic links, and so does this. */
static int rewrite(struct machine *m, const char *path, const char *raw)
{
	char *text;
	int rc = machine_read(m, path, &text), fd;
	bool same;

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	same = !strcmp(text, raw);
	free(text);
	if (same)
		return 0;
	fd = machine_openat(m, path, O_WRONLY);
	if (fd < 0)
		return fd;
	rc = fs_write_fd(fd, raw, strlen(raw));
	if (!rc && (ftruncate(fd, (off_t)strlen(raw)) || fsync(fd)))
		rc = -errno;
	close(fd);
	machine_changed(m);
	return rc;
}

static bool is_link(const struct machine *m, const char *path)
{
	char target[PATH_MAX];

	return !sysroot_readlink(&m->root, path, target, sizeof(target));
}

/* A dangling symbolic link belongs to the administrator, and is kept; tuned treats an empty file
 * like a missing one. */
static int remove_note(struct machine *m, const char *path)
{
	int rc = is_link(m, path) ? rewrite(m, path, "") : machine_unlink(m, path);

	return rc == -ENOENT ? 0 : rc;
}

static bool is_of_others(const json_t *note)
{
	return json_is_true(json_object_get(note, "of_others"));
}

/* "" for a file that does not exist. NULL if it cannot be read. The caller frees. */
static char *content(struct machine *m, const json_t *note)
{
	char *text = NULL;
	int rc = machine_read(m, json_string_value(json_object_get(note, "path")), &text);

	return rc == -ENOENT ? fs_path("%s", "") : rc ? NULL : text;
}

void tuned_files_settle(struct machine *m, struct step *s)
{
	json_t *one;
	size_t i;

	json_array_foreach (json_object_get(s->data, "files"), i, one) {
		char *now = is_of_others(one) ? content(m, one) : NULL;

		if (now)
			json_object_set_new(one, "made", json_string(now));
		free(now);
	}
}

void tuned_files_look(struct machine *m, const struct step *s, json_t *changed)
{
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(s->data, "files"), i, one) {
		const char *made = json_string_value(json_object_get(one, "made")), *raw;
		char *now = made ? content(m, one) : NULL;

		raw = json_string_value(json_object_get(one, "raw"));
		if (now && strcmp(now, made) && strcmp(now, raw ? raw : ""))
			json_object_set_new(changed, json_string_value(json_object_get(one, "path")), json_true());
		free(now);
	}
}

static int put_back(struct machine *m, const json_t *note)
{
	const char *path = json_string_value(json_object_get(note, "path"));
	const char *raw = json_string_value(json_object_get(note, "raw"));

	if (path && raw)
		return rewrite(m, path, raw);
	return path && json_is_true(json_object_get(note, "absent")) ? remove_note(m, path) : 0;
}

int tuned_files_put_back(struct machine *m, const struct step *s, bool notes, const json_t *changed, struct err *e)
{
	const json_t *files = json_object_get(s->data, "files"), *one;
	int rc = 0;
	size_t i;

	json_array_foreach (files, i, one) {
		const char *path = json_string_value(json_object_get(one, "path"));
		int failed = 0;

		if (path && is_of_others(one) && json_object_get(changed, path))
			fprintf(stderr, "kbtune: %s has been changed by somebody else meanwhile: it stays so\n", path);
		else if (is_of_others(one) || notes)
			failed = put_back(m, one);
		if (failed)
			rc = err_sys(e, failed, path, "put back");
	}
	return rc;
}
