#include "tuning/journal/given_up.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/cpulist.h"
#include "common/err.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "tuning/journal/journal.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"
#include "tuning/machine/topology.h"
#include "tuning/ops/ops.h"

#define NAME "given-up.json"

static int refuse_damaged(const char *path, struct err *e)
{
	return err_set(e, -EINVAL, STATUS_USAGE, path, "read what was given up",
		       "it is damaged; look at it, then remove the file");
}

static int take_list(const struct machine *m, const char *text, size_t length, const char *path, json_t *list,
		     struct err *e)
{
	json_t *all = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL), *steps, *one;
	const char *boot, *knob, *step_path, *before, *why, *when;
	char *now = journal_boot_id(m);
	int rc = 0;
	size_t i;

	if (!all || json_unpack(all, "{s:s, s:o}", "boot_id", &boot, "given_up", &steps) || !json_is_array(steps))
		rc = refuse_damaged(path, e);
	json_array_foreach (rc || !now || strcmp(now, boot) ? NULL : steps, i, one) {
		if (!rc && json_unpack(one, "{s:s, s:s, s:s, s:s, s:s}", "knob", &knob, "path", &step_path, "before",
				       &before, "why", &why, "when", &when))
			rc = refuse_damaged(path, e);
		json_array_append(list, one);
	}
	if (rc)
		json_array_clear(list);
	free(now);
	json_decref(all);
	return rc;
}

static char *given_up_file(const struct machine *m, char *buf, size_t size)
{
	char folder[4096];

	snprintf(buf, size, "%s/" NAME, state_folder_path(m, folder, sizeof(folder)));
	return buf;
}

int given_up_load(struct machine *m, json_t **list, struct err *e)
{
	char path[5200], *text;
	size_t length;
	int rc;

	*list = json_array();
	if (m->state_fd < 0)
		return 0;
	given_up_file(m, path, sizeof(path));
	rc = state_folder_read(m->state_fd, NAME, path, &text, &length, e);
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	rc = take_list(m, text, length, path, *list, e);
	free(text);
	return rc;
}

static int save(struct machine *m, json_t *list, struct err *e)
{
	char path[5200], *boot = journal_boot_id(m), *text = NULL;
	json_t *all = boot ? json_pack("{s:s, s:i, s:s, s:O}", "program", "kbtune", "schema", 1, "boot_id", boot,
				       "given_up", list)
			   : NULL;
	int rc = -EIO;

	if (!json_array_size(list)) {
		rc = unlinkat(m->state_fd, NAME, 0) && errno != ENOENT ? -errno : 0;
	} else if (all && (text = json_dumps(all, JSON_INDENT(1)))) {
		rc = state_folder_write(m->state_fd, NAME, text);
	}
	if (rc)
		err_sys(e, rc, given_up_file(m, path, sizeof(path)), "write");
	free(text);
	free(boot);
	json_decref(all);
	return rc;
}

/* A kbtune that was killed before it removed the step from its journal does this again. */
static void forget_same(json_t *list, const struct step *s)
{
	for (size_t i = json_array_size(list); i-- > 0;) {
		const json_t *old = json_object_get(json_array_get(list, i), "step");
		json_t *step = step_to_json(s);

		if (json_equal(old, step))
			json_array_remove(list, i);
		json_decref(step);
	}
}

int given_up_add(struct machine *m, const struct step *s, const char *why, struct err *e)
{
	time_t now = time(NULL);
	char when[32];
	struct tm tm;
	json_t *list;
	int rc = given_up_load(m, &list, e);

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	if (!rc) {
		forget_same(list, s);
		json_array_append_new(
		    list, or_abort(json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "knob", s->knob, "path", s->path,
					     "before", s->before, "why", why, "when", when, "step", step_to_json(s))));
		rc = save(m, list, e);
	}
	json_decref(list);
	return rc;
}

/* True if nothing of it is left. */
static bool retry(struct machine *m, const json_t *one)
{
	struct err ignored = ERR_INIT;
	char why[200];
	struct step s;
	int rc;

	if (step_from_json(json_object_get(one, "step"), ops_find, &s, why, sizeof(why)))
		return false;
	rc = -EINVAL;
	if (s.op == &op_affinity) {
		json_object_set_new(s.data, "left", json_true());
		rc = s.op->undo(m, &s, &ignored);
	}
	step_free(&s);
	if (!rc)
		fprintf(stderr, "kbtune: %s: what was left is restored\n", text_shown(json_text(one, "path")));
	return !rc;
}

void given_up_retry(struct machine *m)
{
	struct err ignored = ERR_INIT;
	json_t *list;
	size_t before;

	given_up_load(m, &list, &ignored);
	before = json_array_size(list);
	for (size_t i = before; i-- > 0;)
		if (retry(m, json_array_get(list, i)))
			json_array_remove(list, i);
	if (json_array_size(list) != before)
		save(m, list, &ignored);
	json_decref(list);
}

void given_up_print(const json_t *list, FILE *out)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		fprintf(out, "given up, %s: %s stays as it is; it was %s: %s\n", text_shown(json_text(one, "when")),
			text_shown(json_text(one, "path")), text_shown(json_text(one, "before")),
			text_shown(json_text(one, "why")));
}

/* --- giving up --- */

static void spare(struct step *s, const struct cpulist *cpus)
{
	char list[CPULIST_TEXT_MAX];
	struct cpulist all;

	if (cpulist_parse(step_text(s, STEP_OFFLINE), &all, NULL, 0))
		cpulist_clear(&all);
	cpulist_unite(&all, cpus);
	json_object_set_new(s->data, STEP_OFFLINE, json_string(cpulist_format(&all, list, sizeof(list))));
}

static int mark_cpus(const struct machine *m, struct journal *j, const struct cpulist *cpus, const char *what,
		     struct err *e)
{
	struct cpulist offline;

	topology_offline(m, &offline);
	if (cpulist_first(cpus) < 0 || !cpulist_is_subset(cpus, &offline))
		return err_set(e, -EINVAL, STATUS_USAGE, "--give-up", NULL,
			       "CPU %.200s is not offline, so nothing waits for it", what);
	for (size_t i = 0; i < j->count; i++)
		spare(&j->steps[i], cpus);
	return 0;
}

int given_up_mark(const struct machine *m, struct journal *j, const char *what, struct err *e)
{
	struct cpulist cpus;
	bool found = false;

	if (!cpulist_parse(what, &cpus, NULL, 0))
		return mark_cpus(m, j, &cpus, what, e);
	for (size_t i = 0; i < j->count; i++)
		if (!strcmp(j->steps[i].path, what)) {
			json_object_set_new(j->steps[i].data, STEP_GIVEN_UP, json_true());
			found = true;
		}
	return found
		   ? 0
		   : err_set(e, -EINVAL, STATUS_USAGE, "--give-up", NULL,
			     "%.200s is neither a CPU nor something that is to be restored; 'kbtune restore --dry-run' "
			     "lists that",
			     what);
}
