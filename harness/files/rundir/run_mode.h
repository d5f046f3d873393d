/*
 * A capture may contain what not everybody may read on the machine; its files then have permissions of their owner
 * alone. What is derived from runs, such as a report or an index, must not be readable by more users than the runs.
 */
#ifndef KBLAT_RUNDIR_RUN_MODE_H
#define KBLAT_RUNDIR_RUN_MODE_H

#include <sys/types.h>

struct run;

/* The permissions for a file derived from this run: 0666, without those of a group or of others who cannot read each
 * document of the run. The umask is not taken into account. */
mode_t run_mode(const char *run_path);

/* Likewise for a file in `folder`, below which the run is: the folders in between must let them pass, too. */
mode_t run_mode_above(const char *run_path, const char *folder);

/* Likewise for a file derived from all of these runs. */
mode_t run_mode_of(const struct run *runs, size_t count);

/* Likewise of those that find_runs() finds below a folder. */
mode_t run_mode_below(const char *folder);

/* Until umask() is called with the result, this process, and those that it starts, make files and folders that no more
 * users may read than `mode` says. */
mode_t run_mode_limit(mode_t mode);

#endif
