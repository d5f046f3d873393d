/*
 * A capture may contain what not everybody may read on the machine; its files then have permissions of their owner
 * alone. What is derived from a run, such as a report or an index, must not be readable by more users than the run.
 */
#ifndef KBLAT_RUNDIR_RUN_MODE_H
#define KBLAT_RUNDIR_RUN_MODE_H

#include <sys/types.h>

/* The permissions for a file derived from this run: 0666, without those of a group or of others who cannot read each
 * document of the run. The umask is not taken into account. */
mode_t run_mode(const char *run_path);

/* Likewise for a file in `folder`, below which the run is: the folders in between must let them pass, too. */
mode_t run_mode_above(const char *run_path, const char *folder);

#endif
