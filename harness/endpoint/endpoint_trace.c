#include "endpoint/endpoint_trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/sysroot.h"
#include "endpoint/endpoint_state.h"
#include "trace/trace.h"

#define BUFFERS_MOST (256ll << 20) /* of all CPUs together */

/* --- start --- */

static int online_cpus(struct cpulist *out)
{
	struct sysroot root;
	char text[CPULIST_TEXT_MAX];
	int rc = sysroot_open(&root, NULL, NULL);

	if (rc)
		return rc;
	rc = sysroot_line(&root, "/sys/devices/system/cpu/online", text, sizeof(text));
	sysroot_close(&root);
	return rc ? rc : cpulist_parse(text, out, NULL, 0);
}

/* Where this side runs. One that sleeps is woken by other CPUs, and may run anywhere. */
static int trace_cpus(const struct endpoint *ep, struct cpulist *out)
{
	cpulist_clear(out);
	if (ep->cpu < 0 || !flow_is_busy(&ep->flow, ep->role))
		return online_cpus(out);
	cpulist_add(out, (unsigned)ep->cpu);
	return 0;
}

static int open_trace(struct endpoint *ep, struct err *e)
{
	int64_t bytes = ep->flow.common.explain_buffer;
	struct cpulist cpus;
	int rc;

	if (ep->flow.transport->has_own_clock)
		return err_set(
		    e, -ENOTSUP, STATUS_IMPOSSIBLE, NULL, NULL,
		    "the transport %s has a clock of its own: nothing that the kernel does delays its messages",
		    ep->flow.transport->name);
	rc = trace_cpus(ep, &cpus);
	if (rc)
		return err_sys(e, rc, "CPUs", "list the");
	if (bytes > BUFFERS_MOST / (int64_t)cpulist_count(&cpus))
		bytes = BUFFERS_MOST / (int64_t)cpulist_count(&cpus);
	return trace_open(&ep->trace.trace, &cpus, (uint64_t)bytes, e);
}

/* Nothing can be explained, for the reason in `why`: that ends the point only where it is required. */
static int do_without(struct endpoint *ep, const struct err *why, struct err *e)
{
	snprintf(ep->trace.why, sizeof(ep->trace.why), "%s", why->text);
	if (ep->flow.common.explain != EXPLAIN_REQUIRED)
		return 0;
	return err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, "explain", NULL, "%s", why->text);
}

int endpoint_trace_open(struct endpoint *ep, struct err *e)
{
	struct err why = ERR_INIT;

	if (ep->flow.common.explain == EXPLAIN_NO || !open_trace(ep, &why))
		return 0;
	return do_without(ep, &why, e);
}

int endpoint_trace_start(struct endpoint *ep, bool wanted, struct err *e)
{
	struct endpoint_trace *t = &ep->trace;
	struct err why = ERR_INIT;

	t->is_on = wanted && ep->flow.common.explain != EXPLAIN_NO;
	if (!t->is_on || !t->trace || !trace_start(t->trace, &why))
		return 0;
	return do_without(ep, &why, e);
}

/* --- end --- */

static size_t own_threads(const struct endpoint *ep, pid_t own[MAX_RUNNERS])
{
	for (unsigned i = 0; i < ep->runners.count; i++)
		own[i] = ep->runners.runner[i].tid;
	return ep->runners.count;
}

static int read_trace(struct endpoint *ep, struct trace_names *names, json_t **about, struct err *e)
{
	pid_t own[MAX_RUNNERS];
	size_t count = own_threads(ep, own);

	return trace_read(ep->trace.trace, own, count, &ep->conversion, names, &ep->trace.words, about, e);
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
	if (t->trace && !trace_stop(t->trace, &why))
		read_trace(ep, &names, &about, &why);
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
	int rc = ep->trace.is_on ? fs_write_fd(ep->out, w->data, w->count * TRACE_WORDS * sizeof(*w->data)) : 0;

	return rc || !ep->trace.is_on ? rc : fs_write_fd(ep->out, "\n", 1);
}

void endpoint_trace_close(struct endpoint *ep)
{
	trace_close(ep->trace.trace);
	trace_words_free(&ep->trace.words);
}
