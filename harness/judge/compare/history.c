#include "judge/compare/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/codec.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/table.h"
#include "common/table_print.h"
#include "common/text.h"
#include "files/rundir/writer.h"
#include "judge/compare/changepoint.h"
#include "judge/compare/compare_judge.h"

#define WIDTH 110

/* A point's values without gaps, and the unit of each. */
struct levels {
	double *value, *clean;
	bool *odd;
	size_t *unit, *change, count, changes;
};

static double native(const struct compare_values *v, double value)
{
	return v->logarithms ? exp(value) : value;
}

static const char *kernel_of(const struct compare_runs *runs, size_t unit)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->run[i].unit == unit)
			return runs->run[i].kernel;
	return "";
}

/* The units as they are shown: by time, or those of each kernel together, beginning with the one that ran first. */
static size_t *units_in_order(const struct compare_runs *runs, bool by_kernel)
{
	const size_t units = runs->units[ARM_BASE];
	size_t *order = or_abort(calloc(units + 1, sizeof(*order))), count = 0;
	json_t *kernels = compare_values(runs, ARM_BASE, FIELD_KERNEL), *kernel;
	size_t k;

	for (size_t u = 0; u < units && !by_kernel; u++)
		order[count++] = u;
	json_array_foreach (kernels, k, kernel)
		for (size_t u = 0; u < units && by_kernel; u++)
			if (!strcmp(kernel_of(runs, u), json_string_value(kernel)))
				order[count++] = u;
	json_decref(kernels);
	return order;
}

static struct levels levels_find(const struct compare_values *v, const size_t *order, size_t units)
{
	struct levels c = {.value = or_abort(calloc(units + 1, sizeof(double))),
			   .clean = or_abort(calloc(units + 1, sizeof(double))),
			   .odd = or_abort(calloc(units + 1, sizeof(bool))),
			   .unit = or_abort(calloc(units + 1, sizeof(size_t))),
			   .change = or_abort(calloc(units + 1, sizeof(size_t)))};

	for (size_t i = 0; v->value && i < units; i++)
		if (!isnan(v->value[order[i]])) {
			c.unit[c.count] = order[i];
			c.value[c.count++] = v->value[order[i]];
		}
	c.changes = changepoints(c.value, c.count, c.change, c.clean, c.odd);
	return c;
}

static void levels_free(struct levels *c)
{
	free(c->value);
	free(c->clean);
	free(c->odd);
	free(c->unit);
	free(c->change);
}

/* The mean of the segment that starts at the `k`-th change (0: the first segment), without odd values. */
static double level_of(const struct levels *c, size_t k)
{
	size_t from = k ? c->change[k - 1] : 0, to = k < c->changes ? c->change[k] : c->count, count = 0;
	double sum = 0;

	for (size_t i = from; i < to; i++)
		if (!c->odd[i]) {
			sum += c->value[i];
			count++;
		}
	return count ? sum / (double)count : c->clean[from];
}

/* The first run of a unit that has the point, and the number of them. NULL: none has it. */
static const struct compare_run *first_of(const struct compare_runs *runs, const struct compare_point *p, size_t unit,
					  size_t *count)
{
	const struct compare_run *first = NULL;

	*count = 0;
	for (size_t i = 0; i < runs->count; i++)
		if (runs->run[i].unit == unit && p->of_run[i]) {
			first = first ? first : &runs->run[i];
			++*count;
		}
	return first;
}

static struct history_build build_of(const struct compare_run *run, size_t count)
{
	return (struct history_build){
	    .kernel = fs_path("%s", run->kernel),
	    .boot = fs_path("%s", run->boot),
	    .started_utc = rundir_began(&run->run.record),
	    .runs = count,
	    .value = NAN,
	    .level = NAN,
	};
}

/* The units in which the point was measured. `place`: the index of each unit's build. */
static void add_builds(struct history_point *to, const struct compare_runs *runs, const struct compare_point *p,
		       const size_t *order, size_t *place)
{
	to->builds = or_abort(calloc(runs->units[ARM_BASE] + 1, sizeof(*to->builds)));
	for (size_t i = 0; i < runs->units[ARM_BASE]; i++) {
		size_t count;
		const struct compare_run *run = first_of(runs, p, order[i], &count);

		place[order[i]] = to->build_count;
		if (run)
			to->builds[to->build_count++] = build_of(run, count);
	}
}

static void add_values(struct history_point *to, const struct compare_values *v, const struct levels *c,
		       const size_t *place)
{
	size_t segment = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct history_build *build = &to->builds[place[c->unit[i]]];

		segment += segment < c->changes && c->change[segment] == i;
		build->value = native(v, c->value[i]);
		build->level = native(v, level_of(c, segment));
		build->odd = c->odd[i];
	}
}

