#include "claims/claim_metric.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/blocks.h"
#include "analysis/param.h"
#include "common/diag.h"
#include "common/or_abort.h"
#include "rundir/flows.h"

#define NAMES_MAX 128

void claim_metric_set(struct claim_metric *m, const char *text)
{
	const char *dot = strrchr(text, '.');
	struct claim_metric made = {
	    .text = or_abort(strdup(text)),
	    .of = or_abort(strndup(text, dot ? (size_t)(dot - text) : 0)),
	    .statistic = or_abort(strdup(dot ? dot + 1 : "")),
	};
	size_t length = (size_t)(flows_bare_key(made.of) - made.of);

	made.flow = or_abort(strndup(made.of, length ? length - 1 : 0));
	claim_metric_free(m);
	*m = made;
}

void claim_metric_free(struct claim_metric *m)
{
	free(m->text);
	free(m->of);
	free(m->statistic);
	free(m->flow);
}

/* Only by its key, as used in runs. */
static const struct statistic *find_series_statistic(const char *key)
{
	const struct statistic *s = statistic_find(key);

	return s && !strcmp(s->key, key) ? s : NULL;
}

enum measure claim_metric_measure(const struct claim_metric *m)
{
	const struct block *block = block_find(flows_bare_key(m->of));
	const struct block_statistic *of_block = block ? block_statistic_find(block, m->statistic) : NULL;
	const struct statistic *of_series = block ? NULL : find_series_statistic(m->statistic);

	if (of_block)
		return of_block->measure;
	return of_series ? of_series->measure : MEASURE_SERIES;
}

enum over_reps claim_metric_over_reps(const struct claim_metric *m)
{
	const struct statistic *s = block_find(flows_bare_key(m->of)) ? NULL : find_series_statistic(m->statistic);

	return s ? s->over_reps : OVER_REPS_SPREAD;
}

enum unit claim_metric_unit(const struct claim_metric *m)
{
	const bool of_block = block_find(flows_bare_key(m->of));
	char name[64];

	/* The name contains it: "lat_ns.p50", "pattern.base_ns". */
	return claim_metric_measure(m) == MEASURE_SERIES
		   ? param_name_unit(of_block ? m->statistic : m->of, name, sizeof(name))
		   : UNIT_ONE;
}

/* --- errors in a metric --- */

struct check {
	void (*complain)(void *arg, const char *text);
	void *arg;
};

__attribute__((format(printf, 2, 3))) static void complain_of(const struct check *c, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	c->complain(c->arg, text);
}

static bool is_among(const char *name, const char *const *names)
{
	while (names && *names && strcmp(*names, name))
		names++;
	return names && *names;
}

/* Write the keys of all statistics, including those of blocks, to `names` (NAMES_MAX entries). */
static void list_statistics(const char **names)
{
	size_t count = 0;

	for (size_t i = 0; i < STATISTICS; i++)
		names[count++] = statistics[i].key;
	for (size_t b = 0; blocks[b]; b++)
		for (const struct block_statistic *s = blocks[b]->statistics; s->key && count + 1 < NAMES_MAX; s++)
			names[count++] = s->key;
	names[count] = NULL;
}

/* Write the names of all blocks and series to `names` (NAMES_MAX entries). */
static void list_metrics(const char *const *series, const char **names)
{
	size_t count = 0;

	for (size_t b = 0; blocks[b]; b++)
		names[count++] = blocks[b]->name;
	while (*series && count + 1 < NAMES_MAX)
		names[count++] = *series++;
	names[count] = NULL;
}

/* Does the metric belong to all flows of a point together? */
static bool is_of_point(const struct claim_metric *m)
{
	const struct block *block = block_find(m->of);

	return block && block->of_point;
}

static void check_flow(const struct check *c, const struct claim_metric *m, const struct claim_metric_names *n)
{
	char text[SUGGESTION_MAX];

	if (*m->flow && n->flows && !is_among(m->flow, n->flows))
		complain_of(c, "no point has a flow '%.32s'%s", m->flow,
			    suggestion(suggest(m->flow, n->flows), text, sizeof(text)));
	else if (!*m->flow && n->flows && n->only_flows && !is_of_point(m))
		complain_of(c, "'metric' must name the flow, too: all points have flows; did you mean '%s.%.63s'?",
			    n->flows[0], m->text);
}

static void check_known(const struct check *c, const char *metric, const char *const *metrics)
{
	char text[SUGGESTION_MAX];

	if (!is_among(metric, metrics))
		complain_of(c, "no kernel has a series '%.63s'%s", metric,
			    suggestion(suggest(metric, metrics), text, sizeof(text)));
}

static void check_statistic(const struct check *c, const char *metric, const char *statistic)
{
	const char *all[NAMES_MAX];
	const struct block *block = block_find(metric);
	bool found = block ? block_statistic_find(block, statistic) != NULL : find_series_statistic(statistic) != NULL;
	char text[SUGGESTION_MAX];

	list_statistics(all);
	if (!found && is_among(statistic, all))
		complain_of(c, "'%.63s' has no '%s'", metric, statistic);
	else if (!found)
		complain_of(c, "no series has a statistic '%.32s'%s", statistic,
			    suggestion(suggest(statistic, all), text, sizeof(text)));
}

void claim_metric_check(const struct claim_metric *m, const struct claim_metric_names *n,
			void (*complain)(void *arg, const char *text), void *arg)
{
	const struct check c = {complain, arg};
	const char *metrics[NAMES_MAX], *metric = flows_bare_key(m->of);

	list_metrics(n->series, metrics);
	if (is_among(m->flow, metrics)) {
		/* "lat_ns.p99.9" */
		check_statistic(&c, m->flow, m->text + strlen(m->flow) + 1);
		return;
	}
	check_flow(&c, m, n);
	check_known(&c, metric, metrics);
	check_statistic(&c, metric, m->statistic);
}
