#include "commands/run_words.h"

#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"

void run_words_shorthand(struct cli_list *set, const char *format, const char *text, char **keep)
{
	if (!text)
		return;
	*keep = fs_path(format, text);
	set->items = or_abort(realloc(set->items, (set->count + 1) * sizeof(*set->items)));
	set->items[set->count++] = *keep;
}

int run_words_budget(const char *text, int64_t *ns, struct err *e)
{
	char why[256];

	if (!text)
		return 0;
	if (unit_parse(UNIT_TIME_NS, text, ns, why, sizeof(why)))
		return err_set(e, -EINVAL, STATUS_USAGE, "--budget", NULL, "%s", why);
	if (*ns <= 0)
		return err_set(e, -EINVAL, STATUS_USAGE, "--budget", NULL,
			       "must be more than no time; write it as 30min, 8h");
	return 0;
}

int run_words_profile_path(const char **path, char **real, struct err *e)
{
	*real = *path ? realpath(*path, NULL) : NULL;
	if (*path && (!*real || setenv("KBTUNE_PROFILES", *real, 1)))
		return err_sys(e, -errno, *path, "look for profiles there");
	*path = *real;
	return 0;
}
