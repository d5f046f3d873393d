/*
 * The folder of the journal and of the holders' files: /run/kbtune (below --sysroot if given; $XDG_RUNTIME_DIR/kbtune
 * for users other than root). It has mode 0700 and belongs to us. After a reboot /run is empty and the changes are
 * undone. The few changes that survive a reboot are recorded in /var/lib/kbtune, which exists as long as there are any.
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
 * Open it; with `make`, create it if it is missing. 0; -ENOENT if there is none; another negative errno and `e` (not
 * ours, no rights). Its descriptor is kept in the machine.
 */
int state_folder_open(struct machine *m, bool make, struct err *e);

/*
 * The other one: a descriptor, for the caller to close; -ENOENT if there is none (or, of a recorded
 * machine or for users other than root, there can be none); another negative errno and `e`.
 * state_folder_remove_lasting(): removes it when it is empty.
 */
int state_folder_open_lasting(const struct machine *m, bool make, struct err *e);
void state_folder_remove_lasting(struct machine *m);

/* Its path below the root of the machine; and for messages. Return `buf`. */
char *state_folder_below_root(const struct machine *m, char *buf, size_t size);
char *state_folder_path(const struct machine *m, char *buf, size_t size);

/* A file in one of these folders, `dir`, only ours to write. Read it: 0; -ENOENT without `e`; another negative errno and
 * `e`, in which it is `path`. The caller frees. Write it: always as a whole, and synced; 0 or a negative errno. A process
 * that was killed meanwhile leaves "NAME.tmp". */
int state_folder_read(int dir, const char *name, const char *path, char **text, size_t *length, struct err *e);
int state_folder_write(int dir, const char *name, const char *text);

#endif
