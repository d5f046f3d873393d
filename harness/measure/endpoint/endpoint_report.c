#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/npy.h"
#include "common/sysroot.h"
#include "measure/endpoint/endpoint_state.h"
#include "measure/endpoint/endpoint_trace.h"

static int64_t count_reordered(const int64_t *column, uint64_t count, int64_t blank)
{
	int64_t latest = NEVER, reordered = 0;

	for (uint64_t i = 0; i < count; i++) {
		if (column[i] == blank)
			continue;
		if (column[i] < latest)
			reordered++;
		else
			latest = column[i];
	}
	return reordered;
}

static bool all_locked(const struct recorder *r)
{
	for (unsigned i = 0; i < r->columns; i++)
		if (!r->column[i].memory.locked)
			return false;
	return true;
}

static int64_t ticks_to_ns(const struct endpoint *ep, int64_t ticks)
{
	struct clock_conversion from_zero = ep->conversion;

	from_zero.origin = 0;
	return clock_to_ns(&from_zero, ticks);
}

static bool is_recorded_with(const struct endpoint *ep, unsigned column, const char *with)
{
	return ep->work->column[column]->with && !strcmp(ep->work->column[column]->with, with);
}

/* Set the columns that are recorded `with` a setting to NEVER. */
static void blank_columns(struct endpoint *ep, const char *with)
{
	for (unsigned i = 0; i < ep->work->recorder.columns; i++)
		for (uint32_t k = 0; is_recorded_with(ep, i, with) && k < ep->worker.entries; k++)
			ep->work->recorder.column[i].data[k] = ep->worker.blank;
}

/* In a control repetition: the columns of threads that did not run. */
static void blank_control_columns(struct endpoint *ep)
{
	for (const struct kernel_thread *t = ep->work->flow.kernel->threads; t->name; t++)
		if (t->with)
			blank_columns(ep, t->with);
}

static bool is_by_device(const struct endpoint *ep, unsigned column)
{
	return is_recorded_with(ep, column, KERNEL_BY_DEVICE) || is_recorded_with(ep, column, KERNEL_STAGES);
}

/* Convert the device's stamps from its clock to the tick counter. If that is not possible, remove them, and count that. */
static void convert_device_stamps(struct endpoint *ep)
{
	struct device_clock *c = &ep->device_clock;
	bool good;

	if (!ep->work->flow.config.device_stamps)
		return;
	good = ep->transport->ops->read_clock(ep->transport, &c->last, &c->counter, NULL) == 0 &&
	       !device_clock_is_lost(c, ticks_to_ns(ep, c->last.after - c->first.before));
	for (unsigned i = 0; good && i < ep->work->recorder.columns; i++)
		if (is_by_device(ep, i))
			good = !device_clock_convert(c, ep->work->recorder.column[i].data, ep->worker.entries,
						     ep->worker.blank);
	if (!good) {
		blank_columns(ep, KERNEL_BY_DEVICE);
		blank_columns(ep, KERNEL_STAGES);
	}
	ep->worker.counters.device_clock_lost = !good;
	ep->worker.counters.device_clock_error_ns = ticks_to_ns(ep, device_clock_error(c));
}

static void count_machine(const struct endpoint *ep, struct counters *c)
{
	const struct machine_load now = machine_load_now();

	if (ep->load.busy_ns < 0 || now.busy_ns < 0 || ep->work->flow.transport->has_own_clock)
		return;
	c->machine_busy_ns = now.busy_ns - ep->load.busy_ns;
	c->machine_ns = now.now_ns - ep->load.now_ns;
}

struct control_group_limits endpoint_groups_now(void)
{
	struct control_group_limits now = {0};
	struct sysroot root;

	if (sysroot_open(&root, NULL, NULL))
		return now;
	now = control_groups_now(&root);
	sysroot_close(&root);
	return now;
}

static void count_groups(const struct endpoint *ep, struct counters *c)
{
	const struct control_group_limits now = endpoint_groups_now();

	if (ep->work->flow.transport->has_own_clock) {
		c->waited_ns = 0;
		return;
	}
	c->throttled = now.throttled - ep->groups.throttled;
	c->throttled_ns = now.throttled_ns - ep->groups.throttled_ns;
	c->memory_limited = now.memory_limited - ep->groups.memory_limited;
}