static void add_changes(struct history_point *to, const struct compare_values *v, const struct levels *c,
			const size_t *place)
{
	to->changes = or_abort(calloc(c->changes + 1, sizeof(*to->changes)));
	for (size_t k = 0; k < c->changes; k++) {
		double from = native(v, level_of(c, k)), after = native(v, level_of(c, k + 1));

		to->changes[to->change_count++] = (struct history_change){
		    .at = place[c->unit[c->change[k]]],
		    .before = place[c->unit[c->change[k] - 1]],
		    .from = from,
		    .to = after,
		    .effect_percent = from != 0 ? 100 * (after / from - 1) : NAN,
		};
	}
}

/* For people; "ns" for a series. */
static const char *unit_of(const struct compare_values *v, const char *metric)
{
	return v->of.measure == MEASURE_SERIES ? "ns" : compare_quantity_unit(&v->of, metric ? metric : "");
}

/* If a point's metric does not have the quantity, its values are marked as not compared. */
static const struct compare_values *history_values(const struct compare_point *p, const char *quantity)
{
	static const struct compare_values none = {.of.key = "", .why = "it has no such statistic"};

	for (size_t q = 0; q < p->quantity_count; q++)
		if (!strcmp(p->quantity[q].of.key, quantity))
			return &p->quantity[q];
	return &none;
}

static struct history_point history_point_of(const struct compare_join *j, const struct compare_point *p,
					     const char *quantity, const size_t *order)
{
	const struct compare_values *v = history_values(p, quantity);
	struct levels c = levels_find(v, order, j->runs->units[ARM_BASE]);
	size_t *place = or_abort(calloc(j->runs->units[ARM_BASE] + 1, sizeof(*place)));
	struct history_point to = {
	    .id = p->id,
	    .label = compare_label(j, p),
	    .metric = fs_path("%s", p->metric ? p->metric : ""),
	    .unit = unit_of(v, p->metric),
	    .why = v->why ? v->why : "",
	};

	add_builds(&to, j->runs, p, order, place);
	add_values(&to, v, &c, place);
	add_changes(&to, v, &c, place);
	free(place);
	levels_free(&c);
	return to;
}

double history_change_percent(const struct history_change *c)
{
	return isnan(c->effect_percent) ? 0 : c->effect_percent;
}

double history_odd_percent(const struct history_build *b)
{
	return b->level != 0 && isfinite(b->value / b->level) ? 100 * (b->value / b->level - 1) : 0;
}

/* "; 2 boots are odd, by +20.1 % at most (point 0, 6.1.0-47-amd64)"; the caller frees. */
static char *history_odd(const struct history *h)
{
	const struct history_point *where = NULL;
	const struct history_build *worst = NULL;
	size_t count = 0;

	for (const struct history_point *p = h->points; p < h->points + h->point_count; p++)
		for (const struct history_build *b = p->builds; b < p->builds + p->build_count; b++) {
			count += b->odd;
			if (b->odd && (!worst || fabs(history_odd_percent(b)) > fabs(history_odd_percent(worst)))) {
				worst = b;
				where = p;
			}
		}
	if (!worst)
		return fs_path("%s", "");
	return fs_path("; %zu odd %s%s; the farthest from its level, by %+.2f %%, at point %" JSON_INTEGER_FORMAT
		       " (%s, %.8s)",
		       count, compare_unit_name[h->kind], count == 1 ? "" : "s", history_odd_percent(worst), where->id,
		       text_named(worst->kernel), worst->boot);
}

static char *history_answer(const struct history *h, size_t units)
{
	char *odd = history_odd(h), *answer;

	const struct history_point *where = NULL;
	const struct history_change *worst = NULL;
	size_t count = 0;

	for (const struct history_point *p = h->points; p < h->points + h->point_count; p++)
		for (const struct history_change *c = p->changes; c < p->changes + p->change_count; c++, count++)
			if (!worst || fabs(history_change_percent(c)) > fabs(history_change_percent(worst))) {
				worst = c;
				where = p;
			}
	if (!worst)
		answer = fs_path("no change of level in %zu %ss%s", units, compare_unit_name[h->kind], odd);
	else
		answer = fs_path("%zu change%s of level; the largest, %+.2f %%, at point %" JSON_INTEGER_FORMAT
				 " from %s to %s; as a hint, compare the runs before it with those after it%s",
				 count, count == 1 ? "" : "s", history_change_percent(worst), where->id,
				 text_named(where->builds[worst->before].kernel),
				 text_named(where->builds[worst->at].kernel), odd);
	free(odd);
	return answer;
}

struct history history_of(const struct compare_join *j, const char *quantity, bool by_kernel)
{
	size_t *order = units_in_order(j->runs, by_kernel);
	struct history h = {
	    .experiment = fs_path("%s", compare_run_name(&j->runs->run[0])),
	    .quantity = quantity,
	    .kind = j->runs->kind,
	    .points = or_abort(calloc(j->count + 1, sizeof(*h.points))),
	    .point_count = j->count,
	};

