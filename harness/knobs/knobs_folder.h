/*
 * The folder of trial profiles, which kbtune reads while it plans them. It is in /dev/shm, only its user may enter it, and
 * it disappears together with this process, however that ends: a child removes it.
 */
#ifndef KBLAT_KNOBS_FOLDER_H
#define KBLAT_KNOBS_FOLDER_H

#include <sys/types.h>

struct err;

struct knobs_folder {
	char path[64];
	int alive; /* closed when this process ends */
	pid_t guard;
};

int knobs_folder_make(struct knobs_folder *f, struct err *e);

/* Wait until it is gone. */
void knobs_folder_remove(struct knobs_folder *f);

#endif
