#include "measure/run/coordinator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "files/rundir/reader.h"
#include "measure/instrument/noise.h"
#include "measure/run/clock_link.h"
#include "measure/run/repetition.h"
#include "measure/run/seal.h"
#include "measure/run/session.h"

/* --- adapters --- */

static bool is_named(const char *device)
{
	return device && strcmp(device, "auto") != 0;
}

const char *adapter_shared(const json_t *granted)
{
	const json_t *source = json_object_get(granted, role_names[ROLE_SOURCE]);
	const json_t *sink = json_object_get(granted, role_names[ROLE_SINK]);
	const char *device = json_text(source, "device");
	const json_t *port = json_object_get(source, "port"), *other = json_object_get(sink, "port");

	if (!*device || strcmp(device, json_text(sink, "device")) || run_software(source))
		return NULL;
	return !port || !other || json_equal(port, other) ? device : NULL;
}

const char *const outcome_names[] = {"completed", "failed", "impossible", "interrupted"};

/* A point while it is running. */
struct point_run {
	struct session session;
	struct environment *env;
	struct progress *progress;
	struct point_outcome *out;
	struct clock_link link; /* if its sides are on two hosts */
	long long first, end;	/* the repetitions of this round */
	long long repetition;	/* the last one begun */
	uint64_t before;	/* messages of the repetitions before it */
};

/* --- what others take --- */

#define TAKEN_SETTLE_MS 50
#define TAKEN_MS	20
#define TAKEN_LOOKS	3 /* at a point, whatever the number of its repetitions */

/* Both sides of a flow at the same time, as both may be busy then. -1: not known. */
static double taken_of_flow(const struct session *s, size_t first)
{
	double share[2], most = -1;
	size_t count = 0;
	int cpu[2] = {-1, -1};

	for (size_t side = 0; side < 2; side++)
		if (s->placed[first + side].cpu >= 0 && (!count || cpu[0] != s->placed[first + side].cpu))
			cpu[count++] = s->placed[first + side].cpu;
	noise_taken(cpu, share, count, TAKEN_SETTLE_MS, TAKEN_MS, s->run->tick_hz);
	for (size_t i = 0; i < count; i++)
		most = share[i] > most ? share[i] : most;
	return most;
}

/*
 * If claims will be judged by this point: looks, between repetitions, at how much of a CPU's time others take from a
 * thread of ours that never yields it, such as other programs, or another machine on the same processor. Each look is
 * at the next flow.
 */
static void look_at_taken(struct point_run *c, long long rep)
{
	const struct session *s = &c->session;
	const size_t due = 1 + (size_t)((TAKEN_LOOKS - 1) * rep / s->point->repetitions);

	if (!s->run->wants_taken || !session_is_local(s))
		return;
	for (size_t n = json_array_size(c->out->taken_looks); n < due; n++) {
		const size_t first = 2 * n % s->count;
		const struct flow *f = s->peer[first].flow;
		const double share = flow_may_wait(f) ? taken_of_flow(s, first) : -1;

		json_array_append_new(c->out->taken_looks, share < 0 ? json_null() : json_real(share));
	}
}

/* --- repetitions --- */

static void point_show_progress(const struct point_run *c, long long rep)
{
	c->progress->rep = rep;
	c->progress->reps = c->session.point->repetitions;
	if (c->progress->show)
		c->progress->show(c->progress);
}

static void point_moved(void *arg, uint64_t messages)
{
	struct point_run *c = arg;

	c->progress->messages = c->before + messages;
	point_show_progress(c, c->repetition);
}

static bool has_warm_up(const struct point *p)
{
	for (size_t i = 0; i < p->flow_count; i++)
		if (p->flow[i].common.warmup)
			return true;
	return false;
}

static bool has_control(const struct point *p)
{
	for (size_t i = 0; i < p->flow_count; i++)
		if (kernel_has_control(p->flow[i].kernel, p->flow[i].kernel_settings))
			return true;
	return false;
}

static uint64_t messages_of_point(const struct point *p)
{
	uint64_t messages = 0;

	for (size_t i = 0; i < p->flow_count; i++)
		messages += (uint64_t)p->flow[i].config.schedule.messages;
	return messages;
}

/* Store the columns in a common time, and reduce them to what figures need. A repetition that was
 * aborted is not followed by a comparison of clocks. */
static int settle_repetition(struct point_run *c, long long number, bool broken_off, struct err *e)
{
	const struct run_context *run = c->session.run;
	const int compared = broken_off ? 0 : clock_link_compare(&c->link, e);
	int rc = clock_link_correct(&c->link, &c->session, number, e);

	if (!rc)
		rc = seal_repetition(run->path, run->resolved, c->session.point->id, (unsigned)number, e);
	return rc ? rc : compared;
}

