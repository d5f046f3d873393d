/*
 * Figures: a run's points reduced to tables (.tsv) and drawn by gnuplot, as SVG and PDF beside them. A kind of figure
 * is one row of the table in figures.c, one file here (figure_<kind>.c: which figures there are, their tables and
 * variables) and one script (plots/<kind>.gp).
 *
 * All are drawn by one gnuplot process, from figures/figures.gp: starting one for each takes longer than drawing.
 */
#ifndef KBLAT_REPORT_FIGURES_H
#define KBLAT_REPORT_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/model.h"

struct figure {
	const char *kind;		  /* "histogram" */
	char *name;			  /* of its files, without their ends */
	char *text;			  /* what it shows, in a sentence, for who can't see it */
	const struct report_point *point; /* NULL: it is about all of them */
};

struct figures {
	char *dir; /* derived/figures */
	struct figure *items;
	size_t count;
	FILE *script;
};

/*
 * Make the tables and figures of a report below `dir` (derived/figures, made if missing). The tables are there even if
 * nothing can be drawn: STATUS_IMPOSSIBLE without gnuplot. Release with figures_free in either case.
 */
int figures_draw(struct figures *f, const struct report *r, const char *dir, struct err *e);
void figures_free(struct figures *f);

/* The same of anything else: `add` begins and ends figures of `what`. */
int figures_make(struct figures *f, const char *dir, int (*add)(struct figures *f, const void *what, struct err *e),
		 const void *what, struct err *e);

/* The figure of a kind about a point (NULL: about all), or NULL. */
const struct figure *figure_find(const struct figures *f, const char *kind, const struct report_point *point);

/* For kinds ---------------------------------------------------------------------------------------------- */

struct figure_kind {
	const char *name;
	int (*add)(struct figures *f, const struct report *r, struct err *e); /* none, one or many */
};

extern const struct figure_kind figure_overview, figure_axis, figure_surface, figure_histogram;

/*
 * Start a figure: its table is open for writing, its variables go to f->script. Takes `name` and `text`. NULL and `e`
 * on failure. figure_end() closes the table and lets the figure be drawn.
 */
FILE *figure_begin(struct figures *f, const char *kind, const struct report_point *point, char *name, char *text,
		   struct err *e);
int figure_end(struct figures *f, FILE *table, struct err *e);

/* Variables of the script. Texts may hold anything. */
void figure_set(struct figures *f, const char *name, const char *text);
void figure_set_number(struct figures *f, const char *name, double value); /* NaN: none */
void figure_set_array(struct figures *f, const char *name, size_t size);   /* to be filled by the following */
void figure_set_item(struct figures *f, const char *name, size_t index, const char *text);
void figure_set_item_number(struct figures *f, const char *name, size_t index, double value);

/* How many rows and columns a key has whose entries are so many and at most so many characters long. Returns
 * the rows. */
size_t figure_set_key(struct figures *f, size_t width, size_t entries, size_t longest);
#define FIGURE_KEY_ROW 19 /* pixels */

/* Newlines become blanks, a text over `most` bytes (at least 4) ends in dots. Returns `text`. */
char *figure_one_line(char *text, size_t most);
#define FIGURE_TITLE_MAX 95 /* fits the narrowest figure */

/* The unit for an axis that ends at `end_ns`. */
struct axis_unit {
	const char *name;
	double ns;
};
struct axis_unit axis_unit_for(double end_ns);

#endif
