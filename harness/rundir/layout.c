#include "rundir/layout.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"

static int refuse(const char *run_path, struct err *e, const char *format, size_t index, const char *what)
{
	char *path = fs_path("%s/resolved.json", run_path);
	int rc = err_set(e, -EINVAL, STATUS_USAGE, path, NULL, format, index, what);

	free(path);
	return rc;
}

/* Column names become file names: nothing that could lead elsewhere. */
static bool is_name(const char *name)
{
	return name && *name && strlen(name) < 64 && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

static const char *get_string(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

int layout_column(const struct layout *l, const char *name)
{
	for (unsigned i = 0; name && i < l->column_count; i++)
		if (!strcmp(l->columns[i], name))
			return (int)i;
	return -1;
}

/* Recorded only by points whose setting of that name is yes. */
static bool is_with(const json_t *object, const json_t *params)
{
	const char *with = get_string(object, "with");

	return !with || json_is_true(json_object_get(params, with));
}

static bool read_columns(const json_t *columns, struct layout *l)
{
	if (!json_is_array(columns) || !json_array_size(columns) || json_array_size(columns) > LAYOUT_COLUMNS)
		return false;
	for (size_t i = 0; i < json_array_size(columns); i++) {
		const char *name = get_string(json_array_get(columns, i), "name");

		if (!is_with(json_array_get(columns, i), l->params))
			continue;
		if (!is_name(name) || layout_column(l, name) >= 0)
			return false;
		l->columns[l->column_count++] = name;
	}
	return true;
}

/* "minus" may be left out: then the column itself is the series. */
static bool read_one_series(const json_t *series, struct layout *l)
{
	struct layout_series *s = &l->series[l->series_count++];
	const char *minus = get_string(series, "minus"), *among = get_string(series, "among");
	int column = layout_column(l, get_string(series, "column"));

	s->name = get_string(series, "name");
	s->column = (unsigned)column;
	s->minus = layout_column(l, minus);
	s->among = layout_column(l, among);
	s->divide = (int)json_integer_value(json_object_get(series, "divide"));
	s->sparse = json_is_true(json_object_get(series, "sparse"));
	return is_name(s->name) && column >= 0 && (!minus || s->minus >= 0) && (!among || s->among >= 0);
}

static bool read_series(const json_t *series, struct layout *l)
{
	if (!json_is_array(series) || !json_array_size(series) || json_array_size(series) > LAYOUT_SERIES)
		return false;
	for (size_t i = 0; i < json_array_size(series); i++)
		if (is_with(json_array_get(series, i), l->params) && !read_one_series(json_array_get(series, i), l))
			return false;
	return l->series_count > 0;
}

int layout_read(const char *run_path, const json_t *resolved, size_t index, struct layout *out, struct err *e)
{
	const json_t *point = json_array_get(json_object_get(resolved, "points"), index);
	const json_t *id = json_object_get(point, "id"), *kernel, *limit;
	const char *name;

	*out = (struct layout){.params = json_object_get(point, "params"), .limit_ns = LAYOUT_LIMIT_NS};
	if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) > LAYOUT_ID_MAX)
		return refuse(run_path, e, "points[%zu] has no %s from 0 to 999999", index, "id");
	if (!json_is_object(out->params))
		return refuse(run_path, e, "points[%zu] has no %s", index, "params");
	out->id = (unsigned)json_integer_value(id);
	limit = json_object_get(out->params, "limit_ns");
	if (json_is_integer(limit))
		out->limit_ns = json_integer_value(limit);
	name = get_string(out->params, "kernel");
	kernel = name ? json_object_get(json_object_get(resolved, "kernels"), name) : NULL;
	if (!read_columns(json_object_get(kernel, "columns"), out) ||
	    !read_series(json_object_get(kernel, "series"), out))
		return refuse(run_path, e,
			      "points[%zu]: the columns and series of its kernel '%s' are missing or wrong", index,
			      name ? name : "");
	return 0;
}

int layout_find(const char *run_path, const json_t *resolved, unsigned id, struct layout *out, struct err *e)
{
	const json_t *points = json_object_get(resolved, "points");

	for (size_t i = 0; i < json_array_size(points); i++)
		if (json_integer_value(json_object_get(json_array_get(points, i), "id")) == (json_int_t)id)
			return layout_read(run_path, resolved, i, out, e);
	refuse(run_path, e, "there is no point %zu%s", id, "");
	return -ENOENT;
}

char *layout_point_dir(const char *run_path, unsigned id)
{
	return fs_path("%s/points/%04u", run_path, id);
}

char *layout_rep_dir(const char *run_path, unsigned id, unsigned rep)
{
	return fs_path("%s/points/%04u/rep-%02u", run_path, id, rep);
}
