/*
 * The progress of a run, for display.
 */
#ifndef KBLAT_RUN_PROGRESS_H
#define KBLAT_RUN_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct progress {
	const char *path; /* of the run directory */
	size_t point, points;
	long long rep, reps;
	uint64_t messages, all_messages; /* measured so far, and of the whole run */
	int64_t started_ms;		 /* monotonic_ms() */
	int64_t point_started_ms;
	void (*show)(
	    const struct progress *p); /* after every repetition and at the start of a point; NULL: nobody looks */
};

#endif
