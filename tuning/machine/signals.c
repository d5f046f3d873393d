#include "tuning/machine/signals.h"

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

#define ENDING (sizeof(ending) / sizeof(ending[0]))

void signals_ending(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < ENDING; i++)
		sigaddset(set, ending[i]);
}

void signals_block(sigset_t *before)
{
	sigset_t set;

	signals_ending(&set);
	sigprocmask(SIG_BLOCK, &set, before);
}

bool signals_are_pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < ENDING; i++)
		if (sigismember(&pending, ending[i]))
			return true;
	return false;
}
