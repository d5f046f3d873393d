/*
 * A value in a file.
 */
#ifndef KBLAT_TUNING_OP_FILE_H
#define KBLAT_TUNING_OP_FILE_H

#include "common/form.h"
#include "tuning/ops/ops.h"

struct cpulist;
struct machine;
struct plan;

/* A step for a file that is to hold a value; or NULL, and why not is recorded, which is `absent` if there is no such
 * file. NULL also for a file of what will be gone. */
struct step *op_file_plan(struct plan *plan, const struct machine *m, const char *knob, const char *path,
			  enum form form, const char *value, const char *absent);

/* Add to a step's data, as "beside", the files that may change with this one, and how they are: `undo` puts them back with
 * it. "looked": whether it is known which have changed ("moved"); otherwise all are put back. */
void op_file_note_beside(const struct machine *m, const char *path, json_t *data);

/* After the change: which of them are other than they were. One that was so before it was changed by an earlier step, and is undone
 * to what it was when both were planned. */
void op_file_look_beside(const struct machine *m, json_t *data);

/* What is lost for good if that value is written there, although the file gets its old one back; NULL: nothing that we
 * know of. */
const char *op_file_loss(const char *path, const char *value);

/* Hardware or firmware may refuse any change, which is known only after writing, and is then no error but a note. */
void op_file_may_refuse(struct step *s);

/* A step that changes nothing, and puts the file back as it is now; none if it cannot be read. */
void op_file_plan_to_keep(struct plan *plan, const struct machine *m, const char *knob, const char *path,
			  enum form form);

/* For undo, of a set of CPUs that are all offline: they are waited for (-EAGAIN), or it stays as it is (STEP_LEFT, or
 * STEP_GONE if they are offline because SMT is off); `e` says so. */
int op_file_leave(const struct machine *m, const struct step *s, const struct cpulist *set, struct err *e);

/* It belongs to a network card: its driver may refuse or change the value, and the card may be gone, which are notes. */
void op_file_is_of_card(struct step *s);

#endif
