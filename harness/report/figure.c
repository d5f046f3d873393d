#include "report/figure.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/datadir.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "report/derived.h"
#include "report/escape.h"
#include "report/gnuplot.h"
#include "report/labels.h"

#define SCRIPT	      "figures.gp"
#define KEY_SIDES     110 /* pixels on both sides of the key */
#define KEY_ENTRY     55  /* of an entry, without its text */
#define KEY_CHARACTER 7
#define VALUE_MAX     80
#define TEXT_MEDIANS  6 /* in the text for readers who cannot see the figure */

/* --- variables --- */

static void print_real(FILE *out, double value)
{
	if (isfinite(value))
		fprintf(out, "%.17g", value);
	else
		fputs("NaN", out);
}

/* Also for the page's script. Before the first figure, variables are those of gnuplot alone. */
static json_t *figure_variables(const struct figures *f)
{
	return f->count ? f->items[f->count - 1].variables : NULL;
}

static void set_variable(struct figures *f, const char *name, json_t *value)
{
	json_object_set_new(figure_variables(f), name, value);
}

static void set_item(struct figures *f, const char *name, size_t index, json_t *value)
{
	json_array_set_new(json_object_get(figure_variables(f), name), index, value);
}

/* JSON has no NaN. */
static json_t *real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_of(const char *text)
{
	char *clean = escape_shown(text);
	json_t *string = json_string(clean);

	free(clean);
	return string;
}

void figure_set(struct figures *f, const char *name, const char *text)
{
	set_variable(f, name, text_of(text));
	fprintf(f->script, "%s = ", name);
	escape_gnuplot(f->script, text);
	fputc('\n', f->script);
}

/* Always with a decimal point or an exponent, because gnuplot uses integer division for integers. */
void figure_set_number(struct figures *f, const char *name, double value)
{
	set_variable(f, name, real_or_null(value));
	fprintf(f->script, "%s = real(", name);
	print_real(f->script, value);
	fputs(")\n", f->script);
}

void figure_set_count(struct figures *f, const char *name, size_t count)
{
	set_variable(f, name, json_integer((json_int_t)count));
	fprintf(f->script, "%s = %zu\n", name, count);
}

void figure_set_array(struct figures *f, const char *name, size_t size)
{
	json_t *array = json_array();

	for (size_t i = 0; i < size; i++)
		json_array_append_new(array, json_null());
	set_variable(f, name, array);
	fprintf(f->script, "array %s[%zu]\n", name, size);
}

void figure_set_item(struct figures *f, const char *name, size_t index, const char *text)
{
	set_item(f, name, index, text_of(text));
	fprintf(f->script, "%s[%zu] = ", name, index + 1);
	escape_gnuplot(f->script, text);
	fputc('\n', f->script);
}

void figure_set_item_number(struct figures *f, const char *name, size_t index, double value)
{
	set_item(f, name, index, real_or_null(value));
	fprintf(f->script, "%s[%zu] = ", name, index + 1);
	print_real(f->script, value);
	fputc('\n', f->script);
}

void figure_set_values(struct figures *f, const char *name, const char *key, const int64_t *values, size_t count)
{
	char text[VALUE_MAX];

	figure_set_array(f, name, count);
	for (size_t i = 0; i < count; i++) {
		json_t *value = json_integer(values[i]);

		figure_set_item(f, name, i, label_value(key, value, text, sizeof(text)));
		json_decref(value);
	}
}

size_t figure_choose_series(const struct report_series **series, size_t count)
{
	size_t leading = 0;

	if (count <= FIGURE_SERIES_MAX)
		return count;
	for (size_t i = 0; i < count; i++) {
		const struct report_series *s = series[i];

		if (!s->leads)
			continue;
		memmove(&series[leading + 1], &series[leading], (i - leading) * sizeof(*series));
		series[leading++] = s;
	}
	return leading < FIGURE_SERIES_MAX ? leading : FIGURE_SERIES_MAX;
}

