/*
 * Reasons and warnings of a run: those of its points, each text once, after the points that it is
 * about: "points 0-2, 5: 3 page faults".
 */
#ifndef KBLAT_ANALYSIS_NOTES_H
#define KBLAT_ANALYSIS_NOTES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct summary;

enum notes_group {
	NOTES_BY_TEXT,
	/* For readers, texts that differ only in numbers are one: "points 1, 2: 3 to 7 page faults". If
	 * these are about more than a few points, only the number of points is given. */
	NOTES_BY_WORDS,
};

enum notes_kind { NOTES_REASONS, NOTES_WARNINGS };

/* The reasons or warnings of a summary's points; what is impossible on this machine is a
 * warning. Returns a new array of texts, in the order of the points. */
json_t *notes_of_points(const struct summary *s, enum notes_kind kind, enum notes_group group);

/* Is a text of a run's list one of these, and not about the run as a whole? */
bool notes_are_of_points(const char *text);

/*
 * The lines below a table: why the numbers of runs may not be quoted, and what else to know about
 * them.
 */

/* Print the reasons of all summaries, then the warnings, wrapped at `width`; nothing if there are
 * none. With several summaries, each line names the run. */
void reasons_print(const struct summary *const *summaries, size_t count, size_t width, FILE *out);

#endif
