#include "report/model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/param.h"
#include "analysis/rep.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/units.h"
#include "rundir/layout.h"
#include "rundir/schema.h"

#define LABEL_MAX 160
#define VALUE_MAX 40

/* Keys carry their unit; a reader wants it with the value. */
static const struct {
	const char *suffix;
	enum unit unit;
} units[] = {{"_ns", UNIT_TIME_NS}, {"_bytes", UNIT_BYTES}, {"_hz", UNIT_RATE_HZ}, {"_ppm", UNIT_SHARE_PPM}};

static size_t unit_of(const char *key, enum unit *unit)
{
	size_t length = strlen(key);

	*unit = UNIT_ONE;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t n = strlen(units[i].suffix);

		if (length > n && !strcmp(key + length - n, units[i].suffix)) {
			*unit = units[i].unit;
			return length - n;
		}
	}
	return length;
}

char *param_name(const char *key, char *buf, size_t size)
{
	enum unit unit;
	size_t length = unit_of(key, &unit);

	text_clean(key, length, buf, size);
	for (char *p = buf; *p; p++)
		if (*p == '_')
			*p = ' ';
	return buf;
}

char *param_value(const char *key, const json_t *value, char *buf, size_t size)
{
	enum unit unit;

	unit_of(key, &unit);
	if (json_is_integer(value) && unit != UNIT_ONE)
		return unit_format(unit, json_integer_value(value), buf, size);
	if (json_is_integer(value))
		snprintf(buf, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		snprintf(buf, size, "%.6g", json_real_value(value));
	else if (json_is_boolean(value))
		snprintf(buf, size, "%s", json_is_true(value) ? "yes" : "no");
	else if (json_is_string(value))
		text_clean(json_string_value(value), json_string_length(value), buf, size);
	else
		snprintf(buf, size, "-");
	return buf;
}

/* "rc" says what it is, "auto" and "5" do not. */
static bool needs_name(const json_t *value)
{
	static const char *const bare[] = {"auto", "yes", "no", "on", "off", "none", "default"};
	const char *text = json_string_value(value);

	if (!text || !*text || strspn(text, "0123456789,.:-") == strlen(text))
		return true;
	for (size_t i = 0; i < sizeof(bare) / sizeof(bare[0]); i++)
		if (!strcmp(text, bare[i]))
			return true;
	return false;
}

static void print_param(FILE *out, const char *key, const json_t *value)
{
	char name[VALUE_MAX], text[VALUE_MAX];

	param_value(key, value, text, sizeof(text));
	if (needs_name(value))
		fprintf(out, "%s ", param_name(key, name, sizeof(name)));
	fputs(text, out);
}

/* What a point is called where nothing, or nothing it has, varies. */
static void print_plain_label(FILE *out, const struct report_point *p)
{
	static const char *const keys[] = {"kernel", "transport", "size_bytes"};
	const char *separator = "";

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json_t *value = json_object_get(p->params, keys[i]);

		if (!value)
			continue;
		fputs(separator, out);
		print_param(out, keys[i], value);
		separator = ", ";
	}
	if (!*separator)
		fprintf(out, "point %u", p->id);
}

static char *point_label(const struct report *r, const struct report_point *p)
{
	char *label = NULL;
	size_t size, printed = 0;
	FILE *out = or_abort(open_memstream(&label, &size));

	for (size_t i = 0; i < r->varying_count; i++) {
		const json_t *value = json_object_get(p->params, r->varying[i]);

		if (!value || ftell(out) > LABEL_MAX)
			continue;
		fputs(printed++ ? ", " : "", out);
		print_param(out, r->varying[i], value);
	}
	if (!printed)
		print_plain_label(out, p);
	fclose(out);
	return or_abort(label);
}

/* Settings that tell two runs' points apart; others that differ between runs only ("repetitions") belong to the run. */
static bool tells_runs_apart(const char *key)
{
	return !strcmp(key, "kernel") || !strcmp(key, "transport");
}

/* A key varies if two points that have it differ in it: a setting that only one transport knows tells nothing apart, nor
 * does one that is but a transport's default. */
static bool key_varies(const struct report *r, const char *key, size_t run)
{
	const json_t *first = NULL;

	if (!param_is_named(r->runs[run].run->resolved, key))
		return false;
	for (size_t i = 0; i < r->count; i++) {
		const json_t *value = json_object_get(r->points[i].params, key);

		if (r->points[i].run != run && !tells_runs_apart(key))
			continue;
		if (value && first && !json_equal(value, first))
			return true;
		first = first ? first : value;
	}
	return false;
}

static bool is_listed(const char *const *list, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i], key))
			return true;
	return false;
}

static void find_varying(struct report *r)
{
	const char *key;
	json_t *value;

	for (size_t i = 0; i < r->count; i++) {
		json_object_foreach ((json_t *)r->points[i].params, key, value) {
			if (is_listed(r->varying, r->varying_count, key) || !key_varies(r, key, r->points[i].run))
				continue;
			r->varying = or_abort(realloc(r->varying, (r->varying_count + 1) * sizeof(*r->varying)));
			r->varying[r->varying_count++] = key;
		}
	}
}

