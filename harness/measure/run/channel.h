/*
 * The coordinator's end of the connection to an endpoint: the process started by a launcher, the lines it writes, and
 * the last lines of its standard error. The endpoint is not trusted: it may die, hang, or write nonsense, and each of
 * these results in one clear error that names it.
 */
#ifndef KBLAT_CHANNEL_H
#define KBLAT_CHANNEL_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/wire.h"

#define STDERR_TAIL	 1024
#define CHANNEL_HURRY_MS 5000

struct transfer;

/* Split a launcher, or another command, into words in place: blanks separate words, except inside '…' and "…". There is no
 * other shell syntax. Returns how many (less than `max`), or a negative errno and `e`. */
int channel_split(char *text, char **words, size_t max, struct err *e);

/* The state before anything has been started; channel_stop() may be called nevertheless. */
struct channel;
void channel_init(struct channel *c, const char *name);

struct channel {
	const char *name;    /* "source" */
	int64_t patience_ms; /* with an endpoint that does not read its orders, or stops in the middle of data */
	/* once this is set, an answer is awaited for CHANNEL_HURRY_MS at most; NULL: nobody interrupts */
	const volatile sig_atomic_t *interrupted;
	pid_t pid; /* also its process group; 0: none */
	int to;
	struct wire from, errors; /* its stdout, stderr */
	char stderr_tail[STDERR_TAIL + 1];
	size_t stderr_length;
	json_t *hello;
};

/*
 * Start `launcher` (a command prefix, split at blanks, quotes respected; NULL or "": none) followed by the words of
 * `inner` (another prefix; NULL: none), this program and "endpoint".
 */
int channel_start(struct channel *c, const char *name, const char *launcher, const char *const *inner, struct err *e);

/* Can this coordinator work with an endpoint that says `hello`? Both must have the same version, because of the protocol,
 * and the same byte order, because of the raw columns. 0, or -EPROTO and `e`, which names the endpoint and its host. */
int channel_check_hello(const json_t *hello, const char *name, struct err *e);

/* Wait up to 60 s for the hello of an endpoint that was started. -EINTR: a signal arrived; it can be called again. */
int channel_greet(struct channel *c, struct err *e);

/* Start any command (NULL-terminated) that uses this protocol. Whether it succeeds or not, channel_stop() may be
 * called. */
int channel_spawn(struct channel *c, const char *name, char *const *words, struct err *e);

/* Close its standard input, so that it reads end of file. */
void channel_end_input(struct channel *c);

bool channel_lives(const struct channel *c);

/* For an endpoint that has ended: its exit status (128 + N if signal N ended it; -1: it has not ended), and the last
 * lines of its standard error. */
int channel_ended(struct channel *c, char *text, size_t size);

/* 0 or a negative errno. -ETIMEDOUT: the endpoint does not read. */
int channel_send(struct channel *c, json_t *order /* stolen */, struct err *e);

/*
 * Wait at most until `deadline_ms` (monotonic_ms(); -1: for ever) for a line from any of `count` channels. Returns 1
 * with *who and *message, 0 if the time is over, -EINTR on a signal, or another negative errno with `e` if the endpoint
 * ended or wrote nonsense.
 */
int channel_wait(struct channel *const *channels, size_t count, int64_t deadline_ms, size_t *who, json_t **message,
		 struct err *e);

/* The same for one channel, within `patience_ms`. Never returns -EINTR: signals are handled later. */
int channel_await(struct channel *c, int64_t patience_ms, json_t **message, struct err *e);

/* Read `size` raw bytes of a transfer, which are passed to `take` as they arrive. */
int channel_raw(struct channel *c, struct transfer *t, size_t size,
		int (*take)(void *arg, const void *data, size_t size, struct err *e), void *arg, struct err *e);

/* Close its input and wait up to `patience_ms` for it to end; then kill its process group. */
void channel_stop(struct channel *c, int64_t patience_ms);

/* Send `order` (stolen) and wait up to 60 s for a message of the type `answer`: 0 and a new reference, or a negative
 * errno and `e`, with the endpoint's own error message if it sent one. */
int channel_ask(struct channel *c, json_t *order, const char *answer, json_t **reply, struct err *e);

#endif
