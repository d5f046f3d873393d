/*
 * Linked into builds with COV=1 only: writes the counts of lines where a process ends without exit(), which is where gcov writes them.
 *
 * _exit() and raise() are replaced by the linker (--wrap). A signal that would end the process by its default action is caught first; signal() is replaced
 * so that it stays caught. A process that another one kills with SIGKILL writes nothing.
 */
#include <gcov.h>
#include <signal.h>
#include <stddef.h>

_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
int __real_raise(int number);
int __wrap_raise(int number);
sighandler_t __real_signal(int number, sighandler_t handler);
sighandler_t __wrap_signal(int number, sighandler_t handler);

static const int ending[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGABRT, SIGALRM, SIGXCPU};

/* The signal is blocked until this returns, and then ends the process. */
static void keep_and_end(int number)
{
	__gcov_dump();
	__real_signal(number, SIG_DFL);
	__real_raise(number);
}

__attribute__((constructor)) static void catch_ending(void)
{
	struct sigaction now;

	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		if (!sigaction(ending[i], NULL, &now) && now.sa_handler == SIG_DFL)
			__real_signal(ending[i], keep_and_end);
}

_Noreturn void __wrap__exit(int status)
{
	__gcov_dump();
	__real__exit(status);
}

/* After SIGKILL there is no other chance. Counts go on afterwards, should the signal be ignored or handled. */
int __wrap_raise(int number)
{
	if (number == SIGKILL) {
		__gcov_dump();
		__gcov_reset();
	}
	return __real_raise(number);
}

/* To callers, the default action is still the default action. */
sighandler_t __wrap_signal(int number, sighandler_t handler)
{
	sighandler_t before;

	for (size_t i = 0; handler == SIG_DFL && i < sizeof(ending) / sizeof(*ending); i++)
		if (number == ending[i])
			handler = keep_and_end;
	before = __real_signal(number, handler);
	return before == keep_and_end ? SIG_DFL : before;
}
