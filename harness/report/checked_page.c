#include "report/checked_page.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/manifest.h"
#include "files/rundir/reader.h"
#include "judge/analysis/verify.h"
#include "judge/claims/claims.h"
#include "report/report.h"

static void keep_first(void *arg, const char *text)
{
	char **first = arg;

	if (!*first)
		*first = or_abort(strdup(text));
}

/* Without gnuplot there is a page without figures. */
static void make_in(const struct run *run, const char *dir, char **html, char **why)
{
	struct err own = ERR_INIT;

	if (report_make_in(run, 1, dir, html, &own) && own.status != STATUS_IMPOSSIBLE) {
		keep_first(why, own.text);
		free(*html);
		*html = NULL;
	}
}

int checked_page_make(const struct run *run, const char *dir, char **html, char **why, struct err *e)
{
	struct verified seen;
	int wrong;

	*html = *why = NULL;
	if (!run->sealed)
		*why = fs_path("it is not sealed");
	wrong = *why ? 0 : manifest_check(run->path, keep_first, why, e);
	if (wrong || *why)
		return wrong < 0 ? wrong : 0;
	wrong = verify_run(run, claims_files, keep_first, why, &seen, e);
	if (wrong < 0)
		return wrong;
	make_in(run, dir, html, why);
	return 0;
}
