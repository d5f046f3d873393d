#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/monotonic.h"
#include "common/or_abort.h"

const char *const cell_states[CELL_STATES] = {
    [CELL_PENDING] = "pending", [CELL_RUNNING] = "running",	    [CELL_COMPLETED] = "completed",
    [CELL_FAILED] = "failed",	[CELL_INTERRUPTED] = "interrupted", [CELL_IMPOSSIBLE] = "impossible",
    [CELL_SKIPPED] = "skipped",
};

const char *const study_statuses[STUDY_STATUSES] = {
    [STUDY_RUNNING] = "RUNNING", [STUDY_COMPLETED] = "COMPLETED",     [STUDY_PARTIAL] = "PARTIAL",
    [STUDY_FAILED] = "FAILED",	 [STUDY_INTERRUPTED] = "INTERRUPTED",
};

/* --- lists of words --- */

void words_add(struct words *w, char *word)
{
	w->word = or_abort(reallocarray(w->word, w->count + 2, sizeof(*w->word)));
	w->word[w->count++] = word;
	w->word[w->count] = NULL;
}

void words_copy(struct words *w, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		words_add(w, fs_path("%s", texts[i]));
}

bool words_from_json(struct words *w, const json_t *list)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one) {
		if (!json_is_string(one))
			return false;
		words_add(w, fs_path("%s", json_string_value(one)));
	}
	return true;
}

void words_free(struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->word[i]);
	free(w->word);
	*w = (struct words){NULL, 0};
}

/* --- cells --- */

bool cell_is_left(const struct cell *c)
{
	return c->state != CELL_COMPLETED && c->state != CELL_SKIPPED;
}

void cell_set_state(struct cell *c, enum cell_state state, const char *why)
{
	char *copy = fs_path("%s", why);

	free(c->why);
	c->why = copy;
	c->state = state;
}

void cell_clear_points(struct cell *c)
{
	for (size_t i = 0; i < c->point_count; i++) {
		free(c->point[i].metric);
		free(c->point[i].why);
	}
	free(c->point);
	c->point = NULL;
	c->point_count = 0;
}

struct cell *study_add_cell(struct study *s)
{
	s->cell = grow_or_abort(s->cell, s->count, sizeof(*s->cell));
	s->cell[s->count] = (struct cell){.why = fs_path("%s", ""), .exit_status = -1, .took_s = NAN};
	return &s->cell[s->count++];
}

static void cell_free(struct cell *c)
{
	cell_clear_points(c);
	words_free(&c->set);
	words_free(&c->earlier);
	free(c->name);
	free(c->spec);
	free(c->environment);
	free(c->stage);
	free(c->why);
	free(c->run);
}

/* --- the study --- */

size_t study_count(const struct study *s, enum cell_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++)
		count += s->cell[i].state == state;
	return count;
}

void study_set_answer(struct study *s, json_t *answer)
{
	json_decref(s->answer);
	s->answer = answer;
}

double study_left_s(const struct study *s)
{
	const double limit_s = s->request ? s->request->budget_s : 0;

	return limit_s > 0 ? limit_s - (double)(monotonic_ms() - s->began_ms) / 1000 : INFINITY;
}

void study_free(struct study *s)
{
	char *const texts[] = {
	    s->name,	    s->title,	  s->spec,	     s->version,      s->commit,
	    s->started_utc, s->ended_utc, s->options.source, s->options.sink, s->options.profile_path,
	    s->parent,	    s->path};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(texts[i]);
	for (size_t i = 0; i < s->count; i++)
		cell_free(&s->cell[i]);
	free(s->cell);
	words_free(&s->options.set);
	words_free(&s->options.only);
	study_hosts_free(&s->hosts);
	if (s->plan && s->kind->plan_free)
		s->kind->plan_free(s->plan);
	json_decref(s->argv);
	json_decref(s->answer);
	if (s->log)
		fclose(s->log);
	if (s->lock >= 0)
		close(s->lock);
	*s = (struct study){.lock = -1};
}
