#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "files/rundir/manifest.h"
#include "files/rundir/writer.h"

char *utc_of(int64_t seconds, char *buf, size_t size, int compact)
{
	const time_t time = (time_t)seconds;
	struct tm tm;

	gmtime_r(&time, &tm);
	strftime(buf, size, compact ? "%Y%m%dT%H%M%SZ" : "%Y-%m-%dT%H:%M:%SZ", &tm);
	return buf;
}

char *utc_now(char *buf, size_t size, int compact)
{
	return utc_of(time(NULL), buf, size, compact);
}

int64_t utc_seconds(const char *utc)
{
	struct tm tm = {0};

	return utc && strptime(utc, "%Y-%m-%dT%H:%M:%S", &tm) ? timegm(&tm) : -1;
}

char *rundir_began(const struct run_record *r)
{
	const bool is_imported = r->t0.realtime_ns > 0 && !r->t0.monotonic_ns;
	char utc[32];

	return fs_path("%s",
		       is_imported ? utc_of(r->t0.realtime_ns / 1000000000, utc, sizeof(utc), 0) : r->started_utc);
}

static int write_text(const char *dir, const char *name, const char *text, size_t length, struct err *e)
{
	char *path = fs_path("%s/%s", dir, name);
	int rc = fs_write(path, text, length, e);

	free(path);
	return rc;
}

int rundir_write(const struct rundir *r, const char *name, const json_t *value, struct err *e)
{
	char *path = fs_path("%s/%s", r->path, name);
	int rc = json_write(path, value, e);

	free(path);
	return rc;
}

static int write_readme(const struct rundir *r, const struct rundir_head *head, struct err *e)
{
	char *text = fs_path(
	    "This is the directory of one kblat run: %s%s%s%s.\n\n"
	    "  spec.yaml        %s; resolved.json: every point with every setting\n"
	    "  run.json         time, hosts and clock of the run; whether the numbers are valid, and why not\n"
	    "  summary.json     the numbers (also summary.csv); points/<nnnn>/rep-<nn>/*.npy: every raw "
	    "stamp, nanoseconds\n"
	    "                   since t0 (run.json) as 64-bit integers; the smallest integer means \"never happened\"\n"
	    "  state/           the state of the machine before and after\n"
	    "  derived/         figures and report.html; can be deleted and generated again with `kblat report`\n\n"
	    "To verify it:      kblat verify .          (or: sha256sum -c manifest-sha256.txt)\n"
	    "To repeat it:      %s%s\n"
	    "To read a column:  python3 -c \"import numpy; print(numpy.load('points/0000/rep-00/t_recv.npy', "
	    "mmap_mode='r'))\"\n",
	    head->name, *head->title ? " (" : "", head->title, *head->title ? ")" : "",
	    head->original ? "the spec that observatory.json was translated to" : "the spec, byte for byte",
	    head->imported ? "measure again with the program whose samples were imported" : "kblat run spec.yaml",
	    head->quick ? " --quick" : "");
	int rc = write_text(r->path, "README.txt", text, strlen(text), e);

	free(text);
	return rc;
}

static int open_log(struct rundir *r, struct err *e)
{
	char *path = fs_path("%s/log.jsonl", r->path);

	r->log = fopen(path, "wxe");

	int rc = r->log ? 0 : err_sys(e, -errno, path, "create");

	free(path);
	return rc;
}

static int name_it(struct rundir *r, const char *parent, const char *name, struct err *e)
{
	char utc[32], *real;
	unsigned id = 0;
	int rc = fs_mkdirs(parent, e);

	if (rc)
		return rc;
	real = realpath(parent, NULL);
	if (!real)
		return err_sys(e, -errno, parent, "resolve");
	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		id = (unsigned)getpid();
	r->final = fs_path("%s/%s-%s-%08x", real, name, utc_now(utc, sizeof(utc), 1), id);
	r->path = fs_path("%s.partial", r->final);
	free(real);
	return mkdir(r->path, 0777) ? err_sys(e, -errno, r->path, "create") : 0;
}

