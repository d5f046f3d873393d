#include "report/model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "files/rundir/flows.h"
#include "files/rundir/rep.h"
#include "files/rundir/schema.h"
#include "judge/analysis/summary_build.h"
#include "report/labels.h"

static void model_free_series(struct report_series *s)
{
	histogram_free(&s->histogram);
	free(s->key);
	free(s->label);
}

void model_free(struct report *r)
{
	for (size_t i = 0; i < r->count; i++) {
		struct report_point *p = &r->points[i];

		for (size_t s = 0; s < p->series_count; s++)
			model_free_series(&p->series[s]);
		free(p->series);
		layout_free(&p->layout);
		json_decref(p->outcome);
		free(p->label);
		free(p->name);
	}
	for (size_t i = 0; i < r->run_count; i++) {
		summary_free(r->runs[i].summary);
		json_decref(r->runs[i].varying);
		free(r->runs[i].label);
		free(r->runs[i].hosts);
	}
	free(r->points);
	free(r->runs);
	free(r->leading);
	free(r->varying.key);
	free(r->in_flows.key);
	*r = (struct report){0};
}

bool model_has_flows(const struct report *r, const struct report_run *run)
{
	for (size_t i = 0; i < r->count; i++)
		if ((!run || run == &r->runs[r->points[i].run]) && *r->points[i].layout.flows[0].name)
			return true;
	return false;
}

bool model_is_measured(const struct report_series *s)
{
	return s->histogram.bins > 0;
}

bool model_is_valid(const struct report_point *p)
{
	return p->summary && p->summary->valid;
}

const char *model_outcome(const struct report_point *p)
{
	const char *outcome = json_string_value(json_object_get(p->outcome, "outcome"));

	return outcome ? outcome : "not measured";
}

const char *model_reason(const struct report_point *p)
{
	const char *reason = p->summary ? json_string_value(json_array_get(p->summary->reasons, 0)) : NULL;
	const char *why = json_string_value(json_object_get(p->outcome, "why"));

	if (reason)
		return reason;
	return why ? why : "";
}

const json_t *model_side(const struct report_point *p, const struct layout_flow *flow, const char *what,
			 const char *side)
{
	const json_t *of = json_object_get(p->outcome, what);

	return json_object_get(*flow->name ? json_object_get(of, flow->name) : of, side);
}

struct number model_number(const struct report_series *s, unsigned statistic)
{
	return s->metric ? s->metric->values[statistic] : (struct number){.kind = NUMBER_ABSENT};
}

bool model_metric(const struct report_series *s, unsigned statistic, int64_t *value)
{
	const struct number n = model_number(s, statistic);

	if (n.kind == NUMBER_INTEGER)
		*value = n.integer;
	return n.kind == NUMBER_INTEGER;
}

const struct summary_block *model_block(const struct report_point *p, const struct layout_flow *flow,
					const struct block *of)
{
	return p->summary ? summary_find_block(&p->summary->results, flow->name, of) : NULL;
}

const struct summary_block *model_late(const struct report_point *p, const struct layout_flow *flow)
{
	return p->summary ? summary_late(p->summary, flow->name) : NULL;
}

const struct summary_flow *model_flow(const struct report_point *p, const struct layout_flow *flow)
{
	for (size_t i = 0; p->summary && i < p->summary->flow_count; i++)
		if (!strcmp(p->summary->flows[i].name, flow->name))
			return &p->summary->flows[i];
	return NULL;
}

