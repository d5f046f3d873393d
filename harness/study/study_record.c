#include "study/study_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/lock_holder.h"
#include "common/open_path.h"
#include "common/or_abort.h"
#include "common/random.h"
#include "common/trust.h"
#include "files/rundir/writer.h"
#include "study/study.h"

#define RECORD	  "study.json"
#define LOG	  "cells.jsonl"
#define FILE_MODE 0644 /* nobody else may write to it, whatever the umask */
#define LOG_MAX	  ((size_t)1 << 30)
#define CONTINUE  "continue it"
#define DEPTH_MAX 16 /* of folders that are no runs */

static char *file_of(const struct study *s, const char *name)
{
	return fs_path("%s/%s", s->path, name);
}

char *study_record_kind(const char *dir)
{
	char *real = realpath(dir, NULL), *file = fs_path("%s/" RECORD, real ? real : dir), *kind = NULL;
	json_t *j = json_read(file, NULL);

	if (j)
		kind = fs_path("%s", json_text(j, "kind"));
	json_decref(j);
	free(file);
	free(real);
	return kind;
}

/* --- the directory --- */

static int lock_study(struct study *s, struct err *e)
{
	char holder[LOCK_HOLDER_MAX];

	if (flock(s->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return err_set(e, -EBUSY, STATUS_FAILED, s->path, CONTINUE, "another kblat%s is running this study",
			       lock_holder(s->lock, holder, sizeof(holder)));
	return 0;
}

static int open_and_lock(struct study *s, struct err *e)
{
	s->lock = fs_open(s->path, O_DIRECTORY);
	return s->lock < 0 ? err_sys(e, s->lock, s->path, "open") : lock_study(s, e);
}

static int make_study_folder(struct study *s, struct err *e)
{
	const char *parent = s->parent;
	const bool is_named = s->request && s->request->out;
	int rc = (is_named ? 0 : trust_no_link(parent, "keep the study there", e)) ?: fs_mkdirs(parent, e);
	char *real = rc ? NULL : realpath(parent, NULL), utc[32], id[9];

	if (!rc && !real)
		rc = err_sys(e, -errno, parent, "resolve");
	if (!rc)
		rc = random_hex(id, sizeof(id) - 1) ? err_sys(e, -EIO, parent, "draw a name") : 0;
	if (!rc) {
		s->path = fs_path("%s/%s%s-%s-%s", real, s->name, s->kind->suffix, utc_now(utc, sizeof(utc), 1), id);
		rc = mkdir(s->path, 0755) ? err_sys(e, -errno, s->path, "create") : 0;
	}
	free(real);
	return rc ?: open_and_lock(s, e);
}

/* --- a directory of our own --- */

/* Folders and files only. Sealed runs are read without following links, and not written. */
static int check_no_links(const char *path, unsigned depth, struct err *e);

static int check_entry(const char *path, unsigned depth, struct err *e)
{
	char *run = fs_path("%s/run.json", path);
	const bool is_run = !fs_is_missing(run);
	struct stat st;
	int rc = fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) ? err_sys(e, -errno, path, CONTINUE) : 0;

	free(run);
	if (rc || S_ISREG(st.st_mode))
		return rc;
	if (S_ISDIR(st.st_mode))
		return is_run ? 0 : check_no_links(path, depth + 1, e);
	return err_set(
	    e, -ELOOP, STATUS_USAGE, path, CONTINUE,
	    "it is %s, where only folders and files of the study belong; put what it stands for in its place",
	    S_ISLNK(st.st_mode) ? "a symbolic link" : "a special file");
}

static int check_no_links(const char *path, unsigned depth, struct err *e)
{
	struct dirent **names = NULL;
	const int n = fs_scandir(path, &names, NULL, alphasort);
	int rc = n < 0 ? err_sys(e, n, path, "list") : depth > DEPTH_MAX ? err_sys(e, -ELOOP, path, "enter") : 0;

	for (int i = 0; i < n; i++) {
		char *below = fs_path("%s/%s", path, names[i]->d_name);

		if (!rc && strcmp(names[i]->d_name, ".") != 0 && strcmp(names[i]->d_name, "..") != 0)
			rc = check_entry(below, depth, e);
		free(below);
		free(names[i]);
	}
	free(names);
	return rc;
}

/* Its path without links; the caller frees it. */
static char *find_directory(const char *dir, struct err *e)
{
	char *path = realpath(dir, NULL);

	if (!path)
		err_set(e, -errno, STATUS_USAGE, dir, NULL, "it is not the directory of a study: %s",
			errno == ENOENT ? "there is no such directory" : strerrordesc_np(errno));
	return path;
}

/* `path`: as above, also where it may not be trusted. */
static int open_own(const char *dir, char **path, struct err *e)
{
	*path = find_directory(dir, e);
	if (!*path)
		return -ENOENT;
	return trust_own_folder(
	    dir, CONTINUE,
	    geteuid() ? "move it to a folder that only you can change, and name that"
		      : "move it to a folder that only root can change, such as /var/lib/kblat, and name that",
	    e);
}

int study_record_trust(const char *dir, struct err *e)
{
	char *path;
	const int fd = open_own(dir, &path, e);

	free(path);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* Whose it is, is decided before anything is read. */
static int enter_own(struct study *s, const char *dir, struct err *e)
{
	s->lock = open_own(dir, &s->path, e);
	if (s->lock < 0)
		return s->lock;
	/* What is no study is not searched. */
	return faccessat(s->lock, RECORD, F_OK, AT_SYMLINK_NOFOLLOW) ? 0 : check_no_links(s->path, 0, e);
}

/* --- reading --- */

/* A file of the directory; if that is not our own, it is only shown. A descriptor, or a negative errno. */
static int open_checked(const struct study *s, const char *name, const char *path, struct err *e)
{
	int fd =
	    s->lock < 0 ? fs_open(path, 0) : open_path(s->lock, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, LINKS_REFUSED);
	int rc = fd >= 0 && s->lock >= 0 ? trust_own_file(fd, path, CONTINUE, NULL, e) : 0;

	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/* What is not JSON is a line that could not be completed. */
static int log_take_line(struct study *s, const char *line, size_t size, const char *where, struct err *e)
{
	json_t *j = json_loadb(line, size, 0, NULL);
	int rc = json_is_object(j) ? study_cell_from_json(s, j, where, e) : 0;

	json_decref(j);
	return rc;
}

static int log_take_lines(struct study *s, const char *text, size_t size, const char *path, struct err *e)
{
	const char *end = text + size, *next;
	size_t number = 0;
	int rc = 0;

	for (const char *line = text; line < end && !rc; line = next + 1) {
		char *where = fs_path("%s:%zu", path, ++number);

		next = memchr(line, '\n', (size_t)(end - line)) ?: end;
		rc = log_take_line(s, line, (size_t)(next - line), where, e);
		free(where);
	}
	return rc;
}

static int log_read(struct study *s, struct err *e)
{
	char *path = file_of(s, LOG), *text = NULL;
	size_t size = 0;
	int fd = open_checked(s, LOG, path, e), rc;

	rc = fd == -ENOENT ? 0 : fs_read_opened(fd, path, LOG_MAX, &text, &size, e) ?: log_take_lines(s, text, size, path, e);
	if (!rc && s->count < s->planned)
		rc = err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "it has only %zu of the %zu cells of the study",
			     s->count, s->planned);
	free(text);
	free(path);
	return rc;
}

static int read_all(struct study *s, struct err *e)
{
	char *path = file_of(s, RECORD);
	int fd = open_checked(s, RECORD, path, e), rc = -EINVAL;
	json_t *j = NULL;

	if (fd == -ENOENT)
		err_set(e, rc, STATUS_USAGE, s->path, NULL, "it is not the directory of a study: it has no " RECORD);
	else if (fd >= 0 || !e || !e->status)
		j = json_read_opened(fd, path, e);
	if (j)
		rc = study_from_json(s, j, path, e);
	if (!rc && s->kind->cells)
		s->kind->cells(s);
	json_decref(j);
	free(path);
	return rc ?: log_read(s, e);
}

int study_record_open(struct study *s, const char *dir, struct err *e)
{
	s->path = find_directory(dir, e);
	return s->path ? read_all(s, e) : -ENOENT;
}

int study_record_open_own(struct study *s, const char *dir, struct err *e)
{
	return enter_own(s, dir, e) ?: read_all(s, e);
}

/* --- writing --- */

/* A new line ends one that was not completed. It is written in place: under a second name it could be anything. */
static int log_open(struct study *s, struct err *e)
{
	char *path = file_of(s, LOG);
	int fd = openat(s->lock, LOG, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, FILE_MODE), rc = 0;
	struct stat st;

	s->log = fd < 0 ? NULL : fdopen(fd, "a");
	if (!s->log || fstat(fd, &st))
		rc = err_sys(e, -errno, path, "open");
	else if (st.st_nlink > 1)
		rc = err_set(
		    e, -EMLINK, STATUS_USAGE, path, CONTINUE,
		    "it has another name, too (a hard link), whose content would change; put a copy in its place");
	else if (st.st_size)
		fputc('\n', s->log);
	free(path);
	return rc;
}

int study_record_resume(struct study *s, const char *dir, struct err *e)
{
	return enter_own(s, dir, e) ?: lock_study(s, e) ?: read_all(s, e) ?: log_open(s, e);
}

static int put_cell(struct study *s, size_t i)
{
	json_t *j = study_cell_to_json(s, i);
	char *text = json_shown(j, JSON_COMPACT);
	int rc = text ? 0 : -EINVAL;

	if (text && fprintf(s->log, "%s\n", text) < 0)
		rc = -errno;
	free(text);
	json_decref(j);
	return rc;
}

static int sync_log(struct study *s)
{
	return fflush(s->log) || fdatasync(fileno(s->log)) ? -errno : 0;
}

static int log_result(const struct study *s, int rc, struct err *e)
{
	char *path = file_of(s, LOG);

	rc = rc ? err_sys(e, rc, path, "write") : 0;
	free(path);
	return rc;
}

int study_record_cell(struct study *s, size_t i, struct err *e)
{
	return log_result(s, put_cell(s, i) ?: sync_log(s), e);
}

int study_record_save(struct study *s, struct err *e)
{
	char *path = file_of(s, RECORD);
	json_t *j = study_to_json(s);
	int rc = json_write_mode(path, j, FILE_MODE, e);

	json_decref(j);
	free(path);
	return rc;
}

int study_record_begin(struct study *s, struct err *e)
{
	int rc = make_study_folder(s, e) ?: study_record_save(s, e) ?: log_open(s, e);

	if (rc || s->kind->cells)
		return rc;
	for (size_t i = 0; i < s->count && !rc; i++)
		rc = put_cell(s, i);
	return log_result(s, rc ?: sync_log(s), e);
}
