/*
 * One flow of a point: a pair of endpoints, and what they do. Its settings are decoded here, once in the coordinator
 * and once in each endpoint, and are constant from then on. A point has either one flow without a name, or several with
 * names.
 */
#ifndef KBLAT_POINT_FLOW_H
#define KBLAT_POINT_FLOW_H

#include "measure/point/settings.h"

#define FLOW_NAME_MAX 32

struct flow {
	char name[FLOW_NAME_MAX]; /* "": the only one */
	const struct kernel_ops *kernel;
	const struct transport_ops *transport;
	const struct kernel_loops *loops;
	json_t *params; /* all settings, flat, with the defaults and without the flow's name: what endpoints are sent */
	struct common_settings common;
	void *kernel_settings, *transport_settings; /* the structs of kernel->options and transport->options */
	struct transport_traits traits;
	struct transport_config config; /* but for what belongs to one endpoint */
};

/* Decode flat settings ("kernel", "transport", and every key of their tables and of the common one). 0, or -EINVAL and
 * STATUS_USAGE in `e`, which names the key. Free in either case. `name` is copied; `params` is kept (a reference). */
int flow_load(struct flow *f, const char *name, json_t *params, struct err *e);
void flow_free(struct flow *f);

/* Finds contradictions between settings, with the checks of the kernel and the transport: `complain` is called with a
 * sentence for each. */
void flow_check(const struct flow *f, void (*complain)(void *arg, const struct flow *f, const char *why), void *arg);

/* Does a side poll busily, at least for a while, so that it needs a CPU of its own? */
bool flow_is_busy(const struct flow *f, enum role side);

/* How many columns both sides record together; does this side record that one? */
unsigned flow_columns(const struct flow *f);
bool flow_has_column(const struct flow *f, const struct kernel_column *c, enum role side);

/* Does a series subtract a stamp of one side's clock from one of the other's? */
bool flow_crosses(const struct flow *f);

/* The number of entries that each column has for `messages` messages. */
uint32_t flow_entries(const struct flow *f, int64_t messages);

/* Where a thread of the kernel runs. */
enum thread_cpu flow_thread_cpu(const struct flow *f, const struct kernel_thread *t);

/* Does a thread of the kernel run? `control`: in the repetition without those that have a setting of their own. */
bool flow_has_thread(const struct flow *f, const struct kernel_thread *t, bool control);

/* How send completions are polled: busily if the kernel has no thread that could sleep until they
 * arrive, or if they are available immediately. */
enum poll_mode flow_poll_send(const struct flow *f);

/* Whether its threads may wait for a CPU that others use: not with a real-time priority, nor in virtual time. */
bool flow_may_wait(const struct flow *f);

/* Both sides send, and nothing that arrives at the sink makes it begin: both start at "run". */
bool flow_starts_together(const struct flow *f);

#endif