size_t figure_set_key(struct figures *f, size_t width, size_t entries, size_t longest)
{
	size_t columns = (width - KEY_SIDES) / (KEY_ENTRY + KEY_CHARACTER * longest), rows;

	columns = columns ? columns : 1;
	rows = (entries + columns - 1) / columns;
	fprintf(f->script, "key_rows = %zu\nkey_columns = %zu\n", rows, columns);
	return rows;
}

struct axis_unit figure_axis_unit(double end_ns)
{
	static const struct axis_unit axis_units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	size_t i = 0;

	while (i + 1 < sizeof(axis_units) / sizeof(axis_units[0]) && fabs(end_ns) >= 2 * axis_units[i + 1].ns)
		i++;
	return axis_units[i];
}

/* The unit for an axis of values in `unit` ("ns", "share", or what is counted) that ends at `end`. */
static struct axis_unit figure_value_unit(const char *unit, double end)
{
	if (!strcmp(unit, "share"))
		return (struct axis_unit){"%", 0.01};
	return strcmp(unit, "ns") != 0 ? (struct axis_unit){unit, 1} : figure_axis_unit(end);
}

void figure_set_range(struct figures *f, const char *unit, double least, double most, double above)
{
	const struct axis_unit of_axis = figure_value_unit(unit, most);
	const double room = fmax(0.08 * (most - least), 0.002 * fabs(most)) + 1e-12;

	figure_set(f, "unit", of_axis.name);
	figure_set_number(f, "unit_ns", of_axis.ns);
	figure_set_number(f, "bottom", (least - room) / of_axis.ns);
	figure_set_number(f, "top", (most + above * room) / of_axis.ns);
}

char *figure_one_line(char *text, size_t most)
{
	for (char *at = text; *at; at++)
		*at = *at == '\n' || *at == '\t' ? ' ' : *at;
	if (strlen(text) > most)
		memcpy(text + most - 4, " ...", 5);
	return text;
}

void figure_set_title(struct figures *f, const struct report *r, const char *format, ...)
{
	const char *name = r->run_count == 1 ? r->runs[0].record->name : NULL;
	char *title = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&title, &size));
	va_list ap;

	fprintf(out, "%s%s", name ? name : "", name ? ": " : "");
	va_start(ap, format);
	vfprintf(out, format, ap);
	va_end(ap);
	fclose(out);
	figure_set(f, "title", figure_one_line(title, FIGURE_TITLE_MAX));
	free(title);
}

void figure_range_add(struct figure_range *range, int64_t value)
{
	double number = (double)value;

	if (value <= 0)
		return;
	range->least = range->least > 0 && range->least < number ? range->least : number;
	range->most = range->most > number ? range->most : number;
}

/* --- tables --- */

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
	f->items[f->count++] = (struct figure){
	    .kind = kind, .name = name, .text = text, .point = point, .flow = "", .variables = json_object()};
	fputc('\n', f->script);
	figure_set(f, "kind", kind);
	figure_set(f, "name", name);
	json_object_clear(figure_variables(f)); /* those of its data follow */
	return table;
}

