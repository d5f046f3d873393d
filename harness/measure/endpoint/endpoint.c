#include "measure/endpoint/endpoint.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/version.h"
#include "common/write_signals.h"
#include "measure/endpoint/endpoint_state.h"
#include "measure/endpoint/endpoint_trace.h"

#define STOP_TRIES   10000 /* a millisecond each */
#define IDLE_MOST_MS 8

static int send_message(struct endpoint *ep, json_t *message /* stolen */)
{
	int rc = wire_send(ep->out, message);

	json_decref(message);
	return rc;
}

static json_t *error_message(const struct err *e)
{
	return json_pack("{s:s, s:s, s:i}", "type", "error", "text", e->text, "status", (int)e->status);
}

/* --- orders: return 0 and an answer (NULL: none is needed), or a negative errno --- */

static int on_connect(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	if (!ep->transport || ep->has_met)
		return err_set(e, -EPROTO, STATUS_FAILED, "connect", NULL,
			       ep->transport ? "came twice" : "came before open");
	ep->has_met = true;

	int rc = ep->transport->ops->connect(ep->transport, json_object_get(order, "peer"), e);

	ep->is_connected = !rc;
	if (!rc)
		*reply =
		    json_pack("{s:s, s:o}", "type", "connected", "granted", ep->transport->ops->granted(ep->transport));
	return rc;
}

static void prepare_worker(struct endpoint *ep, uint32_t messages)
{
	const struct flow *f = &ep->work->flow;
	struct worker *w = &ep->worker;

	memset(w, 0, sizeof(*w));
	w->transport = ep->transport;
	w->settings = f->kernel_settings;
	w->side = ep->work->side;
	w->poll_send = f->config.poll_send;
	w->poll_recv = f->config.poll_recv;
	w->messages = messages;
	w->entries = flow_entries(f, messages);
	w->depth = (uint32_t)f->config.depth;
	w->clock = ep->conversion;
	w->has_two_clocks = ep->is_apart;
	w->signal_every = f->traits.signal_every;
	w->lossy = !f->traits.is_reliable;
	w->rests_asleep = settings_poll_send(&f->common) != POLL_BUSY;
	w->is_warm_up = ep->warm_up;
	w->blank = recorder_blank(&ep->work->recorder);
	w->spin_ticks = clock_from_ns(&w->clock, f->common.spin);
	w->drain_ticks = clock_from_ns(&w->clock, f->common.drain);
	w->is_passive = f->config.is_passive || f->config.is_idle;
	for (unsigned i = 0; i < ep->work->recorder.columns; i++)
		w->column[ep->work->column[i] - f->kernel->columns] = ep->work->recorder.column[i].data;
}

/* Before prepare(), which may depend on what the side records. */
static void set_transport_columns(struct endpoint *ep, uint32_t messages)
{
	const struct transport_ops *ops = ep->transport->ops;

	for (unsigned i = 0; ops->set_column && i < ep->work->recorder.columns; i++)
		ops->set_column(ep->transport, ep->work->recorder.column[i].name, ep->work->recorder.column[i].data,
				messages);
}

/* -1: unpinned. */
static int cpu_of_thread(const struct endpoint *ep, const struct kernel_thread *t)
{
	const enum thread_cpu cpu = flow_thread_cpu(&ep->work->flow, t);

	return cpu == THREAD_SPARE ? ep->spare_cpu : cpu == THREAD_OF_SIDE ? ep->cpu : -1;
}

/* This side's threads that run in this repetition, in the table's order. */
static int start_threads(struct endpoint *ep, struct err *e)
{
	const struct kernel_thread *threads = ep->work->flow.kernel->threads;
	const struct kernel_loops *loops = ep->trace.loops ? ep->trace.loops : ep->work->flow.loops;
	int rc = 0;

	ep->runners.counts_cycles = ep->work->flow.common.cycles;
	ep->runners.wait = endpoint_is_traced(ep);
	ep->load = machine_load_now();
	ep->groups = endpoint_groups_now();
	for (size_t i = 0; !rc && threads[i].name; i++)
		if (threads[i].side == ep->role && flow_has_thread(&ep->work->flow, &threads[i], ep->control))
			rc = runners_start(&ep->runners, loops->loop[i], cpu_of_thread(ep, &threads[i]), e);
	endpoint_trace_follow(ep);
	runners_begin(&ep->runners);
	return rc;
}

