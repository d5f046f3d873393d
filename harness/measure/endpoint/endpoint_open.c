#include "measure/endpoint/endpoint_state.h"
#include "measure/endpoint/endpoint_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "common/cpulist.h"
#include "common/err.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "measure/placement/survey.h"

/* Larger mappings are address space that is reserved, such as the sanitizers', rather than memory. */
static const size_t mapping_max = 256UL << 20;

/* Maps the pages of all mappings, for writing if they may be written. A kernel before 5.14 cannot. */
static void touch_everything(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4352], may[5];
	uintptr_t from, to;

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, may) == 3 && to - from <= mapping_max)
			madvise((void *)from, to - from, may[1] == 'w' ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
	if (maps)
		fclose(maps);
}

/* With no limit on locked memory, code and stacks are locked too; with one, locking everything could make later
 * allocations fail. What may not be locked is there at least when measuring begins. */
void endpoint_lock_memory(struct endpoint *ep)
{
	struct rlimit limit;
	int flags = MCL_CURRENT;

	if (!ep->work->flow.common.touch || ep->is_locked)
		return;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY)
		flags |= MCL_FUTURE;
	if (mlockall(flags))
		touch_everything();
	else
		ep->is_locked = flags & MCL_FUTURE;
}

/* --- survey --- */

int endpoint_survey(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	const char *setting = json_text(order, "setting"), *device = json_text(order, "device");
	struct survey *survey = or_abort(calloc(1, sizeof(*survey)));
	int rc;

	(void)ep;
	rc = survey_take(setting, json_text(order, "text"), *device ? device : NULL, survey, e);
	if (!rc) {
		*reply = survey_json(survey);
		json_object_set_new(*reply, "type", json_string("surveyed"));
	}
	free(survey);
	return rc;
}

/* --- open --- */

static int read_conversion(const json_t *order, const char *key, struct clock_conversion *out, struct err *e)
{
	json_int_t origin, numerator, shift;

	if (json_unpack((json_t *)order, "{s:{s:I, s:I, s:I}}", key, "origin", &origin, "numerator", &numerator,
			"shift", &shift) ||
	    numerator <= 0 || shift < 0 || shift > 63)
		return err_set(e, -EPROTO, STATUS_FAILED, "open", NULL, "the order is not complete");
	*out = (struct clock_conversion){origin, (uint64_t)numerator, (unsigned)shift};
	return 0;
}

/* With two hosts, the sink also receives the source's conversion. */
static int read_conversions(struct endpoint *ep, const json_t *order, struct err *e)
{
	int rc = read_conversion(order, "conversion", &ep->conversion, e);

	ep->source_conversion = ep->conversion;
	ep->is_apart = json_object_get(order, "source_conversion") != NULL;
	if (!rc && ep->is_apart)
		rc = read_conversion(order, "source_conversion", &ep->source_conversion, e);
	return rc;
}

static int read_cpu(const json_t *order, const char *key)
{
	const json_t *cpu = json_object_get(order, key);
	json_int_t n = json_is_integer(cpu) ? json_integer_value(cpu) : -1;

	return n >= 0 && n < CPULIST_MAX ? (int)n : -1;
}

/* The name becomes a part of names in /dev/shm. */
static bool is_object_name(const char *name)
{
	return strlen(name) == 16 && strspn(name, "0123456789abcdef") == 16;
}

static void refuse_flow(void *arg, const struct flow *f, const char *why)
{
	(void)f;
	err_set(arg, -EPROTO, STATUS_FAILED, "open", NULL, "%s", why);
}

/* The coordinator has checked its spec. Settings that cannot come from a valid spec are
 * nevertheless rejected. */
static int endpoint_load_flow(struct endpoint *ep, const char *name, json_t *params, struct err *e)
{
	int rc = flow_load(&ep->work->flow, name, params, e);

	if (rc)
		return rc;
	flow_check(&ep->work->flow, refuse_flow, e);
	return e->status ? -EPROTO : 0;
}

