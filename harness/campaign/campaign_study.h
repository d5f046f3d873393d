/*
 * A study: a folder of experiments (each a folder with a spec.yaml) that are run as one campaign. What is asked on the
 * command line applies to all of them; what applies to none is a mistake.
 */
#ifndef KBLAT_CAMPAIGN_STUDY_H
#define KBLAT_CAMPAIGN_STUDY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "run/forecast.h"
#include "spec/spec.h"

struct err;

struct study_experiment {
	char *name;	/* of its folder */
	char *path;	/* of its folder, absolute */
	bool *applies;	/* which --set it has a setting for */
	json_t *points; /* {"id", "params"}; empty: --only leaves none */
	unsigned long long messages;
	struct forecast expected;
};

struct study {
	char *path, *name, *title; /* absolute; the folder's name; study.yaml's, or "" */
	struct study_experiment *items;
	size_t count;
};

/* A directory that is no experiment itself, but has some in it. */
bool study_is(const char *path);

/*
 * Read study.yaml (if there is one: title, order) and all specs: those named in `order` first, in
 * that order, the others by name. Everything wrong is printed to `complaints`; then -EINVAL. Former
 * runs, from which durations of points are taken, are searched for in `runs` (NULL: in runs/ of the
 * study). Release with study_free in any case.
 */
int study_load(const char *path, const struct spec_overrides *overrides, const char *runs, struct study *out,
	       FILE *complaints, struct err *e);
/* How long an experiment of a campaign is expected to take now; `x` and `options` come from
 * campaign.json. -EINVAL: unknown, because its spec has changed. */
int study_forecast(const json_t *x, const json_t *options, const char *runs, struct forecast *expected);
void study_free(struct study *s);

#endif
