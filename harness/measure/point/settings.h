/*
 * The settings that every point has, whatever its kernel and transport; and looking up a setting in all tables.
 */
#ifndef KBLAT_SETTINGS_H
#define KBLAT_SETTINGS_H

#include "common/opt.h"
#include "measure/kernels/kernel.h"

#define ENVIRONMENT_NONE "none"

#define POLL_SEND_SAME (POLL_ADAPTIVE + 1)

enum explain { EXPLAIN_NO, EXPLAIN_YES, EXPLAIN_REQUIRED };

/* How the clocks of two hosts are compared. */
enum clock_method { CLOCK_BY_EXCHANGE, CLOCK_BY_PTP, CLOCK_BY_SYSTEM };
extern const char *const clock_method_names[];

struct common_settings {
	int poll;
	int poll_send; /* or POLL_SEND_SAME */
	int64_t spin, depth, repetitions, rounds, warmup, limit, timeout, drain, priority, priority_limit;
	char source_cpu[OPT_STR_MAX], sink_cpu[OPT_STR_MAX]; /* placement/survey.h */
	bool touch, fresh, cycles;
	int clock;   /* enum clock_method */
	int explain; /* enum explain */
	int64_t explain_buffer;
	char environment[OPT_STR_MAX]; /* a profile of kbtune, or "none" */
};

extern const struct opt common_options[];

enum until { UNTIL_ALL, UNTIL_FIRST };

/* Of a point with flows (measure/point/point.h); others have none of these. */
struct flow_settings {
	char flows[OPT_STR_MAX]; /* names, blanks between them */
	int until;		 /* enum until */
};

extern const struct opt flow_options[];

/* How send completions are polled. */
static inline enum poll_mode settings_poll_send(const struct common_settings *s)
{
	return (enum poll_mode)(s->poll_send == POLL_SEND_SAME ? s->poll : s->poll_send);
}

/* The row of a setting in a point with that kernel and transport, or NULL. */
const struct opt *setting_find(const struct kernel_ops *k, const struct transport_ops *t, const char *name);

/* The row of a setting anywhere (the first found), and what it belongs to: "every point", "the kernel oneway", "the
 * transport verbs". NULL if there is none. */
const struct opt *setting_find_anywhere(const char *name, char *owner, size_t owner_size);

/* Call `take` for every row of that name: several kernels or transports may have one each. What it belongs to is `kind`
 * followed by `name`, as above. */
typedef void setting_taker(void *arg, const struct opt *row, const char *kind, const char *name);
void setting_each_named(const char *name, setting_taker *take, void *arg);

/* The nearest known setting to a misspelt one, or NULL. */
const char *setting_suggest(const char *name);

/* Call `each` for every row of a point's tables, in order: common, kernel, transport. */
void setting_each(const struct kernel_ops *k, const struct transport_ops *t,
		  void (*each)(void *arg, const struct opt *row), void *arg);

/* "small.size" -> "size", and "small" in `flow`; a name without a dot is its own, and `flow` "". */
const char *setting_cut_flow(const char *name, char *flow, size_t flow_size);

/* And back: "small.size" of "small" and "size"; "size" of "" and "size". Returns `buf`. */
char *setting_of_flow(const char *flow, const char *name, char *buf, size_t size);

/* Does the setting belong to a point as a whole rather than to one of its flows? */
bool setting_is_of_point(const char *name);

/* The defaults of a table by their keys, of settings of a point as a whole or of its flows: a new object. */
json_t *setting_defaults(const struct opt *table, bool of_point);

/* The keys of all settings that determine how long to measure, not what is measured: a new array of strings. */
json_t *setting_bookkeeping(void);

#endif
