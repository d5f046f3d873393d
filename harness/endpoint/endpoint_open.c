#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "common/cpulist.h"
#include "common/err.h"
#include "endpoint/endpoint_work.h"

/* With no limit on locked memory, code and stacks are locked too; with one, locking everything could make later
 * allocations fail. */
static void lock_everything(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY)
		mlockall(MCL_CURRENT | MCL_FUTURE);
	else
		mlockall(MCL_CURRENT);
}

static int read_open(struct endpoint *ep, const json_t *order, const json_t **params, struct err *e)
{
	const char *role = json_string_value(json_object_get(order, "role"));
	const char *kernel = json_string_value(json_object_get(order, "kernel"));
	const char *transport = json_string_value(json_object_get(order, "transport"));
	const char *salvage = json_string_value(json_object_get(order, "salvage"));
	json_int_t origin, numerator, shift;

	*params = json_object_get(order, "params");
	if (!role || !kernel || !transport || !json_is_object(*params) ||
	    json_unpack((json_t *)order, "{s:{s:I, s:I, s:I}}", "conversion", "origin", &origin, "numerator",
			&numerator, "shift", &shift) ||
	    numerator <= 0 || shift < 0 || shift > 63)
		return err_set(e, -EPROTO, STATUS_FAILED, "open", NULL, "the order is not complete");
	ep->role = strcmp(role, "sink") ? ROLE_SOURCE : ROLE_SINK;
	ep->kernel = kernel_find(kernel);
	ep->ops = transport_find(transport);
	ep->loops = ep->kernel && ep->ops ? kernel_loops_find(ep->kernel, transport) : NULL;
	if (!ep->loops || ep->kernel->settings_size > sizeof(ep->settings))
		return err_set(e, -EPROTO, STATUS_FAILED, "open", NULL, "this kblat has no kernel %s over %s", kernel,
			       transport);
	ep->conversion = (struct clock_conversion){origin, (uint64_t)numerator, (unsigned)shift};
	if (ep->ops->has_own_clock)
		ep->conversion = (struct clock_conversion){0, 1, 0};
	ep->signal_every = (uint32_t)json_integer_value(json_object_get(*params, "signal_every"));
	if (!ep->signal_every)
		ep->signal_every = 1;
	ep->stamped = json_is_true(json_object_get(*params, KERNEL_BY_DEVICE)) && ep->ops->read_clock;
	ep->lossy = !ep->ops->is_reliable(*params);
	ep->salvage = salvage ? strdup(salvage) : NULL;

	int rc = opt_load(common_options, *params, &ep->common, e);

	return rc ? rc : opt_load(ep->kernel->options, *params, ep->settings, e);
}

static int open_recorder(struct endpoint *ep, const json_t *params, struct err *e)
{
	const char *names[KERNEL_COLUMNS];
	unsigned count = 0;
	json_int_t messages = json_integer_value(json_object_get(params, "messages"));

	for (const struct kernel_column *c = ep->kernel->columns; c->name; c++)
		if (c->side == ep->role && kernel_has(params, c->with)) {
			ep->column[count] = c;
			names[count++] = c->name;
		}
	if (messages < 1 || messages > UINT32_MAX)
		return err_set(e, -EPROTO, STATUS_FAILED, "open", NULL, "has no valid number of messages");
	ep->capacity = (uint64_t)messages;
	return recorder_open(&ep->recorder, names, count, ep->capacity, ep->common.touch, ep->placement.numa_node, e);
}

enum poll_mode endpoint_poll_send(const struct endpoint *ep)
{
	return ep->loops->completions && !ep->ops->completes_in_post ? settings_poll_send(&ep->common) : POLL_BUSY;
}

static int64_t size_of_message(const struct endpoint *ep, const json_t *params)
{
	if (!ep->kernel->size)
		return json_integer_value(json_object_get(params, "size_bytes"));
	return ep->kernel->size(params) + (ep->ops->overhead ? (int64_t)ep->ops->overhead(params) : 0);
}