int rundir_check_name(const char *what, const char *name, struct err *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	if (*name && *name != '.' && *name != '-' && !name[strspn(name, allowed)] && strlen(name) < RUNDIR_NAME_MAX)
		return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, what, NULL,
		       "'%.60s' is not a name of letters, digits, '.', '_' and '-'", name);
}

int rundir_create(struct rundir *r, const char *parent, const struct rundir_head *head, json_t *resolved,
		  const struct run_record *record, struct err *e)
{
	memset(r, 0, sizeof(*r));
	r->record = *record;
	r->resolved = resolved;

	int rc = name_it(r, parent, head->name, e);

	if (!rc)
		rc = write_text(r->path, "spec.yaml", head->text, head->length, e);
	if (!rc && head->original)
		rc = write_text(r->path, "observatory.json", head->original, head->original_length, e);
	if (!rc)
		rc = rundir_write(r, "resolved.json", resolved, e);
	if (!rc)
		rc = write_readme(r, head, e);
	if (!rc)
		rc = open_log(r, e);
	return rc ? rc : rundir_update(r, e);
}

int rundir_update(struct rundir *r, struct err *e)
{
	json_t *record = run_record_to_json(&r->record);
	int rc = rundir_write(r, "run.json", record, e);

	json_decref(record);
	return rc;
}

int rundir_write_point(const struct rundir *r, const char *outcome, const char *why, struct err *e)
{
	const json_t *of = json_array_get(json_object_get(r->resolved, "points"), 0);
	json_t *point = json_pack("{s:i, s:i, s:s, s:s, s:{}, s:{}}", "schema", 1, "id", 0, "outcome", outcome, "why",
				  why, "granted", "placement");
	char *folder = fs_path("%s/points/0000", r->path);
	int rc = fs_mkdirs(folder, e)
		     ?: rundir_write(r, "points/0000/point.json", point, e)
		     ?: rundir_write(r, "points/0000/params.json", json_object_get(of, "params"), e);

	json_decref(point);
	free(folder);
	return rc;
}

void rundir_log(struct rundir *r, const char *event, json_t *more)
{
	char utc[32];
	json_t *line = json_pack("{s:s, s:s}", "time", utc_now(utc, sizeof(utc), 0), "event", event);

	if (more)
		json_object_update(line, more);
	json_decref(more);
	if (r->log) {
		char *text = json_shown(line, JSON_COMPACT);

		fputs(text ? text : "{}", r->log);
		free(text);
		fputc('\n', r->log);
		fflush(r->log);
	}
	json_decref(line);
}

/* Sync everything that was written, so that what has its final name is on disk. A single call does
 * that, because a run has thousands of small files, and an fsync for each would take seconds. Since
 * Linux 5.8 this reports write errors. */
static int sync_tree(const char *dir, struct err *e)
{
	int rc = 0, fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, -errno, dir, "open the directory");
	if (syncfs(fd))
		rc = err_sys(e, -errno, dir, "write to the disk");
	close(fd);
	return rc;
}

static int sync_parent(const char *path, struct err *e)
{
	char *parent = or_abort(strdup(path));
	char *slash = strrchr(parent, '/');

	*slash = '\0';

	int rc = fs_sync(*parent ? parent : "/", e);

	free(parent);
	return rc;
}

int rundir_finish(struct rundir *r, struct err *e)
{
	int rc = 0;

	if (r->log && fclose(r->log))
		rc = err_sys(e, -errno, "log.jsonl", "write");
	r->log = NULL;
	if (!rc)
		rc = manifest_write(r->path, e);
	if (!rc)
		rc = sync_tree(r->path, e);
	if (!rc && rename(r->path, r->final))
		rc = err_sys(e, -errno, r->path, "rename");
	if (!rc)
		rc = sync_parent(r->final, e);
	if (rc)
		return rc;
	free(r->path);
	r->path = or_abort(strdup(r->final));
	return 0;
}

void rundir_close(struct rundir *r)
{
	if (r->log)
		fclose(r->log);
	free(r->path);
	free(r->final);
	run_record_free(&r->record);
	json_decref(r->resolved);
	memset(r, 0, sizeof(*r));
}
