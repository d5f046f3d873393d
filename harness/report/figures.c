#include "report/figures.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "report/derived.h"
#include "report/escape.h"
#include "report/gnuplot.h"

#define SCRIPT	      "figures.gp"
#define KEY_SIDES     110 /* pixels beside the key */
#define KEY_ENTRY     55  /* of an entry, but for its text */
#define KEY_CHARACTER 7

static const struct figure_kind *const kinds[] = {&figure_overview, &figure_axis, &figure_surface, &figure_histogram};

/* Variables ---------------------------------------------------------------------------------------------- */

static void print_number(FILE *out, double value)
{
	if (isfinite(value))
		fprintf(out, "%.17g", value);
	else
		fputs("NaN", out);
}

void figure_set(struct figures *f, const char *name, const char *text)
{
	fprintf(f->script, "%s = ", name);
	escape_gnuplot(f->script, text);
	fputc('\n', f->script);
}

/* With a point or an exponent always: gnuplot divides integers as integers. */
void figure_set_number(struct figures *f, const char *name, double value)
{
	fprintf(f->script, "%s = real(", name);
	print_number(f->script, value);
	fputs(")\n", f->script);
}

void figure_set_array(struct figures *f, const char *name, size_t size)
{
	fprintf(f->script, "array %s[%zu]\n", name, size);
}

void figure_set_item(struct figures *f, const char *name, size_t index, const char *text)
{
	fprintf(f->script, "%s[%zu] = ", name, index + 1);
	escape_gnuplot(f->script, text);
	fputc('\n', f->script);
}

void figure_set_item_number(struct figures *f, const char *name, size_t index, double value)
{
	fprintf(f->script, "%s[%zu] = ", name, index + 1);
	print_number(f->script, value);
	fputc('\n', f->script);
}

size_t figure_set_key(struct figures *f, size_t width, size_t entries, size_t longest)
{
	size_t columns = (width - KEY_SIDES) / (KEY_ENTRY + KEY_CHARACTER * longest), rows;

	columns = columns ? columns : 1;
	rows = (entries + columns - 1) / columns;
	fprintf(f->script, "key_rows = %zu\nkey_columns = %zu\n", rows, columns);
	return rows;
}

struct axis_unit axis_unit_for(double end_ns)
{
	static const struct axis_unit axis_units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	size_t i = 0;

	while (i + 1 < sizeof(axis_units) / sizeof(axis_units[0]) && fabs(end_ns) >= 2 * axis_units[i + 1].ns)
		i++;
	return axis_units[i];
}

char *figure_one_line(char *text, size_t most)
{
	for (char *at = text; *at; at++)
		*at = *at == '\n' || *at == '\t' ? ' ' : *at;
	if (strlen(text) > most)
		memcpy(text + most - 4, " ...", 5);
	return text;
}

/* Tables ------------------------------------------------------------------------------------------------- */

static char *table_path(const struct figures *f, const char *name)
{
	return fs_path("%s/%s.tsv", f->dir, name);
}

FILE *figure_begin(struct figures *f, const char *kind, const struct report_point *point, char *name, char *text,
		   struct err *e)
{
	char *path = table_path(f, name);
	FILE *table = derived_open(path, e);

	free(path);
	f->items = or_abort(realloc(f->items, (f->count + 1) * sizeof(*f->items)));
	f->items[f->count++] = (struct figure){kind, name, text, point};
	fputc('\n', f->script);
	figure_set(f, "kind", kind);
	figure_set(f, "name", name);
	return table;
}

int figure_end(struct figures *f, FILE *table, struct err *e)
{
	char *path = table_path(f, f->items[f->count - 1].name);
	int rc = derived_close(table, path, e);

	fputs("load plots.\"/draw.gp\"\n", f->script);
	free(path);
	return rc;
}

const struct figure *figure_find(const struct figures *f, const char *kind, const struct report_point *point)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->items[i].point == point && !strcmp(f->items[i].kind, kind))
			return &f->items[i];
	return NULL;
}

/* All of them -------------------------------------------------------------------------------------------- */

/* What is drawn, told apart from how. */
struct drawing {
	int (*add)(struct figures *f, const void *what, struct err *e);
	const void *what;
};

static int reduce_all(struct figures *f, const struct drawing *d, const char *scripts, const char *path, struct err *e)
{
	int rc;

	f->script = derived_open(path, e);
	if (!f->script)
		return -EIO;
	fputs("# Made by kblat. To draw again after changing a plot script, run gnuplot on this file in this folder.\n",
	      f->script);
	figure_set(f, "plots", scripts ? scripts : "plots");
	rc = d->add(f, d->what, e);
	return derived_close(f->script, path, e) ?: rc;
}

int figures_make(struct figures *f, const char *dir, int (*add)(struct figures *f, const void *what, struct err *e),
		 const void *what, struct err *e)
{
	const struct drawing d = {add, what};
	char *path = fs_path("%s/" SCRIPT, dir), *scripts;
	struct err lost = ERR_INIT;
	int rc;

	*f = (struct figures){.dir = fs_path("%s", dir)};
	scripts = gnuplot_scripts(&lost);
	rc = fs_mkdirs(dir, e);
	if (!rc)
		rc = reduce_all(f, &d, scripts, path, e);
	if (!rc && !scripts)
		rc = err_set(e, -ENOENT, lost.status, NULL, NULL, "%s", lost.text);
	if (!rc && f->count)
		rc = gnuplot_run(dir, SCRIPT, e);
	free(scripts);
	free(path);
	return rc;
}

static int add_report(struct figures *f, const void *report, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		rc = kinds[i]->add(f, report, e);
	return rc;
}

int figures_draw(struct figures *f, const struct report *r, const char *dir, struct err *e)
{
	return figures_make(f, dir, add_report, r, e);
}

void figures_free(struct figures *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->items[i].name);
		free(f->items[i].text);
	}
	free(f->items);
	free(f->dir);
	*f = (struct figures){0};
}