static int run_repetition(struct point_run *c, long long number, struct err *e)
{
	struct err after = ERR_INIT;
	bool kept;
	int rc, settled = 0;

	c->repetition = number;
	rc = repetition_run(&c->session, number, &kept, e);
	if (kept && number >= 0)
		settled = settle_repetition(c, number, rc != 0, rc ? &after : e);
	return rc ? rc : settled;
}

static int run_warm_up(struct point_run *c, struct err *e)
{
	if (!has_warm_up(c->session.point))
		return 0;
	repetition_drop(&c->session, REPETITION_WARM_UP); /* that of former endpoints */
	return run_repetition(c, REPETITION_WARM_UP, e);
}

/* With `fresh`, the first repetition of a round has new endpoints anyway. */
static int run_numbered(struct point_run *c, long long rep, struct err *e)
{
	int rc = 0;

	if (*c->session.run->interrupted)
		return -EINTR;
	if (c->session.point->fresh && rep > c->first) {
		rc = session_renew(&c->session, e);
		if (!rc)
			rc = run_warm_up(c, e);
	}
	return rc ? rc : run_repetition(c, rep, e);
}

static int run_repetitions(struct point_run *c, struct err *e)
{
	const struct point *p = c->session.point;
	int rc;

	point_show_progress(c, c->first);
	look_at_taken(c, c->first);
	rc = run_warm_up(c, e);
	if (!rc && !c->first && has_control(p))
		rc = run_repetition(c, REPETITION_CONTROL, e);
	if (!rc && !c->first && point_explains(p))
		rc = run_repetition(c, REPETITION_UNTRACED, e);
	if (!rc) {
		clock_link_open(&c->link, &c->session);
		rc = clock_link_compare(&c->link, e);
	}
	for (long long rep = c->first; !rc && rep < c->end; rep++) {
		rc = run_numbered(c, rep, e);
		if (!rc)
			look_at_taken(c, rep + 1);
		c->before += rc ? 0 : messages_of_point(p);
		c->progress->messages = c->before;
		point_show_progress(c, rep + 1);
	}
	return rc;
}

/* --- one point --- */

/* The counters of two CPUs may differ. The offset is bounded once per run, for the first pair used. */
static void measure_skew(struct point_run *c, const struct placement *side)
{
	const int a = side[ROLE_SOURCE].cpu, b = side[ROLE_SINK].cpu;

	if (c->session.run->wants_skew && c->out->skew_ns < 0 && a >= 0 && b >= 0 && a != b)
		c->out->skew_ns = clock_skew_ns(a, b, c->session.run->tick_hz);
}

/* Apply the environment that the point asks for, so that endpoints are started in its shields.
 * Threads outside of a shield cannot be pinned to its CPUs, so their counters are compared before
 * it is created. */
static int enter_environment(struct point_run *c, struct err *e)
{
	struct session *s = &c->session;
	const char *shields[2 * POINT_FLOWS_MAX];
	int rc = environment_place(c->env, s->point, s->placed, shields, e);

	if (rc)
		return rc;
	for (size_t i = 0; i < s->count; i++)
		s->peer[i].shield = shields[i];
	if (*s->point->environment && !environment_is_applied(c->env) && !s->run->launcher[ROLE_SOURCE] &&
	    !s->run->launcher[ROLE_SINK])
		measure_skew(c, s->placed);
	environment_forget_places(s->placed, s->count);
	return environment_enter(c->env, s->point, e);
}

static void note_hosts(struct point_run *c)
{
	json_decref(c->out->hosts);
	c->out->hosts = session_hosts(&c->session);
	c->out->common_clock = true;
	for (size_t i = 0; i < c->session.point->flow_count; i++)
		c->out->common_clock &= !session_flow_is_apart(&c->session, i);
	if (session_is_local(&c->session))
		measure_skew(c, c->session.placed);
}

/* Messages between two sides with one port do not leave the adapter: both sides' "granted" says so. */
static void note_adapters(struct point_run *c)
{
	struct session *s = &c->session;

	for (size_t i = 0; c->out->common_clock && i < s->point->flow_count; i++) {
		const struct flow *f = &s->point->flow[i];
		json_t *granted = *f->name ? json_object_get(s->granted, f->name) : s->granted;
		const char *device = f->transport->has_device && !f->config.is_idle ? adapter_shared(granted) : NULL;

		if (!device)
			continue;
		for (int role = 0; role < 2; role++)
			json_object_set_new(json_object_get(granted, role_names[role]), "loop", json_true());
		if (!is_named(f->traits.device[ROLE_SOURCE]) && !is_named(f->traits.device[ROLE_SINK]))
			snprintf(c->out->shared_adapter, sizeof(c->out->shared_adapter), "%s", device);
	}
}

static int run_session(struct point_run *c, struct err *e)
{
	int rc = enter_environment(c, e);

	if (!rc)
		rc = session_start(&c->session, e);
	if (!rc)
		c->out->environment = environment_note(c->env, &c->session, c->out->environment);
	if (!rc)
		rc = session_open(&c->session, e);
	if (!rc) {
		note_hosts(c);
		rc = session_connect(&c->session, e);
	}
	if (!rc) {
		note_adapters(c);
		rc = run_repetitions(c, e);
	}
	return rc ? rc : environment_confirm(c->env, e);
}

