#include "tuning/steps/step.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "tuning/machine/cards.h"
#include "tuning/machine/identity.h"

void step_init(struct step *s, const char *knob, const struct op *op, const char *path, const char *before,
	       const char *after, json_t *data)
{
	*s = (struct step){.knob = fs_path("%s", knob),
			   .op = op,
			   .path = fs_path("%s", path),
			   .before = fs_path("%s", before),
			   .after = fs_path("%s", after),
			   .data = data ? data : json_object()};
}

bool step_is_change(const struct step *s)
{
	return strcmp(s->before, s->after) != 0;
}

void step_free(struct step *s)
{
	free(s->knob);
	free(s->path);
	free(s->before);
	free(s->after);
	free(s->note);
	json_decref(s->data);
	*s = (struct step){0};
}

void step_note(struct step *s, const char *format, ...)
{
	va_list ap;

	free(s->note);
	va_start(ap, format);
	or_abort(vasprintf(&s->note, format, ap) < 0 ? NULL : s->note);
	va_end(ap);
}

void step_cannot_undo(struct step *s, bool lasts, const char *object, const char *format, ...)
{
	json_t *list = json_object_get(s->data, "irreversible");
	char *reason;
	va_list ap;

	va_start(ap, format);
	or_abort(vasprintf(&reason, format, ap) < 0 ? NULL : reason);
	va_end(ap);
	if (!list) {
		list = json_array();
		json_object_set_new(s->data, "irreversible", list);
	}
	json_array_append_new(list,
			      json_pack("{s:s, s:s, s:b}", "object", object, "reason", reason, "lasts", (int)lasts));
	free(reason);
}

const json_t *step_irreversible(const struct step *s)
{
	return json_object_get(s->data, "irreversible");
}

json_t *step_to_json(const struct step *s)
{
	json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:O}", "knob", s->knob, "op", s->op->name, "path", s->path,
			      "before", s->before, "after", s->after, "data", s->data);

	if (j && s->note)
		json_object_set_new(j, "note", json_string(s->note));
	if (j && s->not_begun)
		json_object_set_new(j, "unmade", json_true());
	return j;
}

json_t *step_to_show(const struct step *s)
{
	json_t *whole = step_to_json(s), *shown = json_deep_copy(whole), *one;
	size_t i;

	json_decref(whole);
	json_array_foreach (json_object_get(json_object_get(shown, "data"), "files"), i, one)
		if (json_is_true(json_object_get(one, "of_others"))) {
			json_object_del(one, "raw");
			json_object_del(one, "made");
		}
	return shown;
}

int step_from_json(const json_t *j, const struct op *(*find)(const char *name), struct step *s, char *why, size_t size)
{
	const char *knob, *op, *path, *before, *after, *note = NULL;
	json_error_t bad;
	json_t *data;
	int not_begun = 0;

	if (json_unpack_ex((json_t *)j, &bad, JSON_STRICT, "{s:s, s:s, s:s, s:s, s:s, s:o, s?s, s?b}", "knob", &knob,
			   "op", &op, "path", &path, "before", &before, "after", &after, "data", &data, "note", &note,
			   "unmade", &not_begun) ||
	    !json_is_object(data)) {
		snprintf(why, size, "a step in it is not valid: %s", bad.text);
		return -EINVAL;
	}
	if (!find(op)) {
		snprintf(why, size, "there is no operation '%s'", op);
		return -EINVAL;
	}
	step_init(s, knob, find(op), path, before, after, json_incref(data));
	s->not_begun = not_begun;
	if (note)
		step_note(s, "%s", note);
	return 0;
}

/* The path of what it changes; of a card's values there is none but the card's. */
static char *thing_path(const struct step *s)
{
	const char *card = step_text(s, "card");

	return *card ? fs_path(CARDS "/%s", card) : fs_path("%s", s->path);
}

void step_identify(const struct machine *m, struct step *s)
{
	char *path = thing_path(s), *is = identity_of(m, path);

	if (is)
		json_object_set_new(s->data, STEP_IDENTITY, json_string(is));
	free(is);
	free(path);
}

/* `path` is what thing_path() would say. */
static void rename_step(struct step *s, const char *path)
{
	const char *card = step_text(s, "card"), *name = strrchr(path, '/') + 1;
	char *text;

	if (*card && strlen(card) <= strlen(s->path)) {
		text = fs_path("%s%s", name, s->path + strlen(card));
		json_object_set_new(s->data, "card", json_string(name));
	} else {
		text = fs_path("%s", path);
	}
	free(s->path);
	s->path = text;
}

int step_follow(const struct machine *m, const struct step *s, struct step *now)
{
	const char *is = step_text(s, STEP_IDENTITY);
	char *path = thing_path(s), *then, *other;
	int rc = *is ? identity_follow(m, path, is, &then) : 0;

	if (!rc) {
		step_init(now, s->knob, s->op, s->path, s->before, s->after, json_copy(s->data));
		now->not_begun = s->not_begun;
	}
	if (!rc && *is) {
		if (strcmp(path, then) != 0)
			rename_step(now, then);
		free(then);
	}
	other = rc ? identity_of(m, path) : NULL;
	free(path);
	free(other);
	return !rc ? 0 : other ? STEP_REPLACED : STEP_GONE;
}

const char *step_text(const struct step *s, const char *key)
{
	const char *text = json_string_value(json_object_get(s->data, key));

	return text ? text : "";
}

long long step_number(const struct step *s, const char *key)
{
	return json_integer_value(json_object_get(s->data, key));
}
