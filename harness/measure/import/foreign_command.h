/*
 * Another program while it measures: one process group, without standard input, whose output is kept in files, and which
 * ends at the latest after a time limit, on a signal, or when kblat does.
 */
#ifndef KBLAT_IMPORT_FOREIGN_COMMAND_H
#define KBLAT_IMPORT_FOREIGN_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct err;

#define FOREIGN_STDOUT	 "stdout"
#define FOREIGN_STDERR	 "stderr"
#define FOREIGN_KEPT	 (1 << 20)   /* bytes of each of its files that stay in the run directory */
#define FOREIGN_READ_MAX (4LL << 30) /* of a standard output that has the samples */

struct foreign_command {
	const char *name;	  /* in messages */
	const char *const *words; /* NULL-terminated */
	const char *dir;	  /* where FOREIGN_STDOUT and FOREIGN_STDERR are made */
	bool reads_stdout;	  /* it has the samples: all of it is stored */
	int64_t limit_ms;
	const volatile sig_atomic_t *interrupted;
};

/* Run it. Signals are only unblocked while it is waited for. 0; -EINTR: there was one; or another negative errno and `e`: it could not be started,
 * failed (with the last line of its standard error), or took too long. Its process group has ended in any case. */
int foreign_command_run(const struct foreign_command *c, struct err *e);

#endif
