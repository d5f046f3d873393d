#include "measure/run/preflight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/npy.h"
#include "common/or_abort.h"
#include "measure/placement/survey.h"
#include "measure/run/channel.h"

#define SMALL_FILES    65536 /* a generous estimate for a repetition's reports and directories */
#define PIPES_A_SIDE   3
#define OTHER_FILES    64
#define THREADS_A_SIDE (KERNEL_THREADS + 2)

/* --- required space --- */

/* The size of all columns of a repetition. */
static unsigned long long column_bytes(const struct point *p)
{
	unsigned long long sum = 0;

	for (size_t i = 0; i < p->flow_count; i++) {
		const struct flow *f = &p->flow[i];

		sum +=
		    flow_columns(f) *
		    ((unsigned long long)flow_entries(f, f->config.schedule.messages) * sizeof(int64_t) + NPY_HEADER);
	}
	return sum;
}

/* Could messages of the point share stamps? */
static bool can_share_stamps(const struct point *p)
{
	bool can = false;

	for (size_t i = 0; i < p->flow_count; i++)
		can |= p->flow[i].config.schedule.block > 0;
	return can;
}

/* What a transport lacks, which is asked for once in a row of points: it may look for devices. */
struct asked {
	const struct transport_ops *transport; /* NULL: none yet */
	const char *why;
};

static const char *missing_of(const struct point *p, struct asked *last)
{
	const char *why = NULL;

	for (size_t i = 0; !why && i < p->flow_count; i++) {
		const struct transport_ops *t = p->flow[i].transport;

		if (!t->absent)
			continue;
		if (last->transport != t)
			*last = (struct asked){t, t->absent()};
		why = last->why;
	}
	return why;
}

const char *preflight_missing(const struct point *p)
{
	return missing_of(p, &(struct asked){NULL});
}

size_t preflight_count_missing(const struct point *points, size_t count, const char **why)
{
	struct asked last = {NULL};
	size_t missing = 0;

	for (size_t i = 0; i < count; i++) {
		const char *of_point = missing_of(&points[i], &last);

		*why = of_point ? of_point : *why;
		missing += of_point != NULL;
	}
	return missing;
}

unsigned long long preflight_messages(const struct point *points, size_t count)
{
	unsigned long long sum = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < points[i].flow_count; k++)
			sum += (unsigned long long)points[i].flow[k].config.schedule.messages *
			       (unsigned long long)points[i].repetitions;
	return sum;
}

static int preflight_check_space(const char *dir, unsigned long long need, const char *what, const char *hint,
				 struct err *e)
{
	unsigned long long free_bytes;
	int rc = fs_free_bytes(dir, &free_bytes, e);

	if (rc || free_bytes >= need)
		return rc;
	return err_set(e, -ENOSPC, STATUS_IMPOSSIBLE, dir, what, "%llu MiB are needed, %llu are free; %s", need >> 20,
		       free_bytes >> 20, hint);
}

/* --- CPUs --- */

/* Are the CPUs that each side names available? Points with an environment are checked by
 * environment_check(), because they use shields. */
static int check_cpus(const struct point *p, struct err *e)
{
	struct survey *survey = or_abort(calloc(1, sizeof(*survey)));
	int rc = 0;

	for (size_t i = 0; !rc && !*p->environment && i < p->flow_count; i++) {
		const struct common_settings *c = &p->flow[i].common;
		const char *const *device = p->flow[i].traits.device;

		rc = survey_take("source_cpu", c->source_cpu, device[ROLE_SOURCE], survey, e);
		if (!rc)
			rc = survey_take("sink_cpu", c->sink_cpu, device[ROLE_SINK], survey, e);
	}
	free(survey);
	return rc;
}

/* A point whose CPUs are not available is impossible, but others run; this is reported when it is its turn. */
static int check_all_cpus(const struct point *points, size_t count, struct err *e)
{
	struct err first = ERR_INIT;

	for (size_t i = 0; i < count; i++) {
		struct err why = ERR_INIT;

		if (!check_cpus(&points[i], &why))
			return 0;
		if (!first.status)
			first = why;
	}
	if (!count)
		return 0;
	*e = first;
	return -EINVAL;
}