static int read_open(struct endpoint *ep, const json_t *order, struct err *e)
{
	const char *role = json_text(order, "role"), *flow = json_text(order, "flow");
	json_t *params = json_object_get(order, "params");
	int rc = read_conversions(ep, order, e);

	if (rc)
		return rc;
	if (!*role || !json_is_object(params) || !is_object_name(json_text(order, "name")))
		return err_set(e, -EPROTO, STATUS_FAILED, "open", NULL, "the order is not complete");
	ep->role = strcmp(role, role_names[ROLE_SINK]) ? ROLE_SOURCE : ROLE_SINK;
	ep->cpu = read_cpu(order, "cpu");
	ep->spare_cpu = read_cpu(order, "spare_cpu");
	ep->numa_node = memory_node_of_cpu(ep->cpu);
	ep->trace.mask = json_is_true(json_object_get(order, "mask"));
	rc = endpoint_load_flow(ep, flow, params, e);
	if (!rc && ep->work->flow.transport->has_own_clock)
		ep->conversion = ep->source_conversion = (struct clock_conversion){0, 1, 0};
	return rc;
}

static int open_recorder(struct endpoint *ep, const json_t *order, struct err *e)
{
	const char *names[KERNEL_COLUMNS];
	const int64_t messages = ep->work->flow.config.schedule.messages;
	unsigned count = 0;

	for (const struct kernel_column *c = ep->work->flow.kernel->columns; c->name; c++)
		if (flow_has_column(&ep->work->flow, c, ep->role)) {
			ep->work->column[count] = c;
			names[count++] = c->name;
		}
	if (messages < 1 || messages > UINT32_MAX)
		return err_set(e, -EPROTO, STATUS_FAILED, "open", NULL, "has no valid number of messages");
	return recorder_open(&ep->work->recorder, json_text(order, "name"), names, count,
			     flow_entries(&ep->work->flow, messages), ep->work->flow.common.touch, ep->numa_node, e);
}

/* Over the same transport, so its settings, and the size of messages, are the measured flow's. */
static int load_comparison(struct endpoint *ep, const json_t *order, struct err *e)
{
	const struct flow *own = &ep->measured.flow, *f = &ep->comparing.flow;
	int rc = endpoint_load_flow(ep, own->name, json_object_get(order, "comparison"), e);

	if (!rc && !is_object_name(json_text(order, "name")))
		rc = err_set(e, -EPROTO, STATUS_FAILED, "arm", NULL, "the order is not complete");
	if (!rc && (f->transport != own->transport || f->config.size != own->config.size || f->kernel->side))
		rc = err_set(e, -EPROTO, STATUS_FAILED, "arm", NULL, "compares clocks over another transport");
	return rc ? rc : open_recorder(ep, order, e);
}

int endpoint_choose_work(struct endpoint *ep, const json_t *order, struct err *e)
{
	int rc;

	endpoint_end_comparison(ep);
	if (!json_is_object(json_object_get(order, "comparison")))
		return 0;
	ep->work = &ep->comparing;
	rc = load_comparison(ep, order, e);
	if (rc)
		endpoint_end_comparison(ep);
	return rc;
}

void endpoint_end_comparison(struct endpoint *ep)
{
	if (ep->work != &ep->comparing)
		return;
	recorder_close(&ep->comparing.recorder);
	flow_free(&ep->comparing.flow);
	ep->comparing = (struct work){.side = NULL};
	ep->work = &ep->measured;
}

static int open_side(struct endpoint *ep, const json_t *order, struct err *e)
{
	char *dir = json_inside_bytes(json_object_get(order, "dir"));
	const char *point = json_text(order, "point");
	const struct kernel_place place = {
	    .role = ep->role,
	    .dir = dir,
	    .flow = ep->work->flow.name,
	    .name = json_text(order, "name"),
	    .point = is_object_name(point) ? point : NULL,
	    .spare_cpu = ep->spare_cpu,
	    .numa_node = ep->numa_node,
	    .stop = &ep->worker.stop,
	};

	const struct kernel_side_ops *side = ep->work->flow.kernel->side;
	const int rc = side ? side->open(ep->work->flow.kernel_settings, &place, &ep->work->side, e) : 0;

	free(dir);
	return rc;
}

