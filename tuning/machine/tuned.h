/*
 * tuned: its profiles as files, its daemon, and what a profile will change.
 */
#ifndef KBLAT_TUNING_TUNED_H
#define KBLAT_TUNING_TUNED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct err;
struct machine;

/* The tuned.conf of a profile (/etc/tuned over /usr/lib/tuned); NULL if there is none. The caller
 * frees. */
char *tuned_find(const struct machine *m, const char *profile);

/* All profiles' names; free with sysroot_names_free. */
char **tuned_names(const struct machine *m);

/* A profile's summary line; returns `buf`. */
char *tuned_summary(const struct machine *m, const char *profile, char *buf, size_t size);

/*
 * The files that a profile, with what it includes, changes: sysctls, sysfs, governors, huge pages.
 * An array of {"path", "form", "raw", "want"}: as they are now, so that they can be restored even
 * if tuned is killed and has lost their values. `text` is a profile that is not installed yet, or
 * NULL.
 */
json_t *tuned_guards(const struct machine *m, const char *profile, const char *text);

/* The process of a tuned that runs and is not ours, or 0; whether its daemon answers, and its
 * active profile ("" for none). Live machines only. */
int tuned_daemon(struct machine *m);
bool tuned_active(char *profile, size_t size);

/* The same, but returns what tuned_command() does: an exit status above 128 if a signal ended it. */
int tuned_ask_active(char *profile, size_t size);

/* The first line of profiles installed by kbtune, and of no others. */
#define TUNED_OURS "# Installed by kbtune as long as it is applied; 'kbtune restore' removes it.\n"
bool tuned_is_ours(const struct machine *m, const char *conf);

/* Long enough for a daemon that applies a large profile; in all, whatever it prints meanwhile. */
#define TUNED_COMMAND_MS 120000

/*
 * Run tuned-adm or another program until it ends, but at most for `limit_ms`. Returns its exit
 * status or a negative errno; -ETIMEDOUT if it took longer and was killed. `said` gets the end of its output. It inherits
 * `lock` (-1: none), which holder_lock() has made, and which is thus held until the program has
 * ended.
 */
int tuned_command(const char *const argv[], int lock, int limit_ms, char *said, size_t size);

/* Is tuned installed? */
bool tuned_is_installed(const struct machine *m);

#endif
