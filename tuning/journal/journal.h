/*
 * The journal records what was done to a machine and how it was before, so that any process can undo it.
 *
 * It is journal.json in the state folder (state_folder.h, which must be open), has mode 0600 and belongs to us. It is
 * versioned JSON, and always replaced as a whole (written to another file, fsynced, renamed, folder fsynced). It is
 * always ahead of the machine: a step is recorded before it is made. A journal with another boot_id is of another boot,
 * and counts no longer. For steps that outlive a reboot (op.lasting) there is a second journal on disk. It is read if
 * the first is missing or of another boot; its steps still have to be undone.
 *
 * A process that reads the journal in order to change something must hold the lock next to it.
 */
#ifndef KBLAT_TUNING_JOURNAL_H
#define KBLAT_TUNING_JOURNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tuning/steps/step.h"

struct err;
struct machine;

/* The version that is written. Those of all releases (1 since 1.0.0) can be read, and restored, for ever:
 * tests/sysroots/applied. */
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
	json_t *about; /* an object: what plan_to_json() contains about shields and CPUs */
	struct step *steps;
	size_t count;
	bool other_boot; /* of another boot */
	bool leftovers;	 /* what lasts of one that is gone, of another boot in general; its state is RESTORING */
};

/* Takes the lock: a descriptor that holds it until it is closed; -EAGAIN and `e` if another process has it. */
int journal_lock(struct machine *m, struct err *e);

/* Open the state folder, if it exists, and read the journal without changing anything. Returns the same as
 * journal_load. */
int journal_find(struct machine *m, struct journal *j, struct err *e);

/* Read it. 0; -ENOENT without `e` if there is none; -EINVAL, -EPERM, … and `e` (STATUS_USAGE) if it cannot be
 * trusted. */
int journal_load(struct machine *m, struct journal *j, struct err *e);
int journal_save(struct machine *m, const struct journal *j, struct err *e);
int journal_remove(struct machine *m, struct err *e);
bool journal_is_there(const struct machine *m); /* in the state folder */

void journal_init(struct journal *j, struct machine *m, const char *profile);
void journal_free(struct journal *j);

/*
 * The owner of the journal: `kbtune run` and `hold` undo what they have applied themselves, and identify it by a unique
 * text (a process ID could be reused). NULL: none. journal_is_owned: is `owner` the owner?
 */
void journal_set_owner(struct journal *j, const char *owner);
bool journal_is_owned(const struct journal *j, const char *owner);

/* Room for one more step, at the end. The journal owns it. */
struct step *journal_add(struct journal *j);

const char *journal_state_name(enum journal_state s);

/* The boot's ID; "" if a recorded machine does not have one; NULL if it cannot be read, which must not be mistaken for a
 * different boot. The caller frees. */
char *journal_boot_id(const struct machine *m);

/* How many of its steps, from that one on, change something: what was as required is kept, too, to be verified. */
size_t journal_changes(const struct journal *j, size_t from);

#endif
