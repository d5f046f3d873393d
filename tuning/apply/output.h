/*
 * Prints the outcome.
 */
#ifndef KBLAT_TUNING_OUTPUT_H
#define KBLAT_TUNING_OUTPUT_H

#include <jansson.h>
#include <stddef.h>

enum output {
	OUTPUT_NOTHING,
	OUTPUT_TEXT,
	OUTPUT_JSON,
	OUTPUT_LINE, /* JSON on one line with a "type", for programs that read it while kbtune runs */
};

/* Print a document, with "type" first for OUTPUT_LINE. Steals `all`. */
void output_json(json_t *all, const char *type, enum output output);

/* To be called after a change was printed: whoever cannot read it is told on standard error what the machine is like
 * now. "the profile thesis is applied". */
void output_settle(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The time that it took, and that of tuned: "0.31 s, and tuned took 2.4 s". Returns `buf`. */
char *output_times(double all_s, double tuned_s, char *buf, size_t size);

/* The same as keys of a document. */
void output_add_times(json_t *all, double all_s, double tuned_s);

#endif
