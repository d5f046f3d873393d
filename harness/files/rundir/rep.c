#include "files/rundir/rep.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/schema.h"

#define PREFIX "rep-"

static int is_rep(const struct dirent *d)
{
	const char *digits = d->d_name + strlen(PREFIX);

	return !strncmp(d->d_name, PREFIX, strlen(PREFIX)) && *digits && strlen(digits) < 7 &&
	       !digits[strspn(digits, "0123456789")];
}

/* "rep-1" beside "rep-01" would be the same repetition again. */
static int rep_number(const char *dir, const char *name, unsigned *number, struct err *e)
{
	char expected[32];

	*number = (unsigned)atoi(name + strlen(PREFIX));
	snprintf(expected, sizeof(expected), PREFIX "%02u", *number);
	if (!strcmp(name, expected))
		return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, dir, NULL, "it contains '%s'; that repetition's name is '%s'", name,
		       expected);
}

int rep_list(const char *run_path, unsigned point, unsigned **numbers, size_t *count, struct err *e)
{
	char *dir = layout_point_dir(run_path, point);
	struct dirent **names = NULL;
	int n = fs_scandir(dir, &names, is_rep, versionsort), rc = 0;

	if (n < 0 && n != -ENOENT)
		rc = err_sys(e, n, dir, "list");
	if (n < 0)
		n = 0;
	*count = (size_t)n;
	*numbers = or_abort(calloc((size_t)n + 1, sizeof(**numbers)));
	for (int i = 0; i < n; i++) {
		rc = rc ?: rep_number(dir, names[i]->d_name, &(*numbers)[i], e);
		free(names[i]);
	}
	if (rc)
		*count = 0;
	free(names);
	free(dir);
	return rc;
}

/* 1: open. 0: there is none. */
static int rep_open_column(const char *dir, const char *name, struct npy *out, struct err *e)
{
	char *path = fs_path("%s/%s.npy", dir, name);
	bool missing = fs_is_missing_or_empty(path);
	int rc = missing ? 0 : npy_open(path, out, e);

	free(path);
	return rc ? rc : !missing;
}

static int close_columns(struct rep *r, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < r->column_count; i++)
		if (npy_close(&r->columns[i], e))
			rc = -EIO;
	return rc;
}

static int open_columns(const char *dir, const struct layout_flow *f, struct rep *r, struct err *e)
{
	int there = 1;

	for (unsigned i = 0; i < f->column_count && there == 1; i++)
		there = rep_open_column(dir, f->columns[i], &r->columns[i], e);
	for (unsigned i = 1; i < f->column_count && there == 1; i++)
		if (r->columns[i].count != r->columns[0].count)
			there =
			    err_set(e, -EINVAL, STATUS_USAGE, dir, NULL, "%s.npy has %zu entries, but %s.npy has %zu",
				    f->columns[i], r->columns[i].count, f->columns[0], r->columns[0].count);
	r->is_whole = there == 1;
	return there < 0 ? there : 0;
}

static int open_counters(const char *dir, struct rep *r, struct err *e)
{
	char *path = fs_path("%s/counters.json", dir);
	bool missing = fs_is_missing_or_empty(path);

	if (!missing)
		r->counters = schema_read(DOC_COUNTERS, path, e);
	free(path);
	return missing || r->counters ? 0 : -EINVAL;
}

static bool never_happened(const struct rep *r, size_t i)
{
	for (size_t k = 0; k < r->column_count; k++)
		if (r->columns[k].data && r->columns[k].data[i] != NEVER)
			return false;
	return true;
}

/* If a run was killed, messages that were never sent are at the end of all columns; they are not lost. */
static void forget_unsent(struct rep *r)
{
	size_t count = r->columns[0].count;

	while (count && never_happened(r, count - 1))
		count--;
	for (size_t k = 0; k < r->column_count; k++)
		if (r->columns[k].data)
			r->columns[k].count = count;
}

int rep_open(const char *run_path, const struct layout_flow *f, unsigned number, struct rep *out, struct err *e)
{
	char *dir = layout_rep_dir(run_path, f->point, number, f->name);
	int rc;

	*out = (struct rep){.number = number,
			    .dir = dir,
			    .column_count = f->column_count,
			    .columns = or_abort(calloc(f->column_count, sizeof(*out->columns)))};
	rc = open_columns(dir, f, out, e) ?: open_counters(dir, out, e);
	if (!rc && !out->is_whole)
		rc = close_columns(out, e);
	if (rc)
		rep_close(out, NULL);
	else if (out->is_whole && !out->counters)
		forget_unsent(out);
	return rc;
}

int rep_close(struct rep *r, struct err *e)
{
	int rc = close_columns(r, e);

	free(r->columns);
	free(r->dir);
	json_decref(r->counters);
	*r = (struct rep){.number = r->number};
	return rc;
}

int rep_open_all(const char *run_path, const struct layout_flow *f, struct rep **reps, size_t *count, struct err *e)
{
	unsigned *numbers = NULL;
	size_t there = 0;
	int rc = rep_list(run_path, f->point, &numbers, &there, e);

	*count = 0;
	*reps = or_abort(calloc(there + 1, sizeof(**reps)));
	for (size_t i = 0; !rc && i < there; i++) {
		struct rep *r = &(*reps)[*count];

		rc = rep_open(run_path, f, numbers[i], r, e);
		if (!rc && r->is_whole)
			(*count)++;
		else if (!rc)
			rc = rep_close(r, e);
	}
	free(numbers);
	return rc;
}

json_int_t rep_counter(const struct rep *r, const char *side, const char *name)
{
	json_int_t count = json_integer_value(json_object_get(json_object_get(r->counters, side), name));

	return count > 0 ? count : 0;
}
