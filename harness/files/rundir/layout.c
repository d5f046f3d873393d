#include "files/rundir/layout.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "files/rundir/flows.h"

#define NAME_BYTES 64

static int layout_refuse(const char *run_path, struct err *e, const char *format, size_t index, const char *what)
{
	char *path = fs_path("%s/resolved.json", run_path);
	int rc = err_set(e, -EINVAL, STATUS_USAGE, path, NULL, format, index, what);

	free(path);
	return rc;
}

static const char *get_string(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

#define SMALL_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

/* Column names become file names, so they must not lead elsewhere. */
static bool is_column_name(const char *name)
{
	return name && *name && strlen(name) < NAME_BYTES && !name[strspn(name, SMALL_LETTERS)];
}

/* Names of flows become folders. */
static bool is_flow_name(const char *name)
{
	return strlen(name) < NAME_BYTES && *name != '-' &&
	       !name[strspn(name, SMALL_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ-")];
}

/* --- the columns and series of a flow --- */

int layout_column(const struct layout_flow *f, const char *name)
{
	for (unsigned i = 0; name && i < f->column_count; i++)
		if (!strcmp(f->columns[i], name))
			return (int)i;
	return -1;
}

/* Only recorded by points for which the setting of that name is yes. */
static bool has_needed_setting(const json_t *object, const json_t *params)
{
	const char *setting = get_string(object, "with");

	return !setting || json_is_true(json_object_get(params, setting));
}

static bool read_columns(const json_t *columns, struct layout_flow *f)
{
	f->columns = or_abort(calloc(json_array_size(columns) + 1, sizeof(*f->columns)));
	f->clocks = or_abort(calloc(json_array_size(columns) + 1, sizeof(*f->clocks)));
	for (size_t i = 0; i < json_array_size(columns); i++) {
		const json_t *column = json_array_get(columns, i);
		const char *name = get_string(column, "name");

		if (!has_needed_setting(column, f->params))
			continue;
		if (!is_column_name(name) || layout_column(f, name) >= 0)
			return false;
		f->clocks[f->column_count] = json_text_or(column, "stamped_by", json_text(column, "side"));
		f->columns[f->column_count++] = name;
	}
	return json_array_size(columns) > 0;
}

/* "minus" is optional; without it, the column itself is the series. */
static bool read_one_series(const json_t *series, struct layout_flow *f)
{
	struct layout_series *s = &f->series[f->series_count++];
	const char *label = get_string(series, "label");
	const char *minus = get_string(series, "minus"), *only_where_recorded = get_string(series, "among");
	int column = layout_column(f, get_string(series, "column"));
	int divide = (int)json_integer_value(json_object_get(series, "divide"));

	s->name = get_string(series, "name");
	s->label = label ? label : s->name;
	s->column = (unsigned)column;
	s->minus = layout_column(f, minus);
	s->only_where_recorded = layout_column(f, only_where_recorded);
	s->divide = divide > 1 ? divide : 1;
	s->lag = json_is_true(json_object_get(series, "lag"));
	s->sparse = json_is_true(json_object_get(series, "sparse"));
	s->crosses = column >= 0 && s->minus >= 0 && strcmp(f->clocks[column], f->clocks[s->minus]) != 0;
	return is_column_name(s->name) && column >= 0 && (!minus || s->minus >= 0) &&
	       (!only_where_recorded || s->only_where_recorded >= 0);
}

static bool read_series(const json_t *series, struct layout_flow *f)
{
	f->series = or_abort(calloc(json_array_size(series) + 1, sizeof(*f->series)));
	for (size_t i = 0; i < json_array_size(series); i++)
		if (has_needed_setting(json_array_get(series, i), f->params) &&
		    !read_one_series(json_array_get(series, i), f))
			return false;
	return f->series_count > 0;
}

/* --- flows --- */

static const json_t *traits_of(const json_t *point, const struct layout_flow *f)
{
	const json_t *traits = json_object_get(point, "traits");

	return *f->name ? json_object_get(traits, f->name) : traits;
}

static struct layout_rules read_rules(const json_t *rules)
{
	static const char *const faults[] = {[FAULTS_MEASURED] = "measured", [FAULTS_EXPECTED] = "expected"};
	const json_t *limit = json_object_get(rules, "missed_limit_ppm");
	struct layout_rules r = {
	    .polls = json_is_true(json_object_get(rules, "polls")),
	    .yields = json_is_true(json_object_get(rules, "yields")),
	    .stores = json_is_true(json_object_get(rules, "stores")),
	    .restamps = json_is_true(json_object_get(rules, "restamps")),
	    .foreign = json_is_true(json_object_get(rules, "foreign")),
	    .traced = json_is_true(json_object_get(rules, "traced")),
	    .unordered = json_is_true(json_object_get(rules, "unordered")),
	    .resolution_ns = json_integer_value(json_object_get(rules, "resolution_ns")),
	    .resolution_ppm = json_integer_value(json_object_get(rules, "resolution_ppm")),
	    .missed_limit_ppm = json_is_integer(limit) ? json_integer_value(limit) : -1,
	};

	for (unsigned i = FAULTS_MEASURED; i <= FAULTS_EXPECTED; i++)
		if (!strcmp(json_text(rules, "page_faults"), faults[i]))
			r.page_faults = (enum layout_faults)i;
	return r;
}

/* Missing traits get the strictest rules. */
static struct layout_traits read_traits(const json_t *point, const struct layout_flow *f)
{
	const json_t *own = traits_of(point, f);

	return (struct layout_traits){
	    .reliable = !json_is_false(json_object_get(own, "reliable")),
	    .own_clock = json_is_true(json_object_get(own, "own_clock")),
	    .device = json_is_true(json_object_get(own, "device")),
	    .passive = json_is_true(json_object_get(own, "passive")),
	    .alone = json_is_true(json_object_get(own, "alone")),
	    .block = json_integer_value(json_object_get(own, "block")),
	    .checks = json_is_array(json_object_get(own, "checks")) ? json_object_get(own, "checks") : NULL,
	    .rules = read_rules(json_object_get(own, "rules")),
	};
}

/* Values larger than a message can be are rejected. */
static struct layout_wire read_wire(const json_t *point, const struct layout_flow *f)
{
	const json_t *wire = json_object_get(traits_of(point, f), "wire");
	const json_int_t out = json_integer_value(json_object_get(wire, "out_bytes"));
	const json_int_t in = json_integer_value(json_object_get(wire, "in_bytes"));

	if (out < 0 || in < 0 || out > UINT32_MAX || in > UINT32_MAX)
		return (struct layout_wire){.out_bytes = 0};
	return (struct layout_wire){out, in, json_is_true(json_object_get(wire, "fetches"))};
}

json_int_t layout_limit_ns(const json_t *params)
{
	const json_t *limit = json_object_get(params, "limit_ns");

	return json_is_integer(limit) ? json_integer_value(limit) : 10000;
}

static int read_flow(const char *run_path, const json_t *resolved, size_t index, struct layout_flow *f, struct err *e)
{
	const char *name = get_string(f->params, "kernel") ?: "";
	const json_t *kernel = json_object_get(json_object_get(resolved, "kernels"), name);
	const json_t *columns = json_object_get(kernel, "columns"), *series = json_object_get(kernel, "series");

	const json_t *point = json_array_get(json_object_get(resolved, "points"), index);

	f->traits = read_traits(point, f);
	if (f->traits.block < 1)
		f->traits.block = 1;
	f->wire = read_wire(point, f);
	f->counts_loss = json_is_true(json_object_get(kernel, "counts_loss"));
	f->limit_ns = layout_limit_ns(f->params);
	if (json_array_size(columns) > LAYOUT_MOST || json_array_size(series) > LAYOUT_MOST)
		return layout_refuse(run_path, e, "points[%zu]: its kernel '%s' has more than 64 columns or series",
				     index, name);
	if (!read_columns(columns, f) || !read_series(series, f))
		return layout_refuse(run_path, e,
				     "points[%zu]: the columns and series of its kernel '%s' are missing or wrong",
				     index, name);
	return 0;
}

static bool is_named_before(const struct layout *l, const char *name)
{
	for (size_t i = 0; i < l->flow_count; i++)
		if (!strcmp(l->flows[i].name, name))
			return true;
	return false;
}

static int read_flows(const char *run_path, const json_t *resolved, size_t index, struct layout *l, struct err *e)
{
	json_t *names = flows_names(l->params), *params;
	size_t count = json_array_size(names);

	l->held = json_pack("[o]", names);
	if (count > FLOWS_MOST)
		return layout_refuse(run_path, e, "points[%zu] has more than 64 %s", index, "flows");
	l->flows = or_abort(calloc(count, sizeof(*l->flows)));
	for (size_t i = 0; i < count; i++) {
		const char *name = json_string_value(json_array_get(names, i));
		int rc;

		if (!is_flow_name(name) || is_named_before(l, name))
			return layout_refuse(run_path, e, "points[%zu]: %s are not distinct names", index, "its flows");
		params = flows_params(l->params, name);
		json_array_append_new(l->held, params);
		l->flows[l->flow_count++] = (struct layout_flow){.point = l->id, .name = name, .params = params};
		rc = read_flow(run_path, resolved, index, &l->flows[i], e);
		if (rc)
			return rc;
	}
	return 0;
}

/* --- points --- */

int layout_read(const char *run_path, const json_t *resolved, size_t index, struct layout *out, struct err *e)
{
	const json_t *point = json_array_get(json_object_get(resolved, "points"), index);
	const json_t *id = json_object_get(point, "id");
	int rc;

	*out = (struct layout){.params = json_object_get(point, "params")};
	if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) > LAYOUT_ID_MAX)
		return layout_refuse(run_path, e, "points[%zu] has no %s from 0 to 999999", index, "id");
	if (!json_is_object(out->params))
		return layout_refuse(run_path, e, "points[%zu] has no %s", index, "params");
	out->id = (unsigned)json_integer_value(id);
	rc = read_flows(run_path, resolved, index, out, e);
	if (rc)
		layout_free(out);
	return rc;
}

/* The index of the point with that id in "points" of resolved.json or summary.json, where ids are ascending
 * (files/rundir/schema.h); their number if there is none. */
static size_t layout_index(const json_t *points, unsigned id)
{
	const size_t count = json_array_size(points);
	size_t from = 0, to = count;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;
		const json_int_t there = json_integer_value(json_object_get(json_array_get(points, middle), "id"));

		if (there == (json_int_t)id)
			return middle;
		if (there < (json_int_t)id)
			from = middle + 1;
		else
			to = middle;
	}
	return count;
}