	for (size_t i = 0; i < j->count; i++)
		h.points[i] = history_point_of(j, &j->point[i], quantity, order);
	free(order);
	h.levels = history_answer(&h, j->runs->units[ARM_BASE]);
	h.answer = or_abort(strdup(h.levels));
	return h;
}

enum compare_outcome history_outcome(const struct history *h)
{
	enum compare_outcome worst = h->step_count ? OUTCOME_NONE : OUTCOME_UNDECIDED;

	for (size_t i = 0; i < h->step_count && worst != OUTCOME_REGRESSION; i++)
		worst = h->steps[i].outcome != OUTCOME_NONE ? h->steps[i].outcome : worst;
	return worst;
}

/* "1 of 3 kernels: regression, the first from A to B; by level alone: no change of level in 16 boots". */
static char *history_answer_of_steps(const struct history *h)
{
	const enum compare_outcome outcome = history_outcome(h);
	const struct history_step *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < h->step_count; i++)
		if (h->steps[i].outcome == outcome) {
			first = first ?: &h->steps[i];
			count++;
		}
	if (outcome == OUTCOME_NONE)
		return fs_path("no regression in any of %zu kernel%s compared with the one before; by level alone: %s",
			       count, count == 1 ? "" : "s", h->levels);
	return fs_path("%s in %zu of %zu kernels compared with the one before, first from %s to %s; by level alone: %s",
		       outcome == OUTCOME_REGRESSION ? "a regression" : "undecided", count, h->step_count,
		       text_named(first->from), text_named(first->to), h->levels);
}

void history_add_step(struct history *h, const char *from, const char *to, const struct comparison *c, const char *page)
{
	h->steps = grow_or_abort(h->steps, h->step_count, sizeof(*h->steps));
	h->steps[h->step_count++] = (struct history_step){
	    .from = or_abort(strdup(from)),
	    .to = or_abort(strdup(to)),
	    .answer = or_abort(strdup(c->answer)),
	    .page = or_abort(strdup(page)),
	    .outcome = c->verdict,
	};
	free(h->answer);
	h->answer = history_answer_of_steps(h);
}

void history_add_page(struct history *h, const char *name, const char *link, const char *why)
{
	h->pages = grow_or_abort(h->pages, h->page_count, sizeof(*h->pages));
	h->pages[h->page_count++] = (struct history_page){
	    .name = or_abort(strdup(name)),
	    .link = link ? or_abort(strdup(link)) : NULL,
	    .why = why ? or_abort(strdup(why)) : NULL,
	};
}

/* --- as JSON --- */

static const struct codec build_rows[] = {
    CODEC(history_build, kernel),
    CODEC(history_build, boot),
    CODEC(history_build, started_utc),
    CODEC(history_build, runs),
    CODEC(history_build, value),
    CODEC(history_build, level),
    CODEC(history_build, odd, .flags = CODEC_OPTIONAL),
    {0},
};

/* The kernels before and after it. */
static json_t *encode_kernels(const void *change, const void *point)
{
	const struct history_change *c = change;
	const struct history_build *builds = ((const struct history_point *)point)->builds;

	return json_pack("{s:s, s:s}", "before", builds[c->before].kernel, "after", builds[c->at].kernel);
}

static const struct codec change_rows[] = {
    CODEC(history_change, at), CODEC_BY(NULL, encode_kernels, NULL),  CODEC(history_change, from),
    CODEC(history_change, to), CODEC(history_change, effect_percent), {0},
};

static const struct codec point_rows[] = {
    CODEC(history_point, id),
    CODEC(history_point, label),
    CODEC(history_point, metric),
    CODEC(history_point, unit),
    CODEC(history_point, why),
    CODEC_LISTED("builds", history_point, builds, build_count, build_rows),
    CODEC_LISTED("changes", history_point, changes, change_count, change_rows),
    {0},
};

static const struct codec step_rows[] = {
    CODEC(history_step, from),
    CODEC(history_step, to),
    CODEC_AS("verdict", history_step, outcome, CODEC_WORDS(compare_outcomes)),
    CODEC(history_step, answer),
    CODEC(history_step, page),
    {0},
};

static const struct codec page_rows[] = {
    CODEC(history_page, name), CODEC(history_page, link), CODEC(history_page, why), {0}};

static const struct codec history_rows[] = {
    CODEC_SCHEMA,
    CODEC(history, experiment),
    CODEC_AS("unit", history, kind, .words = compare_unit_name),
    CODEC(history, quantity),
    CODEC(history, answer),
    CODEC(history, levels, .flags = CODEC_UNWRITTEN),
    CODEC_LISTED("points", history, points, point_count, point_rows),
    CODEC_LISTED("steps", history, steps, step_count, step_rows, .flags = CODEC_OPTIONAL),
    CODEC_LISTED("pages", history, pages, page_count, page_rows, .flags = CODEC_UNWRITTEN),
    {0},
};

