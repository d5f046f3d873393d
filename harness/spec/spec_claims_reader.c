#include "spec/spec_claims_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/or_abort.h"
#include "common/yaml.h"

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
