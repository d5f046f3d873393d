#include "tuning/journal/change.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common/err.h"
#include "tuning/journal/transaction.h"
#include "tuning/machine/exclusion.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"

int change_refuse_unfinished(const struct journal *j, struct err *e)
{
	return err_set(e, -EEXIST, STATUS_FAILED, NULL, NULL,
		       "a change of this machine (%s, %s) was interrupted; undo it with 'kbtune restore' first",
		       *j->profile ? j->profile : "single commands", journal_state_name(j->state));
}

static int undo_left(struct machine *m, struct journal *j, struct err *e)
{
	int rc = transaction_undo(m, j, NULL, NULL, NULL, e);

	if (rc)
		return rc;
	fprintf(stderr, "kbtune: what %s left behind in an earlier boot was restored first\n",
		*j->profile ? j->profile : "a single command");
	journal_free(j);
	return -ENOENT;
}

int change_begin(struct machine *m, const char *profile, struct journal *j, int *lock, struct err *e)
{
	int rc = state_folder_open(m, true, e);

	*j = (struct journal){0};
	if (rc)
		return rc;
	*lock = journal_lock(m, e);
	if (*lock < 0)
		return *lock;
	rc = exclusion_take(m, e);
	if (rc) {
		close(*lock);
		return rc;
	}
	rc = journal_load(m, j, e);
	if (!rc && j->other_boot) {
		fprintf(stderr, "kbtune: removed the journal of an earlier boot, which no longer applies\n");
		journal_free(j);
		rc = journal_remove(m, e);
		rc = rc ? rc : -ENOENT;
	}
	if (!rc && j->leftovers && *profile)
		rc = undo_left(m, j, e);
	if (!rc && j->state != JOURNAL_APPLIED)
		rc = change_refuse_unfinished(j, e);
	if (rc == -ENOENT) {
		journal_init(j, m, profile);
		rc = 0;
	}
	if (rc)
		change_end(m, j, *lock);
	return rc;
}

void change_end(struct machine *m, struct journal *j, int lock)
{
	if (!journal_is_there(m))
		exclusion_release(m);
	journal_free(j);
	close(lock);
}

int change_undo(struct machine *m, const char *knob, struct err *e)
{
	struct journal j;
	struct undone done = {0};
	int lock, rc = change_begin(m, "", &j, &lock, e);

	if (rc)
		return rc;
	rc = transaction_undo(m, &j, knob, NULL, &done, e);
	change_end(m, &j, lock);
	return rc ? rc : (int)done.steps;
}
