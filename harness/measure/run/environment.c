#include "measure/run/environment.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cpulist.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/spawn.h"
#include "common/sysroot.h"
#include "measure/run/session.h"

/* tuned takes seconds, and longer on an emulated machine. */
#define ANSWER_MS 180000

static const char *wanted(const struct point *p)
{
	return *p->environment ? p->environment : NULL;
}

static char *find_kbtune(void)
{
	const char *asked = getenv("KBTUNE");
	char self[4096], *beside;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (asked && *asked)
		return fs_path("%s", asked);
	self[n > 0 ? n : 0] = '\0';
	beside = fs_path("%s/kbtune", dirname(self));
	if (!access(beside, X_OK))
		return beside;
	free(beside);
	return fs_path("kbtune");
}

void environment_open(struct environment *env, volatile sig_atomic_t *interrupted)
{
	*env = (struct environment){
	    .kbtune = find_kbtune(), .plans = json_object(), .history = json_array(), .interrupted = interrupted};
}

void environment_close(struct environment *env)
{
	environment_leave(env, NULL);
	json_decref(env->plans);
	json_decref(env->history);
	free(env->kbtune);
	*env = (struct environment){.kbtune = NULL};
}

/* kbtune has ended: report its status and its message. */
static int environment_complain_ended(struct channel *c, const char *profile, struct err *e)
{
	size_t n = strlen(profile);
	char words[STDERR_TAIL + 1], object[300], *text = words;
	int status = channel_ended(c, words, sizeof(words));
	char *last = strrchr(words, '\n');

	snprintf(object, sizeof(object), "environment %s", profile);
	if (last) { /* an error in a profile, shown with its line */
		fprintf(stderr, "%.*s\n", (int)(last - words), words);
		text = last + 1;
	}
	if (!strncmp(text, "kbtune: ", 8))
		text += 8;
	if (!strncmp(text, profile, n) && !strncmp(text + n, ": ", 2))
		text += n + 2;
	err_clear(e);
	return err_set(e, -ECHILD,
		       status == STATUS_USAGE || status == STATUS_IMPOSSIBLE ? (enum status)status : STATUS_FAILED,
		       object, NULL, "%s",
		       status == STATUS_USAGE && last ? "the profile has errors"
		       : *text			      ? text
						      : "kbtune ended without giving a reason");
}

/* Wait for its next answer, which must be of this type. Patient: kbtune is never interrupted
 * halfway, except by a signal. */
static int await(struct environment *env, const char *profile, const char *type, const char *tried, bool patient,
		 json_t **message, struct err *e)
{
	int64_t deadline = monotonic_ms() + ANSWER_MS;
	struct err ended = ERR_INIT;
	const char *got;
	size_t who;
	int rc;

	do
		rc = channel_wait((struct channel *const[]){&env->holder}, 1, deadline, &who, message, &ended);
	while (rc == -EINTR && (patient || !*env->interrupted));
	if (rc == -EINTR)
		return err_set(e, rc, STATUS_FAILED, profile, tried, "interrupted by a signal");
	if (rc == 0)
		return err_set(e, -ETIMEDOUT, STATUS_FAILED, profile, tried, "kbtune has not answered for %d s",
			       ANSWER_MS / 1000);
	if (rc < 0)
		return rc == -EPIPE ? environment_complain_ended(&env->holder, profile, e)
				    : err_set(e, rc, STATUS_FAILED, NULL, NULL, "%s", ended.text);
	got = json_string_value(json_object_get(*message, "type"));
	if (!strcmp(got, type)) {
		json_object_del(*message, "type");
		return 0;
	}
	rc = err_set(e, -EPROTO, STATUS_FAILED, profile, tried, "kbtune sent '%.40s' instead of '%s'", got, type);
	json_decref(*message);
	return rc;
}

static int environment_start(struct environment *env, const char *profile, bool dry_run, struct err *e)
{
	char hold[] = "hold", json[] = "--json", dry[] = "--dry-run", end[] = "--";
	char *words[] = {env->kbtune,
			 hold,
			 json,
			 dry_run ? dry : end,
			 dry_run ? end : (char *)profile,
			 dry_run ? (char *)profile : NULL,
			 NULL};
	int rc;

	rc = channel_spawn(&env->holder, "kbtune", words, e);
	if (rc == -ENOENT || rc == -EACCES)
		e->status = STATUS_IMPOSSIBLE;
	return rc;
}

