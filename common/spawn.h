/*
 * Starts processes. Every program and every copy of this process is started here (make lint checks that).
 */
#ifndef KBLAT_COMMON_SPAWN_H
#define KBLAT_COMMON_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A program to execute. It inherits no other descriptors than these (all others are opened with O_CLOEXEC), and
 * starts with the default action of each signal, except those that were ignored when this process was started.
 */
struct spawn {
	const char *const *words; /* NULL-terminated; the first is searched for in PATH, then in /usr/sbin */
	const char *program;	  /* what is executed, if it is not the first of the words */
	int in, out, err;	  /* its standard streams; -1: /dev/null; STDOUT_FILENO: that of this process, etc. */
	int kept;		  /* another descriptor that it inherits; 0 or -1: none */
	/* sent to it if the thread that starts it ends earlier; 0: it may outlive this process */
	int end_signal;
	bool own_group; /* the leader of a new process group, which a terminal's Ctrl-C does not reach */
	/* Called in the new process, last before it executes the program: 0, or a negative errno, which
	 * spawn_program() returns. May be NULL. */
	int (*prepare)(void *context);
	void *context;
};

/* Start it. Returns its ID, or a negative errno; -ENOENT, for example, if there is no such program. */
pid_t spawn_program(const struct spawn *s);

/* Replace this process by a program, which is searched for as above; for a process that spawn_orphan() started.
 * Returns only if that failed: -errno. */
int spawn_replace(const char *program, const char *const *words);

/* Call `run` in a copy of this process, which exits with status 0 when `run` returns. Returns its ID or -errno. */
pid_t spawn_function(void (*run)(void *context), void *context);

/* The same, but it becomes a child of init, so that nobody has to wait for it. 0 or -errno. */
int spawn_orphan(void (*run)(void *context), void *context);

/* Wait until the process ends. Returns its exit status, or 128 + the signal that ended it. */
int spawn_await(pid_t pid);

/*
 * Run a program for at most `limit_ms` and read what it prints, on standard output and error, until it and all who
 * inherited those have closed them. Stores the last part of it in `text`, at most `size` - 1 bytes. `s`: its standard
 * streams are ignored. Returns what spawn_await() returns, -ETIMEDOUT if it took too long and was killed, or another
 * negative errno if it could not be started.
 */
int spawn_output(const struct spawn *s, int limit_ms, char *text, size_t size);

#endif
