/*
 * Errors and exit statuses.
 *
 * Functions return 0, or a negative errno. Whoever sees a failure first fills `struct err` with
 * what was touched (object), what was tried (operation), why it failed (cause) and, where there is
 * something to do, a hint. Callers pass it up untouched; only main() prints it and exits.
 *
 * Thread-safe: no globals. Cost: one formatted string, on failure only.
 */
#ifndef KBLAT_COMMON_ERR_H
#define KBLAT_COMMON_ERR_H

#include <stddef.h>

/* The exit statuses of every program here; scripts rely on them. */
enum status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,	/* it was tried, and failed */
	STATUS_USAGE = 2,	/* wrong usage, or bad input */
	STATUS_NO = 3,		/* the answer is no: an invalid run, a mismatch, a regression */
	STATUS_UNDECIDED = 4,	/* too little data to say */
	STATUS_IMPOSSIBLE = 77, /* not possible on this machine */
};

#define ERR_TEXT_MAX 2048

struct err {
	enum status status;	 /* STATUS_OK while empty */
	char text[ERR_TEXT_MAX]; /* "object: cannot operation: cause; hint", one line of clean text */
};

#define ERR_INIT                                                                                                       \
	{                                                                                                              \
		STATUS_OK, ""                                                                                          \
	}

/*
 * Fill `e` (if not NULL and still empty) and return `rc`, a negative errno, so that one can `return
 * err_set(...)`. "OBJECT: cannot OPERATION: CAUSE"; `object` and `operation` may be NULL: "OBJECT:
 * CAUSE". The format is the cause, with a hint after "; " where there is one. errno is left alone.
 */
int err_set(struct err *e, int rc, enum status status, const char *object, const char *operation, const char *format,
	    ...) __attribute__((format(printf, 6, 7)));

/* The same, where the cause is that of errno `-rc`. */
int err_sys(struct err *e, int rc, const char *object, const char *operation);

/* The cause of errno `-rc` as part of a sentence: "no such file or directory". Returns `buf`. */
char *err_cause(int rc, char *buf, size_t size);

/* Its status, for somebody who knows that something failed; STATUS_FAILED where it holds
 * nothing. */
enum status err_status(const struct err *e);

/* Forget what `e` holds, so that it can be filled again. */
void err_clear(struct err *e);

#endif
