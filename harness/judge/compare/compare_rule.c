#include "judge/compare/compare_rule.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "judge/compare/compare_join.h"

double compare_rule_margin(const struct compare_rule *rule, const struct compare_values *v)
{
	double level = fabs(v->level[ARM_BASE]);

	for (size_t i = 0; i < rule->margin_count; i++)
		if (!strcmp(rule->margins[i].key, v->of.key))
			return rule->margins[i].margin * level;
	return rule->margin > 0 ? rule->margin * level : fmax(v->of.margin * level, v->of.margin_own);
}

/* --- what decides --- */

bool compare_rule_names(const struct compare_rule *rule, const char *key)
{
	for (size_t i = 0; i < rule->judge_count; i++)
		if (!strcmp(rule->judge[i], key))
			return true;
	return false;
}

static bool decides_by_size(const struct compare_point *p, const struct compare_values *v)
{
	if (compare_quantity_block(p->metric) || v == p->quantity)
		return true;
	/* Half a message, as the share is not exact. */
	return v->of.beyond > 0 && v->messages * v->of.beyond >= COMPARE_BEYOND - 0.5;
}

bool compare_rule_decides(const struct compare_rule *rule, const struct compare_point *p,
			  const struct compare_values *v)
{
	switch (rule->judge_from) {
	case JUDGE_BY_SIZE:
		return decides_by_size(p, v);
	case JUDGE_ALL:
		return true;
	case JUDGE_SPEC:
		/* A spec names quantities of series. */
		return compare_quantity_block(p->metric) || compare_rule_names(rule, v->of.key);
	default:
		return compare_rule_names(rule, v->of.key);
	}
}

/* --- as a user writes it --- */

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
	name = or_abort(strndup(text, (size_t)(equals - text)));
	rc = compare_quantity_find("--margin", metric, name, &one.key, e);
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

static int read_judge(const char *text, const char *metric, const char **keys, size_t *count, struct err *e)
{
	char *copy = or_abort(strdup(text)), *rest = copy, *name;
	int rc = 0;

	while (!rc && (name = strsep(&rest, ","))) {
		name += strspn(name, " ");
		name[strcspn(name, " ")] = '\0';
		if (*count == COMPARE_JUDGE_MOST)
			rc = err_set(e, -EINVAL, STATUS_USAGE, "--judge", NULL, "over %d quantities",
				     COMPARE_JUDGE_MOST);
		else
			rc = compare_quantity_find("--judge", metric, name, &keys[*count], e);
		*count += !rc;
	}
	free(copy);
	return rc;
}

/* Quantities that decide must be compared. */
static int check_judge(const struct compare_choice *choice, const char *const *keys, size_t count, struct err *e)
{
	for (size_t i = 0; choice->quantity_count && i < count; i++)
		if (!compare_is_among(keys[i], choice->quantity, choice->quantity_count))
			return err_set(e, -EINVAL, STATUS_USAGE, "--judge", NULL,
				       "%s is not compared; name it with --quantity, too, or name none there",
				       compare_quantity_label(keys[i]));
	return 0;
}

int compare_read_judge(const char *const *texts, size_t count, const struct compare_choice *choice,
		       struct compare_rule *rule, const char **keys, struct err *e)
{
	int rc = 0;

	rule->judge = keys;
	for (size_t i = 0; !rc && i < count; i++)
		rc = read_judge(texts[i], choice->metric, keys, &rule->judge_count, e);
	rule->judge_from = rule->judge_count ? JUDGE_ASKED : choice->quantity_count ? JUDGE_ALL : JUDGE_BY_SIZE;
	rc = rc ?: check_judge(choice, keys, rule->judge_count, e);
	if (rule->judge_from == JUDGE_ALL) {
		rule->judge = choice->quantity;
		rule->judge_count = choice->quantity_count;
	}
	return rc;
}

/* Names in a run directory are of statistics; others mean nothing, and are not followed. */
static size_t judge_of_spec(const struct compare_runs *runs, const char **keys, json_t *notes)
{
	const json_t *first = json_object_get(runs->run[0].run.resolved, "judge"), *name;
	struct err unused = ERR_INIT;
	size_t i, count = 0;

	json_array_foreach (first, i, name)
		if (count < COMPARE_JUDGE_MOST && json_is_string(name) &&
		    !compare_quantity_find("judge", NULL, json_string_value(name), &keys[count], &unused))
			count++;
	for (i = 1; i < runs->count; i++)
		if (!json_equal(json_object_get(runs->run[i].run.resolved, "judge"), first) &&
		    (first || json_object_get(runs->run[i].run.resolved, "judge"))) {
			json_array_append_new(notes, json_string("the runs' specs do not agree on what decides "
								 "('judge'); that of the first run of BASE counts"));
			break;
		}
	return count;
}

void compare_judge_of_runs(const struct compare_runs *runs, struct compare_rule *rule, const char **keys, json_t *notes)
{
	if (rule->judge_from != JUDGE_BY_SIZE)
		return;
	rule->judge = keys;
	rule->judge_count = judge_of_spec(runs, keys, notes);
	if (rule->judge_count)
		rule->judge_from = JUDGE_SPEC;
}