static int prepare_transport(struct endpoint *ep, struct err *e)
{
	const struct transport_ops *ops = ep->transport->ops;
	int rc = ops->prepare(ep->transport, e);

	if (!rc && ep->work->flow.config.device_stamps)
		rc = ops->read_clock(ep->transport, &ep->device_clock.first, &ep->device_clock.counter, e);
	if (rc)
		return rc;
	json_decref(ep->device_before);
	ep->device_before = transport_device_counters(ep->transport);
	return 0;
}

static int read_arm(struct endpoint *ep, const json_t *order, json_int_t *messages, struct err *e)
{
	*messages = json_integer_value(json_object_get(order, "messages"));
	if (!ep->is_connected || ep->running)
		return err_set(e, -EPROTO, STATUS_FAILED, "arm", NULL, "came out of order");

	int rc = endpoint_choose_work(ep, order, e);

	if (rc)
		return rc;
	if (*messages < 1 || *messages > ep->work->flow.config.schedule.messages)
		return err_set(e, -EPROTO, STATUS_FAILED, "arm", NULL, "asks for too much");
	ep->control = json_is_true(json_object_get(order, "control"));
	ep->warm_up = json_is_true(json_object_get(order, "warm_up"));
	free(ep->keep_dir);
	ep->keep_dir = json_inside_bytes(json_object_get(order, "keep_in"));
	return 0;
}

/* The sink's loop starts here; the source's waits for "run", when the sink is known to be ready. A
 * sink that only sends waits, too. */
static int on_arm(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	json_int_t messages;
	int rc = read_arm(ep, order, &messages, e);

	if (rc)
		return rc;
	recorder_reset(&ep->work->recorder);
	ep->settled = -1;
	set_transport_columns(ep, (uint32_t)messages);
	rc = prepare_transport(ep, e);
	if (rc)
		return rc;
	prepare_worker(ep, (uint32_t)messages);
	endpoint_lock_memory(ep);
	runners_clear(&ep->runners, 0);
	rc = endpoint_trace_start(ep, json_is_true(json_object_get(order, "trace")), e);
	if (rc)
		return rc;
	ep->running = true;
	if (ep->work->side)
		rc = ep->work->flow.kernel->side->start(ep->work->side,
							(unsigned)json_integer_value(json_object_get(order, "rep")), e);
	if (!rc && ep->role == ROLE_SINK && !flow_starts_together(&ep->work->flow))
		rc = start_threads(ep, e);
	if (!rc)
		*reply = json_pack("{s:s}", "type", "armed");
	return rc;
}

static int on_run(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	(void)reply;
	if ((ep->role != ROLE_SOURCE && !flow_starts_together(&ep->work->flow)) || !ep->running || ep->runners.count)
		return err_set(e, -EPROTO, STATUS_FAILED, "run", NULL, "came out of order");
	runners_clear(&ep->runners, json_integer_value(json_object_get(order, "start_ns")));
	return start_threads(ep, e);
}

/* A sink that only sends continues until all of its own messages are done, unless the source was stopped. */
static bool endpoint_ends_alone(const struct endpoint *ep, const json_t *posted)
{
	return flow_starts_together(&ep->work->flow) && json_integer_value(posted) == (json_int_t)ep->worker.messages;
}

/* The source has ended: wait until nothing has arrived for `drain`, then stop. If messages cannot
 * get lost, wait until all that were posted have arrived. */