bool model_quantile(const struct report_series *s, double p, uint64_t beyond, int64_t *value)
{
	uint64_t rank = (uint64_t)ceil(p * (double)s->count - 1e-9), seen = 0;

	*value = 0;
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

/* --- reading run directories --- */

/* --- merged histograms --- */

static void append_bin(struct histogram *h, int64_t value, uint64_t count)
{
	if (h->bins && h->value[h->bins - 1] == value) {
		h->count[h->bins - 1] += count;
		return;
	}
	h->value[h->bins] = value;
	h->count[h->bins++] = count;
}

/* Both are ascending, so one pass is enough. */
static void merge_histogram(struct histogram *into, const struct histogram *more)
{
	size_t most = into->bins + more->bins, i = 0, k = 0;
	struct histogram merged = {or_abort(calloc(most + 1, sizeof(int64_t))),
				   or_abort(calloc(most + 1, sizeof(uint64_t))), 0,
				   into->width > more->width ? into->width : more->width};

	while (i < into->bins || k < more->bins) {
		bool first = k == more->bins || (i < into->bins && into->value[i] <= more->value[k]);
		const struct histogram *from = first ? into : more;
		size_t *at = first ? &i : &k;

		append_bin(&merged, from->value[*at], from->count[*at]);
		++*at;
	}
	histogram_free(into);
	*into = merged;
}

/* Add one repetition of a flow to the flow's series. */
static int merge_data(struct report_point *p, const struct layout_flow *flow, const char *path, struct err *e)
{
	json_t *data = schema_read(DOC_DATA, path, e);
	int rc = data ? 0 : -EINVAL;

	for (size_t i = 0; !rc && i < p->series_count; i++) {
		const json_t *j = json_object_get(json_object_get(data, "histograms"), p->series[i].name);
		struct histogram h = {0};

		if (!j || p->series[i].flow != flow)
			continue;
		rc = histogram_from_json(j, &h, e);
		if (!rc)
			merge_histogram(&p->series[i].histogram, &h);
		histogram_free(&h);
	}
	json_decref(data);
	return rc;
}

/* A repetition that was interrupted has no data.json. */
static int merge_rep(struct report_point *p, const char *run_path, unsigned rep, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < p->layout.flow_count; i++) {
		const struct layout_flow *flow = &p->layout.flows[i];
		char *dir = layout_rep_dir(run_path, p->id, rep, flow->name), *path = fs_path("%s/data.json", dir);

		if (!fs_is_missing(path))
			rc = merge_data(p, flow, path, e);
		free(path);
		free(dir);
	}
	return rc;
}

static int merge_reps(struct report_point *p, const char *run_path, struct err *e)
{
	unsigned *reps = NULL;
	size_t count = 0;
	int rc = rep_list(run_path, p->id, &reps, &count, e);

	for (size_t i = 0; !rc && i < count; i++)
		rc = merge_rep(p, run_path, reps[i], e);
	free(reps);
	for (size_t s = 0; s < p->series_count; s++)
		for (size_t i = 0; i < p->series[s].histogram.bins; i++)
			p->series[s].count += p->series[s].histogram.count[i];
	return rc;
}

/* --- points --- */

static void take_series(struct report_point *p, const struct layout_flow *flow, const struct layout_series *s)
{
	char key[FLOWS_KEY_MAX];

	flows_key(flow->name, s->name, key, sizeof(key));
	p->series = grow_or_abort(p->series, p->series_count, sizeof(*p->series));
	p->series[p->series_count++] = (struct report_series){
	    .flow = flow,
	    .name = s->name,
	    .key = fs_path("%s", key),
	    .label = fs_path("%s%s%s", flow->name, *flow->name ? " " : "", s->label),
	    .leads = s == flow->series,
	    .metric = p->summary ? summary_metric_named(&p->summary->results, key) : NULL,
	};
}

static void take_all_series(struct report_point *p)
{
	for (size_t i = 0; i < p->layout.flow_count; i++)
		for (unsigned k = 0; k < p->layout.flows[i].series_count; k++)
			take_series(p, &p->layout.flows[i], &p->layout.flows[i].series[k]);
}

