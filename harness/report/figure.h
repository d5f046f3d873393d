/*
 * A figure: a table (.tsv) that the harness has reduced, and variables of a gnuplot script. A kind
 * of figure is one file here (figure_<kind>.c: which figures there are, their tables and
 * variables), one script (plots/<kind>.gp) and, where it belongs to a run's report, a row in
 * run_figures.c. figures.h draws them.
 */
#ifndef KBLAT_REPORT_FIGURE_H
#define KBLAT_REPORT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/model.h"

struct gnuplot_script;

struct figure {
	const char *kind;		  /* "histogram" */
	char *name;			  /* of its files, without their ends */
	char *text;			  /* what it shows, in a sentence, for readers who can't see it */
	const struct report_point *point; /* NULL: it is about all of them */
	const char *flow;		  /* of that point; "": it is about all of them, or there is but one */
};

/* Those of one directory and one script. */
struct figures {
	char *dir; /* derived/figures */
	struct figure *items;
	size_t count;
	FILE *script;			/* figures.gp, while it is written */
	struct gnuplot_script *drawing; /* while it is drawn */
};

/* The figure of a kind about a point (NULL: about all), or NULL. */
const struct figure *figure_find(const struct figures *f, const char *kind, const struct report_point *point);

/*
 * Start a figure: its table is open for writing, its variables go to f->script. Takes `name` and
 * `text`. NULL and `e` on failure. figure_end() closes the table and lets the figure be drawn.
 */
FILE *figure_begin(struct figures *f, const char *kind, const struct report_point *point, char *name, char *text,
		   struct err *e);
int figure_end(struct figures *f, FILE *table, struct err *e);

/* A figure's text with the medians that it shows, of the first points where there are many. Takes
 * `text`. */
char *figure_text_medians(const struct report *r, char *text);

/* Variables of the script. Texts may hold anything. */
void figure_set(struct figures *f, const char *name, const char *text);
void figure_set_number(struct figures *f, const char *name, double value); /* NaN: none */
void figure_set_array(struct figures *f, const char *name, size_t size);   /* to be filled by the following */
void figure_set_item(struct figures *f, const char *name, size_t index, const char *text);
void figure_set_item_number(struct figures *f, const char *name, size_t index, double value);

/* An array of how the values of a setting read. */
void figure_set_values(struct figures *f, const char *name, const char *key, const int64_t *values, size_t count);

/*
 * Of more series than can be told apart, those that lead their flows come first and are drawn, at
 * most FIGURE_SERIES_MAX. Returns how many of the list are.
 */
size_t figure_choose_series(const struct report_series **series, size_t count);
#define FIGURE_SERIES_MAX 8

/* How many rows and columns a key has whose entries are so many and at most so many characters
 * long. Returns the rows. */
size_t figure_set_key(struct figures *f, size_t width, size_t entries, size_t longest);
#define FIGURE_KEY_ROW 19 /* pixels */

/* Newlines become blanks, a text over `most` bytes (at least 4) ends in dots. Returns `text`. */
char *figure_one_line(char *text, size_t most);
#define FIGURE_TITLE_MAX 95 /* fits the narrowest figure */

/* "NAME: TEXT" as the variable `title`, with the name of the run where there is but one. */
void figure_set_title(struct figures *f, const struct report *r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The least and largest of what has a place on a logarithmic axis; 0 where nothing has. */
struct figure_range {
	double least, most;
};
void figure_range_add(struct figure_range *range, int64_t value);

/* The unit for an axis that ends at `end_ns`. */
struct axis_unit {
	const char *name;
	double ns;
};
struct axis_unit figure_axis_unit(double end_ns);

/* Of an axis of values in `unit` ("ns", "share", or what they are counted in) that ends at `end`. */
struct axis_unit figure_value_unit(const char *unit, double end);

/* unit, unit_ns, bottom and top of a figure whose values of `unit` are from `least` to `most`: with
 * some room below, and so many times as much above. */
void figure_set_range(struct figures *f, const char *unit, double least, double most, double above);

#endif
