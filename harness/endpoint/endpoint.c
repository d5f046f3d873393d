#include "endpoint/endpoint.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/version.h"
#include "endpoint/endpoint_work.h"

#define STOP_TRIES 10000 /* a millisecond each */

int endpoint_reply(struct endpoint *ep, json_t *message)
{
	int rc = wire_send(ep->out, message);

	json_decref(message);
	return rc;
}

static int reply_error(struct endpoint *ep, const struct err *e)
{
	return endpoint_reply(ep,
			      json_pack("{s:s, s:s, s:i}", "type", "error", "text", e->text, "status", (int)e->status));
}

static int do_connect(struct endpoint *ep, const json_t *order, struct err *e)
{
	if (!ep->transport)
		return err_set(e, -EPROTO, STATUS_FAILED, "connect", NULL, "came before open");

	int rc = ep->ops->connect(ep->transport, json_object_get(order, "peer"), e);

	if (rc)
		return rc;
	return endpoint_reply(ep,
			      json_pack("{s:s, s:o}", "type", "connected", "granted", ep->ops->granted(ep->transport)));
}

static void prepare_worker(struct endpoint *ep, uint32_t messages)
{
	struct worker *w = &ep->worker;

	memset(w, 0, sizeof(*w));
	w->transport = ep->transport;
	w->settings = ep->settings;
	w->poll_send = endpoint_poll_send(ep);
	w->poll_recv = (enum poll_mode)ep->common.poll;
	w->messages = messages;
	w->depth = (uint32_t)ep->common.depth;
	w->clock = ep->conversion;
	w->signal_every = ep->signal_every;
	w->lossy = ep->lossy;
	w->rests_asleep = settings_poll_send(&ep->common) != POLL_BUSY;
	w->store = ep->stores ? &ep->store : NULL;
	w->blank = recorder_blank(&ep->recorder);
	w->spin_ticks = clock_from_ns(&w->clock, ep->common.spin);
	for (unsigned i = 0; i < ep->recorder.columns; i++)
		w->column[ep->column[i] - ep->kernel->columns] = ep->recorder.column[i].data;
}

/* The sink's loop starts here; the source's waits for "run", when the sink is known to listen. */
static int do_arm(struct endpoint *ep, const json_t *order, struct err *e)
{
	json_int_t messages = json_integer_value(json_object_get(order, "messages"));
	int rc;

	if (!ep->transport || ep->running || messages < 1 || (uint64_t)messages > ep->capacity)
		return err_set(e, -EPROTO, STATUS_FAILED, "arm", NULL, "came out of turn or asks for too much");
	ep->rep = (unsigned)json_integer_value(json_object_get(order, "rep"));
	ep->undisturbed = json_is_false(json_object_get(order, "restamp"));
	recorder_reset(&ep->recorder);
	rc = ep->ops->prepare(ep->transport, e);
	if (rc)
		return rc;
	if (ep->stamped)
		rc = ep->ops->read_clock(ep->transport, &ep->device_clock.first, &ep->device_clock.mask, e);
	if (rc)
		return rc;
	json_decref(ep->device_before);
	ep->device_before = ep->ops->device_counters(ep->transport);
	prepare_worker(ep, (uint32_t)messages);
	ep->runners.count = 0;
	ep->running = true;
	if (ep->stores)
		rc = sample_file_start(&ep->store, ep->rep, e);
	if (!rc && ep->role == ROLE_SINK)
		rc = runners_start(&ep->runners, ep->loops->sink, ep->placement.cpu, e);
	return rc ? rc : endpoint_reply(ep, json_pack("{s:s}", "type", "armed"));
}

static int do_run(struct endpoint *ep, const json_t *order, struct err *e)
{
	(void)order;
	if (ep->role != ROLE_SOURCE || !ep->running || ep->runners.count)
		return err_set(e, -EPROTO, STATUS_FAILED, "run", NULL, "came out of turn");

	int cpu = ep->placement.cpu;
	int rc = endpoint_poll_send(ep) != POLL_BUSY ? runners_start(&ep->runners, ep->loops->completions, cpu, e) : 0;

	if (!rc && ep->restamps && !ep->undisturbed)
		rc = runners_start(&ep->runners, ep->loops->restamp, ep->placement.spare_cpu, e);
	return rc ? rc : runners_start(&ep->runners, ep->loops->source, cpu, e);
}

/* The source has ended: wait until nothing more arrives for `drain`, then stop. Where nothing gets lost, until all arrived that it posted. */
static int do_finish(struct endpoint *ep, const json_t *order, struct err *e)
{
	const json_t *posted = json_object_get(order, "posted");
	const bool all_come = !ep->lossy && json_is_integer(posted);
	uint64_t last = UINT64_MAX;
	int64_t waited_ms = 0, drain_ms = ep->common.drain / 1000000;

	(void)e;
	if (!ep->running)
		return 0; /* all messages came and "done" was sent: the two crossed */
	while (!runners_have_ended(&ep->runners) && waited_ms < drain_ms &&
	       !(all_come && last == (uint64_t)json_integer_value(posted))) {
		uint64_t now = atomic_load(&ep->worker.progress);

		waited_ms = now == last ? waited_ms + 1 : 0;
		last = now;
		runners_nap();
	}
	runners_stop(&ep->runners, STOP_TRIES);
	return 0;
}

