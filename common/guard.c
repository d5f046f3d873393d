#include "common/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/spawn.h"

struct guarded {
	void (*undo)(void *context);
	void *context;
	int alive, ended; /* both ends of the pipe */
	sigset_t mask;
};

/* A byte dismisses it. */
static void guard_wait(void *context)
{
	const struct guarded *w = context;
	ssize_t n;
	char byte;

	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigprocmask(SIG_SETMASK, &w->mask, NULL);
	close(w->alive);
	do
		n = read(w->ended, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		w->undo(w->context);
}

int guard_start(struct guard *g, void (*undo)(void *context), void *context)
{
	struct guarded w = {.undo = undo, .context = context};
	sigset_t all;
	int ends[2], rc;

	*g = (struct guard){0};
	/* Programs that are started have the end for writing, too: what they are about to do is undone as well. */
	if (pipe(ends))
		return -errno;
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	w.ended = ends[0];
	w.alive = g->alive = ends[1];
	sigfillset(&all); /* until it ignores them */
	sigprocmask(SIG_SETMASK, &all, &w.mask);
	rc = spawn_function(guard_wait, &w);
	sigprocmask(SIG_SETMASK, &w.mask, NULL);
	close(w.ended);
	if (rc < 0)
		close(g->alive);
	else
		g->pid = rc;
	return rc < 0 ? rc : 0;
}

void guard_dismiss(struct guard *g)
{
	if (!g->pid)
		return;
	/* If it was killed, nobody reads it. */
	while (write(g->alive, "", 1) < 0 && errno == EINTR)
		;
	close(g->alive);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*g = (struct guard){0};
}
