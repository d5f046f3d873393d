#include "tuning/apply/drift.h"

#include <stdio.h>

#include "common/json.h"
#include "common/text.h"
#include "tuning/journal/transaction.h"

void drift_print(const struct journal *j, const struct drift *d)
{
	const json_t *one;
	size_t i;

	printf("%s: %zu changes, %zu drifted, %zu pending\n", *j->profile ? text_shown(j->profile) : "single commands",
	       journal_changes(j, 0), d->drifted, d->pending);
	json_array_foreach (d->list, i, one)
		printf("  %-8s %s: %s -> %s\n", json_text(one, "state"), text_shown(json_text(one, "path")),
		       text_shown(json_text(one, "want")), text_shown(json_text(one, "now")));
}

json_t *drift_json(const struct journal *j, const struct drift *d)
{
	return json_pack("{s:i, s:s, s:b, s:I, s:I, s:O}", "schema", 1, "profile", j->profile, "as_applied",
			 !d->drifted, "drifted", (json_int_t)d->drifted, "pending", (json_int_t)d->pending,
			 "differences", d->list);
}
