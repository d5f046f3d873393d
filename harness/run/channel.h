/*
 * The coordinator's end of an endpoint: the process behind a launcher, the lines it says, and the end of its standard error. Nothing
 * here trusts it: it may die, hang, or speak nonsense, and each ends in one clear error that names it.
 */
#ifndef KBLAT_CHANNEL_H
#define KBLAT_CHANNEL_H

#include <stdint.h>
#include <sys/types.h>

#include "common/wire.h"

#define STDERR_TAIL 1024

/* Nothing has been started: it can be stopped all the same. */
struct channel;
void channel_init(struct channel *c, const char *name);

struct channel {
	const char *name; /* "source" */
	pid_t pid;	  /* also its process group; 0: none */
	int to;
	struct wire from, complaints; /* its stdout, stderr */
	char stderr_tail[STDERR_TAIL + 1];
	size_t stderr_length;
	json_t *hello;
};

/*
 * Start `launcher` (a command prefix, split at blanks, quotes respected; NULL or "": none) followed by the words of
 * `inner` (another prefix; NULL: none), this program and "endpoint".
 */
int channel_start(struct channel *c, const char *name, const char *launcher, const char *const *inner, struct err *e);

/* Wait for the hello of one that was started. -EINTR: a signal; it can be waited for again. */
int channel_greet(struct channel *c, struct err *e);

/* Start any command (NULL-terminated) that speaks lines with a "type". `c` can be stopped afterwards in any case. */
int channel_spawn(struct channel *c, const char *name, char *const *words, struct err *e);

/* It hears the end of its input. */
void channel_end_input(struct channel *c);

bool channel_lives(const struct channel *c);

/* Of one that has ended: its exit status (128 + N if signal N ended it; -1: it has not ended), and the end of its standard error. */
int channel_ended(struct channel *c, char *text, size_t size);

int channel_send(struct channel *c, json_t *order /* stolen */, struct err *e);

/*
 * Wait at most until `deadline_ms` (channel_now_ms(); -1: for ever) for a line of any of `count` channels. 1 with *who
 * and *message, 0 if the time is over, -EINTR on a signal, or another negative errno with `e`: the endpoint ended or
 * spoke nonsense.
 */
int channel_wait(struct channel *const *channels, size_t count, int64_t deadline_ms, size_t *who, json_t **message,
		 struct err *e);

/* The same for one, within `patience_ms`, and never -EINTR: what a signal asks for can wait. */
int channel_await(struct channel *c, int64_t patience_ms, json_t **message, struct err *e);

/* `size` raw bytes, handed to `take` as they come. The endpoint has 30 s for each piece. */
int channel_raw(struct channel *c, size_t size, int (*take)(void *arg, const void *data, size_t size, struct err *e),
		void *arg, struct err *e);

/* Close its input and wait up to `patience_ms` for it to end; then end its process group by force. */
void channel_stop(struct channel *c, int64_t patience_ms);

int64_t channel_now_ms(void);

#endif
