#include "tuning/ops/guards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuning/machine/form.h"
#include "tuning/machine/machine.h"
#include "tuning/ops/op_file.h"

/* Treat a guard as a step that writes a file, so that it is restored like any other value. */
static int undo_guard(struct machine *m, const json_t *guard, struct err *e)
{
	const char *path = json_string_value(json_object_get(guard, "path"));
	const char *raw = json_string_value(json_object_get(guard, "raw"));
	const char *form = json_string_value(json_object_get(guard, "form"));
	struct step s;
	char *value;
	int rc;

	if (!path || !raw || !form || form_find(form) < 0)
		return 0;
	value = form_value((enum form)form_find(form), raw, "");
	step_init(&s, "tuned", &op_file, path, value, value, json_copy((json_t *)guard));
	free(value);
	rc = op_file.undo(m, &s, e);
	step_free(&s);
	return rc == STEP_GONE ? 0 : rc;
}

int guards_undo(struct machine *m, const json_t *guards, struct err *e)
{
	const json_t *one;
	int rc = 0, first = 0;
	bool again = false;
	size_t i;

	/* Some can only be put back when others are: of dirty_bytes and dirty_ratio, the one that is not 0. */
	json_array_foreach (guards, i, one)
		again |= undo_guard(m, one, NULL) < 0;
	for (i = 0; again && i < json_array_size(guards); i++) {
		rc = undo_guard(m, json_array_get(guards, i), e);
		first = first ? first : rc;
	}
	return first;
}

/* The current value, or that in `raw`; NULL if it is not a guard or cannot be read. The caller frees. */
static char *read_guard(struct machine *m, const json_t *guard, const char *raw)
{
	const char *path = json_string_value(json_object_get(guard, "path"));
	const char *form = json_string_value(json_object_get(guard, "form"));
	char *text = NULL, *value;

	if (!path || !form || form_find(form) < 0 || (!raw && machine_read(m, path, &text)))
		return NULL;
	value = form_value((enum form)form_find(form), raw ? raw : text, "");
	free(text);
	return value;
}

/* What it is now, if that is not how it was: the caller frees. */
static char *read_change(struct machine *m, const json_t *guard)
{
	const char *raw = json_string_value(json_object_get(guard, "raw"));
	char *before = raw ? read_guard(m, guard, raw) : NULL, *now = read_guard(m, guard, NULL);

	if (before && now && !strcmp(before, now)) {
		free(now);
		now = NULL;
	}
	free(before);
	return now;
}

static void settle_beside(struct machine *m, json_t *guard)
{
	json_t *list = json_object_get(guard, "beside"), *one;
	size_t i;

	json_array_foreach (list, i, one) {
		char *now = read_change(m, one);

		if (now)
			json_object_set_new(one, "moved", json_true());
		free(now);
	}
	if (list)
		json_object_set_new(guard, "looked", json_true());
}

void guards_settle(struct machine *m, json_t *guards)
{
	json_t *one;
	size_t i;

	json_array_foreach (guards, i, one) {
		char *now = read_change(m, one);

		if (now)
			json_object_set_new(one, "made", json_string(now));
		free(now);
		settle_beside(m, one);
	}
}

bool guards_find_changed(struct machine *m, const json_t *guards, char *text, size_t size)
{
	const json_t *one;
	bool changed = false;
	size_t i;

	json_array_foreach (guards, i, one) {
		const char *made = json_string_value(json_object_get(one, "made"));
		char *now = made ? read_guard(m, one, NULL) : NULL;

		changed = now && strcmp(made, now);
		if (changed)
			snprintf(text, size, "%s is %s, no longer %s", json_string_value(json_object_get(one, "path")),
				 now, made);
		free(now);
		if (changed)
			break;
	}
	return changed;
}
