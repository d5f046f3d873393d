#include "report/run_figures.h"

#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/flows.h"
#include "report/axes.h"
#include "report/escape.h"
#include "report/histogram_plot.h"

/* Settings that could distinguish points, "" for the run; and for each the first one that it
 * changes along with, or itself if there is no earlier one. */
struct overlay_keys {
	const struct report *r;
	const char **key;
	size_t *with;
	size_t count;
	bool *compared; /* for each of r->leading: a figure against a setting shows it */
};

struct pair {
	const struct report_item *point[2]; /* represented by their leading series */
	struct report_item shown[2];	    /* represented by the series that are drawn */
	size_t with;			    /* the setting in which they differ */
};

/* --- which keys --- */

/* Settings whose values are shown side by side, or on an axis. */
static bool is_never_overlaid(const char *key)
{
	static const char *const keys[] = {AXES_FACET, AXES_SIZE, "values", "rate_hz"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(flows_bare_key(key), keys[i]))
			return true;
	return false;
}

static void overlay_find_keys(struct overlay_keys *k, const struct report *r)
{
	struct report_keys axes = axes_all(r);
	size_t most = r->varying.count + 1;

	*k = (struct overlay_keys){.r = r,
				   .key = or_abort(calloc(most, sizeof(*k->key))),
				   .with = or_abort(calloc(most, sizeof(*k->with))),
				   .compared = or_abort(calloc(r->leading_count + 1, sizeof(*k->compared)))};
	if (r->run_count > 1)
		k->key[k->count++] = "";
	for (size_t i = 0; i < r->varying.count; i++)
		if (!axes_is_bookkeeping(r, r->varying.key[i]))
			k->key[k->count++] = r->varying.key[i];
	for (size_t i = 0; i < k->count; i++)
		while (k->with[i] < i && !axes_go_along(r, k->key[k->with[i]], k->key[i]))
			k->with[i]++;
	for (size_t i = 0; i < r->leading_count; i++)
		k->compared[i] = axes_is_on_one(&axes, &r->leading[i]);
	free(axes.key);
}

static void free_keys(struct overlay_keys *k)
{
	free(k->key);
	free(k->with);
	free(k->compared);
}

/* The settings in which a pair differs (`apart`), or the others. Returns their number. */
static size_t keys_of(const struct overlay_keys *k, size_t with, bool apart, const char **found)
{
	size_t count = 0;

	for (size_t i = 0; i < k->count; i++)
		if ((k->with[i] == with) == apart)
			found[count++] = k->key[i];
	return count;
}

static bool may_tell_apart(const struct overlay_keys *k, size_t with)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->with[i] == with && is_never_overlaid(k->key[i]))
			return false;
	return k->with[with] == with;
}

/* --- which points --- */

static bool are_mates(const struct overlay_keys *k, size_t with, const struct report_item *a,
		      const struct report_item *b)
{
	if (a == b || !axes_of_one_flow(a, b) || !axes_differ(a, b, k->key[with]))
		return false;
	for (size_t i = 0; i < k->count; i++)
		if (k->with[i] != with && axes_differ(a, b, k->key[i]))
			return false;
	return true;
}

/* NULL: it has none, or several. */
static const struct report_item *only_mate(const struct overlay_keys *k, size_t with, const struct report_item *item)
{
	const struct report_item *mate = NULL;

	for (size_t i = 0; i < k->r->leading_count; i++) {
		if (!are_mates(k, with, item, &k->r->leading[i]))
			continue;
		if (mate || k->compared[i])
			return NULL;
		mate = &k->r->leading[i];
	}
	return mate;
}

/* --- which series --- */

static const char *last_column(const struct report_series *s)
{
	for (unsigned i = 0; i < s->flow->series_count; i++)
		if (!strcmp(s->flow->series[i].name, s->name))
			return s->flow->columns[s->flow->series[i].column];
	return "";
}

static bool has_series(const struct report_item *i, const char *name)
{
	for (size_t s = 0; s < i->point->series_count; s++)
		if (i->point->series[s].flow == i->series->flow && !strcmp(i->point->series[s].name, name))
			return true;
	return false;
}

/* If a setting adds another start of the same latency (t_send in addition to t_subm), that series;
 * otherwise the leading one. */
static struct report_item what_to_show(const struct report_item *i, const struct report_item *mate)
{
	for (size_t n = 0; n < i->point->series_count; n++) {
		const struct report_series *s = &i->point->series[n];

		if (s->flow == i->series->flow && model_is_measured(s) && !has_series(mate, s->name) &&
		    !strcmp(last_column(s), last_column(i->series)))
			return (struct report_item){i->point, s};
	}
	return *i;
}

