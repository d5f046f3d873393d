#include "judge/analysis/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/flows.h"

bool summary_is_disturbed(const struct summary_point *p)
{
	return number_is_known(p->cpu_share_of_others) && number_value(p->cpu_share_of_others) > 0.15;
}

static bool is_of_interrupt(const struct summary_lack *l)
{
	static const char irqs[] = "/proc/irq/";

	return !strncmp(l->object, irqs, strlen(irqs));
}

char *summary_environment_lack(const struct summary_point *p)
{
	const struct summary_lack *first = NULL;
	char more[48] = "";
	size_t count = 0;

	for (size_t i = 0; i < p->lack_count; i++) {
		if (is_of_interrupt(&p->lacks[i]))
			continue;
		first = first ? first : &p->lacks[i];
		count++;
	}
	if (count > 1)
		snprintf(more, sizeof(more), " (and %zu more)", count - 1);
	return first ? fs_path("the environment %s was not applied in whole on %s: %s%s%s%s%s%s", p->environment ?: "?",
			       first->host, first->knob, *first->knob ? " " : "", first->object,
			       *first->knob ? ": " : "", first->reason, more)
		     : NULL;
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
