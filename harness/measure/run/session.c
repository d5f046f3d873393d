#include "measure/run/session.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/random.h"
#include "measure/run/preflight.h"
#include "measure/trace/trace_place.h"

#define SHM	 "/dev/shm"
#define REPLY_MS 60000 /* for open and connect: registering much memory takes time */
#define STOP_MS	 3000

/*
 * --- what killed endpoints leave behind in /dev/shm ---
 *
 * Scratch directories, shared memory, sockets. Their names contain the name of their flow, which is
 * chosen at random here, so they are found whenever the endpoint was killed.
 */

/* Unique for this run, point and flow. */
static void leftovers_draw_name(char name[OBJECT_NAME])
{
	random_hex(name, OBJECT_NAME - 1);
}

static void remove_leftover(const char *entry)
{
	char *path = fs_path(SHM "/%s", entry);

	if (unlink(path)) /* an object or a socket; or a directory of columns */
		fs_remove_tree(path, NULL);
	free(path);
}

/* Remove everything of that flow; its endpoints have ended. */
static void leftovers_remove(const char *name)
{
	struct dirent **names = NULL;
	char ours[64];
	int n = strlen(name) == OBJECT_NAME - 1 ? fs_scandir(SHM, &names, NULL, NULL) : 0;

	snprintf(ours, sizeof(ours), "kblat-%u-", (unsigned)getuid());
	for (int i = 0; i < n; i++) {
		if (!strncmp(names[i]->d_name, ours, strlen(ours)) && strstr(names[i]->d_name, name))
			remove_leftover(names[i]->d_name);
		free(names[i]);
	}
	free(names);
}

/* --- begin and end --- */

static void name_peers(struct session *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct peer *p = &s->peer[i];

		p->flow = &s->point->flow[i / 2];
		p->role = i % 2 ? ROLE_SINK : ROLE_SOURCE;
		point_side_name(p->flow, p->role, p->name, sizeof(p->name));
		channel_init(&p->channel, p->name);
	}
}

int session_begin(struct session *s, const struct run_context *run, const struct point *p, struct err *e)
{
	*s = (struct session){
	    .run = run,
	    .point = p,
	    .count = 2 * p->flow_count,
	    .dir = fs_path("%s/points/%04u", run->path, p->id),
	    .granted = json_object(),
	    .placement = json_object(),
	};
	s->peer = or_abort(calloc(s->count, sizeof(*s->peer)));
	s->placed = or_abort(calloc(s->count, sizeof(*s->placed)));
	name_peers(s);
	return fs_mkdirs(s->dir, e);
}

/* A working endpoint cleans up by itself; one that has been found stuck is not waited for again.
 * All are stopped at the same time. */
void session_stop(struct session *s)
{
	const int64_t deadline = monotonic_ms() + STOP_MS;

	if (s->borrows)
		return;
	for (size_t i = 0; i < s->count; i++)
		channel_end_input(&s->peer[i].channel);
	for (size_t i = 0; i < s->count; i++) {
		const int64_t left = deadline - monotonic_ms();

		channel_stop(&s->peer[i].channel, left > 0 ? left : 0);
	}
	for (size_t i = 0; i < s->count; i += 2)
		leftovers_remove(s->peer[i].flow_name);
	if (point_explains(s->point))
		trace_place_sweep(); /* left by endpoints that were killed */
}

static void free_peers(struct session *s)
{
	for (size_t i = 0; i < s->count; i++) {
		json_decref(s->peer[i].reply);
		free(s->peer[i].survey);
	}
	free(s->peer);
}

void session_end(struct session *s)
{
	if (!s->borrows)
		free_peers(s);
	free(s->placed);
	json_decref(s->granted);
	json_decref(s->placement);
	free(s->dir);
	*s = (struct session){.count = 0};
}

char *session_path(const struct session *s, const struct flow *f, const char *name)
{
	return fs_path("%s/%s%s%s", s->dir, name, *f->name ? "/" : "", f->name);
}

/* --- orders and answers --- */

static bool session_is_among(const struct peer *p, enum whom whom)
{
	return !p->idle && (whom == WHOM_ALL || p->role == (whom == WHOM_SINKS ? ROLE_SINK : ROLE_SOURCE));
}

int session_complain(const struct peer *p, const json_t *message, struct err *e)
{
	const char *text = json_string_value(json_object_get(message, "text"));
	int status = (int)json_integer_value(json_object_get(message, "status"));

	return err_set(e, -EIO,
		       status == STATUS_IMPOSSIBLE || status == STATUS_USAGE ? (enum status)status : STATUS_FAILED,
		       p->name, NULL, "%s", text ? text : "failed without a reason");
}

