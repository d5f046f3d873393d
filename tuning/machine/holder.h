/*
 * Processes that hold something as long as they live: the PM QoS request on /dev/cpu_dma_latency, or a one-shot tuned.
 * Each has a file `hold-NAME` in the state folder, which contains its process ID and the time of its start (process.h),
 * and on which it holds an inherited lock. If the lock is free, the process has ended. Holders sleep and use no CPU.
 */
#ifndef KBLAT_TUNING_HOLDER_H
#define KBLAT_TUNING_HOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;
struct machine;

/*
 * Start a holder: a process in a session of its own, without signals from the terminal, that calls
 * `run`. `run` gets a descriptor to which it writes a zero byte once it holds, or the text of an
 * error; it must not return. `limit_ms`: how long to wait for that. 0, or a negative errno and `e`.
 */
int holder_start(struct machine *m, const char *name, void (*run)(int ready, void *context), void *context,
		 int limit_ms, struct err *e);

/* The process ID of the holder, or 0. */
pid_t holder_pid(struct machine *m, const char *name);

/* End it: SIGTERM, and SIGKILL after `limit_ms`. It is not an error if it has already ended. */
int holder_stop(struct machine *m, const char *name, int limit_ms, struct err *e);

/*
 * A lock of the same kind for a command that may outlive kbtune. The first function takes it after
 * its current owner has ended (the owner is ended after `limit_ms`), and returns a descriptor, or a
 * negative errno and `e`. The others record its owner, and release it.
 */
int holder_lock(struct machine *m, const char *name, int limit_ms, struct err *e);
void holder_write_pid(int fd, pid_t pid);
void holder_unlock(struct machine *m, const char *name, int fd);

/* Wait until such a command has ended, and kill it after `limit_ms`. 0, or a negative errno and `e`. */
int holder_await(struct machine *m, const char *name, int limit_ms, struct err *e);

#endif