int environment_plan(struct environment *env, const char *profile, struct err *e)
{
	json_t *answer;
	int rc = environment_start(env, profile, true, e);

	if (!rc)
		rc = await(env, profile, "plan", "apply", false, &answer, e);
	if (!rc)
		json_object_set_new(env->plans, profile, answer);
	channel_stop(&env->holder, ANSWER_MS);
	return rc;
}

/* Do its shields have CPUs for all flows of the point? */
static int check_places(struct environment *env, const struct point *p, struct err *e)
{
	const char *shields[2 * POINT_FLOWS_MAX];
	struct placement *placed = or_abort(calloc(2 * p->flow_count, sizeof(*placed)));
	int rc = environment_place(env, p, placed, shields, e);

	environment_forget_places(placed, 2 * p->flow_count);
	free(placed);
	return rc;
}

int environment_check(struct environment *env, const struct point *points, size_t count, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < count; i++) {
		const char *name = wanted(&points[i]);

		if (name && !json_object_get(env->plans, name))
			rc = environment_plan(env, name, e);
		if (!rc && name)
			rc = check_places(env, &points[i], e);
	}
	return rc;
}

void environment_names(const struct point *points, size_t count, json_t *names)
{
	for (size_t i = 0; i < count; i++)
		if (wanted(&points[i]))
			json_object_set_new(names, wanted(&points[i]), json_true());
}

int environment_foresee(json_t *names, FILE *out, struct err *e)
{
	volatile sig_atomic_t never = 0;
	struct environment env;
	const char *name;
	json_t *is_wanted;
	int rc = 0;

	environment_open(&env, &never);
	json_object_foreach (names, name, is_wanted) {
		struct err own = ERR_INIT;

		if (rc || !environment_plan(&env, name, &own))
			continue;
		if (own.status == STATUS_USAGE)
			rc = err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "%s", own.text);
		else
			fprintf(out, "kblat: it would end with: %s\n", own.text);
	}
	environment_close(&env);
	return rc;
}

int environment_foresee_points(const struct point *points, size_t count, FILE *out, struct err *e)
{
	json_t *names = json_object();
	int rc;

	environment_names(points, count, names);
	rc = environment_foresee(names, out, e);
	json_decref(names);
	return rc;
}

bool environment_is_applied(const struct environment *env)
{
	return env->name != NULL;
}

static json_t *now_applied(const struct environment *env)
{
	return json_array_get(env->history, json_array_size(env->history) - 1);
}

static int environment_apply(struct environment *env, const char *profile, struct err *e)
{
	json_t *answer = NULL;
	int rc = environment_start(env, profile, false, e);

	if (!rc)
		rc = await(env, profile, "applied", "apply", false, &answer, e);
	if (rc) {
		channel_stop(&env->holder, ANSWER_MS); /* interrupted halfway: it restores everything */
		return rc;
	}
	env->name = fs_path("%s", profile);
	json_array_append_new(env->history,
			      json_pack("{s:s, s:[], s:o}", "profile", profile, "points", "applied", answer));
	return 0;
}

int environment_enter(struct environment *env, const struct point *p, struct err *e)
{
	const char *name = wanted(p);
	struct err lost = ERR_INIT;
	int rc = 0;

	if (env->name && (!name || strcmp(name, env->name) || environment_confirm(env, &lost)))
		rc = environment_leave(env, lost.status ? &lost : e);
	if (lost.status) /* reported for the point that lost it */
		rc = 0;
	if (!rc && name && !env->name)
		rc = environment_apply(env, name, e);
	if (!rc && name)
		json_array_append_new(json_object_get(now_applied(env), "points"), json_integer((json_int_t)p->id));
	return rc;
}

static int keep_answer(struct environment *env, const char *type, struct err *e)
{
	json_t *answer;
	int rc = await(env, env->name, type, "put back", true, &answer, e);

	if (!rc)
		json_object_set_new(now_applied(env), type, answer);
	return rc;
}

int environment_leave(struct environment *env, struct err *e)
{
	struct err why = ERR_INIT;
	int rc;

	if (!env->name)
		return 0;
	channel_end_input(&env->holder);
	rc = keep_answer(env, "verified", &why);
	if (!rc)
		rc = keep_answer(env, "restored", &why);
	channel_stop(&env->holder, ANSWER_MS);
	if (rc) {
		json_object_set_new(now_applied(env), "error", json_string(why.text));
		err_set(e, rc, why.status, NULL, NULL, "%s", why.text);
	}
	free(env->name);
	env->name = NULL;
	return rc;
}

