#include "measure/instrument/gap_log.h"

#include <string.h>

#define GAP_LOG_ROOM 65536

int gap_log_open(struct gap_log *log, int numa_node, struct err *e)
{
	int rc;

	memset(log, 0, sizeof(*log));
	rc = memory_alloc(&log->memory, GAP_LOG_ROOM * sizeof(*log->gaps), numa_node, e);
	if (rc)
		return rc;
	log->gaps = log->memory.data;
	log->room = GAP_LOG_ROOM;
	return 0;
}

void gap_log_close(struct gap_log *log)
{
	memory_free(&log->memory);
	memset(log, 0, sizeof(*log));
}

void gap_log_begin(struct gap_log *log, int64_t least)
{
	log->last = 0;
	log->least = least;
	log->count = 0;
	log->missed = 0;
}

void gap_log_note(struct gap_log *log, int64_t now)
{
	/* The first poll has no predecessor. */
	if (!log->last)
		return;
	if (log->count == log->room)
		log->missed++;
	else
		log->gaps[log->count++] = (struct logged_gap){log->last, now};
}
