/*
 * A step is one change of the machine: the object to change, its previous value and its new one. Steps are planned by
 * knobs (plan) and recorded (journal) before the first of them is made. They contain everything needed to undo them in
 * any process, whether they were made completely, partly or not at all.
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
	CHECK_SAME,    /* unchanged since the step was made */
	CHECK_PENDING, /* it will be after an expected event, such as the next interrupt */
	CHECK_DRIFT,   /* it is not */
};

/* What was changed no longer exists (a CPU is offline, a device was removed), so there is nothing to restore. */
#define STEP_GONE 1

/* Of step_follow() only: it no longer exists, and another one has its name. */
#define STEP_REPLACED 3

/* It was undone as far as that goes without a CPU that is offline and not waited for; `e` says what is left as it is. */
#define STEP_LEFT 2

/* Keys of every step's data. A list of CPUs that undoing does not wait for: they were offline when it was planned, or
 * have been given up. And whether the step itself has been given up: what cannot be undone is left. */
#define STEP_OFFLINE  "offline"
#define STEP_GIVEN_UP "given_up"

/* What the thing is that it changes, if another one may get its name (identity.h). */
#define STEP_IDENTITY "is"

/* A way of changing a machine. Stateless, as everything is in the step. */
struct op {
	const char *name;
	const char *right; /* the capability that it requires, for people */

	/* It makes something that somebody else may make, too, between plan and apply: whether it was
	 * begun has to be written down. Where `apply` finds it there, it sets the step's `not_begun`. */
	bool creates;

	/* Is it permitted and possible? 0, or a negative errno and the reason. Changes nothing. */
	int (*probe)(struct machine *m, const struct step *s, char *why, size_t size);

	/* Make the change and read it back; it is an error if the value is not the desired one. */
	int (*apply)(struct machine *m, struct step *s, struct err *e);

	/* May be NULL. Called after all steps were made: keeps what `check` will compare with, and what later steps may
	 * have changed again. */
	void (*settle)(struct machine *m, struct step *s);

	/* Is it unchanged since the step was made? `now` gets the current value. */
	enum check (*check)(struct machine *m, const struct step *s, char *now, size_t size);

	/* Undo it. Does nothing if the previous value is already there, so it can be called at any time, any number of
	 * times. 0; STEP_GONE; STEP_LEFT and `e`; or a negative errno and `e`. */
	int (*undo)(struct machine *m, const struct step *s, struct err *e);

	/* The data that `undo` needs to restore what outlives a reboot: a new reference. NULL: nothing outlives it. */
	json_t *(*lasting)(const struct step *s);
};

struct step {
	char *knob; /* the key of the profile that asks for it */
	const struct op *op;
	char *path;	      /* what it touches */
	char *before, *after; /* as printed for people and in plans, and as written */
	json_t *data;	      /* an object with what else the op needs */
	bool not_begun;	      /* not begun, so it must not be undone: what exists belongs to somebody else */
	char *note;	      /* details of the result, if there is more to say than that it worked; or NULL */
	double took_s;	      /* how long making it took; not recorded */
};

/* Steals `data` (NULL: an empty object). */
void step_init(struct step *s, const char *knob, const struct op *op, const char *path, const char *before,
	       const char *after, json_t *data);
/* Does it change anything, or only keep and watch? What is counted for people is what changes. */
bool step_is_change(const struct step *s);

void step_free(struct step *s);
void step_note(struct step *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Something that undoing the step does not restore, or cannot know; the format says why. `lasts`: it survives a reboot.
 * It is in the step's data, as "irreversible": [{"object", "reason", "lasts"}]. To be stated while it is planned:
 * --strict refuses such a step. step_irreversible: that list, or NULL.
 */
void step_cannot_undo(struct step *s, bool lasts, const char *object, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const json_t *step_irreversible(const struct step *s);

/* JSON and back. step_to_show: for output, which may be published: without the content of files on disk ("files" with
 * "of_others"), as a boot loader's has passwords. step_from_json: 0 or -EINVAL; `find` says which op has a name; `why` gets a
 * phrase. */
json_t *step_to_json(const struct step *s);
json_t *step_to_show(const struct step *s);
int step_from_json(const json_t *j, const struct op *(*find)(const char *name), struct step *s, char *why, size_t size);

/*
 * The step as it is for a machine on which the thing that it changes may have another name now, in `now`, which the caller
 * frees with step_free(). 0; STEP_GONE if that thing is gone; or STEP_REPLACED if another one has its name, too.
 */
int step_follow(const struct machine *m, const struct step *s, struct step *now);

/* For step_follow(): write down what it changes, which is there now. */
void step_identify(const struct machine *m, struct step *s);

/* Texts and numbers in `data`; "" and 0 if there is none. */
const char *step_text(const struct step *s, const char *key);
long long step_number(const struct step *s, const char *key);

#endif
