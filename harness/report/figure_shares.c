#include "report/figure_shares.h"

#include <math.h>
#include <string.h>

#include "analysis/fairness.h"
#include "common/fs.h"
#include "report/escape.h"
#include "rundir/flows.h"

#define WIDTH	   800
#define HEIGHT	   400
#define POINTS_MAX 24 /* more do not help; the table of numbers has all */
#define NUMBER_MAX 32

/* The values of all repetitions for a part of the window. */
struct part {
	double sum, least, most;
	size_t count;
};

static const json_t *fairness_of(const json_t *holder)
{
	return json_object_get(holder, fairness_block.name);
}

static struct part part_of(const struct report_point *p, const char *flow, size_t part)
{
	const json_t *rep;
	struct part all = {0, INFINITY, -INFINITY, 0};
	size_t i;

	json_array_foreach (json_object_get(p->summary, "reps"), i, rep) {
		const json_t *shares = json_object_get(json_object_get(fairness_of(rep), "shares"), flow);
		const json_t *share = json_array_get(shares, part);

		if (!json_is_number(share))
			continue;
		all.sum += json_number_value(share);
		all.least = fmin(all.least, json_number_value(share));
		all.most = fmax(all.most, json_number_value(share));
		all.count++;
	}
	return all;
}

static bool has_shares(const struct report_point *p, const char *flow)
{
	for (size_t i = 0; i < FAIRNESS_WINDOWS; i++)
		if (part_of(p, flow, i).count)
			return true;
	return false;
}

static size_t shared_flows(const struct report_point *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->layout.flow_count; i++)
		count += has_shares(p, p->layout.flows[i].name);
	return count;
}

/* --- a figure --- */

static void shares_table(FILE *table, const struct report_point *p)
{
	fputs("line\tpercent\tshare\tleast\tmost\tflow\n", table);
	for (size_t i = 0; i < p->layout.flow_count; i++) {
		const char *flow = p->layout.flows[i].name;

		for (size_t k = 0; k < FAIRNESS_WINDOWS; k++) {
			const struct part part = part_of(p, flow, k);

			if (!part.count)
				continue;
			fprintf(table, "%zu\t%.6g\t%.6g\t%.6g\t%.6g\t", i + 1,
				100 * ((double)k + .5) / FAIRNESS_WINDOWS, part.sum / (double)part.count, part.least,
				part.most);
			escape_tsv(table, flow);
			fputc('\n', table);
		}
		fputs("\n", table);
	}
}

/* "small, 43.1 %" */
static char *line_label(const struct report_point *p, const char *flow)
{
	const json_t *share = json_object_get(flows_get(p->summary, flow, fairness_block.name), "share");

	return json_is_number(share) ? fs_path("%s, %.1f %%", flow, 100 * json_number_value(share))
				     : fs_path("%s", flow);
}

static void set_shares_lines(struct figures *f, const struct report_point *p)
{
	size_t longest = 1;

	figure_set_array(f, "lines", p->layout.flow_count);
	for (size_t i = 0; i < p->layout.flow_count; i++) {
		const char *flow = p->layout.flows[i].name;
		char *label = has_shares(p, flow) ? line_label(p, flow) : fs_path("%s", "");

		figure_set_item(f, "lines", i, label);
		longest = strlen(label) > longest ? strlen(label) : longest;
		free(label);
	}
	fprintf(f->script, "line_count = %zu\nwidth = %d\nheight = %d\n", p->layout.flow_count, WIDTH, HEIGHT);
	figure_set_number(f, "fair", 1 / (double)shared_flows(p));
	figure_set_key(f, WIDTH, shared_flows(p), longest);
}

static const char *jain_text(const struct report_point *p, char *text, size_t size)
{
	const json_t *jain = json_object_get(fairness_of(p->summary), "jain");

	if (!json_is_number(jain))
		return "";
	snprintf(text, size, "; Jain's index %.3f", json_number_value(jain));
	return text;
}

static int add_shares(struct figures *f, const struct report *r, const struct report_point *p, struct err *e)
{
	char jain[NUMBER_MAX];
	FILE *table = figure_begin(f, "shares", p, fs_path("%s-shares", p->name),
				   fs_path("The share of the bytes that each flow moved, over time: %s", p->label), e);

	if (table) {
		shares_table(table, p);
		figure_set_title(f, r, "shares of the flows%s%s%s%s", *p->label ? ": " : "", p->label,
				 jain_text(p, jain, sizeof(jain)), model_is_valid(p) ? "" : "; not valid");
		set_shares_lines(f, p);
	}
	return figure_end(f, table, e);
}

int figure_shares_add(struct figures *f, const struct report *r, struct err *e)
{
	size_t drawn = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < r->count && drawn < POINTS_MAX; i++) {
		if (shared_flows(&r->points[i]) < 2)
			continue;
		rc = add_shares(f, r, &r->points[i], e);
		drawn++;
	}
	return rc;
}
