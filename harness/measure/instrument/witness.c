#include "measure/instrument/witness.h"

#include <string.h>

#define WITNESS_ROOM 65536

int witness_open(struct witness *w, int numa_node, struct err *e)
{
	int rc;

	memset(w, 0, sizeof(*w));
	rc = memory_alloc(&w->memory, WITNESS_ROOM * sizeof(*w->gaps), numa_node, e);
	if (rc)
		return rc;
	w->gaps = w->memory.data;
	w->room = WITNESS_ROOM;
	return 0;
}

void witness_close(struct witness *w)
{
	memory_free(&w->memory);
	memset(w, 0, sizeof(*w));
}

void witness_begin(struct witness *w, int64_t least)
{
	w->last = 0;
	w->least = least;
	w->count = 0;
	w->missed = 0;
}

void witness_note(struct witness *w, int64_t now)
{
	/* The first poll has no predecessor. */
	if (!w->last)
		return;
	if (w->count == w->room)
		w->missed++;
	else
		w->gaps[w->count++] = (struct witness_gap){w->last, now};
}