int environment_confirm(struct environment *env, struct err *e)
{
	if (!env->name || channel_lives(&env->holder))
		return 0;
	return err_set(e, -ESRCH, STATUS_FAILED, env->name, "keep the environment",
		       "kbtune was ended while it was applied; the machine is being put back");
}

/* ------------------------------------------------------------------------------------------------ what it lacks -- */

#define LOOK_MS	   60000
#define LOOK_BYTES 65536
#define WORDS_MAX  64

static void add_lack(json_t *lacks, const char *host, const json_t *row)
{
	json_t *own = json_copy((json_t *)row);
	const json_t *known;
	size_t i;

	json_object_set_new(own, "host", json_outside(host));
	json_array_foreach (lacks, i, known)
		if (json_equal(known, own)) {
			json_decref(own);
			return;
		}
	json_array_append_new(lacks, own);
}

static void add_lacks(json_t *lacks, const char *host, const json_t *impossible)
{
	const json_t *row;
	size_t i;

	json_array_foreach (impossible, i, row)
		add_lack(lacks, host, row);
}

/* Runs `LAUNCHER kbtune status --json`. What was printed before it may be a greeting. NULL: no answer. */
static json_t *ask_elsewhere(const struct environment *env, const char *launcher)
{
	char *split = or_abort(strdup(launcher ? launcher : "")), *text = or_abort(calloc(1, LOOK_BYTES));
	char *words[WORDS_MAX + 4];
	struct err ignored = ERR_INIT;
	int count = channel_split(split, words, WORDS_MAX, &ignored), status = -1;
	json_t *answer = NULL;
	char *from;

	if (count > 0) {
		words[count++] = env->kbtune;
		words[count++] = "status";
		words[count++] = "--json";
		words[count] = NULL;
		status = spawn_output(&(struct spawn){.words = (const char *const *)words, .own_group = true}, LOOK_MS,
				      text, LOOK_BYTES);
	}
	from = status ? NULL : strchr(text, '{');
	if (from)
		answer = json_loads(from, JSON_DISABLE_EOF_CHECK, NULL);
	free(text);
	free(split);
	return answer;
}

/* We apply a profile on this machine only: on another one somebody has. */
static void look_elsewhere(const struct environment *env, const char *profile, const char *host, const char *launcher,
			   json_t *lacks)
{
	json_t *said = ask_elsewhere(env, launcher), *row;
	char why[160] = "";

	if (!said)
		snprintf(why, sizeof(why), "whether it is applied there is not known: kbtune status gave no answer");
	else if (strcmp(json_text(said, "profile"), profile) || strcmp(json_text(said, "state"), "applied"))
		snprintf(why, sizeof(why), "it is not applied there");
	if (*why) {
		row = json_pack("{s:s}", "reason", why);
		add_lack(lacks, host, row);
		json_decref(row);
	} else {
		add_lacks(lacks, host, json_object_get(said, "impossible"));
	}
	json_decref(said);
}

static bool is_met_before(const struct session *s, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(session_hosts_boot(&s->peer[k]), session_hosts_boot(&s->peer[i])))
			return true;
	return false;
}

json_t *environment_note(const struct environment *env, const struct session *s, json_t *before)
{
	const char *profile = wanted(s->point);
	json_t *lacks;

	if (!profile)
		return before;
	if (!before)
		before = json_pack("{s:s, s:[]}", "profile", profile, "lacks");
	lacks = json_object_get(before, "lacks");
	for (size_t i = 0; i < s->count; i++) {
		const struct peer *p = &s->peer[i];
		const char *host = session_hosts_name(s, p);

		if (is_met_before(s, i))
			continue;
		if (session_peer_is_local(s, p))
			add_lacks(lacks, host,
				  json_object_get(json_object_get(now_applied(env), "applied"), "impossible"));
		else
			look_elsewhere(env, profile, host, s->run->launcher[p->role], lacks);
	}
	return before;
}

/* ------------------------------------------------------------------------------------------------------- places -- */

static void cpus_of(const json_t *shield, struct cpulist *out)
{
	const char *text = json_string_value(json_object_get(shield, "cpus"));

	if (!text || cpulist_parse(text, out, NULL, 0))
		cpulist_clear(out);
}

