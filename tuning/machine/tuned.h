/*
 * tuned: its profiles, as files and as its own code reads them, and its daemon.
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

/* The first of `names`, which are separated by spaces, that is not the name of a profile ("" if there is none at all);
 * NULL: all are. The caller frees. */
char *tuned_find_missing(const struct machine *m, const char *names);

/* All profiles' names; free with sysroot_names_free. */
char **tuned_names(const struct machine *m);

/* All profiles with their summaries (an object: name: text), as tuned itself lists them. */
json_t *tuned_profiles(const struct machine *m);

/*
 * What tuned's own code makes of the profiles in `names` (separated by spaces; `own`: the path of the tuned.conf of the
 * only one, if it is not installed yet, or NULL): see tuned_script.h. NULL if there is no tuned that could be asked, and
 * `why`.
 */
json_t *tuned_resolve(const struct machine *m, const char *names, const char *own, char *why, size_t size);

/* The process of a tuned that runs and is not ours, or 0. Live machines only. */
int tuned_daemon(struct machine *m);

/* What its daemon has applied: profiles, "" for none; and the one that it adds to whatever is chosen. */
struct tuned_active {
	char profile[256], post[256];
	bool answers;
};

/* Does the daemon answer? Live machines only. tuned_ask_active: the same, but returns what tuned_command() does: an exit
 * status above 128 if a signal ended it. */
bool tuned_active(struct tuned_active *a);
int tuned_ask_active(struct tuned_active *a);

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
