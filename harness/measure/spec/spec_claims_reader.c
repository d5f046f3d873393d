#include "measure/spec/spec_claims.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/yaml.h"
#include "judge/analysis/statistics.h"
#include "judge/claims/claim_metric.h"
#include "measure/kernels/kernel.h"

bool claim_reader_has_flow(const struct claim_reader *r, const char *name)
{
	size_t i = 0;

	while (r->flows[i] && strcmp(r->flows[i], name))
		i++;
	return r->flows[i] != NULL;
}

static size_t count_flows(const struct point *points, size_t count)
{
	size_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += points[i].flow_count;
	return all;
}

static void collect_flows(struct claim_reader *r, const struct point *p, size_t *count)
{
	r->only_flows &= point_has_flows(p);
	for (size_t i = 0; i < p->flow_count; i++)
		if (point_has_flows(p) && !claim_reader_has_flow(r, p->flow[i].name))
			r->flows[(*count)++] = p->flow[i].name;
}

struct claim_reader claim_reader_open(const struct point *points, size_t count, struct diag *d)
{
	struct claim_reader r = {.d = d, .points = points, .count = count, .only_flows = count > 0};
	size_t found = 0;

	r.flows = or_abort(calloc(count_flows(points, count) + 1, sizeof(*r.flows)));
	for (size_t i = 0; i < count; i++)
		collect_flows(&r, &points[i], &found);
	return r;
}

void claim_reader_close(struct claim_reader *r)
{
	free(r->flows);
}

void claim_reader_complain(struct claim_reader *r, const struct ynode *at, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	diag_add(r->d, at->line, at->column, "%s", text);
}

#define SERIES_MAX 64

static void list_series(const char **names)
{
	size_t count = 0;

	for (size_t k = 0; kernels[k]; k++)
		for (const struct kernel_series *s = kernels[k]->series; s->name && count + 1 < SERIES_MAX; s++)
			names[count++] = s->name;
	names[count] = NULL;
}

struct place {
	struct claim_reader *r;
	const struct ynode *n;
};

static void complain_at(void *arg, const char *text)
{
	const struct place *place = arg;

	claim_reader_complain(place->r, place->n, "%s", text);
}

void claim_reader_metric(struct claim_reader *r, const struct ynode *n, bool is_elsewhere, struct claim_metric *m)
{
	const char *series[SERIES_MAX];
	const struct claim_metric_names names = {
	    .series = series, .flows = is_elsewhere ? NULL : r->flows, .only_flows = r->only_flows};

	if (n->kind == YNODE_SCALAR)
		claim_metric_set(m, n->scalar);
	if (n->kind != YNODE_SCALAR || !*m->of) {
		claim_reader_complain(r, n, "'metric' must be SERIES.STATISTIC such as lat_ns.p50");
		return;
	}
	list_series(series);
	claim_metric_check(m, &names, &(struct complaints){complain_at, &(struct place){r, n}, 0});
}

enum unit claim_reader_unit(const struct claim_metric *m)
{
	return claim_metric_unit(m);
}

bool claim_reader_has_interval(const struct claim_metric *m)
{
	return claim_metric_over_reps(m) != OVER_REPS_SUM;
}

/* --- what decides a comparison --- */

/* "p99_9" for "p99.9"; NULL: it cannot be compared. */
static const char *compared_key(const char *name)
{
	const struct statistic *s = statistic_find(name);

	return s && s->weight > 0 ? s->key : NULL;
}

static void add_judged(json_t *keys, const struct ynode *n, const char *name, struct diag *d)
{
	const char *key = compared_key(name);

	if (key)
		json_array_append_new(keys, json_string(key));
	else
		diag_add(d, n->line, n->column,
			 "'judge': '%s' is nothing that is compared; p50, p90, p99, p99.9 and over_limit are", name);
}

static void add_judged_words(json_t *keys, const struct ynode *n, struct diag *d)
{
	char *copy = or_abort(strdup(n->scalar)), *rest = copy, *name;

	while ((name = strsep(&rest, ","))) {
		name += strspn(name, " ");
		name[strcspn(name, " ")] = '\0';
		add_judged(keys, n, name, d);
	}
	free(copy);
}

json_t *claim_reader_judge(const struct ynode *root, struct diag *d)
{
	const struct ynode *n = yaml_get(root, "judge");
	json_t *keys = n ? json_array() : NULL;

	if (n && n->kind == YNODE_SCALAR)
		add_judged_words(keys, n, d);
	else if (n && n->kind != YNODE_SEQUENCE)
		diag_add(d, n->line, n->column, "'judge' must be a list of quantities, such as p50, p99");
	for (size_t i = 0; n && n->kind == YNODE_SEQUENCE && i < n->count; i++)
		if (n->items[i]->kind == YNODE_SCALAR)
			add_judged(keys, n->items[i], n->items[i]->scalar, d);
		else
			diag_add(d, n->items[i]->line, n->items[i]->column, "'judge' must be a list of quantities");
	return keys;
}
