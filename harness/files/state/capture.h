/*
 * A capture (state_capture()), and while it is being made, as used by readers and flatteners. Functions do not return
 * errors to them: what cannot be read becomes a key whose value is the error, and a write error
 * ends the capture.
 */
#ifndef KBLAT_STATE_CAPTURE_H
#define KBLAT_STATE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;
struct err;
struct piece;
struct sysroot;

#define CAPTURE_KEY_MAX 1024

/* Begin a capture in `dir` (created if missing; must be empty). `root` must live as long as the capture. 0, or a
 * negative errno and `e`, which also gets later errors. */
int capture_open(struct capture **c, const struct sysroot *root, const char *dir, bool mask, struct err *e);

/* Write state.json; with `sync`, all files are first flushed to the disk. Frees the capture. 0, or a negative errno and
 * its `e`. */
int capture_close(struct capture *c, bool sync);

/* The machine. */
const struct sysroot *capture_root(const struct capture *c);

/* Add `key`. The first '*' in it is replaced by `name` (NULL: there is none); an existing key is
 * kept. Text is cleaned, and truncated at 4 KiB. */
void capture_text(struct capture *c, const char *key, const char *name, const char *text, size_t length);
void capture_int(struct capture *c, const char *key, const char *name, int64_t value);

/* Add a number as a number, anything else as text. */
void capture_value(struct capture *c, const char *key, const char *name, struct piece value);

/* The errno `-rc` as "!ENOENT". */
void capture_errno(struct capture *c, const char *key, int rc);

/*
 * Read a file and keep it raw under its own path. `*text` stays the capture's, until the next call.
 * 0 or a negative errno: that of reading, -EINVAL for a path that cannot be kept (control
 * characters, ".."), -EDQUOT when the capture is full.
 */
int capture_file(struct capture *c, const char *path, const char **text, size_t *length);

/* Keep a text that is not a file of the machine as "/made/<name>"; `by_all`: everybody may read it. */
void capture_made(struct capture *c, const char *name, bool by_all, char *text, size_t length);

/* To be called if a key contains something that not everybody may read, although no file was kept: only the owner may
 * then read state.json, as with files that not everybody may read. */
void capture_be_private(struct capture *c);

/* --- for those who want one --- */

struct state_options {
	bool mask; /* hide serial numbers, hardware addresses, UUIDs and the host's name, in raw files, too */
	bool sync; /* all is on the disk on return; a run does that when it is sealed */
};

/* Capture into `dir` (made if missing; must be empty). `o` may be NULL. 0 or a negative errno; a
 * source that can't be read is no failure. */
int state_capture(const struct sysroot *root, const char *dir, const struct state_options *o, struct err *e);

#endif