/* The shield for a role: the one with a CPU that it may have, or the n-th one. -1 if there is none. */
static int choose_shield(const json_t *shields, const struct cpu_choice *choice, size_t nth)
{
	const json_t *shield;
	struct cpulist cpus;
	size_t i;

	if (!choice->is_told)
		return (int)(nth < json_array_size(shields) ? nth : 0);
	json_array_foreach (shields, i, shield) {
		cpus_of(shield, &cpus);
		if (cpulist_intersects(&cpus, &choice->cpus))
			return (int)i;
	}
	return -1;
}

/* A shield may be given by name, like the cpuset that it will become. */
static int shield_named(const json_t *shields, const char *text)
{
	size_t i, prefix = strlen(OPT_CPU_CPUSET);
	const json_t *shield;

	if (strncmp(text, OPT_CPU_CPUSET, prefix))
		return -1;
	json_array_foreach (shields, i, shield) {
		const char *name = json_string_value(json_object_get(shield, "name"));

		if (name && !strcmp(name, text + prefix))
			return (int)i;
	}
	return -1;
}

/* Choose the shield of a side, and the CPUs that it may use there. Sources without a CPU setting
 * are in the first shield, sinks in the second. */
static int choose_place(const json_t *shields, const struct flow *f, enum role role, const char *profile,
			struct survey *survey, struct err *e)
{
	static const char *const keys[] = {[ROLE_SOURCE] = "source_cpu", [ROLE_SINK] = "sink_cpu"};
	const char *text = role == ROLE_SOURCE ? f->common.source_cpu : f->common.sink_cpu;
	struct cpu_choice *choice = &survey->choice;
	int which = shield_named(shields, text), rc;
	struct cpulist all, cpus;
	struct sysroot root;
	char list[128];

	memset(&all, 0xff, sizeof(all));
	rc = sysroot_open(&root, NULL, e);
	if (rc)
		return rc;
	rc = cpu_choice_read(&root, keys[role], which < 0 ? text : "auto", f->traits.device[role], &all, choice, e);
	sysroot_close(&root);
	if (rc)
		return rc;
	choice->is_told = strcmp(text, "auto") != 0;
	if (which < 0)
		which = choose_shield(shields, choice, role == ROLE_SINK);
	if (which < 0)
		return err_set(e, -EINVAL, STATUS_USAGE, keys[role], NULL,
			       "no shield of the environment %s has CPU %s; 'kbtune plan %s' shows them", profile,
			       cpulist_format(&choice->cpus, list, sizeof(list)), profile);
	cpus_of(json_array_get(shields, (size_t)which), &cpus);
	cpu_choice_narrow(choice, &cpus);
	survey->allowed = cpus;
	return which;
}

static int place_side(const json_t *shields, const struct point *p, size_t i, struct placement *side,
		      const char **shield, struct err *e)
{
	const struct flow *f = &p->flow[i / 2];
	const enum role role = i % 2 ? ROLE_SINK : ROLE_SOURCE;
	struct survey *survey = or_abort(calloc(1, sizeof(*survey)));
	int which = choose_place(shields, f, role, p->environment, survey, e);

	*side = (struct placement){.survey = survey, .host = "", .is_busy = flow_is_busy(f, role), .cpu = -1};
	if (which < 0)
		return which;
	survey_machine(survey);
	*shield = json_string_value(json_object_get(json_array_get(shields, (size_t)which), "name"));
	return 0;
}

int environment_place(const struct environment *env, const struct point *p, struct placement *side,
		      const char **shields, struct err *e)
{
	const json_t *known = json_object_get(json_object_get(env->plans, p->environment), "shields");
	const size_t count = 2 * p->flow_count;
	int rc = 0;

	for (size_t i = 0; i < count; i++) {
		shields[i] = NULL;
		side[i] = (struct placement){.cpu = -1, .spare_cpu = -1};
	}
	if (!json_array_size(known))
		return 0;
	for (size_t i = 0; !rc && i < count; i++)
		rc = place_side(known, p, i, &side[i], &shields[i], e);
	if (!rc)
		placement_deal(side, count);
	return rc;
}

void environment_forget_places(struct placement *side, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free((struct survey *)side[i].survey);
		side[i].survey = NULL;
	}
}