static json_t *final_counters(struct endpoint *ep)
{
	struct counters sum = runners_usage(&ep->runners);

	counters_add(&sum, &ep->worker.counters);
	sum.duration_ns = ep->work->flow.transport->has_own_clock ? 0 : ticks_to_ns(ep, sum.duration_ns);
	sum.receiving_ns = ticks_to_ns(ep, sum.receiving_ns);
	count_machine(ep, &sum);
	count_groups(ep, &sum);
	sum.pinned = ep->cpu >= 0;
	sum.locked = all_locked(&ep->work->recorder);
	if (ep->role == ROLE_SINK && ep->work->recorder.columns && !ep->work->flow.kernel->counts_loss)
		sum.reordered =
		    count_reordered(ep->work->recorder.column[0].data, ep->worker.entries, ep->worker.blank);
	return counters_json(&sum);
}

int endpoint_send_columns(const struct endpoint *ep)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < ep->work->recorder.columns; i++)
		rc = fs_write_fd(ep->out, ep->work->recorder.column[i].data, ep->worker.entries * sizeof(int64_t));
	return rc ? rc : fs_write_fd(ep->out, "\n", 1);
}

/* Find the first error. */
static void find_failure(struct endpoint *ep, struct err *failure)
{
	const struct common_settings *s = &ep->work->flow.common;
	const bool finished =
	    !ep->work->side || ep->work->flow.kernel->side->finish(ep->work->side, &ep->worker.counters, failure) == 0;
	const int thread = runners_failure(&ep->runners);

	if (runners_overran())
		err_set(failure, -EDQUOT, STATUS_FAILED, "priority_limit", NULL,
			"a measuring thread ran for %lld ms at SCHED_FIFO %lld without sleeping, and was stopped; "
			"raise priority_limit if this is intended",
			(long long)s->priority_limit / 1000000, (long long)s->priority);
	else if (finished && thread && ep->transport->ops->failure(ep->transport, failure) == 0)
		err_sys(failure, thread, ep->work->flow.transport->name, "move messages");
	else if (finished && !thread && ep->transport->ops->device_failure)
		ep->transport->ops->device_failure(ep->transport, failure);
	if (finished && thread)
		ep->worker.counters.bad_completions++;
}

/* Check the result of one-sided operations in the memory of the passive side. */
static void check_memory(struct endpoint *ep)
{
	const struct transport_ops *ops = ep->transport->ops;

	if (ep->role == ROLE_SINK && ep->worker.is_passive && ep->settled >= 0 && ops->check_memory)
		ep->worker.counters.bad_memory = ops->check_memory(ep->transport, (uint64_t)ep->settled);
}

static json_t *column_names(const struct endpoint *ep)
{
	json_t *names = json_array();

	for (unsigned i = 0; i < ep->work->recorder.columns; i++)
		json_array_append_new(names, json_string(ep->work->recorder.column[i].name));
	return names;
}

/* Convert each column with the clock by which it was stamped. */
static void convert_columns(struct endpoint *ep)
{
	for (unsigned i = 0; i < ep->work->recorder.columns; i++)
		recorder_convert_column(&ep->work->recorder, i,
					ep->work->column[i]->from_source ? &ep->source_conversion : &ep->conversion,
					ep->worker.entries);
}

json_t *endpoint_report(struct endpoint *ep)
{
	struct err failure = ERR_INIT;
	json_t *counters, *trace;

	runners_join(&ep->runners);
	trace = endpoint_trace_take(ep);
	find_failure(ep, &failure);
	check_memory(ep);
	convert_device_stamps(ep);
	if (ep->control)
		blank_control_columns(ep);
	counters = final_counters(ep);
	convert_columns(ep);
	return json_pack("{s:s, s:s, s:o, s:{s:O, s:o}, s:o, s:I, s:o*}", "type", "done", "failure", failure.text,
			 "counters", counters, "device", "before", ep->device_before, "after",
			 transport_device_counters(ep->transport), "columns", column_names(ep), "messages",
			 (json_int_t)ep->worker.messages, "trace", trace);
}

void endpoint_keep_columns(struct endpoint *ep)
{
	convert_columns(ep);
	if (fs_mkdirs(ep->keep_dir, NULL))
		return;
	for (unsigned i = 0; i < ep->work->recorder.columns; i++) {
		char *path = fs_path("%s/%s.npy", ep->keep_dir, ep->work->recorder.column[i].name);

		npy_write(path, ep->work->recorder.column[i].data, ep->worker.entries, NULL);
		free(path);
	}
}