/* A "status" has arrived. 0, or an error if it was not asked for: nobody can delay an answer forever with others. */
static int session_take_status(struct peer *p, struct err *e)
{
	if (!p->asked)
		return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL,
			       "endpoint sent a 'status' that it was not asked for");
	p->asked--;
	return 0;
}

/* 1: this is the answer. 0: it is a message that may arrive before the answer. */
static int judge_answer(struct peer *p, const char *type, const json_t *message, struct err *e)
{
	const char *got = json_text(message, "type");

	if (!strcmp(got, "status")) /* requested right before the repetition ended */
		return session_take_status(p, e);
	if (!strcmp(got, "error"))
		return session_complain(p, message, e);
	if (!strcmp(got, type))
		return 1;
	return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL, "endpoint sent '%.40s' instead of '%s'", got, type);
}

static int collect_one(struct session *s, struct peer **pending, size_t *count, int64_t deadline, const char *type,
		       struct err *e)
{
	struct channel *list[2 * POINT_FLOWS_MAX];
	json_t *message;
	size_t who;
	int rc;

	for (size_t i = 0; i < *count; i++)
		list[i] = &pending[i]->channel;
	rc = channel_wait(list, *count, deadline, &who, &message, e);
	if (rc == -EINTR && !*s->run->interrupted)
		return 0;
	if (rc == 0)
		return err_set(e, -ETIMEDOUT, STATUS_FAILED, pending[0]->name, NULL,
			       "endpoint has not answered '%s' for %d s", type, REPLY_MS / 1000);
	if (rc < 0)
		return rc;
	rc = judge_answer(pending[who], type, message, e);
	if (rc > 0) {
		pending[who]->reply = message;
		pending[who] = pending[--*count];
		return 0;
	}
	json_decref(message);
	return rc;
}

int session_collect(struct session *s, enum whom whom, const char *type, struct err *e)
{
	int64_t deadline = monotonic_ms() + REPLY_MS;
	struct peer *pending[2 * POINT_FLOWS_MAX];
	size_t count = 0;
	int rc = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (!session_is_among(&s->peer[i], whom))
			continue;
		json_decref(s->peer[i].reply);
		s->peer[i].reply = NULL;
		pending[count++] = &s->peer[i];
	}
	while (!rc && count)
		rc = collect_one(s, pending, &count, deadline, type, e);
	return rc;
}

/* --- start --- */

static int start_peer(struct session *s, struct peer *p, struct err *e)
{
	const char *inner[] = {s->run->kbtune, "cpuset", "exec", p->shield, "--", NULL};

	int rc = channel_start(&p->channel, p->name, s->run->launcher[p->role], p->shield ? inner : NULL, e);

	p->channel.interrupted = s->run->interrupted;
	return rc;
}

/* A signal that only asks for the progress does not end the wait. */
static int greet_peer(const struct session *s, struct peer *p, struct err *e)
{
	int rc;

	do
		rc = channel_greet(&p->channel, e);
	while (rc == -EINTR && !*s->run->interrupted);
	return rc;
}

/* All start at the same time, so many do not take longer than one. */
int session_start(struct session *s, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->count; i++)
		rc = start_peer(s, &s->peer[i], e);
	for (size_t i = 0; !rc && i < s->count; i++)
		rc = greet_peer(s, &s->peer[i], e);
	for (size_t i = 0; !rc && i < s->count; i++)
		rc = session_hosts_meet(s, &s->peer[i], e);
	return rc ? rc : session_hosts_check_room(s, e);
}

/* --- CPUs --- */

static int send_survey(struct peer *p, struct err *e)
{
	static const char *const settings[] = {[ROLE_SOURCE] = "source_cpu", [ROLE_SINK] = "sink_cpu"};
	const struct common_settings *c = &p->flow->common;

	return channel_send(&p->channel,
			    json_pack("{s:s, s:s, s:s, s:s}", "type", "survey", "setting", settings[p->role], "text",
				      p->role == ROLE_SOURCE ? c->source_cpu : c->sink_cpu, "device",
				      p->flow->traits.device[p->role] ? p->flow->traits.device[p->role] : ""),
			    e);
}

static bool has_spare_thread(const struct peer *p)
{
	for (const struct kernel_thread *t = p->flow->kernel->threads; t->name; t++)
		if (t->side == p->role && flow_thread_cpu(p->flow, t) == THREAD_SPARE &&
		    flow_has_thread(p->flow, t, false))
			return true;
	return false;
}