static int on_finish(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	const json_t *posted = json_object_get(order, "posted"), *completed = json_object_get(order, "completed");
	const bool all_come = ep->work->flow.traits.is_reliable && json_is_integer(posted);
	uint64_t last = UINT64_MAX;
	int64_t waited_ms = 0, drain_ms = ep->work->flow.common.drain / 1000000;

	(void)reply, (void)e;
	if (!ep->running)
		return 0; /* all messages have arrived and "done" was sent at the same time */
	if (json_is_integer(posted) && json_is_integer(completed) && json_equal(posted, completed))
		ep->settled = json_integer_value(posted);
	if (endpoint_ends_alone(ep, posted))
		return 0;
	while ((!ep->worker.is_passive || flow_starts_together(&ep->work->flow)) && !runners_have_ended(&ep->runners) &&
	       waited_ms < drain_ms && !(all_come && last == (uint64_t)json_integer_value(posted))) {
		uint64_t now = atomic_load(&ep->worker.progress);

		waited_ms = now == last ? waited_ms + 1 : 0;
		last = now;
		runners_nap();
	}
	runners_stop(&ep->runners, STOP_TRIES);
	return 0;
}

static int on_status(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	(void)order, (void)e;
	*reply = json_pack("{s:s, s:I, s:b}", "type", "status", "progress",
			   (json_int_t)atomic_load(&ep->worker.progress), "running", ep->running);
	return 0;
}

static int on_stop(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	(void)order, (void)reply, (void)e;
	runners_stop(&ep->runners, STOP_TRIES);
	return 0;
}

