/*
 * Runs for tests of figures: points that differ in their settings and medians alone.
 */
#ifndef KBLAT_TESTS_UNIT_FIXTURE_FIGURES_H
#define KBLAT_TESTS_UNIT_FIXTURE_FIGURES_H

#include "tests/unit/fixture_run.h"

#define FIXTURE_POINTS_MAX 80

/* A setting with more values than a figure can distinguish. */
static const char *const fixture_transports[] = {"verbs", "a", "b", "c", "d", "e", "f", "g", "h", "i"};

/* All of its messages arrived, and all were asked for their completion. */
static inline struct fixture_point fixture_plain_point(const char *transport, const char *qp, const char *poll,
						       int64_t size_bytes, double median_ns)
{
	return (struct fixture_point){.transport = transport,
				      .qp = qp,
				      .poll = poll,
				      .size_bytes = size_bytes,
				      .reps = 2,
				      .messages = 500,
				      .median_ns = median_ns,
				      .spread = .05,
				      .comp_share = 1};
}

static inline struct fixture_run fixture_plain_run(const char *name, const struct fixture_point *points, size_t count)
{
	return (struct fixture_run){.name = name,
				    .title = "t",
				    .host = "h",
				    .device = "mlx5_0",
				    .driver = "mlx5_core",
				    .status = "COMPLETED",
				    .spec = "",
				    .points = points,
				    .count = count};
}

#endif