/* Remove series without entries, unless their messages were lost. */
static void drop_empty_series(struct report_point *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->series_count; i++) {
		struct report_series *s = &p->series[i];
		int64_t n = 0, lost = 0;

		model_metric(s, STATISTIC_N, &n);
		model_metric(s, STATISTIC_LOST, &lost);
		if (model_is_measured(s) || n > 0 || lost > 0)
			p->series[kept++] = *s;
		else
			model_free_series(s);
	}
	p->series_count = kept;
}

/* A point that was never begun has no outcome. */
static int gather_outcome(struct report_point *p, const char *run_path, struct err *e)
{
	char *dir = layout_point_dir(run_path, p->id), *path = fs_path("%s/point.json", dir);
	int rc = 0;

	if (!fs_is_missing(path)) {
		p->outcome = schema_read(DOC_POINT, path, e);
		rc = p->outcome ? 0 : -EINVAL;
	}
	free(path);
	free(dir);
	return rc;
}

static int gather_point(struct report *r, size_t run, size_t index, struct err *e)
{
	const struct run *of = r->runs[run].run;
	struct report_point *p;
	struct layout layout;
	int rc = layout_read(of->path, of->resolved, index, &layout, e);

	if (rc)
		return rc;
	r->points = grow_or_abort(r->points, r->count, sizeof(*r->points));
	p = &r->points[r->count++];
	*p = (struct report_point){.run = run, .id = layout.id, .params = layout.params, .layout = layout};
	p->summary = r->runs[run].summary ? summary_find_point(r->runs[run].summary, p->id) : NULL;
	p->name = run ? fs_path("run-%zu-point-%04u", run + 1, p->id) : fs_path("point-%04u", p->id);
	take_all_series(p);
	rc = gather_outcome(p, of->path, e);
	rc = rc ? rc : merge_reps(p, of->path, e);
	drop_empty_series(p);
	return rc;
}

/* --- runs --- */

/* Does the host have an endpoint? The host of the coordinator alone has not measured anything. */
static bool has_endpoint(const struct run_host *h)
{
	return !json_array_size(h->roles) || run_host_is(h, "source") || run_host_is(h, "sink");
}

static char *names_of_hosts(const struct run_record *r, bool all)
{
	char *names = NULL;
	size_t size, n = 0;
	FILE *out = or_abort(open_memstream(&names, &size));

	for (size_t i = 0; i < r->hosts; i++)
		if (all || has_endpoint(&r->host[i]))
			fprintf(out, "%s%s", n++ ? " and " : "", r->host[i].name);
	fclose(out);
	return or_abort(names);
}

static void gather_run(struct report *r, const struct run *run)
{
	struct err ignored = ERR_INIT;
	struct report_run *to = &r->runs[r->run_count++];

	to->run = run;
	to->record = &run->record;
	to->hosts = names_of_hosts(to->record, false);
	if (!*to->hosts) {
		free(to->hosts);
		to->hosts = names_of_hosts(to->record, true);
	}
	/* A run that was killed has no summary yet, but may have columns from which it can be computed. */
	to->summary = summary_of_run(run, &ignored);
}

static void find_leading(struct report *r)
{
	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < r->points[i].series_count; k++) {
			const struct report_series *s = &r->points[i].series[k];

			if (!s->leads || !model_is_measured(s))
				continue;
			r->leading = grow_or_abort(r->leading, r->leading_count, sizeof(*r->leading));
			r->leading[r->leading_count++] = (struct report_item){&r->points[i], s};
		}
}

int model_read(struct report *r, const struct run *runs, size_t count, struct err *e)
{
	int rc = 0;

	*r = (struct report){.runs = or_abort(calloc(count ? count : 1, sizeof(*r->runs)))};
	for (size_t i = 0; i < count; i++) {
		gather_run(r, &runs[i]);
		for (size_t k = 0; !rc && k < json_array_size(json_object_get(runs[i].resolved, "points")); k++)
			rc = gather_point(r, i, k, e);
	}
	find_leading(r);
	label_all(r);
	return rc;
}
