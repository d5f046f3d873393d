/*
 * A step is one change of the machine: what it touches, how that was before, how it is to be. Steps
 * come from knobs (plan), are written down (journal) before the first of them is made, and carry
 * all that it takes to undo them, in any process, whether they were made, half made or not made at
 * all.
 */
#ifndef KBLAT_TUNING_STEP_H
#define KBLAT_TUNING_STEP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct err;
struct machine;
struct step;

enum check {
	CHECK_SAME,    /* it is as it was made */
	CHECK_PENDING, /* it will be, after the next event that the machine waits for */
	CHECK_DRIFT,   /* it is not */
};

/* What was changed is no longer there (a CPU is offline, a device was removed): nothing to put
 * back. */
#define STEP_GONE 1

/* A way of changing a machine. Stateless: everything is in the step. */
struct op {
	const char *name;
	const char *right; /* the capability that it takes, for people */

	/* It makes something that somebody else may make, too, between plan and apply: whether it was
	 * begun has to be written down. Where `apply` finds it there, it sets the step's `unmade`. */
	bool creates;

	/* May we, and is it possible? 0, or a negative errno and why. Changes nothing. */
	int (*probe)(struct machine *m, const struct step *s, char *why, size_t size);

	/* Make the change and read back what came of it: another value than asked for is an
	 * error. */
	int (*apply)(struct machine *m, struct step *s, struct err *e);

	/* May be NULL. All steps are made: keep what `check` will compare with, and what later
	 * steps may have changed again. */
	void (*settle)(struct machine *m, struct step *s);

	/* Is it still so? `now` gets what is there. */
	enum check (*check)(struct machine *m, const struct step *s, char *now, size_t size);

	/* Put it back. What is as before already is left alone: it can be called at any time, any
	 * number of times. 0; STEP_GONE; or a negative errno and `e`. */
	int (*undo)(struct machine *m, const struct step *s, struct err *e);

	/* May be NULL: nothing of it outlives a reboot. The data with which `undo` puts back what does,
	 * a new reference. */
	json_t *(*lasting)(const struct step *s);
};

struct step {
	char *knob; /* the key of the profile that asks for it */
	const struct op *op;
	char *path;	      /* what it touches */
	char *before, *after; /* as people and `plan` say it, and as it is written */
	json_t *data;	      /* an object with what else the op needs */
	bool unmade;	      /* not begun, so nothing of it may be undone: what is there is somebody else's */
	char *note;	      /* what came of it, where there is more to say than that it worked; or NULL */
	double took_s;	      /* how long making it took; not written down */
};

/* Takes `data` over (NULL: an empty object). */
void step_init(struct step *s, const char *knob, const struct op *op, const char *path, const char *before,
	       const char *after, json_t *data);
void step_free(struct step *s);
void step_note(struct step *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* JSON and back. step_from_json: 0 or -EINVAL; `find` says which op has a name; `why` gets a
 * phrase. */
json_t *step_to_json(const struct step *s);
int step_from_json(const json_t *j, const struct op *(*find)(const char *name), struct step *s, char *why, size_t size);

/* Texts and numbers of `data`; "" and 0 where there is none. */
const char *step_text(const struct step *s, const char *key);
long long step_number(const struct step *s, const char *key);

#endif