static int do_status(struct endpoint *ep, const json_t *order, struct err *e)
{
	(void)order, (void)e;
	return endpoint_reply(ep, json_pack("{s:s, s:I, s:b}", "type", "status", "progress",
					    (json_int_t)atomic_load(&ep->worker.progress), "running", ep->running));
}

static int do_stop(struct endpoint *ep, const json_t *order, struct err *e)
{
	(void)order, (void)e;
	runners_stop(&ep->runners, STOP_TRIES);
	return 0;
}

static const struct {
	const char *type;
	int (*obey)(struct endpoint *ep, const json_t *order, struct err *e);
} orders[] = {
    {"open", endpoint_open}, {"connect", do_connect}, {"arm", do_arm},	 {"run", do_run},
    {"finish", do_finish},   {"status", do_status},   {"stop", do_stop},
};

static int obey(struct endpoint *ep, const json_t *order, struct err *e)
{
	const char *type = json_string_value(json_object_get(order, "type"));

	if (!type)
		return err_set(e, -EPROTO, STATUS_FAILED, "order", NULL, "has no type");
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (!strcmp(type, orders[i].type))
			return orders[i].obey(ep, order, e);
	return err_set(e, -EPROTO, STATUS_FAILED, "order", NULL, "unknown type '%.40s'", type);
}

/* One of two threads that failed leaves the other waiting for what will not come. */
static int on_thread_ended(struct endpoint *ep)
{
	uint64_t ended;

	if (read(ep->runners.ended_fd, &ended, sizeof(ended)) < 0 || !ep->running)
		return 0;
	if (runners_failure(&ep->runners))
		runners_stop(&ep->runners, STOP_TRIES);
	return runners_have_ended(&ep->runners) ? endpoint_report(ep) : 0;
}

static int take_orders(struct endpoint *ep, struct err *e)
{
	char *line;
	int rc = wire_fill(&ep->in);

	while (!rc && !ep->quit && (rc = wire_take_line(&ep->in, &line)) > 0) {
		json_error_t why;
		json_t *order = json_loads(line, JSON_REJECT_DUPLICATES, &why);

		rc = order ? obey(ep, order, e) : err_set(e, -EPROTO, STATUS_FAILED, "order", "read", "%s", why.text);
		json_decref(order);
		free(line);
		if (rc && e->status) { /* told, not the end of the conversation: the coordinator decides */
			rc = reply_error(ep, e);
			err_clear(e);
		}
	}
	if (ep->in.eof)
		ep->quit = true;
	return rc;
}

static void clean_up(struct endpoint *ep)
{
	bool stopped = ep->runners.count == 0 || runners_stop(&ep->runners, 1000);

	if (ep->running && ep->salvage && ep->transport)
		endpoint_salvage(ep);
	if (stopped) {
		if (ep->transport)
			ep->ops->close(ep->transport);
		if (ep->stores)
			sample_file_close(&ep->store);
		recorder_close(&ep->recorder);
	} else {
		fs_remove_tree(ep->recorder.dir, NULL); /* a thread still uses the memory: only the names go */
	}
	json_decref(ep->device_before);
	free(ep->salvage);
	wire_free(&ep->in);
	close(ep->runners.ended_fd);
}

static json_t *hello(void)
{
	char host[256] = "", boot_id[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	gethostname(host, sizeof(host) - 1);
	if (f) {
		if (fgets(boot_id, sizeof(boot_id), f))
			boot_id[strcspn(boot_id, "\n")] = '\0';
		fclose(f);
	}
	return json_pack("{s:s, s:i, s:s, s:s, s:s, s:i}", "type", "hello", "protocol", WIRE_PROTOCOL, "version",
			 kblat_version, "host", host, "boot_id", boot_id, "pid", (int)getpid());
}

static int serve(struct endpoint *ep, struct err *e)
{
	struct pollfd fds[2] = {{ep->in.fd, POLLIN, 0}, {ep->runners.ended_fd, POLLIN, 0}};
	int rc = endpoint_reply(ep, hello());

	while (!rc && !ep->quit) {
		if (poll(fds, 2, -1) < 0) {
			rc = errno == EINTR ? 0 : -errno;
			continue;
		}
		if (fds[1].revents)
			rc = on_thread_ended(ep);
		if (!rc && fds[0].revents)
			rc = take_orders(ep, e);
	}
	return rc == -EPIPE ? 0 : rc;
}

int endpoint_serve(int in, int out, struct err *e)
{
	struct endpoint *ep = aligned_alloc(64, (sizeof(*ep) + 63) / 64 * 64);

	if (!ep)
		return err_sys(e, -ENOMEM, "endpoint", "allocate");
	memset(ep, 0, sizeof(*ep));
	ep->out = out;
	wire_init(&ep->in, in);
	runners_init(&ep->runners, &ep->worker, eventfd(0, EFD_CLOEXEC));
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN); /* the coordinator hears it and tells us */

	int rc = ep->runners.ended_fd < 0 ? err_sys(e, -errno, "eventfd", "make") : serve(ep, e);

	clean_up(ep);
	free(ep);
	return rc;
}
