/*
 * A figure: a table (.tsv) of data reduced by the harness, and variables. A gnuplot script draws it
 * as SVG and PDF, and the script of the pages (page.js) as part of a page, both from these. Each kind
 * of figure has a file here (figure_<kind>.c: which figures there are, their tables and variables), a
 * script (plots/<kind>.gp), a function of the same name in page.js and, if it belongs to a run's
 * report, a function in run_figures.h and a row in report.c.
 */
#ifndef KBLAT_REPORT_FIGURE_H
#define KBLAT_REPORT_FIGURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/model.h"

struct err;
struct gnuplot;
struct gnuplot_script;

struct figure {
	const char *kind;		  /* "histogram" */
	char *name;			  /* of its files, without suffixes */
	char *text;			  /* what it shows, in a sentence, for readers who cannot see it */
	const struct report_point *point; /* NULL: it is about all points */
	const char *flow;		  /* of that point; "": it is about all flows, or there is only one */
	bool shows_text;		  /* it says what a source says, which stands beside what was measured */
	json_t *variables;		  /* by name */
};

/* The figures of one directory and one script. */
struct figures {
	char *dir; /* derived/figures */
	struct figure *items;
	size_t count;
	FILE *script;			/* figures.gp, while it is being written */
	struct gnuplot_script *drawing; /* while it is being drawn */
};

/* The figure of a kind about a point (NULL: about all), or NULL. */
const struct figure *figure_find(const struct figures *f, const char *kind, const struct report_point *point);

/*
 * Start a figure. Returns its table, open for writing; its variables go to f->script. Takes `name`
 * and `text`. NULL and `e` on failure. figure_end() closes the table and completes the figure,
 * which can then be drawn.
 */
FILE *figure_begin(struct figures *f, const char *kind, const struct report_point *point, char *name, char *text,
		   struct err *e);
int figure_end(struct figures *f, FILE *table, struct err *e);

/* Append to a figure's text the medians that it shows; if there are many points, those of the first
 * ones. Takes `text`. */
char *figure_text_medians(const struct report *r, char *text);

/* Set variables of both scripts. Texts may contain anything. */
void figure_set(struct figures *f, const char *name, const char *text);
void figure_set_count(struct figures *f, const char *name, size_t count);
void figure_set_number(struct figures *f, const char *name, double value); /* NaN: none */
void figure_set_array(struct figures *f, const char *name, size_t size);   /* to be filled by the next two functions */
void figure_set_item(struct figures *f, const char *name, size_t index, const char *text);
void figure_set_item_number(struct figures *f, const char *name, size_t index, double value);

/* An array of the labels of a setting's values. */
void figure_set_values(struct figures *f, const char *name, const char *key, const int64_t *values, size_t count);

/*
 * Select the series to draw if there are more than can be distinguished: moves those that lead
 * their flows to the front, and returns the number to draw, at most FIGURE_SERIES_MAX.
 */
size_t figure_choose_series(const struct report_series **series, size_t count);
#define FIGURE_SERIES_MAX 8

/* Set the number of rows and columns of a key with `entries` entries, which are at most `longest`
 * characters long, in a figure of `width`. Returns the number of rows. */
size_t figure_set_key(struct figures *f, size_t width, size_t entries, size_t longest);
#define FIGURE_KEY_ROW 19 /* pixels */

/* Replace newlines by spaces, and truncate a text of more than `most` bytes (at least 4) so that it
 * ends in "...". Returns `text`. */
char *figure_one_line(char *text, size_t most);
#define FIGURE_TITLE_MAX 95 /* fits the narrowest figure */

/* Set the variable `title` to "NAME: TEXT", with the name of the run if there is only one. */
void figure_set_title(struct figures *f, const struct report *r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The smallest and largest value that a logarithmic axis can show; 0 if there is none. */
struct figure_range {
	double least, most;
};
void figure_range_add(struct figure_range *range, int64_t value);

/* The unit for an axis of times that ends at `end_ns`. */
struct axis_unit {
	const char *name;
	double ns;
};
struct axis_unit figure_axis_unit(double end_ns);

/* Set the variables unit, unit_ns, bottom and top for values in `unit` from `least` to `most`, with
 * some space below, and `above` times as much space above. */
void figure_set_range(struct figures *f, const char *unit, double least, double most, double above);

/* --- the figures of a directory, drawn by gnuplot as SVG and PDF next to their tables --- */

/* Begins and ends the figures of `what`. */
typedef int figures_add(struct figures *f, const void *what, struct err *e);

/*
 * Write the tables and the script of all figures that `add` makes to `dir` (created if missing),
 * and begin to draw them. The tables are written even if nothing can be drawn. Release with
 * figures_free() in any case.
 */
int figures_start(struct figures *f, const char *dir, figures_add *add, const void *what, struct gnuplot *g,
		  struct err *e);

/* Wait until they are drawn. STATUS_IMPOSSIBLE without gnuplot. */
int figures_finish(struct figures *f, struct gnuplot *g, struct err *e);

/* figures_start() and figures_finish(). */
int figures_make(struct figures *f, const char *dir, figures_add *add, const void *what, struct err *e);

/* Free figures that were started, after they have been finished. */
void figures_free(struct figures *f);

/*
 * The folder of the plot scripts: $KBLAT_PLOTS, or the one that came with the program
 * (common/datadir.h). The caller frees. NULL and `e` (STATUS_FAILED) if there is none.
 */
char *plot_scripts(struct err *e);

#endif
