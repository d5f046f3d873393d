/*
 * A folder of experiments (each a folder with a spec.yaml) that are run as one campaign. What is asked on the
 * command line applies to all of them; what applies to none is a mistake.
 */
#ifndef KBLAT_CAMPAIGN_FOLDER_H
#define KBLAT_CAMPAIGN_FOLDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "measure/run/forecast.h"
#include "measure/spec/spec.h"
#include "study/study.h"

struct err;

struct experiment {
	char *name;	/* of its folder */
	char *path;	/* of its folder, absolute */
	bool *applies;	/* which --set it has a setting for */
	json_t *points; /* {"id", "params"}; empty: --only leaves none */
	unsigned long long messages;
	size_t missing;		 /* points that are not possible on this machine, as is known beforehand */
	const char *why_missing; /* with what to do; NULL: none */
	struct forecast expected;
};

struct experiments {
	char *path, *name, *title; /* absolute; the folder's name; study.yaml's, or "" */
	struct experiment *items;
	size_t count;
	json_t *environments; /* of all points: profiles, as keys */
};

/* A directory that is no experiment itself, but has some in it. */
bool experiments_is(const char *path);

/*
 * Read study.yaml (if there is one: title, order) and all specs: those named in `order` first, in
 * that order, the others by name. Everything wrong is printed to `complaints`; then -EINVAL. Former
 * runs, from which durations of points are taken, are searched for in `runs` (NULL: in runs/ of the
 * study). Release with experiments_free in any case.
 */
int experiments_load(const char *path, const struct spec_overrides *overrides, const char *runs,
		     struct experiments *out, FILE *complaints, struct err *e);
/* How long an experiment of a campaign is expected to take now. -EINVAL: unknown, because its spec has changed. */
int experiments_forecast(const struct study *s, const struct cell *c, const char *runs, struct forecast *expected);

/* Says once, before anything else, how many points are not possible here and what to do; nothing if all are. */
void experiments_say_missing(const struct experiments *all, FILE *out);

/* What --dry-run prints: the experiments, how long each is expected to take, and what a budget (0: none) leaves. */
void experiments_show(const struct experiments *all, double budget_s, bool json);
void experiments_free(struct experiments *s);

#endif