static int take_survey(struct session *s, size_t i, struct err *e)
{
	struct peer *p = &s->peer[i];

	p->survey = or_abort(calloc(1, sizeof(*p->survey)));
	s->placed[i] = (struct placement){.survey = p->survey,
					  .host = session_hosts_boot(p),
					  .is_busy = flow_is_busy(p->flow, p->role),
					  .wants_spare = has_spare_thread(p)};
	return survey_from_json(p->reply, p->survey, e);
}

/* Each endpoint reports the CPUs of its machine; they are assigned here, for all endpoints together. */
static int deal_cpus(struct session *s, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->count; i++)
		rc = send_survey(&s->peer[i], e);
	if (!rc)
		rc = session_collect(s, WHOM_ALL, "surveyed", e);
	for (size_t i = 0; !rc && i < s->count; i++)
		rc = take_survey(s, i, e);
	if (!rc)
		placement_deal(s->placed, s->count);
	return rc;
}

/* --- open --- */

static json_t *cpu_json(int cpu)
{
	return cpu < 0 ? json_null() : json_integer(cpu);
}

static int send_open(struct session *s, size_t i, const char *name, struct err *e)
{
	const struct peer *p = &s->peer[i];
	json_t *order = json_pack("{s:s, s:s, s:s, s:O, s:s, s:s, s:o, s:o, s:o}", "type", "open", "role",
				  role_names[p->role], "flow", p->flow->name, "params", p->flow->params, "name", name,
				  "point", s->peer[0].flow_name, "cpu", cpu_json(s->placed[i].cpu), "spare_cpu",
				  cpu_json(s->placed[i].spare_cpu), "conversion", session_hosts_conversion(s, p));

	if (s->run->mask)
		json_object_set_new(order, "mask", json_true());
	if (!session_flow_is_apart(s, i / 2))
		json_object_set_new(order, "peer_cpu", cpu_json(s->placed[i ^ 1].cpu));
	else if (p->role == ROLE_SINK)
		json_object_set_new(order, "source_conversion", session_hosts_conversion(s, &s->peer[i ^ 1]));
	if (session_peer_is_local(s, p))
		json_object_set_new(order, "dir", json_outside(s->dir));
	return channel_send(&s->peer[i].channel, order, e);
}

/* Sides of other flows on the same CPU. */
static json_t *sharers(const struct session *s, size_t i)
{
	const struct placement *own = &s->placed[i];
	json_t *names = json_array();

	for (size_t k = 0; own->cpu >= 0 && k < s->count; k++)
		if (k / 2 != i / 2 && s->placed[k].cpu == own->cpu && !strcmp(s->placed[k].host, own->host))
			json_array_append_new(names, json_string(s->peer[k].name));
	return names;
}

/* Store a value in {"source", "sink"}, inside of the flow's object if flows have names. */
static void keep_of_peer(json_t *all, const struct peer *p, json_t *value /* stolen */)
{
	json_t *of = all;

	if (*p->flow->name) {
		of = json_object_get(all, p->flow->name);
		if (!of) {
			of = json_object();
			json_object_set_new(all, p->flow->name, of);
		}
	}
	json_object_set_new(of, role_names[p->role], value);
}

static void note_placement(struct session *s, size_t i)
{
	const struct placement *own = &s->placed[i];
	json_t *placement = json_copy(json_object_get(s->peer[i].reply, "placement"));

	if (!placement)
		return;
	json_object_set_new(placement, "shared_smt", json_boolean(own->shared_smt));
	json_object_set_new(placement, "shared_cpu", json_boolean(own->shared_cpu));
	if (own->is_slow)
		json_object_set_new(placement, "slow_cpu", json_true());
	if (point_has_flows(s->point))
		json_object_set_new(placement, "shared_with", sharers(s, i));
	keep_of_peer(s->placement, &s->peer[i], placement);
}

int session_open(struct session *s, struct err *e)
{
	int rc = deal_cpus(s, e);

	for (size_t i = 0; !rc && i < s->count; i++) {
		char *name = s->peer[i & ~(size_t)1].flow_name;

		if (i % 2 == 0)
			leftovers_draw_name(name);
		rc = send_open(s, i, name, e);
	}
	if (rc)
		return rc;
	rc = session_collect(s, WHOM_ALL, "opened", e);
	if (rc)
		return rc;
	s->is_open = true;
	for (size_t i = 0; i < s->count; i++)
		note_placement(s, i);
	return 0;
}

/* --- connect --- */

static int send_connect(struct session *s, enum role role, struct err *e)
{
	int rc = 0;

	for (size_t i = role; !rc && i < s->count; i += 2)
		rc = channel_send(&s->peer[i].channel,
				  json_pack("{s:s, s:O}", "type", "connect", "peer",
					    json_object_get(s->peer[i ^ 1].reply, "address")),
				  e);
	return rc;
}

