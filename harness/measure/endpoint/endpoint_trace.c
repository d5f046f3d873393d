#include "measure/endpoint/endpoint_trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "measure/endpoint/endpoint_state.h"
#include "measure/kernels/kernel.h"
#include "measure/trace/trace.h"
#include "measure/trace/trace_place.h"

#define BUFFERS_MOST (256ll << 20) /* for all CPUs together */

/* --- start --- */

/* The CPUs where this side runs. A side that sleeps is woken up by other CPUs, and may run anywhere. */
static int trace_cpus(const struct endpoint *ep, struct cpulist *out)
{
	cpulist_clear(out);
	if (ep->cpu < 0 || !flow_is_busy(&ep->work->flow, ep->role))
		return trace_online_cpus(out);
	cpulist_add(out, (unsigned)ep->cpu);
	return 0;
}

/* Loops that poll memory do not make system calls, so each system call is a delay. With a device,
 * its library may use them for posting, as with Soft-RoCE, so they are part of sending a message. */
static bool makes_no_calls(const struct endpoint *ep)
{
	return flow_is_busy(&ep->work->flow, ep->role) && !ep->work->flow.transport->has_device &&
	       gap_loops_find(ep->work->flow.kernel->name, ep->work->flow.transport->name);
}

static int open_trace(struct endpoint *ep, struct err *e)
{
	int64_t bytes = ep->work->flow.common.explain_buffer;
	struct cpulist cpus;
	int rc;

	if (ep->work->flow.transport->has_own_clock)
		return err_set(
		    e, -ENOTSUP, STATUS_IMPOSSIBLE, NULL, NULL,
		    "the transport %s has a clock of its own: nothing that the kernel does delays its messages",
		    ep->work->flow.transport->name);
	rc = trace_cpus(ep, &cpus);
	if (rc)
		return err_sys(e, rc, "CPUs", "list the");
	if (bytes > BUFFERS_MOST / (int64_t)cpulist_count(&cpus))
		bytes = BUFFERS_MOST / (int64_t)cpulist_count(&cpus);
	rc = trace_open(&ep->trace.trace, &cpus, (uint64_t)bytes,
			makes_no_calls(ep) ? TRACE_SET_CALLING : TRACE_SET_ENDPOINT, e);
	/* Until the measuring threads exist, follow this process only: others may have the same name. */
	if (!rc)
		trace_follow(ep->trace.trace, (const pid_t[]){getpid()}, 1);
	return rc;
}

/* Explanations are not possible because of `why`; that is only an error if they are required. */
static int do_without(struct endpoint *ep, const struct err *why, struct err *e)
{
	snprintf(ep->trace.why, sizeof(ep->trace.why), "%.255s", why->text);
	if (ep->work->flow.common.explain != EXPLAIN_REQUIRED)
		return 0;
	return err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, "explain", NULL, "%s", why->text);
}

int endpoint_trace_open(struct endpoint *ep, struct err *e)
{
	struct err why = ERR_INIT;
	int rc = 0;

	/* What a killed run has left would be measured, too. */
	trace_place_sweep();
	if (ep->work->flow.common.explain == EXPLAIN_NO)
		return 0;
	rc = open_trace(ep, &why);
	if (!rc)
		rc = gap_log_open(&ep->trace.gap_log, ep->numa_node, &why);
	return rc ? do_without(ep, &why, e) : 0;
}

/* The minimum length of gaps that matter: a fraction of the time that makes a message late. */
static int64_t least_gap(const struct endpoint *ep)
{
	const int64_t least_ns = 500, most_ns = 5000, part = ep->work->flow.common.limit / 8;

	return clock_from_ns(&ep->conversion, part < least_ns ? least_ns : part > most_ns ? most_ns : part);
}

/* A side that sleeps does not poll continuously, so there are no gaps between polls. */
static void log_gaps(struct endpoint *ep)
{
	struct endpoint_trace *t = &ep->trace;

	if (ep->cpu >= 0 && ep->work->flow.config.poll_recv == POLL_BUSY &&
	    ep->work->flow.config.poll_send == POLL_BUSY)
		t->loops = gap_loops_find(ep->work->flow.kernel->name, ep->work->flow.transport->name);
	if (!t->loops)
		return;
	gap_log_begin(&t->gap_log, least_gap(ep));
	ep->worker.gap_log = t->gap_log;
}

bool endpoint_is_traced(const struct endpoint *ep)
{
	return ep->trace.is_on && !*ep->trace.why;
}

