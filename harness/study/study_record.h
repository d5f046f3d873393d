/*
 * The directory of a study, and what in it says what is done:
 *
 *   <name>-<UTC yyyymmddThhmmssZ>-<8 hex>/
 *     study.json       what is measured, and how; at the end the answer
 *     cells.jsonl      a line whenever something becomes of a cell; of several about one cell the last counts
 *
 * The log is appended to, because a file with all cells would be written again for each. A line that is not complete,
 * as that of a kblat that was killed, is passed over. The directory belongs to one user, and only one process at a time
 * works on it: both files contain commands and paths of specs.
 */
#ifndef KBLAT_STUDY_STUDY_RECORD_H
#define KBLAT_STUDY_STUDY_RECORD_H

#include "study/study.h"

struct study_kind;

/* The kind of study in a directory, as its record says; the caller frees. NULL: it is no study's. */
char *study_record_kind(const char *dir);

/* A new directory inside the study's parent (made if missing) with all that it has so far. It is locked. */
int study_record_begin(struct study *s, struct err *e);

/*
 * Read a directory into an empty study whose `kind` is set: to show it; or, since it is our own, to do what it says; or
 * to continue it, locked. Of what is not our own nothing is run, and nothing in it is written: it must belong to this
 * user, nobody else may be able to put another one in its place (common/trust.h), and it must have no links, except in
 * runs. That is decided before anything is read.
 */
int study_record_open(struct study *s, const char *dir, struct err *e);
int study_record_open_own(struct study *s, const char *dir, struct err *e);
int study_record_resume(struct study *s, const char *dir, struct err *e);

/* Only the decision whose it is. 0, or a negative errno and `e`. */
int study_record_trust(const char *dir, struct err *e);

/* Save what became of a cell, or a new one; and study.json. */
int study_record_cell(struct study *s, size_t i, struct err *e);
int study_record_save(struct study *s, struct err *e);

#endif
