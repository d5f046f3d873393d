/*
 * The journal: what was done to a machine and how it was before, so that any process can undo it.
 *
 * It is /run/kbtune/journal.json (below --sysroot where that is given; $XDG_RUNTIME_DIR/kbtune for users other than
 * root), mode 0600 in a folder of mode 0700, both ours; versioned JSON; replaced whole (written aside, fsynced, renamed,
 * folder fsynced), and always ahead of the machine: a step is written down before it is made. /run is gone after a
 * reboot, as are the changes; a journal that says another boot_id all the same is moot.
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
};

/*
 * Open the folder, making it if `make`. 0; -ENOENT if there is none; another negative errno and `e` (not ours, no
 * rights). Its descriptor stays in the machine.
 */
int journal_open(struct machine *m, bool make, struct err *e);

/* The lock: a descriptor that holds it until it is closed; -EAGAIN and `e` where somebody else has it. */
int journal_lock(struct machine *m, struct err *e);

/* Read it. 0; -ENOENT without `e` if there is none; -EINVAL, -EPERM, … and `e` (STATUS_USAGE) for one that cannot be
 * relied on. */
int journal_load(struct machine *m, struct journal *j, struct err *e);
int journal_save(struct machine *m, const struct journal *j, struct err *e);
int journal_remove(struct machine *m, struct err *e);

void journal_init(struct journal *j, struct machine *m, const char *profile);
void journal_free(struct journal *j);

/* Room for one more step, at the end. The journal owns it. */
struct step *journal_add(struct journal *j);

const char *journal_state_name(enum journal_state s);

/* Where the folder is, for messages. Returns `buf`. */
char *journal_folder(const struct machine *m, char *buf, size_t size);

#endif
