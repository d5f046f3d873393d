#include "run/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/err.h"
#include "common/fs.h"
#include "kernels/kernel.h"
#include "run/coordinator.h"
#include "run/environment.h"

#define REPLY_MS 60000 /* open and connect: registering much memory takes time */

const char *const role_names[] = {[ROLE_SOURCE] = "source", [ROLE_SINK] = "sink"};

struct channel *const *session_sides(struct session *s, struct channel *list[2])
{
	list[0] = &s->side[0];
	list[1] = &s->side[1];
	return list;
}

void session_drop_replies(struct session *s)
{
	for (int role = 0; role < 2; role++) {
		json_decref(s->reply[role]);
		s->reply[role] = NULL;
	}
}

int session_complain(const struct session *s, size_t role, const json_t *message, struct err *e)
{
	const char *text = json_string_value(json_object_get(message, "text"));
	int status = (int)json_integer_value(json_object_get(message, "status"));

	return err_set(e, -EIO,
		       status == STATUS_IMPOSSIBLE || status == STATUS_USAGE ? (enum status)status : STATUS_FAILED,
		       s->side[role].name, NULL, "%s", text ? text : "failed without a reason");
}

int session_collect(struct session *s, unsigned mask, const char *type, struct err *e)
{
	int64_t deadline = channel_now_ms() + REPLY_MS;

	session_drop_replies(s);
	while (mask) {
		struct channel *list[2];
		int role_of[2];
		size_t count = 0, who;
		json_t *message;
		int rc, role;

		for (role = 0; role < 2; role++)
			if (mask & 1u << role) {
				role_of[count] = role;
				list[count++] = &s->side[role];
			}
		rc = channel_wait(list, count, deadline, &who, &message, e);
		if (rc == -EINTR && !*s->co->interrupted)
			continue;
		if (rc == 0)
			return err_set(e, -ETIMEDOUT, STATUS_FAILED, list[0]->name, NULL,
				       "endpoint does not answer '%s' for %d s", type, REPLY_MS / 1000);
		if (rc < 0)
			return rc;
		role = role_of[who];

		const char *got = json_string_value(json_object_get(message, "type"));

		if (!strcmp(got, "status")) {
			rc = 0; /* asked for right before the repetition ended */
		} else if (!strcmp(got, "error")) {
			rc = session_complain(s, (size_t)role, message, e);
		} else if (strcmp(got, type)) {
			rc = err_set(e, -EPROTO, STATUS_FAILED, s->side[role].name, NULL,
				     "endpoint said '%.40s' where '%s' was expected", got, type);
		} else {
			mask &= ~(1u << role);
			s->reply[role] = json_incref(message);
		}
		json_decref(message);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int session_start(struct session *s, struct err *e)
{
	int rc = 0;

	for (int role = 0; !rc && role < 2; role++) {
		const char *shield = s->place[role].shield;
		const char *inner[] = {s->co->environment->kbtune, "cpuset", "exec", shield, "--", NULL};

		rc = channel_start(&s->side[role], role_names[role], s->co->launcher[role], shield ? inner : NULL, e);
	}
	return rc;
}

static bool is_local(const struct session *s, int role)
{
	const char *boot_id = json_string_value(json_object_get(s->side[role].hello, "boot_id"));

	return boot_id && *boot_id && !strcmp(boot_id, s->co->boot_id);
}

static int send_open(struct session *s, int role, const char *name, struct err *e)
{
	const struct clock_conversion *c = &s->co->conversion;
	json_t *order =
	    json_pack("{s:s, s:s, s:O, s:O, s:O, s:s, s:{s:I, s:I, s:I}}", "type", "open", "role", role_names[role],
		      "kernel", json_object_get(s->params, "kernel"), "transport",
		      json_object_get(s->params, "transport"), "params", s->sent, "name", name, "conversion", "origin",
		      (json_int_t)c->origin, "numerator", (json_int_t)c->numerator, "shift", (json_int_t)c->shift);

	if (is_local(s, role))
		json_object_set_new(order, "salvage", json_string(s->dir));
	return channel_send(&s->side[role], order, e);
}

/* What an endpoint that is killed would leave in /dev/shm: only names that can be ours are taken from its answer. */
static void note_leftover(struct session *s, int role, size_t slot, const char *dir, const char *name)
{
	char *path = name ? fs_path("%s%s", dir, name) : NULL;

	if (path && is_local(s, role) && !strncmp(path, "/dev/shm/kblat-", 15) && !strchr(path + 9, '/'))
		s->side[role].leftovers[slot] = path;
	else
		free(path);
}

static void note_leftovers(struct session *s)
{
	for (int role = 0; role < 2; role++) {
		const json_t *address = json_object_get(s->reply[role], "address");
		const char *object = json_string_value(json_object_get(address, "object"));

		note_leftover(s, role, 0, "", json_string_value(json_object_get(s->reply[role], "scratch")));
		if (object && *object)
			note_leftover(s, role, 1, "/dev/shm", object);
	}
}

static int placed_cpu(const struct session *s, int role)
{
	const json_t *cpu = json_object_get(json_object_get(s->placement, role_names[role]), "cpu");

	return json_is_integer(cpu) ? (int)json_integer_value(cpu) : -1;
}

void session_measure_skew(struct coordinator *co, int source, int sink)
{
	if (co->clock.skew_ns >= 0 || source < 0 || sink < 0 || source == sink)
		return;
	co->clock.skew_ns = clock_skew_ns(source, sink, co->clock.hz);
	json_object_set_new(json_object_get(co->rundir->run, "clock"), "skew_ns", json_integer(co->clock.skew_ns));
}

static void note_hosts(struct session *s)
{
	json_t *hosts = json_object_get(s->co->rundir->run, "hosts");
	json_t *clock = json_object_get(s->co->rundir->run, "clock");

	for (int role = 0; role < 2; role++) {
		const json_t *hello = s->side[role].hello;
		const char *name = json_string_value(json_object_get(hello, "host"));
		json_t *host = json_object_get(hosts, name ? name : "?");

		if (!host) {
			host = json_pack("{s:O, s:[]}", "boot_id", json_object_get(hello, "boot_id"), "roles");
			json_object_set_new(hosts, name ? name : "?", host);
		}
		json_t *roles = json_object_get(host, "roles"), *known;
		bool there = false;
		size_t i;

		json_array_foreach (roles, i, known)
			there |= !strcmp(json_string_value(known), role_names[role]);
		if (!there)
			json_array_append_new(roles, json_string(role_names[role]));
	}
	if (!is_local(s, ROLE_SOURCE) || !is_local(s, ROLE_SINK))
		json_object_set_new(clock, "common", json_false());
}

int session_open(struct session *s, struct err *e)
{
	unsigned char random[8];
	char name[17];
	int rc;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		memset(random, 0, sizeof(random));
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(name + 2 * i, 3, "%02x", random[i]);
	for (int role = 0; role < 2; role++) {
		rc = send_open(s, role, name, e);
		if (rc)
			return rc;
	}
	rc = session_collect(s, 3, "opened", e);
	note_leftovers(s);
	if (rc)
		return rc;
	s->is_open = true;
	for (int role = 0; role < 2; role++)
		json_object_set(s->placement, role_names[role], json_object_get(s->reply[role], "placement"));
	note_hosts(s);
	if (is_local(s, ROLE_SOURCE) && is_local(s, ROLE_SINK))
		session_measure_skew(s->co, placed_cpu(s, ROLE_SOURCE), placed_cpu(s, ROLE_SINK));
	return 0;
}

int session_connect(struct session *s, struct err *e)
{
	json_t *address[2];
	int rc = 0;

	for (int role = 0; role < 2; role++)
		address[role] = json_incref(json_object_get(s->reply[role], "address"));
	for (int role = 1; role >= 0; role--) /* the sink listens first */
		if (!rc)
			rc = channel_send(&s->side[role],
					  json_pack("{s:s, s:O}", "type", "connect", "peer", address[!role]), e);
	for (int role = 0; role < 2; role++)
		json_decref(address[role]);
	if (!rc)
		rc = session_collect(s, 3, "connected", e);
	for (int role = 0; !rc && role < 2; role++)
		json_object_set(s->granted, role_names[role], json_object_get(s->reply[role], "granted"));
	return rc;
}