/* False: this is not a pair, or the leading series are of different kinds. */
static bool make_pair(struct pair *p, const struct overlay_keys *k, size_t with, size_t index)
{
	const struct report_item *item = &k->r->leading[index], *mate;

	if (k->compared[index] || !(mate = only_mate(k, with, item)) || mate < item || only_mate(k, with, mate) != item)
		return false;
	*p = (struct pair){{item, mate}, {what_to_show(item, mate), what_to_show(mate, item)}, with};
	return !strcmp(item->series->name, mate->series->name);
}

/* --- the figure --- */

/* "inline off"; "t_send (t send yes)" if the two show different series. */
static char *label_of(const struct overlay_keys *k, const struct pair *p, size_t which)
{
	bool alike = !strcmp(p->shown[0].series->name, p->shown[1].series->name);
	const char **keys = or_abort(calloc(k->count + 1, sizeof(*keys)));
	char *setting = axes_label(k->r, &p->shown[which], keys, keys_of(k, p->with, true, keys)), *label;

	label = alike ? fs_path("%s", setting) : fs_path("%s (%s)", p->shown[which].series->label, setting);
	free(keys);
	free(setting);
	return label;
}

static char *label_of_both(const struct overlay_keys *k, const struct pair *p)
{
	const char **keys = or_abort(calloc(k->count + 1, sizeof(*keys)));
	char *label = axes_label(k->r, &p->shown[0], keys, keys_of(k, p->with, false, keys));

	free(keys);
	return label;
}

/* "t_lat: inline off and inline on; rc" */
static char *overlay_description(const struct pair *p, const char *const *labels, const char *both)
{
	bool alike = !strcmp(p->shown[0].series->name, p->shown[1].series->name);

	return fs_path("%s%s%s and %s%s%s", alike ? p->shown[0].series->label : "", alike ? ": " : "", labels[0],
		       labels[1], *both ? "; " : "", both);
}

static char *overlay_title(const struct overlay_keys *k, const char *description)
{
	const char *name = k->r->run_count == 1 ? k->r->runs[0].record->name : NULL;

	return fs_path("%s%s%s", name ? name : "", name ? ": " : "", description);
}

static void overlay_heading(FILE *table, const char *const *labels)
{
	fputs("from_ns\tto_ns", table);
	for (size_t i = 0; i < 2; i++) {
		fputc('\t', table);
		escape_tsv(table, labels[i]);
	}
	fputc('\n', table);
}

static int add_overlay(struct figures *f, const struct overlay_keys *k, const struct pair *p, struct err *e)
{
	char *labels[] = {label_of(k, p, 0), label_of(k, p, 1)}, *both = label_of_both(k, p);
	const char *const names[] = {labels[0], labels[1]};
	char *description = overlay_description(p, names, both);
	FILE *table = figure_begin(f, "overlay", NULL, fs_path("overlay-%zu", f->count),
				   fs_path("Histograms of %s", description), e);

	if (table) {
		const struct report_series *const series[] = {p->shown[0].series, p->shown[1].series};

		overlay_heading(table, names);
		histogram_plot_write(f, table,
				     &(struct histogram_plot){.series = series,
							      .labels = names,
							      .count = 2,
							      .items = p->shown,
							      .item_count = 2,
							      .title = overlay_title(k, description)});
	}
	free(description);
	free(both);
	free(labels[1]);
	free(labels[0]);
	return figure_end(f, table, e);
}

/* --- all pairs --- */

/* Counts all pairs, and if `f` is not NULL, draws the first ones. */
static int each_pair(struct figures *f, const struct report *r, size_t *count, struct err *e)
{
	struct overlay_keys k;
	struct pair pair;
	int rc = 0;

	*count = 0;
	if (!axes_are_comparable(r))
		return 0;
	overlay_find_keys(&k, r);
	for (size_t with = 0; !rc && with < k.count; with++) {
		if (!may_tell_apart(&k, with))
			continue;
		for (size_t i = 0; !rc && i < r->leading_count; i++) {
			if (!make_pair(&pair, &k, with, i))
				continue;
			if (f && *count < FIGURE_OVERLAYS_MAX)
				rc = add_overlay(f, &k, &pair, e);
			++*count;
		}
	}
	free_keys(&k);
	return rc;
}

int figure_overlay_add(struct figures *f, const struct report *r, struct err *e)
{
	size_t count;

	return each_pair(f, r, &count, e);
}

size_t figure_overlay_count(const struct report *r)
{
	size_t count;

	each_pair(NULL, r, &count, NULL);
	return count;
}
