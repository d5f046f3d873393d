/*
 * A chart: a figure whose table has rows of one kind, with named series and often the values of a
 * setting along its axis. A kind of chart is a table of columns, the rows that it fills in, a script
 * (plots/KIND.gp), and the variables that only this script has; everything else is done here. All
 * figures against a setting are charts.
 */
#ifndef KBLAT_REPORT_CHART_H
#define KBLAT_REPORT_CHART_H

#include "common/table.h"
#include "report/figure.h"

#define CHART_LONGEST 9	 /* characters for which a key has room at least */
#define CHART_UPRIGHT 44 /* pixels that a label along the axis needs if it is not rotated */

/* The variables are set in the script under the names given here. */
struct chart {
	const char *kind;		  /* of the figure, and of its script */
	const struct report_point *point; /* NULL: it is about all points */
	char *name, *text;		  /* of the figure; chart_add() takes them */
	bool shows_text;		  /* struct figure */
	char *title;			  /* "title"; likewise */
	struct table rows;		  /* an empty row is an empty line; likewise */
	char **series;			  /* "lines", "line_count": "" is not drawn; likewise */
	size_t series_count, longest;	  /* `longest`: in characters */
	size_t entries;			  /* of the key ("key_rows", "key_columns") */
	const char *key;		  /* of the setting along the axis; NULL: there is none */
	const int64_t *values;		  /* its values: "labels", "points", "rotate" */
	size_t value_count, room;	  /* `room`: pixels for each value */
	size_t width, height;		  /* "width", "height" */
	size_t key_row;			  /* how much higher it is for each further row of the key */
	size_t invalid;			  /* "invalid_count": points drawn that are not valid */
};

/* Add a series; takes its label. */
void chart_series(struct chart *c, char *label);

/* Write the chart's table and variables; `set` sets those that only its kind has. `r`: the report,
 * whose run the title names. Frees what the chart owns. 0, or a negative errno and `e`. */
typedef void chart_variables(struct figures *f, const void *what);
int chart_add(struct figures *f, const struct report *r, struct chart *c, chart_variables *set, const void *what,
	      struct err *e);

#endif
