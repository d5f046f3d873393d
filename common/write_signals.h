/*
 * A reader that is gone (EPIPE) and a file that may not grow (ulimit -f, EFBIG) are errors of write(), which name what
 * could not be written. By default they are signals that end a process without a word.
 */
#ifndef KBLAT_COMMON_WRITE_SIGNALS_H
#define KBLAT_COMMON_WRITE_SIGNALS_H

#include <signal.h>

static inline void write_signals_ignore(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/* For a program that is about to be executed: it inherits what is ignored. */
static inline void write_signals_restore(void)
{
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
}

#endif
