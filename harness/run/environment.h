/*
 * The environment of points: a profile of kbtune, applied around them and put back. Nothing here changes the machine;
 * kbtune does ($KBTUNE, or the one beside this program, or the one in PATH): `kbtune hold PROFILE` keeps it applied as long
 * as our end of its standard input is open, so it is put back whatever becomes of us.
 *
 * Points that follow each other with the same environment share one application.
 */
#ifndef KBLAT_ENVIRONMENT_H
#define KBLAT_ENVIRONMENT_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>

#include "point/settings.h"
#include "run/channel.h"

#define ENVIRONMENT_NONE "none"

struct environment {
	char *kbtune;	 /* the program */
	char *name;	 /* what is applied now; NULL: nothing */
	json_t *plans;	 /* profile -> its plan on this machine, of environment_check() */
	json_t *history; /* of changes.json: [{"profile", "points": [id…], "applied", "verified", "restored"}] */
	struct channel holder;
	volatile sig_atomic_t *interrupted;
};

/* Where an endpoint runs: in a shield of the environment (NULL: in none), on a CPU of it (-1: as placement_choose() says). */
struct environment_place {
	const char *shield;
	int cpu;
};

int environment_open(struct environment *env, volatile sig_atomic_t *interrupted, struct err *e);
void environment_close(struct environment *env);

/*
 * Before anything is started: whether every environment of these points can be applied by us, here, and has the CPUs
 * that its points name. 0, or a negative errno and `e` with kbtune's own status: no rights (STATUS_IMPOSSIBLE), an
 * unknown profile (STATUS_USAGE), something applied already (STATUS_FAILED).
 */
int environment_check(struct environment *env, const json_t *points, struct err *e);

/* Apply what a point wants, unless it is applied already; put back what it does not want. -EINTR on a signal. */
int environment_enter(struct environment *env, const json_t *point, struct err *e);

/* Put back what is applied, if anything is. What could not be put back is in `e`. */
int environment_leave(struct environment *env, struct err *e);

/* Whether it is still applied: 0, or -ESRCH and `e` where kbtune was ended meanwhile (and has put everything back). */
int environment_still(struct environment *env, struct err *e);

/*
 * The endpoints' places under a point's environment, by role. A CPU that the point names says which shield; otherwise
 * the source is in the first shield, the sink in the second where there are two. STATUS_USAGE if no shield has the CPU.
 */
int environment_place(const struct environment *env, const json_t *params, struct environment_place place[2],
		      struct err *e);

#endif
