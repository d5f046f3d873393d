/*
 * One repetition of a point: both endpoints are armed, followed until they are done, and what they hand back is stored.
 */
#ifndef KBLAT_REPETITION_H
#define KBLAT_REPETITION_H

#include <stdint.h>

struct err;
struct session;

/* Repetitions that are not among those that are counted: before them, and (t_send) without the third thread. */
enum { WARM_UP = -1, UNDISTURBED = -2 };

/* 0; -EINTR: stopped early, what was measured is kept; or another negative errno. */
int repetition_run(struct session *s, long long number, uint32_t messages, struct err *e);

/*
 * Nothing half-written stays: a repetition has counters.json, or it is not there. Called when the endpoints are gone:
 * one that hung keeps its columns as if the coordinator had died.
 */
void repetition_drop_incomplete(const struct session *s);

#endif
