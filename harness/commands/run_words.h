/*
 * What subcommands that run a spec understand alike: shorthands of --set, a budget, where profiles are.
 */
#ifndef KBLAT_COMMANDS_RUN_WORDS_H
#define KBLAT_COMMANDS_RUN_WORDS_H

#include <stdint.h>

#include "common/cli.h"

/* --device and --reps are --set by other names: `format` has a %s for `text` (NULL: it was not given). The caller frees
 * `*keep`, after the list. */
void run_words_shorthand(struct cli_list *set, const char *format, const char *text, char **keep)
    __attribute__((format(printf, 2, 0)));

/* --budget: "30min", "8h". NULL leaves it as it is. 0, or -EINVAL and `e`. */
int run_words_budget(const char *text, int64_t *ns, struct err *e);

/* --profile-path: kbtune has it from its environment. `*path` becomes absolute; the caller frees `*real`. */
int run_words_profile_path(const char **path, char **real, struct err *e);

#endif
