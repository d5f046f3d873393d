#include "judge/analysis/summary.h"

#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/flows.h"

static void free_phases(struct summary_phase_list *of)
{
	for (size_t i = 0; i < of->count; i++)
		free(of->list[i].phases);
	free(of->list);
}

static void free_pattern(struct summary_pattern *p)
{
	if (!p)
		return;
	free_phases(&p->high);
	free_phases(&p->low);
	for (size_t i = 0; i < p->nested_count; i++) {
		free_phases(&p->nested[i].high);
		free_phases(&p->nested[i].low);
	}
	for (size_t i = 0; i < p->other_count; i++)
		summary_free_block(&p->others[i]);
	free(p->nested);
	free(p->shifts);
	free(p->others);
	free(p);
}

void summary_free_block(struct summary_block *b)
{
	for (size_t i = 0; i < b->share_count; i++) {
		free(b->shares[i].flow);
		free(b->shares[i].parts);
	}
	free(b->shares);
	free(b->causes);
	free_pattern(b->pattern);
	free(b->flow);
	free(b->about);
	free(b->why);
}

void summary_free_results(struct summary_results *r)
{
	for (size_t i = 0; i < r->metric_count; i++)
		free(r->metrics[i].name);
	for (size_t i = 0; i < r->block_count; i++)
		summary_free_block(&r->blocks[i]);
	free(r->metrics);
	free(r->blocks);
}

void summary_free_interference(struct summary_interference *i)
{
	if (i)
		free(i->metric);
	free(i);
}

static void free_flow(struct summary_flow *f)
{
	summary_free_interference(f->interference);
	free(f->name);
}

void summary_free_point(struct summary_point *p)
{
	for (size_t i = 0; i < p->flow_count; i++)
		free_flow(&p->flows[i]);
	for (size_t i = 0; i < p->rep_count; i++)
		summary_free_results(&p->reps[i].results);
	summary_free_results(&p->results);
	free(p->flows);
	free(p->reps);
	free(p->outcome_text);
	free(p->why);
	json_decref(p->params);
	json_decref(p->reasons);
	json_decref(p->warnings);
	json_decref(p->clock);
}

void summary_free(struct summary *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->point_count; i++)
		summary_free_point(&s->points[i]);
	free(s->points);
	free(s->name);
	free(s->title);
	free(s->variant);
	json_decref(s->hosts);
	json_decref(s->reasons);
	json_decref(s->warnings);
	json_decref(s->named);
	free(s);
}

bool summary_is_disturbed(const struct summary_point *p)
{
	return number_is_known(p->cpu_share_of_others) && number_value(p->cpu_share_of_others) > 0.15;
}

const struct summary_point *summary_find_point(const struct summary *s, json_int_t id)
{
	size_t low = 0, high = s->point_count;

	/* Ids are ascending (files/rundir/schema.h). */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (s->points[middle].id == id)
			return &s->points[middle];
		if (s->points[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct summary_metric *summary_find_metric(const struct summary_results *r, const char *flow, const char *series)
{
	for (size_t i = 0; i < r->metric_count; i++)
		if (flows_owns(flow, r->metrics[i].name) &&
		    (!series || !strcmp(flows_bare_key(r->metrics[i].name), series)))
			return &r->metrics[i];
	return NULL;
}

const struct summary_metric *summary_metric_named(const struct summary_results *r, const char *name)
{
	for (size_t i = 0; i < r->metric_count; i++)
		if (!strcmp(r->metrics[i].name, name))
			return &r->metrics[i];
	return NULL;
}

const struct summary_block *summary_find_block(const struct summary_results *r, const char *flow,
					       const struct block *of)
{
	for (size_t i = 0; i < r->block_count; i++)
		if (r->blocks[i].of == of && !strcmp(r->blocks[i].flow, flow))
			return &r->blocks[i];
	return NULL;
}

struct summary_block *summary_add_block(struct summary_results *r, const char *flow, const struct block *of)
{
	r->blocks = grow_or_abort(r->blocks, r->block_count, sizeof(*r->blocks));
	r->blocks[r->block_count] = (struct summary_block){.of = of, .flow = fs_path("%s", flow)};
	return &r->blocks[r->block_count++];
}

struct number summary_block_number(const struct summary_block *b, const struct block_statistic *row)
{
	return b ? b->numbers[row->number] : (struct number){.kind = NUMBER_ABSENT};
}

static struct number number_of_metric(const struct summary_metric *m, const char *key)
{
	const struct statistic *row = statistic_find(key);

	if (!strcmp(key, CLOCK_ERROR_KEY))
		return m->clock_error;
	return row && !strcmp(row->key, key) ? m->values[row - statistics] : (struct number){.kind = NUMBER_ABSENT};
}

struct number summary_number(const struct summary_results *r, const char *of, const char *key)
{
	const struct summary_metric *m = summary_metric_named(r, of);
	const char *bare = flows_bare_key(of);
	const struct block *block = block_find(bare);
	const struct block_statistic *row = block ? block_statistic_find(block, key) : NULL;

	if (m)
		return number_of_metric(m, key);
	for (size_t i = 0; row && i < r->block_count; i++)
		if (r->blocks[i].of == block && flows_owns(r->blocks[i].flow, of))
			return r->blocks[i].numbers[row->number];
	return (struct number){.kind = NUMBER_ABSENT};
}

const struct summary_block *summary_late(const struct summary_point *p, const char *flow)
{
	const struct summary_block *causes = summary_find_block(&p->results, flow, &causes_block);

	return causes && number_count(causes->numbers[CAUSES_MESSAGES]) > 0 ? causes : NULL;
}