/* Merged histograms -------------------------------------------------------------------------------------- */

static void append(struct histogram *h, int64_t value, uint64_t count)
{
	if (h->bins && h->value[h->bins - 1] == value) {
		h->count[h->bins - 1] += count;
		return;
	}
	h->value[h->bins] = value;
	h->count[h->bins++] = count;
}

/* Both rise, so one pass does. */
static void merge(struct histogram *into, const struct histogram *more)
{
	size_t most = into->bins + more->bins, i = 0, k = 0;
	struct histogram merged = {or_abort(calloc(most + 1, sizeof(int64_t))),
				   or_abort(calloc(most + 1, sizeof(uint64_t))), 0,
				   into->width > more->width ? into->width : more->width};

	while (i < into->bins || k < more->bins) {
		bool first = k == more->bins || (i < into->bins && into->value[i] <= more->value[k]);
		const struct histogram *from = first ? into : more;
		size_t *at = first ? &i : &k;

		append(&merged, from->value[*at], from->count[*at]);
		++*at;
	}
	histogram_free(into);
	*into = merged;
}

static int add_rep(struct report_point *p, const char *path, struct err *e)
{
	json_t *data = schema_read(DOC_DATA, path, e);
	int rc = data ? 0 : -EINVAL;

	for (size_t i = 0; !rc && i < p->series_count; i++) {
		const json_t *j = json_object_get(json_object_get(data, "histograms"), p->series[i].key);
		struct histogram h = {0};

		if (!j)
			continue;
		rc = histogram_from_json(j, &h, e);
		if (!rc)
			merge(&p->series[i].histogram, &h);
		histogram_free(&h);
	}
	json_decref(data);
	return rc;
}

/* A repetition that was interrupted has no data.json. */
static bool is_reduced(const char *path)
{
	return !access(path, F_OK);
}

static int add_reps(struct report_point *p, const char *run_path, struct err *e)
{
	unsigned *reps = NULL;
	size_t count = 0;
	int rc = rep_list(run_path, p->id, &reps, &count, e);

	for (size_t i = 0; !rc && i < count; i++) {
		char *dir = layout_rep_dir(run_path, p->id, reps[i]), *path = fs_path("%s/data.json", dir);

		if (is_reduced(path))
			rc = add_rep(p, path, e);
		free(path);
		free(dir);
	}
	free(reps);
	for (size_t s = 0; s < p->series_count; s++)
		for (size_t i = 0; i < p->series[s].histogram.bins; i++)
			p->series[s].count += p->series[s].histogram.count[i];
	return rc;
}

/* Points ------------------------------------------------------------------------------------------------- */

static const json_t *find_point(const json_t *summary, unsigned id)
{
	const json_t *points = json_object_get(summary, "points"), *p;
	size_t i;

	json_array_foreach (points, i, p) {
		if (json_integer_value(json_object_get(p, "id")) == (json_int_t)id)
			return p;
	}
	return NULL;
}

static void find_series(struct report_point *p, const json_t *resolved)
{
	const char *kernel = json_string_value(json_object_get(p->params, "kernel"));
	const json_t *all = json_object_get(json_object_get(resolved, "kernels"), kernel ? kernel : ""), *s;
	size_t i;

	json_array_foreach (json_object_get(all, "series"), i, s) {
		const char *key = json_string_value(json_object_get(s, "name"));
		const char *label = json_string_value(json_object_get(s, "label"));

		if (!key || p->series_count == REPORT_SERIES)
			continue;
		p->series[p->series_count++] = (struct report_series){
		    .key = key,
		    .label = label ? label : key,
		    .metric = json_object_get(json_object_get(p->summary, "metrics"), key),
		};
	}
}

/* A point that was never begun has none. */
static int read_outcome(struct report_point *p, const char *run_path, struct err *e)
{
	char *dir = layout_point_dir(run_path, p->id), *path = fs_path("%s/point.json", dir);
	int rc = 0;

	if (!access(path, F_OK)) {
		p->outcome = schema_read(DOC_POINT, path, e);
		rc = p->outcome ? 0 : -EINVAL;
	}
	free(path);
	free(dir);
	return rc;
}

static int add_point(struct report *r, size_t run, size_t index, struct err *e)
{
	const struct run *of = r->runs[run].run;
	struct report_point *p;
	struct layout layout;
	int rc = layout_read(of->path, of->resolved, index, &layout, e);

	if (rc)
		return rc;
	r->points = or_abort(realloc(r->points, (r->count + 1) * sizeof(*r->points)));
	p = &r->points[r->count++];
	*p = (struct report_point){.run = run, .id = layout.id, .params = layout.params};
	p->limit_ns = layout.limit_ns;
	p->summary = find_point(r->runs[run].summary, p->id);
	p->name = run ? fs_path("run-%zu-point-%04u", run + 1, p->id) : fs_path("point-%04u", p->id);
	find_series(p, of->resolved);
	rc = read_outcome(p, of->path, e);
	return rc ? rc : add_reps(p, of->path, e);
}