int layout_find(const char *run_path, const json_t *resolved, unsigned id, struct layout *out, struct err *e)
{
	const json_t *points = json_object_get(resolved, "points");
	const size_t index = layout_index(points, id);

	*out = (struct layout){.id = id};
	if (index < json_array_size(points))
		return layout_read(run_path, resolved, index, out, e);
	layout_refuse(run_path, e, "there is no point %zu%s", id, "");
	return -ENOENT;
}

void layout_free(struct layout *l)
{
	for (size_t i = 0; i < l->flow_count; i++) {
		free(l->flows[i].columns);
		free(l->flows[i].clocks);
		free(l->flows[i].series);
	}
	free(l->flows);
	json_decref(l->held);
	*l = (struct layout){.id = l->id};
}

bool layout_is_bookkeeping(const json_t *resolved, const char *key)
{
	const json_t *keys = json_object_get(resolved, "bookkeeping");

	key = flows_bare_key(key);
	return json_has_string(keys, key);
}

/* --- paths --- */

char *layout_point_dir(const char *run_path, unsigned id)
{
	return fs_path("%s/points/%04u", run_path, id);
}

char *layout_part_dir(const char *run_path, unsigned id, const char *part, const char *flow)
{
	return fs_path("%s/points/%04u/%s%s%s", run_path, id, part, *flow ? "/" : "", flow);
}

char *layout_rep_dir(const char *run_path, unsigned id, unsigned rep, const char *flow)
{
	char part[32];

	snprintf(part, sizeof(part), "rep-%02u", rep);
	return layout_part_dir(run_path, id, part, flow);
}
