/*
 * The state of a machine. A table (sources.c) lists the files to read. Raw files are kept under their own paths, and
 * their content in a flat, sorted state.json (key -> string or integer; an absent or unreadable source is "!ENOENT" or
 * "!EACCES", because this is information, too).
 *
 *   DIR/proc/cmdline, DIR/sys/devices/system/cpu/online, ...
 *   DIR/state.json {"schema": 1, "cost_ns", "keys": {"idle.cpu0.state1.name": "POLL", ...}}
 *
 * state.json is written last: a directory without one is no capture. Never called inside a measured
 * interval.
 */
#ifndef KBLAT_STATE_STATE_H
#define KBLAT_STATE_STATE_H

#include <stdbool.h>

struct err;
struct sysroot;

struct state_options {
	bool mask; /* hide serial numbers, hardware addresses, UUIDs and the host's name, in raw files, too */
	bool sync; /* all is on the disk on return; a run does that when it is sealed */
};

/* Capture into `dir` (made if missing; must be empty). `o` may be NULL. 0 or a negative errno; a
 * source that can't be read is no failure. */
int state_capture(const struct sysroot *root, const char *dir, const struct state_options *o, struct err *e);

#endif
