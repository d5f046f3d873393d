/*
 * Raw files of a capture, stored below a directory under the paths that they have on the machine.
 */
#ifndef KBLAT_STATE_RAW_FILE_H
#define KBLAT_STATE_RAW_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Can `path` be a file of a capture? It must be absolute, without "." and "..", and without characters that would break
 * a line of a manifest. */
bool raw_file_is_path(const char *path);

/*
 * Write `path` (raw_file_is_path) below the open directory `dir`, with the directories that it needs. `mode`: its
 * permissions, less the umask. A file that exists already, because of another row, is not changed. 0 or a negative
 * errno. Not synced: a run is, as a whole, when it is sealed.
 */
int raw_file_write(int dir, const char *path, mode_t mode, const char *text, size_t length);

#endif
