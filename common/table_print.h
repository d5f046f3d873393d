/*
 * Prints a table as text for a terminal: a column is as wide as its cells need, and if the table is
 * too wide, columns are left out, those first that can be spared best. On a terminal it is as wide as that, and texts are broken
 * into lines, too. Lines do not end with spaces.
 */
#ifndef KBLAT_COMMON_TABLE_PRINT_H
#define KBLAT_COMMON_TABLE_PRINT_H

#include "common/table.h"

struct table_style {
	size_t width;	    /* within which it should be where there is no terminal; 0: no limit */
	size_t gap;	    /* between columns; 0: two spaces */
	size_t indent;	    /* of all lines */
	bool bare;	    /* without a heading */
	size_t note_indent; /* of rows' notes, instead of `indent` */
	size_t note_width;  /* at which they are broken into lines; 0: they are not */
};

void table_print(const struct table *t, const struct table_style *style, FILE *out);

#endif
