#include "study/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "study/study_record.h"
#include "study/study_run.h"

static const struct study_kind *const kinds[] = {&campaign_kind, &pairs_kind, &knobs_kind, &boots_kind};

const struct study_kind *study_kind_at(const char *dir)
{
	char *name = study_record_kind(dir);
	const struct study_kind *found = NULL;

	for (size_t i = 0; name && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i]->name, name))
			found = kinds[i];
	free(name);
	return found;
}

int study_page(const char *dir, char **html, struct err *e)
{
	const struct study_kind *kind = study_kind_at(dir);

	*html = NULL;
	if (!kind || !kind->report)
		return err_set(e, -EINVAL, STATUS_USAGE, dir, NULL, "this is not a study that has a page of its own");
	return study_report(kind, dir, html, e);
}