/* Where samples are to be written to a file. Without a directory of its own, the file is beside what the run keeps of the point. */
static int open_store(struct endpoint *ep, const json_t *order, const json_t *params, struct err *e)
{
	const char *sink = json_string_value(json_object_get(params, "sink"));
	const char *dir = json_string_value(json_object_get(params, "sink_dir"));
	const char *name = json_string_value(json_object_get(order, "name"));
	int rc;

	if (ep->role != ROLE_SINK || !sink || strcmp(sink, "file"))
		return 0;
	if ((!dir || !*dir) && !ep->salvage)
		return err_set(e, -EINVAL, STATUS_USAGE, "sink file", NULL,
			       "the run directory is on another machine; name a place on this one with sink_dir");
	snprintf(ep->store_name, sizeof(ep->store_name), "samples%s%.16s", dir && *dir ? "-" : "",
		 dir && *dir && name ? name : "");
	rc = sample_file_open(&ep->store, dir && *dir ? dir : ep->salvage, ep->store_name,
			      json_is_true(json_object_get(params, "sink_keep")), ep->placement.spare_cpu,
			      ep->placement.numa_node, &ep->worker.stop, e);
	ep->stores = !rc;
	return rc;
}

static int open_transport(struct endpoint *ep, const json_t *order, const json_t *params, json_t **address,
			  struct err *e)
{
	const char *name = json_string_value(json_object_get(order, "name"));
	struct transport_config config = {
	    .role = ep->role,
	    .poll_send = endpoint_poll_send(ep),
	    .poll_recv = (enum poll_mode)ep->common.poll,
	    .duplex = ep->kernel->duplex,
	    .size = size_of_message(ep, params),
	    .depth = ep->common.depth,
	    .numa_node = ep->placement.numa_node,
	    .stop = &ep->worker.stop,
	    .device_stamps = ep->stamped,
	    .name = name ? name : "",
	};

	return ep->ops->open(&config, params, &ep->transport, address, e);
}

static int check_restamp_cpu(const struct endpoint *ep, struct err *e)
{
	struct cpulist allowed;
	int rc = cpulist_allowed(&allowed);

	if (rc)
		return err_sys(e, rc, "this process", "read the CPU mask of");
	if (ep->runners.restamp_cpu < 0)
		return err_set(e, -EINVAL, STATUS_IMPOSSIBLE, "t_send", NULL,
			       "wants a CPU of its own beside source and sink, and there is none");
	if (ep->placement.cpu < 0 && cpulist_count(&allowed) < 2)
		return err_set(e, -EINVAL, STATUS_IMPOSSIBLE, "t_send", NULL,
			       "with poll event the source would share CPU %d, the only one, with the thread that "
			       "keeps writing the time",
			       ep->runners.restamp_cpu);
	return 0;
}

static int choose_cpus(struct endpoint *ep, const json_t *params, struct err *e)
{
	int rc = placement_choose(ep->role, &ep->common, params, &ep->placement, e);

	if (!rc)
		memory_prefer(ep->placement.numa_node);
	ep->runners.restamp_cpu = ep->loops->restamp && kernel_has(params, "t_send") ? ep->placement.spare_cpu : -1;
	ep->restamps = ep->role == ROLE_SOURCE && ep->loops->restamp && kernel_has(params, "t_send");
	return rc || !ep->restamps ? rc : check_restamp_cpu(ep, e);
}

int endpoint_open(struct endpoint *ep, const json_t *order, struct err *e)
{
	const json_t *params;
	json_t *address = NULL;

	if (ep->transport)
		return err_set(e, -EPROTO, STATUS_FAILED, "open", NULL, "came twice");

	int rc = read_open(ep, order, &params, e);

	if (!rc)
		rc = choose_cpus(ep, params, e);
	if (!rc)
		rc = runners_prioritise(&ep->runners, (int)ep->common.priority, ep->common.priority_limit, e);
	if (!rc)
		rc = open_recorder(ep, params, e);
	if (!rc)
		rc = open_store(ep, order, params, e);
	if (!rc)
		rc = open_transport(ep, order, params, &address, e);
	if (rc)
		return rc;
	if (ep->common.touch)
		lock_everything();
	return endpoint_reply(ep, json_pack("{s:s, s:o, s:s, s:o}", "type", "opened", "address", address, "scratch",
					    ep->recorder.dir, "placement", placement_json(&ep->placement)));
}