static enum outcome outcome_of(const struct session *s, int rc, const struct err *e)
{
	if (rc == 0)
		return OUTCOME_COMPLETED;
	if (*s->run->interrupted)
		return OUTCOME_INTERRUPTED;
	if (s->is_open)
		return OUTCOME_FAILED;
	return e->status == STATUS_IMPOSSIBLE || e->status == STATUS_USAGE ? OUTCOME_IMPOSSIBLE : OUTCOME_FAILED;
}

static int write_params(const struct session *s, struct err *e)
{
	char *path = fs_path("%s/params.json", s->dir);
	int rc = json_write(path, s->point->params, e);

	free(path);
	return rc;
}

/* Each round compares the clocks of two hosts anew. `before`, which is taken: what the earlier ones came to. */
static json_t *clock_of_rounds(json_t *before, json_t *now)
{
	static const char *const bounds[] = {"error_ns", "residual_ns"};
	const json_t *error = json_object_get(now, "error_ns");

	if (!before || !now || !error || !json_object_get(before, "error_ns")) {
		/* Without a clock in one of them there is none. */
		const bool keeps = before && (!now || !json_object_get(before, "error_ns"));

		json_decref(keeps ? now : before);
		return keeps ? before : now;
	}
	for (size_t i = 0; i < 2; i++)
		if (json_integer_value(json_object_get(now, bounds[i])) >
		    json_integer_value(json_object_get(before, bounds[i])))
			json_object_set(before, bounds[i], json_object_get(now, bounds[i]));
	if (json_is_true(json_object_get(now, "stepped")))
		json_object_set_new(before, "stepped", json_true());
	json_array_extend(json_object_get(before, "comparisons"), json_object_get(now, "comparisons"));
	json_decref(now);
	return before;
}

static int write_point(const struct point_run *c, const struct err *e, struct err *write_error)
{
	const struct session *s = &c->session;
	const bool over = point_is_over(s->point, c->out);
	const enum outcome outcome = over ? c->out->outcome : OUTCOME_INTERRUPTED;
	const char *why = !over ? "the run ended before its last round" : outcome == OUTCOME_COMPLETED ? "" : e->text;
	char *path = fs_path("%s/point.json", s->dir);
	json_t *j;
	int rc;

	c->out->clock = clock_of_rounds(c->out->clock, clock_link_json(&c->link));
	j = json_pack("{s:i, s:I, s:s, s:s, s:O, s:O, s:O*, s:O*, s:O*}", "schema", 1, "id", (json_int_t)s->point->id,
		      "outcome", outcome_names[outcome], "why", why, "granted", s->granted, "placement", s->placement,
		      "clock", c->out->clock, "taken_looks",
		      json_array_size(c->out->taken_looks) ? c->out->taken_looks : NULL, "environment",
		      c->out->environment);
	rc = json_write(path, j, write_error);

	json_decref(j);
	free(path);
	return rc;
}

void coordinator_run_point(const struct run_context *run, struct environment *env, const struct point *p,
			   struct progress *progress, struct point_outcome *out, struct err *e)
{
	struct point_run c = {.env = env,
			      .progress = progress,
			      .out = out,
			      .before = progress->messages,
			      .first = p->repetitions * out->rounds / p->rounds,
			      .end = p->repetitions * (out->rounds + 1) / p->rounds};
	const int64_t started_ms = monotonic_ms();
	struct session *s = &c.session;
	struct err write_error = ERR_INIT;
	int rc = session_begin(s, run, p, e);

	s->moved = point_moved;
	s->moved_arg = &c;
	if (!rc)
		rc = write_params(s, e);
	if (!rc)
		rc = run_session(&c, e);
	out->outcome = outcome_of(s, rc, e);
	out->rounds++;
	session_stop(s);
	repetition_drop_incomplete(s, c.repetition);
	rc = write_point(&c, e, &write_error);
	clock_link_close(&c.link);
	if (rc && out->outcome == OUTCOME_COMPLETED) {
		*e = write_error;
		out->outcome = OUTCOME_FAILED;
	}
	session_end(s);
	out->took_ms += monotonic_ms() - started_ms;
}

void point_outcome_init(struct point_outcome *o)
{
	*o = (struct point_outcome){
	    .hosts = json_object(), .common_clock = true, .skew_ns = -1, .taken_looks = json_array()};
}

bool point_is_over(const struct point *p, const struct point_outcome *o)
{
	return o->outcome != OUTCOME_COMPLETED || o->rounds == p->rounds;
}

void point_outcome_free(struct point_outcome *o)
{
	json_decref(o->hosts);
	json_decref(o->taken_looks);
	json_decref(o->environment);
	json_decref(o->clock);
	o->hosts = o->taken_looks = o->environment = o->clock = NULL;
}
