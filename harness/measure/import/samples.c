#include "measure/import/samples.h"

#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/npy.h"
#include "files/rundir/layout.h"

static int samples_fail(struct err *e)
{
	return err_sys(e, errno ? -errno : -EIO, SAMPLES_COLUMN ".npy", "write");
}

static int samples_header(struct samples *s, struct err *e)
{
	char header[NPY_HEADER];

	npy_header(header, (size_t)s->entries);
	return fwrite(header, sizeof(header), 1, s->out) == 1 ? 0 : samples_fail(e);
}

/* What kblat would count itself is not known of another program, except for the number of messages. */
static int samples_counters(const struct samples *s, const char *dir, struct err *e)
{
	json_t *counters =
	    json_pack("{s:i, s:{s:I}, s:{}}", "schema", 1, "source", "posted", (json_int_t)s->entries, "sink");
	char *path = fs_path("%s/counters.json", dir);
	int rc = json_write(path, counters, e);

	free(path);
	json_decref(counters);
	return rc;
}

static int end_rep(struct samples *s, struct err *e)
{
	char *dir = layout_rep_dir(s->run_path, 0, s->reps - 1, "");
	int rc = 0;

	if (!s->entries)
		rc = err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "a repetition has no samples");
	if (!rc && fseek(s->out, 0, SEEK_SET))
		rc = samples_fail(e);
	if (!rc)
		rc = samples_header(s, e);
	if (fclose(s->out) && !rc)
		rc = samples_fail(e);
	s->out = NULL;
	if (!rc)
		rc = samples_counters(s, dir, e);
	free(dir);
	return rc;
}

int samples_begin(struct samples *s, struct err *e)
{
	int rc = s->out ? end_rep(s, e) : 0;
	char *dir, *path;

	if (!rc && s->reps == SAMPLES_REPS)
		rc = err_set(e, -E2BIG, STATUS_USAGE, NULL, NULL, "there are more than %d repetitions", SAMPLES_REPS);
	if (rc)
		return rc;
	dir = layout_rep_dir(s->run_path, 0, s->reps, "");
	path = fs_path("%s/" SAMPLES_COLUMN ".npy", dir);
	rc = fs_mkdirs(dir, e);
	if (!rc) {
		s->out = fopen(path, "wxe");
		rc = s->out ? 0 : err_sys(e, -errno, path, "create");
	}
	if (!rc) {
		s->reps++;
		s->entries = 0;
		rc = samples_header(s, e);
	}
	free(path);
	free(dir);
	return rc;
}

int samples_add(struct samples *s, int64_t ns, uint64_t count, struct err *e)
{
	for (uint64_t i = 0; i < count; i++)
		if (fwrite(&ns, sizeof(ns), 1, s->out) != 1)
			return samples_fail(e);
	s->entries += count;
	return 0;
}

int samples_end(struct samples *s, struct err *e)
{
	if (!s->out)
		return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "it has no samples");
	return end_rep(s, e);
}

void samples_close(struct samples *s)
{
	if (s->out)
		fclose(s->out);
	s->out = NULL;
}
