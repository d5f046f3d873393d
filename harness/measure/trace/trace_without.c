/* In place of trace.c, trace_events.c and trace_place.c, in a build without libtracefs: nothing can be traced. */
#include <errno.h>
#include <string.h>

#include "common/feature.h"
#include "measure/trace/trace.h"
#include "measure/trace/trace_place.h"

static int refuse(struct err *e)
{
	return feature_missing("libtracefs", "the kernel's trace", e);
}

int trace_online_cpus(struct cpulist *out)
{
	cpulist_clear(out);
	return 0;
}

int trace_open(struct trace **out, const struct cpulist *cpus, uint64_t bytes, enum trace_set set, struct err *e)
{
	(void)cpus, (void)bytes, (void)set;
	*out = NULL;
	return refuse(e);
}

int trace_start(struct trace *t, struct err *e)
{
	(void)t;
	return refuse(e);
}

void trace_follow(struct trace *t, const pid_t *own, size_t own_count)
{
	(void)t, (void)own, (void)own_count;
}

int trace_stop(struct trace *t, struct err *e)
{
	(void)t;
	return refuse(e);
}

int trace_read(struct trace *t, const pid_t *own, size_t own_count, const struct clock_conversion *c,
	       struct trace_names *names, struct trace_words *to, json_t **about, struct err *e)
{
	(void)t, (void)own, (void)own_count, (void)c, (void)names, (void)to;
	*about = NULL;
	return refuse(e);
}

int trace_follow_program(struct trace *t, const pid_t *threads, size_t count, const char *probes, struct err *e)
{
	(void)t, (void)threads, (void)count, (void)probes;
	return refuse(e);
}

int trace_read_program(struct trace *machine, struct trace *calls, struct trace_program *p,
		       const struct clock_conversion *c, struct trace_names *names, struct trace_words *to,
		       json_t **about, struct err *e)
{
	(void)machine, (void)calls, (void)p, (void)c, (void)names, (void)to;
	*about = NULL;
	return refuse(e);
}

void trace_close(struct trace *t)
{
	(void)t;
}

int trace_gaps_merge(const struct trace_words *events, bool others, const struct gap_log *w, int cpu,
		     const struct clock_conversion *c, struct trace_words *to)
{
	(void)events, (void)others, (void)w, (void)cpu, (void)c, (void)to;
	return -ENOSYS;
}

int trace_words_add(struct trace_words *w, const int64_t event[TRACE_WORDS])
{
	(void)w, (void)event;
	return -ENOSYS;
}

void trace_words_free(struct trace_words *w)
{
	(void)w;
}

void trace_threads_add(struct trace_threads *t, int64_t tid)
{
	(void)t, (void)tid;
}

void trace_threads_free(struct trace_threads *t)
{
	(void)t;
}

const char *trace_place(struct err *e)
{
	refuse(e);
	return NULL;
}

int trace_place_refuse(int why, struct err *e)
{
	(void)why;
	return refuse(e);
}

int trace_place_check_ids(struct err *e)
{
	return refuse(e);
}

char *trace_place_name(char *buf)
{
	return strcpy(buf, "");
}

char *trace_place_probes(char *buf)
{
	return strcpy(buf, "");
}

int trace_place_sweep(void)
{
	return 0;
}

bool trace_signal_is_fault(int signal)
{
	(void)signal;
	return false;
}
