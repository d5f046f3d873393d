#include "judge/analysis/samples_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/json.h"
#include "files/rundir/layout.h"
#include "files/rundir/rep.h"
#include "judge/analysis/series.h"
#include "judge/analysis/span.h"
#include "judge/analysis/summary_build.h"

static void print_remark(FILE *out, const char *key, const char *text)
{
	if (*text)
		fprintf(out, "# %s: %s\n", key, text);
}

/* Remarks that an import needs (measure/import/formats.c). */
static int print_remarks(const struct run *run, const struct layout_flow *f, FILE *out, struct err *e)
{
	const json_t *hosts = json_object_get(run->run, "hosts");
	double hz;
	void *first = json_object_iter((json_t *)hosts);
	struct summary *s = summary_of_run(run, e);
	const struct summary_point *p = s ? summary_find_point(s, (json_int_t)f->point) : NULL;

	if (!s)
		return -EINVAL;
	print_remark(out, "name", json_text(run->run, "name"));
	print_remark(out, "host", first ? json_object_iter_key(first) : "");
	print_remark(out, "boot", json_text(json_object_iter_value(first), "boot_id"));
	fprintf(out, "# started_ns: %" JSON_INTEGER_FORMAT "\n# limit_ns: %" JSON_INTEGER_FORMAT "\n",
		json_integer_value(json_object_get(json_object_get(run->run, "t0"), "realtime_ns")), f->limit_ns);
	hz = json_number_value(json_object_get(json_object_get(run->run, "clock"), "hz"));
	if (hz >= 1 && hz < 1e18)
		fprintf(out, "# clock_hz: %.0f\n", hz);
	if (p && !p->valid)
		print_remark(out, "invalid", json_string_value(json_array_get(p->reasons, 0)) ?: "unknown reason");
	summary_free(s);
	return 0;
}

static void print_sample(const struct rep *r, const struct layout_series *s, size_t i, FILE *out)
{
	const struct span span = series_span(r, s);
	int64_t value;

	fputc(',', out);
	if (i < span.count && span_sample(&span, i, &value))
		fprintf(out, "%" PRId64, s->divide == 2 ? value >> 1 : value);
}

static void print_reps(const struct layout_flow *f, const struct rep *reps, size_t count, FILE *out)
{
	fputs("rep", out);
	for (unsigned s = 0; s < f->series_count; s++)
		fprintf(out, ",%s", f->series[s].name);
	fputc('\n', out);
	for (size_t r = 0; r < count; r++)
		for (size_t i = 0; i < reps[r].columns[0].count; i++) {
			fprintf(out, "%u", reps[r].number);
			for (unsigned s = 0; s < f->series_count; s++)
				print_sample(&reps[r], &f->series[s], i, out);
			fputc('\n', out);
		}
}

static int print_flow(const struct run *run, const struct layout_flow *f, FILE *out, struct err *e)
{
	struct rep *reps = NULL;
	size_t count = 0;
	int rc = rep_open_all(run->path, f, &reps, &count, e);

	if (!rc)
		rc = print_remarks(run, f, out, e);
	if (!rc)
		print_reps(f, reps, count, out);
	for (size_t i = 0; i < count; i++)
		if (rep_close(&reps[i], e))
			rc = -EIO;
	free(reps);
	if (!rc && ferror(out))
		rc = err_sys(e, -EIO, "standard output", "write");
	return rc;
}

int samples_csv(const struct run *run, long point, FILE *out, struct err *e)
{
	const json_t *points = json_object_get(run->resolved, "points");
	struct layout l;
	int rc;

	if (point < 0 && json_array_size(points) != 1)
		return err_set(e, -EINVAL, STATUS_USAGE, run->path, NULL,
			       "it has %zu points; choose one with --point ID", json_array_size(points));
	rc = point < 0 ? layout_read(run->path, run->resolved, 0, &l, e)
		       : layout_find(run->path, run->resolved, (unsigned)point, &l, e);
	if (rc)
		return rc;
	if (l.flow_count > 1)
		rc = err_set(e, -EINVAL, STATUS_USAGE, run->path, NULL,
			     "point %u has several flows, whose samples are not "
			     "of the same messages; read its columns (docs/run-directory.md)",
			     l.id);
	else
		rc = print_flow(run, &l.flows[0], out, e);
	layout_free(&l);
	return rc;
}
