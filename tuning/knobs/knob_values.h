/*
 * Knobs that consist of a value in one file, or in one file for each CPU or network card: one row for each knob.
 */
#ifndef KBLAT_TUNING_KNOB_VALUES_H
#define KBLAT_TUNING_KNOB_VALUES_H

#include <stdbool.h>

#include "common/form.h"
#include "tuning/knobs/knob.h"

enum value_kind {
	VALUE_WORD,   /* one of the row's words, or the file's own where `any_word` */
	VALUE_NUMBER, /* min..max, or one of the words */
	VALUE_PLACE,  /* CPUs, written in the row's form, or one of the words */
	VALUE_TIME, /* in `unit_ns` in the file, 0 to `max` of them; with a unit in the profile, or one of the words */
	VALUE_FREQUENCY, /* kHz in the file; with a unit in the profile */
};

struct value_word {
	const char *word, *written; /* written "@NAME": the content of the file NAME in the same folder */
};

struct value_row {
	const char *paths[4]; /* the first that is there; "%d" is a CPU, and then there is one for each */
	bool of_card;	 /* the path is a pattern below the folder of each card, for one file or one for each queue */
	bool may_spread; /* `spread`: each CPU belongs to the file of one queue */
	enum value_kind kind;
	enum form form;
	struct value_word words[8];
	bool any_word, inverted[4]; /* inverted: that path has the opposite meaning */
	long min, max, unit_ns;
	bool may_refuse;    /* hardware or firmware may refuse it, which is known only after writing */
	const char *offers; /* a file in the same folder that lists possible values, or NULL */
	const char *absent; /* why the file may be missing */
};

/* `row` is a struct value_row. */
knob_plan knob_values_plan;

/* sysctl and sysfs: any file, by name. `row` is the path that all of them are below: "/sys/". */
knob_plan knob_values_plan_files;

#endif
