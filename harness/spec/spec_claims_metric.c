#include "spec/spec_claims_metric.h"

#include <string.h>

#include "analysis/param.h"
#include "common/diag.h"
#include "common/yaml.h"
#include "kernels/kernel.h"

/* Not a series of stamps: how a pacer kept its rate. */
#define PACING "pacing"

static const struct {
	const char *name;
	enum measure measure;
	bool of_pacing;
} statistics[] = {
    {"min", MEASURE_SERIES, false},	   {"p50", MEASURE_SERIES, false},	  {"p90", MEASURE_SERIES, false},
    {"p99", MEASURE_SERIES, false},	   {"p99_9", MEASURE_SERIES, false},	  {"p99_99", MEASURE_SERIES, false},
    {"max", MEASURE_SERIES, false},	   {"mean", MEASURE_SERIES, false},	  {"stdev", MEASURE_SERIES, false},
    {"over_limit", MEASURE_SHARE, false},  {"n", MEASURE_COUNT, false},		  {"lost", MEASURE_COUNT, false},
    {"missed_share", MEASURE_SHARE, true}, {"unsent_share", MEASURE_SHARE, true}, {"achieved_hz", MEASURE_COUNT, true},
};

#define STATISTICS (sizeof(statistics) / sizeof(statistics[0]))
#define NAMES_MAX  64

static int find_statistic(const char *name)
{
	for (size_t i = 0; i < STATISTICS; i++)
		if (!strcmp(statistics[i].name, name))
			return (int)i;
	return -1;
}

/* All that points can have numbers of, into `names` of NAMES_MAX, NULL-terminated. */
static void list_series(const char **names)
{
	size_t count = 0;

	names[count++] = PACING;
	for (size_t k = 0; kernels[k]; k++)
		for (const struct kernel_series *s = kernels[k]->series; s->name && count + 1 < NAMES_MAX; s++)
			names[count++] = s->name;
	names[count] = NULL;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

static void check_series(struct claim_reader *r, const struct ynode *n, const struct claim_metric *m)
{
	const char *names[NAMES_MAX];
	char text[SUGGESTION_MAX];

	list_series(names);
	if (!is_one_of(m->of, names))
		claim_reader_complain(r, n, "no kernel has a series '%.63s'%s", m->of,
				      suggestion(suggest(m->of, names), text, sizeof(text)));
}

static void check_statistic(struct claim_reader *r, const struct ynode *n, const struct claim_metric *m)
{
	const char *names[STATISTICS + 1] = {NULL};
	int found = find_statistic(m->statistic);
	char text[SUGGESTION_MAX];

	for (size_t i = 0; i < STATISTICS; i++)
		names[i] = statistics[i].name;
	if (found >= 0 && statistics[found].of_pacing != !strcmp(m->of, PACING))
		claim_reader_complain(r, n, "'%.63s' has no '%s'", m->of, m->statistic);
	else if (found < 0)
		claim_reader_complain(r, n, "no series has a statistic '%.32s'%s", m->statistic,
				      suggestion(suggest(m->statistic, names), text, sizeof(text)));
}

void claim_reader_metric(struct claim_reader *r, const struct ynode *n, struct claim_metric *m)
{
	if (n->kind == YNODE_SCALAR)
		claim_metric_set(m, n->scalar);
	if (n->kind != YNODE_SCALAR || !*m->of) {
		claim_reader_complain(r, n, "'metric' wants SERIES.STATISTIC such as lat_ns.p50");
		return;
	}
	check_series(r, n, m);
	check_statistic(r, n, m);
}

enum measure claim_metric_measure(const struct claim_metric *m, enum unit *unit)
{
	int i = find_statistic(m->statistic);
	char name[64];

	*unit = i < 0 ? UNIT_ONE : param_name_unit(m->of, name, sizeof(name));
	return i < 0 ? MEASURE_COUNT : statistics[i].measure;
}
