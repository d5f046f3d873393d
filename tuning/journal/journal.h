/*
 * The journal: what was done to a machine and how it was before, so that any process can undo it.
 *
 * It is journal.json in the state folder (state_folder.h, which has to be open), mode 0600 and
 * ours; versioned JSON; replaced whole (written aside, fsynced, renamed, folder fsynced), and
 * always ahead of the machine: a step is written down before it is made. One that says another
 * boot_id is moot. Of steps that outlive a reboot (op.lasting) there is a second one on disk; it is
 * read where the first is gone or moot, and what it has is still to be undone.
 *
 * Whoever reads it to change something holds the lock beside it, one process at a time.
 */
#ifndef KBLAT_TUNING_JOURNAL_H
#define KBLAT_TUNING_JOURNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tuning/steps/step.h"

struct err;
struct machine;

#define JOURNAL_SCHEMA 1

enum journal_state {
	JOURNAL_APPLYING, /* steps are being made, or were when somebody died */
	JOURNAL_APPLIED,
	JOURNAL_RESTORING,
	JOURNAL_STATES,
};

struct journal {
	enum journal_state state;
	char *profile; /* "" for single commands alone */
	char *boot_id;
	char *applied; /* when, UTC */
	json_t *about; /* an object: what plan_to_json says of shields and CPUs */
	struct step *steps;
	size_t count;
	bool moot; /* of another boot */
	bool left; /* what lasts of one that is gone, of another boot in general; its state is RESTORING */
};

/* The lock: a descriptor that holds it until it is closed; -EAGAIN and `e` where somebody else has
 * it. */
int journal_lock(struct machine *m, struct err *e);

/* Open the state folder, if there is one, and read it: for those who only look. As
 * journal_load. */
int journal_find(struct machine *m, struct journal *j, struct err *e);

/* Read it. 0; -ENOENT without `e` if there is none; -EINVAL, -EPERM, … and `e` (STATUS_USAGE) for
 * one that cannot be relied on. */
int journal_load(struct machine *m, struct journal *j, struct err *e);
int journal_save(struct machine *m, const struct journal *j, struct err *e);
int journal_remove(struct machine *m, struct err *e);
bool journal_is_there(const struct machine *m); /* in the state folder */

void journal_init(struct journal *j, struct machine *m, const char *profile);
void journal_free(struct journal *j);

/*
 * Whose it is: what `kbtune run` and `hold` apply is theirs to undo, by a text that nobody else has
 * (a process number could be another's by then). NULL: nobody's. journal_is_owned: by `owner`, this
 * one.
 */
void journal_set_owner(struct journal *j, const char *owner);
bool journal_is_owned(const struct journal *j, const char *owner);

/* Room for one more step, at the end. The journal owns it. */
struct step *journal_add(struct journal *j);

const char *journal_state_name(enum journal_state s);

#endif
