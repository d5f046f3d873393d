/*
 * A value in a file.
 */
#ifndef KBLAT_TUNING_OP_FILE_H
#define KBLAT_TUNING_OP_FILE_H

#include "tuning/machine/form.h"
#include "tuning/steps/step.h"

struct machine;
struct plan;

extern const struct op op_file;

/* A step for a file that is to hold a value, or a reason why not: then a negative errno, -ENOENT
 * with `absent` as the reason. */
int op_file_plan(struct plan *plan, const struct machine *m, const char *knob, const char *path, enum form form,
		 const char *value, const char *absent);

#endif
