/*
 * What endpoints of this machine leave in /dev/shm when they are killed: scratch directories, shared memory, sockets.
 * All have the name of their flow in theirs, drawn at random by the coordinator, so they are found whatever moment the
 * endpoint was killed at.
 */
#ifndef KBLAT_RUN_LEFTOVERS_H
#define KBLAT_RUN_LEFTOVERS_H

#define LEFTOVERS_NAME 17 /* 16 hexadecimal digits */

/* Unique for this run, point and flow. */
void leftovers_draw_name(char name[LEFTOVERS_NAME]);

/* Remove everything of that flow; its endpoints have ended. */
void leftovers_remove(const char *name);

#endif
