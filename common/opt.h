/*
 * Option tables. Each row describes a setting: its name, type, range, default, help, and its field in a settings
 * struct. The rows are used to check what a user wrote, to convert it to a canonical JSON value with its key, to load
 * that value into the struct (with another check, as the other end of a pipe is not trusted), and to print the help.
 *
 * A table ends with a row whose name is NULL.
 */
#ifndef KBLAT_COMMON_OPT_H
#define KBLAT_COMMON_OPT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;

enum opt_type {
	OPT_INT,   /* int64_t                         JSON integer, key as named                  */
	OPT_TIME,  /* int64_t nanoseconds             JSON integer, key "<name>_ns"               */
	OPT_BYTES, /* int64_t bytes                   JSON integer, key "<name>_bytes"            */
	OPT_RATE,  /* int64_t hertz                   JSON integer, key "<name>_hz"               */
	OPT_SHARE, /* int64_t millionths             JSON integer, key "<name>_ppm"              */
	OPT_BOOL,  /* bool                            JSON boolean; written yes/no or true/false    */
	OPT_ENUM,  /* int, index into choices         JSON string                                */
	OPT_STR,   /* char[OPT_STR_MAX]               JSON string                                */
	OPT_CPU,   /* char[OPT_STR_MAX]               JSON integer, or the string: see below     */
	OPT_LIST,  /* char[OPT_STR_MAX], a list of numbers and ranges in cpulist form, e.g. "5,10-20"; JSON string */
};

#define OPT_STR_MAX 256

/* OPT_CPU: where something may run: "auto", a CPU's number, a list ("2-5,8"), the CPUs on a device's NUMA node ("near",
 * "near:DEVICE"), those of a cpuset ("cpuset:NAME"). harness/measure/placement/survey.h resolves this on a machine. */
#define OPT_CPU_NEAR   "near"
#define OPT_CPU_CPUSET "cpuset:"

enum opt_flags {
	OPT_BOOKKEEPING =
	    1,		  /* how long or how safely to measure, not what; not used to distinguish points in figures */
	OPT_OF_POINT = 2, /* applies to a point as a whole, not to its flows */
};

struct opt {
	const char *name;
	enum opt_type type;
	size_t offset;		    /* of the field in the settings struct */
	const char *deflt;	    /* as a user would write it */
	int64_t min, max;	    /* inclusive; both 0: any (OPT_INT, TIME, BYTES, RATE, SHARE: any >= 0) */
	const char *const *choices; /* OPT_ENUM: NULL-terminated */
	const char *help;	    /* one sentence, lower case, no full stop */
	unsigned flags;		    /* enum opt_flags; 0 may be left out */
};

/* The row of that name, or NULL. */
const struct opt *opt_find(const struct opt *table, const char *name);

/* The JSON key of a row: its name and the unit. Returns `buf`. */
char *opt_key(const struct opt *o, char *buf, size_t size);

/* What a user wrote -> canonical JSON value (a new reference), or NULL and a phrase in `why`: "must
 * be a time such as 10us or 1ms, not 'ten'", "is 5000, above its maximum of 4096", "must be one of
 * rc, uc, ud (did you mean 'rc'?)". */
json_t *opt_parse(const struct opt *o, const char *text, char *why, size_t why_size);

/* The default's canonical JSON value, a new reference. Never NULL for a correct table. */
json_t *opt_default(const struct opt *o);

/* Canonical JSON value -> how a user would write it ("10us", "rc"). Returns `buf`. */
char *opt_text(const struct opt *o, const json_t *value, char *buf, size_t size);

/* Fill `settings` from the flat object `params` for every row: type, range and choices checked. 0 or -EINVAL with `e`
 * naming the key. A missing key is an error, as defaults were filled in when the point was made. Keys of other tables
 * are ignored. */
int opt_load(const struct opt *table, const json_t *params, void *settings, struct err *e);

/* How it is written: "size=BYTES", "qp=rc|uc|ud". Returns `buf`. */
#define OPT_USAGE_MAX 160
char *opt_usage(const struct opt *o, char *buf, size_t size);

/* "default 32B, 1B..1GiB". Returns `buf`. */
char *opt_limits(const struct opt *o, char *buf, size_t size);

/* "  size=BYTES   payload of a message (default 32B, 1B..1GiB)", one row a line, aligned. */
void opt_help(const struct opt *table, FILE *out);

#endif
