/*
 * Where the journal is, and the files of processes that hold something: /run/kbtune (below
 * --sysroot where that is given; $XDG_RUNTIME_DIR/kbtune for users other than root), of mode 0700
 * and ours. /run is gone after a reboot, as are the changes; what is written down of the few that
 * outlive it is in /var/lib/kbtune, which is there as long as they are.
 */
#ifndef KBLAT_TUNING_STATE_FOLDER_H
#define KBLAT_TUNING_STATE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct err;
struct machine;

#define STATE_FOLDER_LASTING "/var/lib/kbtune"

/*
 * Open it, making it if `make`. 0; -ENOENT if there is none; another negative errno and `e` (not
 * ours, no rights). Its descriptor stays in the machine.
 */
int state_folder_open(struct machine *m, bool make, struct err *e);

/*
 * The other one: a descriptor, for the caller to close; -ENOENT if there is none (or, of a recorded
 * machine or for users other than root, there can be none); another negative errno and `e`.
 * state_folder_remove_lasting: it is empty, and goes.
 */
int state_folder_open_lasting(const struct machine *m, bool make, struct err *e);
void state_folder_remove_lasting(struct machine *m);

/* Where it is, for messages. Returns `buf`. */
char *state_folder_path(const struct machine *m, char *buf, size_t size);

/* Anybody who could write there could tell us what to write as root. 0, or -EPERM and `e`
 * (STATUS_USAGE). */
int state_folder_check_ours(const struct stat *st, const char *path, struct err *e);

#endif
