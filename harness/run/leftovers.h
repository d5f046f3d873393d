/*
 * What endpoints on this machine leave behind in /dev/shm when they are killed: scratch directories, shared memory,
 * sockets. Their names contain the name of their flow, which the coordinator has chosen at random, so they are found
 * whenever the endpoint was killed.
 */
#ifndef KBLAT_RUN_LEFTOVERS_H
#define KBLAT_RUN_LEFTOVERS_H

#define LEFTOVERS_NAME 17 /* 16 hexadecimal digits */

/* Unique for this run, point and flow. */
void leftovers_draw_name(char name[LEFTOVERS_NAME]);

/* Remove everything of that flow; its endpoints have ended. */
void leftovers_remove(const char *name);

#endif
