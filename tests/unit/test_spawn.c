/* Starting processes. */
#include "common/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#define LONG_MS 20000

static char text[16];

static int shell(const char *script, int limit_ms)
{
	const char *const words[] = {"sh", "-c", script, NULL};

	return spawn_output(&(struct spawn){.words = words}, limit_ms, text, sizeof(text));
}

static void test_output(void)
{
	static const char *const missing[] = {"kblat-no-such-program", NULL};

	is_int(shell("echo one; echo two >&2; exit 3", LONG_MS), 3, "the exit status");
	is_str(text, "one\ntwo\n", "both streams");
	is_int(shell("yes | head -n 100000; echo end", LONG_MS), 0, "more than there is room for");
	ok(strlen(text) < sizeof(text) && strstr(text, "\nend\n"), "only its end is kept");
	is_int(shell("kill -9 $$", LONG_MS), 128 + 9, "a signal ended it");
	is_int(shell("read x; echo $?", LONG_MS), 0, "it has no input");
	is_str(text, "1\n", "and sees the end of it");
	is_int(shell("echo begun; exec sleep 1000", 300), -ETIMEDOUT, "a program that does not end is killed");
	is_int(shell("exec yes", 300), -ETIMEDOUT, "so is one that never stops printing");
	is_int(spawn_output(&(struct spawn){.words = missing}, LONG_MS, text, sizeof(text)), -ENOENT,
	       "no such program");
}

static int refuse(void *context)
{
	return *(const int *)context;
}

static void test_preparation(void)
{
	static const char *const words[] = {"true", NULL};
	int why = -EXDEV;

	is_int(spawn_program(&(struct spawn){.words = words, .in = -1, .prepare = refuse, .context = &why}), -EXDEV,
	       "the reason why it could not be prepared");
	is_int(waitpid(-1, NULL, 0), -1, "no process is left");
}

/* The pipe's other end is closed when the program has ended. */
static bool ends(int alive)
{
	struct pollfd p = {.fd = alive, .events = POLLIN};

	return poll(&p, 1, LONG_MS) == 1;
}

/* In the child of fork(), before fork() returns there. */
static void outlive_parent(void)
{
	const pid_t parent = getppid();

	kill(parent, SIGKILL);
	while (getppid() == parent)
		usleep(1000);
}

/* Starts a program and ends, at the latest when the new process begins if `early`. */
static void start_and_end(bool early, int out)
{
	static const char *const words[] = {"sleep", "1000", NULL};

	if (early)
		pthread_atfork(NULL, NULL, outlive_parent);
	_exit(spawn_program(&(struct spawn){.words = words, .in = -1, .out = out, .err = -1, .end_signal = SIGKILL}) <
	      0);
}

static void test_end(bool early, const char *what)
{
	int fd[2];
	pid_t parent;

	if (!ok(!pipe2(fd, O_CLOEXEC), "a pipe"))
		return;
	parent = fork();
	if (!parent)
		start_and_end(early, fd[1]);
	close(fd[1]);
	waitpid(parent, NULL, 0);
	ok(ends(fd[0]), "%s", what);
	close(fd[0]);
}

static void on_signal(int number)
{
	(void)number;
}

/* What whoever started this ignores, as nohup and shells do for what runs in the background, is ignored below, too. The two
 * signals that glibc keeps for itself are, below whatever uses posix_spawn(), as make does. */
static unsigned long long inherited(void)
{
	unsigned long long mask = 0x180000000;
	struct sigaction a;

	for (int number = 1; number < 32; number++)
		if (!sigaction(number, NULL, &a) && a.sa_handler == SIG_IGN)
			mask |= 1ULL << (number - 1);
	return mask;
}

static void test_signals(void)
{
	char command[120];
	sigset_t set;

	snprintf(command, sizeof(command), "echo $((0x$(sed -n 's/SigIgn:.//p' /proc/self/status) & ~%llu))",
		 inherited());

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGUSR1, on_signal);
	signal(SIGPIPE, SIG_IGN);
	is_int(shell("grep SigBlk /proc/self/status | tr -d '0\\t'", LONG_MS), 0, "a program's signals");
	is_str(text, "SigBlk:\n", "none is blocked");
	is_int(shell(command, LONG_MS), 0, "a program's signals again");
	is_str(text, "0\n", "none is ignored that only this program ignores");
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void say(void *context)
{
	if (write(*(const int *)context, "x", 1) != 1)
		_exit(1);
}

static void test_functions(void)
{
	int fd[2];
	char byte = '\0';
	pid_t pid;

	if (!ok(!pipe2(fd, O_CLOEXEC), "a pipe"))
		return;
	pid = spawn_function(say, &fd[1]);
	is_int(spawn_await(pid), 0, "a function in a process of its own");
	ok(read(fd[0], &byte, 1) == 1 && byte == 'x', "has run");
	is_int(spawn_orphan(say, &fd[1]), 0, "an orphan");
	ok(read(fd[0], &byte, 1) == 1 && byte == 'x', "has run, too");
	is_int(waitpid(-1, NULL, 0), -1, "and is not a child of this process");
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	test_output();
	test_preparation();
	test_end(false, "a program ends with the process that started it");
	test_end(true, "also if that ended before the new process had begun");
	test_signals();
	test_functions();
	return done_testing();
}