int endpoint_trace_start(struct endpoint *ep, bool wanted, struct err *e)
{
	struct endpoint_trace *t = &ep->trace;
	struct err why = ERR_INIT;

	t->is_on = wanted && ep->work->flow.common.explain != EXPLAIN_NO;
	t->loops = NULL;
	if (!endpoint_is_traced(ep))
		return 0;
	log_gaps(ep);
	t->stolen = stolen_read(ep->cpu);
	return trace_start(t->trace, &why) ? do_without(ep, &why, e) : 0;
}

static size_t own_threads(const struct endpoint *ep, pid_t own[MAX_RUNNERS])
{
	for (unsigned i = 0; i < ep->runners.count; i++)
		own[i] = ep->runners.runner[i].tid;
	return ep->runners.count;
}

void endpoint_trace_follow(struct endpoint *ep)
{
	const struct endpoint_trace *t = &ep->trace;
	pid_t own[MAX_RUNNERS];

	_Static_assert(MAX_RUNNERS <= TRACE_FOLLOWED_MAX, "more threads than a filter has room for");
	if (endpoint_is_traced(ep))
		trace_follow(t->trace, own, own_threads(ep, own));
}

/* --- end --- */

static int read_trace(struct endpoint *ep, struct trace_names *names, json_t **about, struct err *e)
{
	pid_t own[MAX_RUNNERS];
	size_t count = own_threads(ep, own);

	return trace_read(ep->trace.trace, own, count, &ep->conversion, names, &ep->trace.words, about, e);
}

/* Merge the logged gaps into the kernel's events in chronological order. */
static int merge_gaps(struct endpoint *ep, json_t *about)
{
	const struct gap_log *w = &ep->worker.gap_log;
	struct trace_words *words = &ep->trace.words, merged = {.most = 0};
	int rc = trace_gaps_merge(words, true, w, ep->cpu, &ep->conversion, &merged);

	trace_words_free(words);
	*words = merged;
	json_object_set_new(about, "gaps", json_true());
	json_object_set_new(about, "gaps_missed", json_integer((json_int_t)w->missed));
	return rc;
}

/* The increase of a counter; null if it is unknown. */
static json_t *risen(int64_t before, int64_t after)
{
	return before >= 0 && after >= before ? json_integer(after - before) : json_null();
}

static void note_stolen(const struct endpoint *ep, json_t *about)
{
	const struct stolen before = ep->trace.stolen, after = stolen_read(ep->cpu);

	json_object_set_new(about, "steal_ms", risen(before.steal_ms, after.steal_ms));
	json_object_set_new(about, "smis", risen(before.smis, after.smis));
}

static json_t *take_events(struct endpoint *ep, struct trace_names *names, struct err *why)
{
	json_t *about = NULL;
	int rc = trace_stop(ep->trace.trace, why);

	if (!rc)
		rc = read_trace(ep, names, &about, why);
	if (!rc && ep->trace.loops && merge_gaps(ep, about))
		err_sys(why, -ENOMEM, "explain", "record the gaps between polls");
	if (about)
		note_stolen(ep, about);
	return about;
}

json_t *endpoint_trace_take(struct endpoint *ep)
{
	struct endpoint_trace *t = &ep->trace;
	struct trace_names names;
	struct err why = ERR_INIT;
	json_t *about = NULL;

	if (!t->is_on)
		return NULL;
	trace_words_free(&t->words);
	trace_names_init(&names);
	names.mask = t->mask;
	snprintf(why.text, sizeof(why.text), "%s", t->why);
	if (!*t->why)
		about = take_events(ep, &names, &why);
	if (!about)
		about = json_object();
	trace_names_resolve(&names);
	json_object_set_new(about, "schema", json_integer(1));
	json_object_set_new(about, "why", json_string(why.text));
	json_object_set(about, "names", names.list);
	json_object_set_new(about, "words", json_integer((json_int_t)(t->words.count * TRACE_WORDS)));
	trace_names_free(&names);
	return about;
}

int endpoint_trace_send(const struct endpoint *ep)
{
	const struct trace_words *w = &ep->trace.words;
	int rc;

	if (!ep->trace.is_on)
		return 0;
	rc = fs_write_fd(ep->out, w->data, w->count * TRACE_WORDS * sizeof(*w->data));
	return rc ? rc : fs_write_fd(ep->out, "\n", 1);
}

void endpoint_trace_close(struct endpoint *ep, bool stopped)
{
	trace_close(ep->trace.trace);
	if (stopped)
		gap_log_close(&ep->trace.gap_log);
	trace_words_free(&ep->trace.words);
}