/* --- limits of the system --- */

static size_t most_flows(const struct point *points, size_t count)
{
	size_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (points[i].flow_count > most)
			most = points[i].flow_count;
	return most;
}

int preflight_files(size_t count, const char *what, size_t files_each, struct err *e)
{
	const rlim_t need = count * files_each + OTHER_FILES;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need)
		return 0;
	limit.rlim_cur = need < limit.rlim_max ? need : limit.rlim_max;
	if (limit.rlim_cur >= need && !setrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return err_set(e, -EMFILE, STATUS_IMPOSSIBLE, what, NULL,
		       "%zu %s need %llu open files, the limit is %llu; raise it (ulimit -n), or use fewer %s", count,
		       what, (unsigned long long)need, (unsigned long long)limit.rlim_max, what);
}

/* The kernel limits the number of a user's threads (RLIMIT_NPROC), except for root. Existing
 * threads are not counted here. */
static int check_threads(size_t flows, struct err *e)
{
	const rlim_t need = 2 * THREADS_A_SIDE * flows;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NPROC, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= need)
		return 0;
	return err_set(e, -EAGAIN, STATUS_IMPOSSIBLE, "flows", NULL,
		       "%zu flows need up to %llu threads, the limit is %llu; raise it (ulimit -u), or use fewer flows",
		       flows, (unsigned long long)need, (unsigned long long)limit.rlim_cur);
}

/* --- another host --- */

static int need_at_most(const char *host, unsigned long long need, const json_t *has, const char *of, const char *unit,
			const char *hint, struct err *e)
{
	if (!json_is_integer(has) || need <= (unsigned long long)json_integer_value(has))
		return 0;
	return err_set(e, -ENOSPC, STATUS_IMPOSSIBLE, host, NULL,
		       "%s there: %llu %s are needed, at most %lld are left; %s", of, need, unit,
		       (long long)json_integer_value(has), hint);
}

int preflight_elsewhere(struct channel *c, const char *host, const struct point *p, size_t endpoints, struct err *e)
{
	json_t *room;
	int rc = channel_ask(c, json_pack("{s:s}", "type", "room"), "room", &room, e);

	if (rc)
		return rc;
	rc = need_at_most(host, column_bytes(p), json_object_get(room, "shm_bytes"), "/dev/shm", "bytes",
			  "use fewer messages, or make it larger", e);
	if (!rc)
		rc = need_at_most(host, THREADS_A_SIDE * endpoints, json_object_get(room, "threads"),
				  "the limit of threads", "threads", "raise it (ulimit -u), or use fewer flows", e);
	json_decref(room);
	return rc;
}

/* --- all checks --- */

int preflight(const struct point *points, size_t count, const char *out_dir, bool local, struct err *e)
{
	unsigned long long disk = 0, scratch = 0;
	bool shares = false;
	int rc = local ? check_all_cpus(points, count, e) : 0;

	for (size_t i = 0; i < count; i++) {
		const unsigned long long columns = column_bytes(&points[i]);

		disk += (unsigned long long)points[i].repetitions * (columns + SMALL_FILES * points[i].flow_count);
		if (columns > scratch)
			scratch = columns;
		shares |= can_share_stamps(&points[i]);
	}
	if (!rc)
		rc = preflight_files(most_flows(points, count), "flows", 2 * PIPES_A_SIDE, e);
	if (!rc && local)
		rc = check_threads(most_flows(points, count), e);
	if (!rc)
		rc = preflight_check_space(out_dir, disk, "hold the columns",
					   shares ? "use fewer messages, a larger stamp_every, or another --out"
						  : "use fewer messages, or another --out",
					   e);
	if (!rc && local)
		rc = preflight_check_space("/dev/shm", scratch, "hold the stamps",
					   shares ? "use fewer messages, a larger stamp_every, or make it larger"
						  : "use fewer messages, or make it larger",
					   e);
	return rc;
}
