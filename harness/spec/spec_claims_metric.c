#include "spec/spec_claims_metric.h"

#include "common/yaml.h"
#include "kernels/kernel.h"

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
	claim_metric_check(m, &names, complain_at, &(struct place){r, n});
}