static const struct order {
	const char *type;
	int (*carry_out)(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
} orders[] = {
    {"survey", endpoint_survey},
    {"open", endpoint_open},
    {"connect", on_connect},
    {"arm", on_arm},
    {"run", on_run},
    {"finish", on_finish},
    {"status", on_status},
    {"stop", on_stop},
    {"calibrate", endpoint_calibrate},
    {"ticks", endpoint_ticks},
    {"capture", endpoint_capture},
    {"discipline", endpoint_discipline},
    {"wall", endpoint_wall},
    {"room", endpoint_room},
    {"doctor", endpoint_doctor},
};

static int carry_out(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	const char *type = json_string_value(json_object_get(order, "type"));

	if (!type)
		return err_set(e, -EPROTO, STATUS_FAILED, "order", NULL, "has no type");
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (!strcmp(type, orders[i].type))
			return orders[i].carry_out(ep, order, reply, e);
	return err_set(e, -EPROTO, STATUS_FAILED, "order", NULL, "unknown type '%.40s'", type);
}

/* Process one order and send its answer. Errors are reported to the coordinator, which decides what to do. */
static int answer(struct endpoint *ep, const char *line)
{
	struct err e = ERR_INIT;
	json_error_t why;
	json_t *order = json_loads(line, JSON_REJECT_DUPLICATES, &why), *reply = NULL;
	int rc = order ? carry_out(ep, order, &reply, &e)
		       : err_set(&e, -EPROTO, STATUS_FAILED, "order", "read", "%s", why.text);

	json_decref(order);
	if (rc)
		reply = error_message(&e);
	return reply ? send_message(ep, reply) : 0;
}

static int report(struct endpoint *ep)
{
	int rc = send_message(ep, endpoint_report(ep));

	if (!rc)
		rc = endpoint_send_columns(ep);
	if (!rc)
		rc = endpoint_trace_send(ep);
	ep->running = false;
	ep->runners.count = 0;
	endpoint_end_comparison(ep);
	return rc;
}

/* If one of two threads has failed, the other one waits for something that will not happen. */
static int on_thread_ended(struct endpoint *ep)
{
	uint64_t ended;

	if (read(ep->runners.ended_fd, &ended, sizeof(ended)) < 0 || !ep->running)
		return 0;
	if (runners_failure(&ep->runners))
		runners_stop(&ep->runners, STOP_TRIES);
	return runners_have_ended(&ep->runners) ? report(ep) : 0;
}

static int take_orders(struct endpoint *ep)
{
	char *line;
	int rc = wire_fill(&ep->in);

	while (!rc && (rc = wire_take_line(&ep->in, &line)) > 0) {
		rc = answer(ep, line);
		free(line);
	}
	if (ep->in.eof)
		ep->quit = true;
	return rc;
}

/* A thread reports its end while it may still use the memory, so threads are joined first. If one
 * does not end, only names are removed, and memory is kept. */
static void clean_up(struct endpoint *ep)
{
	bool stopped = ep->runners.count == 0 || runners_stop(&ep->runners, 1000);

	if (ep->running && ep->keep_dir)
		endpoint_keep_columns(ep);
	if (stopped) {
		runners_join(&ep->runners);
		endpoint_end_comparison(ep);
		if (ep->transport)
			ep->transport->ops->close(ep->transport);
		if (ep->work->side)
			ep->work->flow.kernel->side->close(ep->work->side);
		recorder_close(&ep->work->recorder);
	} else {
		fs_remove_tree(ep->measured.recorder.dir, NULL);
		fs_remove_tree(ep->comparing.recorder.dir, NULL);
	}
	endpoint_trace_close(ep, stopped);
	endpoint_wall_close(ep);
	json_decref(ep->device_before);
	free(ep->keep_dir);
	wire_free(&ep->in);
	if (!stopped)
		return;
	flow_free(&ep->work->flow);
	close(ep->runners.ended_fd);
	free(ep);
}

static json_t *hello_message(void)
{
	char host[256] = "", boot_id[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	gethostname(host, sizeof(host) - 1);
	if (f) {
		if (fgets(boot_id, sizeof(boot_id), f))
			boot_id[strcspn(boot_id, "\n")] = '\0';
		fclose(f);
	}
	return json_pack("{s:s, s:i, s:s, s:s, s:o, s:s, s:i}", "type", "hello", "protocol", WIRE_PROTOCOL, "version",
			 kblat_version, "byte_order", WIRE_BYTE_ORDER, "host", json_outside(host), "boot_id", boot_id,
			 "pid", (int)getpid());
}

/* Between repetitions; at first often, because the other side may wait for what is left to do. Milliseconds until it should be
 * called again, after `pause`; -1: when something has happened. */
static int be_idle(struct endpoint *ep, int pause)
{
	if (!ep->is_connected || ep->runners.count || !ep->transport->ops->idle)
		return -1;
	ep->transport->ops->idle(ep->transport);
	return pause < 0 ? 1 : pause < IDLE_MOST_MS ? 2 * pause : IDLE_MOST_MS;
}

static int serve(struct endpoint *ep)
{
	struct pollfd fds[2] = {{ep->in.fd, POLLIN, 0}, {ep->runners.ended_fd, POLLIN, 0}};
	int rc = send_message(ep, hello_message()), pause = -1, ready;

	while (!rc && !ep->quit) {
		pause = be_idle(ep, pause);
		ready = poll(fds, 2, pause);
		if (ready < 0)
			rc = errno == EINTR ? 0 : -errno;
		if (ready <= 0)
			continue;
		pause = -1;
		if (fds[1].revents)
			rc = on_thread_ended(ep);
		if (!rc && fds[0].revents)
			rc = take_orders(ep);
	}
	return rc == -EPIPE ? 0 : rc;
}

int endpoint_serve(int in, int out, int (*examine)(json_t **findings, struct err *e), struct err *e)
{
	struct endpoint *ep = or_abort(aligned_alloc(64, (sizeof(*ep) + 63) / 64 * 64));

	memset(ep, 0, sizeof(*ep));
	ep->out = out;
	ep->examine = examine;
	ep->work = &ep->measured;
	ep->cpu = ep->spare_cpu = -1;
	wire_init(&ep->in, in);
	runners_init(&ep->runners, &ep->worker, eventfd(0, EFD_CLOEXEC));
	write_signals_ignore();
	signal(SIGINT, SIG_IGN); /* the coordinator receives it and informs the endpoint */

	int rc = ep->runners.ended_fd < 0 ? err_sys(e, -errno, "eventfd", "make") : serve(ep);

	if (rc == -EMSGSIZE)
		err_set(e, rc, STATUS_FAILED, "endpoint", "read an order", "a line is longer than %d bytes",
			WIRE_LINE_MAX);
	else if (rc)
		err_sys(e, rc, "endpoint", "communicate with the coordinator");

	clean_up(ep);
	return rc;
}
