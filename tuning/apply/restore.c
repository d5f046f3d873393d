#include "tuning/apply/restore.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/text.h"
#include "tuning/journal/given_up.h"
#include "tuning/journal/transaction.h"
#include "tuning/machine/exclusion.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"

/* What the journal says that undoing its steps does not restore: a new list. */
static json_t *irreversible_of(const struct journal *j)
{
	json_t *list = json_array();

	for (size_t i = 0; i < j->count; i++)
		if (!j->steps[i].not_begun && step_irreversible(&j->steps[i]))
			json_array_extend(list, (json_t *)step_irreversible(&j->steps[i]));
	return list;
}

/* What is left as it is since then or since an earlier restore, for people and, on standard error, for programs. */
static void print_given_up(struct machine *m, json_t *all)
{
	struct err bad = ERR_INIT;
	json_t *list;

	if (given_up_load(m, &list, &bad))
		fprintf(stderr, "kbtune: %s\n", bad.text);
	if (all)
		json_object_set(all, "given_up", list);
	else
		given_up_print(list, stdout);
	json_decref(list);
}

/* `lost`: NULL: nothing. */
static void print_restored(struct machine *m, const char *profile, const struct undone *done, const json_t *lost,
			   const char *state, double began, enum output output)
{
	double all_s = transaction_now_s() - began;
	char times[64];
	json_t *all, *one;
	size_t i;

	if (output == OUTPUT_NOTHING)
		return;
	if (output == OUTPUT_TEXT) {
		if (!strcmp(state, "none"))
			printf("nothing to restore\n");
		else if (!strcmp(state, "moot"))
			printf("the journal is of an earlier boot: nothing to restore, removed\n");
		else
			printf("restored %s in %s: %zu changes undone\n",
			       *profile ? text_shown(profile) : "single commands",
			       output_times(all_s, done->tuned_s, times, sizeof(times)), done->steps);
		json_array_foreach (lost, i, one)
			printf("  not undone, or not known: %s: %s\n", text_shown(json_text(one, "object")),
			       text_shown(json_text(one, "reason")));
		print_given_up(m, NULL);
		output_settle("everything is restored");
		return;
	}
	all = json_pack("{s:i, s:s, s:s, s:I, s:I}", "schema", 1, "state", state, "profile", profile, "undone",
			(json_int_t)done->steps, "gone", (json_int_t)done->gone);
	json_object_set_new(all, "irreversible", lost ? json_incref((json_t *)lost) : json_array());
	print_given_up(m, all);
	output_add_times(all, all_s, done->tuned_s);
	output_json(all, "restored", output);
	output_settle("everything is restored");
}

/* Recorded before anything is restored, so that a later restore goes on like this. */
static int give_up(struct machine *m, struct journal *j, const struct cli_list *what, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < what->count && !rc; i++)
		rc = given_up_mark(m, j, what->items[i], e);
	return rc ? rc : journal_save(m, j, e);
}

struct way {
	const char *owner; /* only what is applied for it; NULL: everything */
	const struct cli_list *give_up;
	enum output output;
};

static enum status restore_locked(struct machine *m, const struct way *w, double began, struct err *e)
{
	const enum output output = w->output;
	const char *owner = w->owner;
	struct undone done = {0};
	json_t *lost;
	struct journal j;
	int rc = journal_load(m, &j, e);

	if (rc == -ENOENT) {
		exclusion_release(m);
		given_up_retry(m);
		print_restored(m, "", &done, NULL, "none", began, output);
		return STATUS_OK;
	}
	if (rc)
		return err_status(e);
	if (owner && !journal_is_owned(&j, owner)) {
		fprintf(stderr,
			"kbtune: what was applied here was restored meanwhile, and %s was applied, which is kept\n",
			*j.profile ? j.profile : "something else");
		print_restored(m, "", &done, NULL, "none", began, output);
		journal_free(&j);
		return STATUS_OK;
	}
	lost = j.other_boot ? NULL : irreversible_of(&j);
	if (w->give_up && !j.other_boot)
		rc = give_up(m, &j, w->give_up, e);
	if (j.other_boot)
		rc = journal_remove(m, e);
	else if (!rc)
		rc = transaction_undo(m, &j, NULL, NULL, &done, e);
	if (!rc)
		given_up_retry(m);
	if (!rc)
		print_restored(m, j.profile, &done, lost, j.other_boot ? "moot" : "restored", began, output);
	json_decref(lost);
	journal_free(&j);
	return rc ? err_status(e) : STATUS_OK;
}

/* A reboot removes the state folder and its lock, but may leave this behind. */
static bool is_left_behind(const struct machine *m)
{
	int fd = state_folder_open_lasting(m, false, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static enum status restore_way(struct machine *m, const struct way *w, struct err *e)
{
	double began = transaction_now_s();
	enum status status;
	int rc = state_folder_open(m, is_left_behind(m), e), lock;

	if (rc == -ENOENT) {
		print_restored(m, "", &(struct undone){0}, NULL, "none", began, w->output);
		return STATUS_OK;
	}
	if (rc)
		return err_status(e);
	lock = journal_lock(m, e);
	if (lock < 0)
		return err_status(e);
	status = restore_locked(m, w, began, e);
	close(lock);
	return status;
}

/* Undo everything in the journal; with an `owner`, only if the journal belongs to it. Returns an exit status, and fills
 * `e` on failure. */
static enum status restore_all(struct machine *m, const char *owner, enum output output, struct err *e)
{
	return restore_way(m, &(struct way){.owner = owner, .output = output}, e);
}

enum status restore_without(struct machine *m, const struct cli_list *give_up, enum output output, struct err *e)
{
	return restore_way(m, &(struct way){.give_up = give_up, .output = output}, e);
}

enum status restore_patiently(struct machine *m, const char *owner, enum output output, struct err *e)
{
	const int64_t deadline_ms = monotonic_ms() + RESTORE_PATIENCE_MS;
	enum status status = restore_all(m, owner, output, e);

	while (status && monotonic_ms() < deadline_ms) {
		sleep(1);
		err_clear(e);
		status = restore_all(m, owner, output, e);
	}
	return status;
}
