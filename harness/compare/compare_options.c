#include "compare/compare_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"

int compare_read_percent(const char *flag, const char *text, unsigned most, double *share, struct err *e)
{
	char *end;

	if (!text)
		return 0;
	*share = strtod(text, &end) / 100;
	if (end != text && (!*end || !strcmp(end, "%") || !strcmp(end, " %")) && *share > 0 && *share <= most / 100.)
		return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, flag, NULL,
		       "must be a percentage above 0 and at most %u, such as 2, not '%s'", most, text);
}

static int read_margin(const char *text, const char *metric, struct compare_rule *rule, struct compare_margin *margins,
		       struct err *e)
{
	const char *equals = strchr(text, '=');
	struct compare_margin one = {NULL, 0};
	char *name;
	int rc;

	if (!equals)
		return compare_read_percent("--margin", text, 100, &rule->margin, e);
	name = strndup(text, (size_t)(equals - text));
	rc = name ? compare_quantity_find("--margin", metric, name, &one.key, e) : err_sys(e, -ENOMEM, NULL, "compare");
	free(name);
	rc = rc ?: compare_read_percent("--margin", equals + 1, 100, &one.margin, e);
	memmove(margins + 1, margins, rule->margin_count * sizeof(*margins));
	margins[0] = one;
	rule->margin_count++;
	return rc;
}

int compare_read_margins(const char *const *texts, size_t count, const char *metric, struct compare_rule *rule,
			 struct compare_margin *margins, struct err *e)
{
	int rc = 0;

	rule->margins = margins;
	for (size_t i = 0; !rc && i < count; i++)
		rc = read_margin(texts[i], metric, rule, margins, e);
	return rc;
}