int session_connect(struct session *s, struct err *e)
{
	int rc = send_connect(s, ROLE_SINK, e); /* the sink listens first */

	if (!rc)
		rc = send_connect(s, ROLE_SOURCE, e);
	if (!rc)
		rc = session_collect(s, WHOM_ALL, "connected", e);
	for (size_t i = 0; !rc && i < s->count; i++)
		keep_of_peer(s->granted, &s->peer[i], json_incref(json_object_get(s->peer[i].reply, "granted")));
	return rc;
}

int session_renew(struct session *s, struct err *e)
{
	int rc;

	session_stop(s);
	for (size_t i = 0; i < s->count; i++) {
		free(s->peer[i].survey);
		s->peer[i].survey = NULL;
		s->peer[i].asked = 0;
	}
	rc = session_start(s, e);
	if (!rc)
		rc = session_open(s, e);
	return rc ? rc : session_connect(s, e);
}

/* --- hosts of a session --- */

const char *session_hosts_boot(const struct peer *p)
{
	return json_text(p->channel.hello, "boot_id");
}

bool session_peer_is_local(const struct session *s, const struct peer *p)
{
	return *session_hosts_boot(p) && !strcmp(session_hosts_boot(p), s->run->boot_id);
}

bool session_flow_is_apart(const struct session *s, size_t flow)
{
	return strcmp(session_hosts_boot(&s->peer[2 * flow]), session_hosts_boot(&s->peer[2 * flow + 1])) != 0;
}

bool session_is_local(const struct session *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (!session_peer_is_local(s, &s->peer[i]))
			return false;
	return true;
}

const char *session_hosts_name(const struct session *s, const struct peer *p)
{
	const struct host *other = hosts_find(s->run->hosts, session_hosts_boot(p));
	const char *said = json_text_or(p->channel.hello, "host", "?");

	if (other)
		return other->name;
	return s->run->hosts ? hosts_label(s->run->hosts, said) : said;
}

json_t *session_hosts(const struct session *s)
{
	json_t *hosts = json_object();

	for (size_t i = 0; i < s->count; i++) {
		const struct peer *p = &s->peer[i];
		const struct host *other = hosts_find(s->run->hosts, session_hosts_boot(p));
		const char *name = session_hosts_name(s, p);
		json_t *host = json_object_get(hosts, name), *roles;

		if (!host) {
			host = json_pack("{s:O, s:[], s:O*}", "boot_id", json_object_get(p->channel.hello, "boot_id"),
					 "roles", "clock", other ? other->clock : NULL);
			json_object_set_new(hosts, name, host);
		}
		roles = json_object_get(host, "roles");
		if (!json_has_string(roles, role_names[p->role]))
			json_array_append_new(roles, json_string(role_names[p->role]));
	}
	return hosts;
}

/* With `fresh`, endpoints are started again; a launcher without a fixed host may then choose another one. */
int session_hosts_meet(struct session *s, struct peer *p, struct err *e)
{
	if (*p->host && strncmp(p->host, session_hosts_boot(p), sizeof(p->host) - 1) != 0)
		return err_set(e, -ESTALE, STATUS_FAILED, p->name, NULL,
			       "its launcher leads to another host each time; it must name one");
	snprintf(p->host, sizeof(p->host), "%s", session_hosts_boot(p));
	if (!s->run->hosts || session_peer_is_local(s, p))
		return 0;
	return hosts_meet(s->run->hosts, &p->channel, s->run->launcher[p->role], e);
}

/* The number of endpoints on the host of this one; 0 if this is not the first of them. */
static size_t endpoints_there(const struct session *s, size_t first)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (strcmp(session_hosts_boot(&s->peer[i]), session_hosts_boot(&s->peer[first])) != 0)
			continue;
		if (i < first)
			return 0;
		count++;
	}
	return count;
}

int session_hosts_check_room(const struct session *s, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && s->run->hosts && i < s->count; i++) {
		struct peer *p = &s->peer[i];
		const size_t endpoints = session_peer_is_local(s, p) ? 0 : endpoints_there(s, i);

		if (endpoints)
			rc = preflight_elsewhere(&p->channel, session_hosts_name(s, p), s->point, endpoints, e);
	}
	return rc;
}

/* The conversion of the ticks of an endpoint's host. */
json_t *session_hosts_conversion(const struct session *s, const struct peer *p)
{
	const struct host *other = hosts_find(s->run->hosts, session_hosts_boot(p));
	const struct clock_conversion *c = other ? &other->conversion : &s->run->conversion;

	return json_pack("{s:I, s:I, s:I}", "origin", (json_int_t)c->origin, "numerator", (json_int_t)c->numerator,
			 "shift", (json_int_t)c->shift);
}
