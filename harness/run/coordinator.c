#include "run/coordinator.h"

#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "kernels/kernel.h"
#include "point/settings.h"
#include "run/channel.h"
#include "run/environment.h"
#include "run/repetition.h"
#include "run/session.h"

#define STOP_MS 3000

const char *const outcome_names[] = {"completed", "failed", "impossible", "interrupted"};

static void tell_progress(struct session *s, long long rep)
{
	struct coordinator *co = s->co;

	co->progress.rep = rep;
	co->progress.reps = s->common.repetitions;
	if (co->on_progress)
		co->on_progress(&co->progress);
}

static int run_repetitions(struct session *s, struct err *e)
{
	int64_t warmup = s->common.warmup < s->messages ? s->common.warmup : s->messages;
	int rc = 0;

	tell_progress(s, 0);
	if (warmup)
		rc = repetition_run(s, WARM_UP, (uint32_t)warmup, e);
	if (!rc && kernel_has(s->params, "t_send"))
		rc = repetition_run(s, UNDISTURBED, (uint32_t)s->messages, e);
	for (long long rep = 0; !rc && rep < s->common.repetitions; rep++) {
		rc = *s->co->interrupted ? -EINTR : repetition_run(s, rep, (uint32_t)s->messages, e);
		if (!rc)
			s->co->progress.messages += (uint64_t)s->messages;
		tell_progress(s, rep + 1);
	}
	return rc;
}

/*
 * Apply what the point wants, and have the endpoints pinned where its shields are. From outside of a shield nobody can pin
 * a thread to its CPUs, so their counters are compared before it is made.
 */
static int enter_environment(struct session *s, struct err *e)
{
	static const char *const keys[] = {[ROLE_SOURCE] = "source_cpu", [ROLE_SINK] = "sink_cpu"};
	struct coordinator *co = s->co;
	int rc = environment_place(co->environment, s->params, s->place, e);

	if (rc)
		return rc;
	for (int role = 0; role < 2; role++)
		if (s->place[role].cpu >= 0)
			json_object_set_new(s->sent, keys[role], json_integer(s->place[role].cpu));
	if (!co->environment->name && !co->launcher[ROLE_SOURCE] && !co->launcher[ROLE_SINK])
		session_measure_skew(co, s->place[ROLE_SOURCE].cpu, s->place[ROLE_SINK].cpu);
	return environment_enter(co->environment, s->point, e);
}

static int run_session(struct session *s, struct err *e)
{
	int rc = enter_environment(s, e);

	if (!rc)
		rc = session_start(s, e);
	if (!rc)
		rc = session_open(s, e);
	if (!rc)
		rc = session_connect(s, e);
	if (!rc)
		rc = run_repetitions(s, e);
	return rc ? rc : environment_still(s->co->environment, e);
}

static enum outcome outcome_of(const struct session *s, int rc, const struct err *e)
{
	if (rc == 0)
		return OUTCOME_COMPLETED;
	if (*s->co->interrupted)
		return OUTCOME_INTERRUPTED;
	if (s->is_open)
		return OUTCOME_FAILED;
	return e->status == STATUS_IMPOSSIBLE || e->status == STATUS_USAGE ? OUTCOME_IMPOSSIBLE : OUTCOME_FAILED;
}

static int write_point(struct session *s, enum outcome outcome, const struct err *e, struct err *write_error)
{
	char *path = fs_path("%s/point.json", s->dir);
	json_t *j = json_pack("{s:i, s:I, s:s, s:s, s:O, s:O}", "schema", 1, "id", (json_int_t)s->id, "outcome",
			      outcome_names[outcome], "why", outcome == OUTCOME_COMPLETED ? "" : e->text, "granted",
			      s->granted, "placement", s->placement);
	int rc = json_write(path, j, write_error);

	json_decref(j);
	free(path);
	return rc;
}

static int begin_session(struct session *s, const json_t *point, struct err *e)
{
	char *path;
	int rc;

	s->id = (unsigned)json_integer_value(json_object_get(point, "id"));
	s->point = point;
	s->params = json_object_get(point, "params");
	s->sent = json_copy((json_t *)s->params);
	s->messages = json_integer_value(json_object_get(s->params, "messages"));
	s->pause_ns = json_integer_value(json_object_get(s->params, "pause_ns"));
	s->granted = json_object();
	s->placement = json_object();
	s->dir = fs_path("%s/points/%04u", s->co->rundir->path, s->id);
	path = fs_path("%s/params.json", s->dir);
	rc = fs_mkdirs(s->dir, e);
	if (!rc)
		rc = json_write(path, s->params, e);
	if (!rc)
		rc = opt_load(common_options, s->params, &s->common, e);
	free(path);
	return rc;
}

enum outcome coordinator_run_point(struct coordinator *co, const json_t *point, struct err *e)
{
	struct session s = {.co = co};
	struct err write_error = ERR_INIT;
	int rc = begin_session(&s, point, e);

	for (int role = 0; role < 2; role++)
		s.side[role].to = s.side[role].from.fd = s.side[role].complaints.fd = -1;
	if (!rc)
		rc = run_session(&s, e);

	enum outcome outcome = outcome_of(&s, rc, e);

	/* An endpoint in good order cleans up by itself; one that is stuck gets no patience twice. */
	for (int role = 0; role < 2; role++)
		channel_stop(&s.side[role], STOP_MS);
	repetition_drop_incomplete(&s);
	if (write_point(&s, outcome, e, &write_error) && outcome == OUTCOME_COMPLETED) {
		*e = write_error;
		outcome = OUTCOME_FAILED;
	}
	rundir_log(
	    co->rundir, "point",
	    json_pack("{s:I, s:s, s:s}", "id", (json_int_t)s.id, "outcome", outcome_names[outcome], "why", e->text));
	session_drop_replies(&s);
	json_decref(s.granted);
	json_decref(s.placement);
	json_decref(s.sent);
	free(s.dir);
	return outcome;
}
