/*
 * The environment of points: a profile of kbtune, applied before them and undone after them. Nothing here changes the
 * machine; kbtune does ($KBTUNE, or the kbtune next to this program, or the one in PATH). `kbtune hold PROFILE` keeps
 * the profile applied as long as our end of its standard input is open, so it is undone whatever happens to us.
 *
 * For consecutive points with the same environment, it is applied once.
 */
#ifndef KBLAT_ENVIRONMENT_H
#define KBLAT_ENVIRONMENT_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>

#include "measure/placement/placement.h"
#include "measure/point/point.h"
#include "measure/run/context.h"

struct environment {
	char *kbtune;	 /* the program */
	char *name;	 /* what is applied now; NULL: nothing */
	json_t *plans;	 /* profile -> its plan on this machine, of environment_check() */
	json_t *history; /* of changes.json: [{"profile", "points": [id…], "applied", "verified", "restored"}] */
	struct channel holder;
	volatile sig_atomic_t *interrupted;
};

void environment_open(struct environment *env, volatile sig_atomic_t *interrupted);
void environment_close(struct environment *env);

/*
 * Before anything is started: whether every environment of these points can be applied by us, here, and has the CPUs
 * that its points name. 0, or a negative errno and `e` with kbtune's own status: no rights (STATUS_IMPOSSIBLE), an
 * unknown profile (STATUS_USAGE), something applied already (STATUS_FAILED).
 */
int environment_check(struct environment *env, const struct point *points, size_t count, struct err *e);

/* For a dry run: the profiles of points, as keys of `names`; and whether a run with these would be refused: then -EINVAL. What
 * else would end it is printed to `out`. */
void environment_names(const struct point *points, size_t count, json_t *names);
int environment_foresee(json_t *names, FILE *out, struct err *e);
int environment_foresee_points(const struct point *points, size_t count, FILE *out, struct err *e);

/* What a profile would change here: into `plans`, under its name (or path). Fails as environment_check() does. */
int environment_plan(struct environment *env, const char *profile, struct err *e);

/* Apply the environment of a point, unless it is applied already, after undoing any other one. -EINTR on a signal. */
int environment_enter(struct environment *env, const struct point *p, struct err *e);
bool environment_is_applied(const struct environment *env);

/* Undo what is applied, if anything is. `e` reports what could not be undone. */
int environment_leave(struct environment *env, struct err *e);

/* Is the environment still applied? 0, or -ESRCH and `e` if kbtune was ended in the meantime (and has undone
 * everything). */
int environment_confirm(struct environment *env, struct err *e);

/*
 * The environment of a point whose endpoints have been started, for point.json: NULL if it has none; otherwise {"profile",
 * "lacks": [{"host", "knob", "object", "reason"}]}. What this machine lacks of the profile is what kbtune says; another
 * host is asked (`kbtune status`, by the endpoint's launcher), as we apply nothing there. A row without a knob: the profile
 * is not applied on that host at all. `before`: that of an earlier round, or NULL; it is taken.
 */
json_t *environment_note(const struct environment *env, const struct session *s, json_t *before);

/*
 * The endpoints' places under a point's environment, source and sink of each flow in turn: the shield (NULL: in none), and
 * the CPUs as they would be dealt inside of the shields. A CPU that the point names says which shield; otherwise sources
 * are in the first shield, sinks in the second where there are two. STATUS_USAGE if no shield has the CPU. Free what was
 * found with environment_forget_places() in either case.
 */
int environment_place(const struct environment *env, const struct point *p, struct placement *side,
		      const char **shields, struct err *e);
void environment_forget_places(struct placement *side, size_t count);

#endif