int figure_end(struct figures *f, FILE *table, struct err *e)
{
	char *path = table_path(f, f->items[f->count - 1].name);
	int rc = derived_close(table, path, e);

	fprintf(f->script, "if (%zu %% parts == part) {\n\tprint \"figure \".name\n\tload plots.\"/draw.gp\"\n}\n",
		f->count - 1);
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

char *figure_text_medians(const struct report *r, char *text)
{
	char *all = NULL, median[32];
	size_t size, written = 0;
	FILE *out = or_abort(open_memstream(&all, &size));
	int64_t value;

	fputs(text, out);
	for (size_t i = 0; i < r->leading_count && written <= TEXT_MEDIANS; i++) {
		const struct report_item *item = &r->leading[i];

		if (!model_metric(item->series, STATISTIC_P50, &value))
			continue;
		if (written++ == TEXT_MEDIANS)
			fprintf(out, "; and so on");
		else
			fprintf(out, "; point %u %s: %s", item->point->id, item->point->label,
				unit_human_ns(value, median, sizeof(median)));
	}
	fclose(out);
	free(text);
	return or_abort(all);
}

/* --- all of a directory --- */

/* --- the plot scripts --- */

static bool holds_scripts(const char *dir)
{
	char *style = fs_path("%s/style.gp", dir);
	bool there = !access(style, R_OK);

	free(style);
	return there;
}

/* If a folder is given explicitly, no other one is searched. */
static char *from_environment(void)
{
	const char *dir = getenv("KBLAT_PLOTS");

	return dir && *dir ? fs_path("%s", dir) : NULL;
}

static char *from_datadir(void)
{
	char **places = datadir_places("kblat", "plots"), *dir = NULL;

	for (char **p = places; *p && !dir; p++)
		if (holds_scripts(*p))
			dir = fs_path("%s", *p);
	fs_files_free(places);
	return dir;
}

char *plot_scripts(struct err *e)
{
	char *dir = from_environment(), *real;

	if (!dir)
		dir = from_datadir();
	if (!dir || !holds_scripts(dir)) {
		err_set(e, -ENOENT, STATUS_FAILED, dir ? dir : "plots", "find the plot scripts",
			dir ? "no style.gp in it; set KBLAT_PLOTS to the folder that has one, or unset it"
			    : "neither next to the program nor installed; set KBLAT_PLOTS to their folder");
		free(dir);
		return NULL;
	}
	real = realpath(dir, NULL);
	free(dir);
	return real;
}

static int write_script(struct figures *f, figures_add *add, const void *what, const char *scripts, struct err *e)
{
	char *path = fs_path("%s/" SCRIPT, f->dir);
	int rc = -EIO, closed;

	f->script = derived_open(path, e);
	if (f->script) {
		fputs("# Made by kblat. To draw again after changing a plot script, run gnuplot on this file in this "
		      "folder.\n"
		      "if (!exists(\"parts\")) {\n\tpart = 0\n\tparts = 1\n}\n",
		      f->script);
		figure_set(f, "plots", scripts ? scripts : "plots");
		rc = add(f, what, e);
		closed = derived_close(f->script, path, e);
		rc = rc ? rc : closed;
	}
	free(path);
	return rc;
}

int figures_start(struct figures *f, const char *dir, figures_add *add, const void *what, struct gnuplot *g,
		  struct err *e)
{
	struct err lost = ERR_INIT;
	char *scripts = plot_scripts(&lost);
	int rc = fs_mkdirs(dir, e);

	*f = (struct figures){.dir = fs_path("%s", dir)};
	if (!rc)
		rc = write_script(f, add, what, scripts, e);
	if (!rc && !scripts)
		rc = err_set(e, -ENOENT, lost.status, NULL, NULL, "%s", lost.text);
	if (!rc && f->count)
		f->drawing = gnuplot_draw(g, dir, SCRIPT, f->count);
	free(scripts);
	return rc;
}

int figures_finish(struct figures *f, struct gnuplot *g, struct err *e)
{
	int rc = f->drawing ? gnuplot_wait(g, f->drawing, e) : 0;

	f->drawing = NULL;
	return rc;
}

int figures_make(struct figures *f, const char *dir, figures_add *add, const void *what, struct err *e)
{
	struct gnuplot *g = gnuplot_open();
	int rc = figures_start(f, dir, add, what, g, e);

	rc = rc ? rc : figures_finish(f, g, e);
	gnuplot_close(g);
	return rc;
}

void figures_free(struct figures *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->items[i].name);
		free(f->items[i].text);
		json_decref(f->items[i].variables);
	}
	free(f->items);
	free(f->dir);
	*f = (struct figures){0};
}