json_t *history_json(const struct history *h)
{
	return codec_encode(history_rows, h, NULL);
}

void history_free(struct history *h)
{
	codec_free(history_rows, h);
	*h = (struct history){.answer = NULL};
}

/* --- for people --- */

enum { BEGAN, KERNEL, BOOT, RUNS, VALUE, LEVEL, MARK, BUILD_COLUMNS };

static const struct table_column build_columns[BUILD_COLUMNS] = {
    [BEGAN] = {.label = "began", .heads_row = true},
    [KERNEL] = {.label = "kernel"},
    [BOOT] = {.label = "boot", .drop_order = 1},
    [RUNS] = {.label = "runs", .align = TABLE_RIGHT, .drop_order = 2},
    [VALUE] = {.label = "value", .align = TABLE_RIGHT},
    [LEVEL] = {.label = "level", .align = TABLE_RIGHT},
    [MARK] = {.label = ""},
};

struct table history_builds_table(const struct history_point *p)
{
	struct table t = table_of(build_columns, BUILD_COLUMNS, p->build_count);

	for (size_t i = 0; i < p->build_count; i++) {
		const struct history_build *build = &p->builds[i];

		table_text(&t, BEGAN, i, "%s", build->started_utc);
		table_text(&t, KERNEL, i, "%s", build->kernel);
		table_text(&t, BOOT, i, "%.8s", build->boot);
		table_count(&t, RUNS, i, (int64_t)build->runs);
		table_in_unit(&t, VALUE, i, build->value, p->unit);
		table_in_unit(&t, LEVEL, i, build->level, p->unit);
	}
	for (size_t i = 0; i < p->build_count; i++)
		if (p->builds[i].odd)
			table_text(&t, MARK, i, "odd: %+.2f %%", history_odd_percent(&p->builds[i]));
	for (size_t i = 0; i < p->change_count; i++)
		table_text(&t, MARK, p->changes[i].at, "<- %+.2f %%", history_change_percent(&p->changes[i]));
	return t;
}

enum { FROM, TO, VERDICT, ANSWER, STEP_COLUMNS };

static const struct table_column step_columns[STEP_COLUMNS] = {
    [FROM] = {.label = "from"},
    [TO] = {.label = "to", .heads_row = true},
    [VERDICT] = {.label = "verdict"},
    [ANSWER] = {.label = "what is known", .most = TABLE_WHOLE},
};

struct table history_steps_table(const struct history *h, bool narrow)
{
	static const enum tone tones[COMPARE_OUTCOMES] = {
	    [OUTCOME_REGRESSION] = TONE_BAD, [OUTCOME_NONE] = TONE_GOOD, [OUTCOME_UNDECIDED] = TONE_NEUTRAL};
	struct table t = table_of(step_columns, narrow ? ANSWER : STEP_COLUMNS, h->step_count);

	for (size_t i = 0; i < h->step_count; i++) {
		const struct history_step *s = &h->steps[i];

		table_text(&t, FROM, i, "%s", s->from);
		table_text(&t, TO, i, "%s", s->to);
		table_verdict(&t, VERDICT, i, tones[s->outcome], compare_outcomes[s->outcome]);
		if (narrow)
			table_note(&t, i, "%s", s->answer);
		else
			table_text(&t, ANSWER, i, "%s", s->answer);
		if (*s->page)
			table_link(&t, VERDICT, i, "%s", s->page);
	}
	return t;
}

static void history_print_steps(const struct history *h, FILE *out)
{
	struct table t = history_steps_table(h, true);

	fprintf(out, "each kernel compared with the one before:\n");
	table_print(&t, &(struct table_style){.width = WIDTH, .note_width = WIDTH - 4, .note_indent = 4}, out);
	table_free(&t);
	fputc('\n', out);
}

void history_table(const struct history *h, FILE *out)
{
	for (const struct history_point *p = h->points; p < h->points + h->point_count; p++) {
		struct table builds;

		fprintf(out, "point %" JSON_INTEGER_FORMAT "%s", p->id, *p->label ? ", " : "");
		text_print(p->label, out);
		fprintf(out, ": %s of ", compare_quantity_label(h->quantity));
		text_print(p->metric, out);
		fputc('\n', out);
		if (*p->why)
			fprintf(out, "%s\n", p->why);
		builds = history_builds_table(p);
		table_print(&builds, &(struct table_style){.width = WIDTH}, out);
		table_free(&builds);
		fputc('\n', out);
	}
	if (h->step_count)
		history_print_steps(h, out);
	text_print(h->answer, out);
	fputc('\n', out);
}