static int open_transport(struct endpoint *ep, const json_t *order, json_t **address, struct err *e)
{
	struct transport_config config = ep->work->flow.config;

	config.role = ep->role;
	config.numa_node = ep->numa_node;
	config.cpu = ep->cpu;
	config.peer_is_here = json_object_get(order, "peer_cpu") != NULL;
	config.peer_node = memory_node_of_cpu(read_cpu(order, "peer_cpu"));
	config.stop = &ep->worker.stop;
	config.name = json_text(order, "name");
	return ep->work->flow.transport->open(&config, ep->work->flow.transport_settings, &ep->transport, address, e);
}

/* Check for an extra thread that spins, such as the one of t_send. */
static int check_spare(const struct endpoint *ep, const struct kernel_thread *t, struct err *e)
{
	struct cpulist allowed;
	int rc = cpulist_allowed(&allowed);

	if (rc)
		return err_sys(e, rc, "this process", "read the CPU mask of");
	if (ep->spare_cpu < 0 && t->setting)
		return err_set(
		    e, -EINVAL, STATUS_IMPOSSIBLE, t->setting, NULL,
		    "the thread '%s' needs a separate CPU on each side, in addition to those of source and sink, and "
		    "there are only %u",
		    t->name, cpulist_count(&allowed));
	if (ep->spare_cpu < 0)
		return err_set(e, -EINVAL, STATUS_IMPOSSIBLE, t->with, NULL,
			       "needs a separate CPU, in addition to those of source and sink, and there is none");
	if (ep->cpu < 0 && cpulist_count(&allowed) < 2)
		return err_set(e, -EINVAL, STATUS_IMPOSSIBLE, t->with, NULL,
			       "with poll event the %s would share CPU %d, the only one, with the thread '%s'",
			       role_names[ep->role], ep->spare_cpu, t->name);
	return 0;
}

static int reserve_spare(struct endpoint *ep, struct err *e)
{
	int rc = 0;

	for (const struct kernel_thread *t = ep->work->flow.kernel->threads; !rc && t->name; t++)
		if (t->side == ep->role && flow_has_thread(&ep->work->flow, t, false)) {
			const enum thread_cpu cpu = flow_thread_cpu(&ep->work->flow, t);

			if (cpu == THREAD_SPARE || cpu == THREAD_ELSEWHERE)
				ep->runners.reserved_cpu = cpu == THREAD_SPARE ? ep->spare_cpu : ep->cpu;
			if (cpu == THREAD_SPARE)
				rc = check_spare(ep, t, e);
		}
	return rc;
}

static json_t *placement_json(const struct endpoint *ep)
{
	return json_pack("{s:o, s:i}", "cpu", ep->cpu < 0 ? json_null() : json_integer(ep->cpu), "numa_node",
			 ep->numa_node);
}

int endpoint_open(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	const struct common_settings *s = &ep->work->flow.common;
	json_t *address = NULL;

	if (ep->work->flow.params)
		return err_set(e, -EPROTO, STATUS_FAILED, "open", NULL, "came twice");

	int rc = read_open(ep, order, e);

	if (!rc)
		memory_prefer(ep->numa_node);
	if (!rc)
		rc = reserve_spare(ep, e);
	if (!rc)
		rc = runners_prioritise(&ep->runners, (int)s->priority, s->priority_limit, e);
	if (!rc)
		rc = endpoint_trace_open(ep, e);
	if (!rc)
		rc = open_recorder(ep, order, e);
	if (!rc)
		rc = open_side(ep, order, e);
	if (!rc)
		rc = open_transport(ep, order, &address, e);
	if (rc)
		return rc;
	endpoint_lock_memory(ep);
	*reply = json_pack("{s:s, s:o, s:o}", "type", "opened", "address", address, "placement", placement_json(ep));
	return 0;
}
