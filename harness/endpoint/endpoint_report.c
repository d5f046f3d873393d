#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "endpoint/endpoint_work.h"
#include "rundir/npy.h"

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

/* What was recorded `with` a setting never happened. */
static void forget_columns(struct endpoint *ep, const char *with)
{
	for (unsigned i = 0; i < ep->recorder.columns; i++)
		for (uint32_t k = 0;
		     ep->column[i]->with && !strcmp(ep->column[i]->with, with) && k < ep->worker.messages; k++)
			ep->recorder.column[i].data[k] = ep->worker.blank;
}

/* The device's stamps, from its clock to the tick counter. Where that cannot be said, there are none. */
static void convert_device_stamps(struct endpoint *ep)
{
	struct device_clock *c = &ep->device_clock;
	bool good;

	if (!ep->stamped)
		return;
	good = ep->ops->read_clock(ep->transport, &c->last, &c->mask, NULL) == 0;
	for (unsigned i = 0; good && i < ep->recorder.columns; i++)
		if (ep->column[i]->with && !strcmp(ep->column[i]->with, KERNEL_BY_DEVICE))
			good = !device_clock_convert(c, ep->recorder.column[i].data, ep->worker.messages,
						     ep->worker.blank);
	if (!good)
		forget_columns(ep, KERNEL_BY_DEVICE);
	ep->worker.counters.device_clock_error_ns = ticks_to_ns(ep, device_clock_error(c));
}

static json_t *final_counters(struct endpoint *ep)
{
	struct counters *c = &ep->worker.counters;
	struct counters sum = runners_usage(&ep->runners);

	counters_add(&sum, c);
	sum.duration_ns = ep->ops->has_own_clock ? 0 : ticks_to_ns(ep, sum.duration_ns);
	sum.stored_bytes = ep->stores ? (int64_t)ep->store.put : 0;
	sum.store_ns = ep->store.store_ns;
	sum.store_write_ns = ep->store.write_ns;
	sum.store_waits = (int64_t)ep->store.waits;
	sum.pinned = ep->placement.cpu >= 0;
	sum.locked = all_locked(&ep->recorder);
	if (ep->role == ROLE_SINK && ep->recorder.columns)
		sum.reordered = count_reordered(ep->recorder.column[0].data, ep->worker.messages, ep->worker.blank);
	return counters_json(&sum);
}

static int send_columns(struct endpoint *ep)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < ep->recorder.columns; i++)
		rc = fs_write_fd(ep->out, ep->recorder.column[i].data, ep->worker.messages * sizeof(int64_t));
	return rc;
}

int endpoint_report(struct endpoint *ep)
{
	struct err failure = ERR_INIT;
	json_t *columns = json_array();

	runners_join(&ep->runners);
	bool stored = !ep->stores || sample_file_finish(&ep->store, &failure) == 0;

	if (runners_overran())
		err_set(&failure, -EDQUOT, STATUS_FAILED, "priority_limit", NULL,
			"a measuring thread ran for %lld ms at SCHED_FIFO %lld without sleeping, and was stopped; "
			"raise the limit where that is what you want",
			(long long)ep->common.priority_limit / 1000000, (long long)ep->common.priority);
	else if (stored && runners_failure(&ep->runners) && ep->ops->failure(ep->transport, &failure) == 0)
		err_sys(&failure, runners_failure(&ep->runners), ep->ops->name, "move messages");
	if (stored && runners_failure(&ep->runners))
		ep->worker.counters.bad_completions++;

	convert_device_stamps(ep);
	if (ep->undisturbed)
		forget_columns(ep, "t_send");

	json_t *counters = final_counters(ep);

	recorder_convert(&ep->recorder, &ep->conversion, ep->worker.messages);
	for (unsigned i = 0; i < ep->recorder.columns; i++)
		json_array_append_new(columns, json_string(ep->recorder.column[i].name));

	int rc = endpoint_reply(ep, json_pack("{s:s, s:s, s:o, s:{s:O, s:o}, s:o, s:I}", "type", "done", "failure",
					      failure.text, "counters", counters, "device", "before", ep->device_before,
					      "after", ep->ops->device_counters(ep->transport), "columns", columns,
					      "messages", (json_int_t)ep->worker.messages));

	if (!rc)
		rc = send_columns(ep);
	ep->running = false;
	ep->runners.count = 0;
	return rc;
}

void endpoint_salvage(struct endpoint *ep)
{
	char *dir = fs_path("%s/rep-%02u", ep->salvage, ep->rep);

	recorder_convert(&ep->recorder, &ep->conversion, ep->worker.messages);
	if (fs_mkdirs(dir, NULL) == 0)
		for (unsigned i = 0; i < ep->recorder.columns; i++) {
			char *path = fs_path("%s/%s.npy", dir, ep->recorder.column[i].name);

			npy_write(path, ep->recorder.column[i].data, ep->worker.messages, NULL);
			free(path);
		}
	free(dir);
}