/* Runs --------------------------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Where messages went from or to; the one that only coordinated measured nothing. */
static bool is_endpoint(const json_t *host)
{
	const json_t *roles = json_object_get(host, "roles"), *role;
	size_t i;

	json_array_foreach (roles, i, role) {
		const char *name = json_string_value(role);

		if (name && (!strcmp(name, "source") || !strcmp(name, "sink")))
			return true;
	}
	return !json_array_size(roles);
}

static char *host_names(const json_t *run, bool all)
{
	const json_t *hosts = json_object_get(run, "hosts");
	json_t *host;
	char *names = NULL;
	const char *key;
	size_t size, n = 0;
	FILE *out = or_abort(open_memstream(&names, &size));

	json_object_foreach ((json_t *)hosts, key, host) {
		if (all || is_endpoint(host))
			fprintf(out, "%s%s", n++ ? " and " : "", key);
	}
	fclose(out);
	return or_abort(names);
}

static bool hosts_differ(const struct report *r)
{
	for (size_t i = 0; i < r->run_count; i++)
		for (size_t k = 0; k < i; k++)
			if (!*r->runs[i].hosts || !strcmp(r->runs[i].hosts, r->runs[k].hosts))
				return false;
	return true;
}

static void name_runs(struct report *r)
{
	bool by_host = r->run_count > 1 && hosts_differ(r);

	for (size_t i = 0; i < r->run_count; i++)
		r->runs[i].label = fs_path("%s", by_host ? r->runs[i].hosts : base_name(r->runs[i].run->path));
}

static void add_run(struct report *r, const struct run *run)
{
	struct err ignored = ERR_INIT;
	struct report_run *to = &r->runs[r->run_count++];

	to->run = run;
	to->hosts = host_names(run->run, false);
	if (!*to->hosts) {
		free(to->hosts);
		to->hosts = host_names(run->run, true);
	}
	/* A run that was killed has no summary yet, but may have columns to compute one from. */
	to->summary =
	    run->summary ? json_incref(run->summary) : summary_build(run->path, run->run, run->resolved, &ignored);
}

int report_gather(struct report *r, const struct run *runs, size_t count, struct err *e)
{
	int rc = 0;

	*r = (struct report){.runs = or_abort(calloc(count ? count : 1, sizeof(*r->runs)))};
	for (size_t i = 0; i < count; i++) {
		add_run(r, &runs[i]);
		for (size_t k = 0; !rc && k < json_array_size(json_object_get(runs[i].resolved, "points")); k++)
			rc = add_point(r, i, k, e);
	}
	name_runs(r);
	find_varying(r);
	for (size_t i = 0; i < r->count; i++)
		r->points[i].label = point_label(r, &r->points[i]);
	return rc;
}

void report_free(struct report *r)
{
	for (size_t i = 0; i < r->count; i++) {
		struct report_point *p = &r->points[i];

		for (size_t s = 0; s < p->series_count; s++)
			histogram_free(&p->series[s].histogram);
		json_decref(p->outcome);
		free(p->label);
		free(p->name);
	}
	for (size_t i = 0; i < r->run_count; i++) {
		json_decref(r->runs[i].summary);
		free(r->runs[i].label);
		free(r->runs[i].hosts);
	}
	free(r->points);
	free(r->runs);
	free(r->varying);
	*r = (struct report){0};
}

/* Questions ---------------------------------------------------------------------------------------------- */

bool series_is_measured(const struct report_series *s)
{
	return s->histogram.bins > 0;
}

bool point_is_valid(const struct report_point *p)
{
	return json_is_true(json_object_get(p->summary, "valid"));
}

const char *point_outcome(const struct report_point *p)
{
	const char *outcome = json_string_value(json_object_get(p->outcome, "outcome"));

	return outcome ? outcome : "not measured";
}

const char *point_reason(const struct report_point *p)
{
	const char *reason = json_string_value(json_array_get(json_object_get(p->summary, "reasons"), 0));
	const char *why = json_string_value(json_object_get(p->outcome, "why"));

	if (reason)
		return reason;
	return why ? why : "";
}

bool metric_ns(const struct report_series *s, const char *key, int64_t *value)
{
	const json_t *j = json_object_get(s->metric, key);

	if (!json_is_integer(j))
		return false;
	*value = json_integer_value(j);
	return true;
}

bool series_quantile(const struct report_series *s, double p, uint64_t beyond, int64_t *value)
{
	uint64_t rank = (uint64_t)ceil(p * (double)s->count - 1e-9), seen = 0;

	if (rank < 1)
		rank = 1;
	if (!s->count || (p < 0.5 ? rank - 1 : s->count - rank) < beyond)
		return false;
	for (size_t i = 0; i < s->histogram.bins; i++) {
		seen += s->histogram.count[i];
		*value = s->histogram.value[i];
		if (seen >= rank)
			break;
	}
	return true;
}
