/*
 * Errors and exit statuses.
 *
 * Functions return 0 or a negative errno. The function that detects a failure fills `struct err` with the object
 * concerned, the operation that was attempted, the cause of the failure and, if the user can do something about it, a
 * hint. Callers pass it up unchanged; only main() prints it and exits.
 *
 * Thread-safe: no globals. Cost: one formatted string, on failure only.
 */
#ifndef KBLAT_COMMON_ERR_H
#define KBLAT_COMMON_ERR_H

#include <stddef.h>

/* The exit statuses of both programs; scripts rely on them. */
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
 * Fill `e` (if it is not NULL and still empty) and return `rc`, a negative errno, for use as `return err_set(...)`. The
 * message is "OBJECT: cannot OPERATION: CAUSE", or "OBJECT: CAUSE" if `operation` is NULL; `object` may be NULL, too.
 * The format string is the cause, followed by "; " and a hint if there is one. errno is not changed.
 */
int err_set(struct err *e, int rc, enum status status, const char *object, const char *operation, const char *format,
	    ...) __attribute__((format(printf, 6, 7)));

/* The same, with the message of errno `-rc` as the cause. */
int err_sys(struct err *e, int rc, const char *object, const char *operation);

/* The cause of errno `-rc` as part of a sentence: "no such file or directory". Returns `buf`. */
char *err_cause(int rc, char *buf, size_t size);

/* The exit status for a failure: that of `e`, or STATUS_FAILED if `e` is empty. */
enum status err_status(const struct err *e);

/* Empty `e`, so that it can be filled again. */
void err_clear(struct err *e);

#endif
