#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/npy.h"
#include "analysis/rundir.h"
#include "channel.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "coordinator.h"
#include "environment.h"
#include "settings.h"

#define REPLY_MS    60000 /* open and connect: registering much memory takes time */
#define STOP_MS	    3000
#define STATUS_MS   5000
#define SURVIVOR_MS 10000

/* Repetitions that are not among those that are counted: before them, and (t_send) without the third thread. */
enum { WARM_UP = -1, UNDISTURBED = -2 };

const char *const outcome_names[] = {"completed", "failed", "impossible", "interrupted"};
static const char *const role_names[] = {[ROLE_SOURCE] = "source", [ROLE_SINK] = "sink"};

/* One point while it runs. */
struct session {
	struct coordinator *co;
	const json_t *point, *params;
	json_t *sent; /* params with the CPUs that the environment's shields mean */
	unsigned id;
	char *dir; /* points/<nnnn> */
	struct common_settings common;
	json_int_t messages, pause_ns;
	struct channel side[2]; /* by role */
	struct environment_place place[2];
	json_t *reply[2]; /* the last awaited answers */
	json_t *granted, *placement;
	long long repetition; /* the one that is measured */
	bool is_open;	      /* both endpoints have made what they need */
};

static struct channel *const *both(struct session *s, struct channel *list[2])
{
	list[0] = &s->side[0];
	list[1] = &s->side[1];
	return list;
}

static void drop_replies(struct session *s)
{
	for (int role = 0; role < 2; role++) {
		json_decref(s->reply[role]);
		s->reply[role] = NULL;
	}
}

static int complain_told(const struct session *s, size_t role, const json_t *message, struct err *e)
{
	const char *text = json_string_value(json_object_get(message, "text"));
	int status = (int)json_integer_value(json_object_get(message, "status"));

	return err_set(e, -EIO,
		       status == STATUS_IMPOSSIBLE || status == STATUS_USAGE ? (enum status)status : STATUS_FAILED,
		       s->side[role].name, NULL, "%s", text ? text : "failed without a reason");
}

/*
 * Wait until the roles in `mask` have each answered with `type`; the answers are in s->reply. Only they are listened
 * to: the other side may have a "done" to say, with columns behind it, which is follow()'s.
 */
static int collect(struct session *s, unsigned mask, const char *type, struct err *e)
{
	int64_t deadline = channel_now_ms() + REPLY_MS;

	drop_replies(s);
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
			rc = complain_told(s, (size_t)role, message, e);
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

static int start_sides(struct session *s, struct err *e)
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

/* The counters of the two CPUs may differ: bound it once a run, with the first pair that is used. */
static void measure_skew(struct coordinator *co, int source, int sink)
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

static int open_sides(struct session *s, struct err *e)
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
	rc = collect(s, 3, "opened", e);
	note_leftovers(s);
	if (rc)
		return rc;
	s->is_open = true;
	for (int role = 0; role < 2; role++)
		json_object_set(s->placement, role_names[role], json_object_get(s->reply[role], "placement"));
	note_hosts(s);
	if (is_local(s, ROLE_SOURCE) && is_local(s, ROLE_SINK))
		measure_skew(s->co, placed_cpu(s, ROLE_SOURCE), placed_cpu(s, ROLE_SINK));
	return 0;
}

static int connect_sides(struct session *s, struct err *e)
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
		rc = collect(s, 3, "connected", e);
	for (int role = 0; !rc && role < 2; role++)
		json_object_set(s->granted, role_names[role], json_object_get(s->reply[role], "granted"));
	return rc;
}

/* A repetition while it runs. */
struct repetition {
	long long number; /* or WARM_UP, UNDISTURBED */
	uint32_t messages;
	char *dir;
	json_t *done[2]; /* by role */
	bool stopped;
	uint64_t progress[2];
	int64_t moved_ms; /* when something last moved */
};

struct column_file {
	int fd;
	const char *path;
};

static int store_piece(void *arg, const void *data, size_t size, struct err *e)
{
	struct column_file *f = arg;
	int rc = f->fd < 0 ? 0 : wire_send_raw(f->fd, data, size);

	return rc ? err_sys(e, rc, f->path, "write") : 0;
}

static int store_column(struct session *s, struct repetition *rep, size_t role, const char *name, struct err *e)
{
	char header[NPY_HEADER];
	char *path = rep->dir ? fs_path("%s/%s.npy", rep->dir, name) : NULL;
	struct column_file f = {-1, path};
	int rc = 0;

	if (path) {
		f.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		rc = f.fd < 0 ? err_sys(e, -errno, path, "create") : 0;
		npy_header(header, rep->messages);
		if (!rc)
			rc = store_piece(&f, header, sizeof(header), e);
	}
	if (!rc)
		rc = channel_raw(&s->side[role], rep->messages * sizeof(int64_t), store_piece, &f, e);
	if (f.fd >= 0 && close(f.fd) && !rc)
		rc = err_sys(e, -errno, path, "write");
	free(path);
	return rc;
}

static bool is_column_of(const struct session *s, size_t role, const char *name)
{
	const struct kernel_ops *k = kernel_find(json_string_value(json_object_get(s->params, "kernel")));

	for (const struct kernel_column *c = k->columns; c->name; c++)
		if (name && c->side == (enum role)role && kernel_has(s->params, c->with) && !strcmp(c->name, name))
			return true;
	return false;
}

/* Columns follow a "done" at once. Their names come from outside: only those that the kernel has become files. */
static int store_columns(struct session *s, struct repetition *rep, size_t role, struct err *e)
{
	const json_t *columns = json_object_get(rep->done[role], "columns"), *column;
	size_t i;
	int rc = 0;

	if (json_integer_value(json_object_get(rep->done[role], "messages")) != rep->messages)
		return err_set(e, -EPROTO, STATUS_FAILED, s->side[role].name, NULL,
			       "endpoint reports another number of messages than it was asked for");
	json_array_foreach (columns, i, column) {
		const char *name = json_string_value(column);

		if (rc)
			break;
		rc = is_column_of(s, role, name) ? store_column(s, rep, role, name, e)
						 : err_set(e, -EPROTO, STATUS_FAILED, s->side[role].name, NULL,
							   "endpoint sends a column that its kernel does not have");
	}
	return rc;
}

static int note_status(struct session *s, struct repetition *rep, size_t role, const json_t *message)
{
	uint64_t now = (uint64_t)json_integer_value(json_object_get(message, "progress"));

	(void)s;
	if (now != rep->progress[role])
		rep->moved_ms = channel_now_ms();
	rep->progress[role] = now;
	return 0;
}

static const char *failure_of(const struct repetition *rep, size_t role)
{
	return json_text(rep->done[role], "failure");
}

static uint64_t source_count(const struct repetition *rep, const char *counter)
{
	const json_t *counters = json_object_get(rep->done[ROLE_SOURCE], "counters");

	return (uint64_t)json_integer_value(json_object_get(counters, counter));
}

static int on_message(struct session *s, struct repetition *rep, size_t role, json_t *message, struct err *e)
{
	const char *type = json_string_value(json_object_get(message, "type"));

	if (!strcmp(type, "status"))
		return note_status(s, rep, role, message);
	if (!strcmp(type, "error"))
		return complain_told(s, role, message, e);
	if (strcmp(type, "done") || rep->done[role])
		return err_set(e, -EPROTO, STATUS_FAILED, s->side[role].name, NULL, "endpoint said '%.40s' out of turn",
			       type);
	rep->done[role] = json_incref(message);
	rep->moved_ms = channel_now_ms();

	int rc = store_columns(s, rep, role, e);

	if (rc)
		return rc;
	/* The source has ended: the sink waits for stragglers. The sink has failed: the source need not go on. */
	if (role == ROLE_SOURCE && !rep->done[ROLE_SINK])
		return channel_send(
		    &s->side[ROLE_SINK],
		    json_pack("{s:s, s:I}", "type", "finish", "posted", (json_int_t)source_count(rep, "posted")), e);
	if (role == ROLE_SINK && !rep->done[ROLE_SOURCE] && *failure_of(rep, role))
		return channel_send(&s->side[ROLE_SOURCE], json_pack("{s:s}", "type", "stop"), e);
	return 0;
}

static int complain_stuck(struct session *s, const struct repetition *rep, struct err *e)
{
	int role = rep->done[ROLE_SOURCE] ? ROLE_SINK : ROLE_SOURCE;
	char object[64];

	/* The side that is behind is the one to look at. */
	if (!rep->done[ROLE_SINK] && rep->progress[ROLE_SINK] < rep->progress[ROLE_SOURCE])
		role = ROLE_SINK;
	snprintf(object, sizeof(object), "%s endpoint", role_names[role]);
	return err_set(e, -ETIMEDOUT, STATUS_FAILED, object, NULL,
		       "no progress for %lld s, at message %llu of %u; its last words: %s",
		       (long long)((s->common.timeout + s->pause_ns) / 1000000000),
		       (unsigned long long)rep->progress[role], rep->messages,
		       *s->side[role].last_words ? s->side[role].last_words : "(none)");
}

/* `asked`: the last one, with which it went wrong if it did. */
static int ask_status(struct session *s, const struct repetition *rep, size_t *asked, struct err *e)
{
	int rc = 0;

	if (channel_now_ms() - rep->moved_ms > (s->common.timeout + s->pause_ns) / 1000000)
		return complain_stuck(s, rep, e);
	for (size_t role = 0; !rc && role < 2; role++)
		if (!rep->done[role]) {
			*asked = role;
			rc = channel_send(&s->side[role], json_pack("{s:s}", "type", "status"), e);
		}
	return rc;
}

static int stop_repetition(struct session *s, struct repetition *rep, struct err *e)
{
	if (rep->stopped || rep->done[ROLE_SOURCE])
		return 0;
	rep->stopped = true;
	return channel_send(&s->side[ROLE_SOURCE], json_pack("{s:s}", "type", "stop"), e);
}

/*
 * One side has gone in the middle: a device that watches its connection soon tells the other one so, and how. What it
 * says belongs into the point's reason. Not every transport has something to say: those grant `gives_up_ms`.
 */
static void hear_survivor(struct session *s, const struct repetition *rep, size_t gone, struct err *e)
{
	size_t role = !gone;
	const json_t *granted = json_object_get(s->granted, role_names[role]);
	json_int_t patience = json_integer_value(json_object_get(granted, "gives_up_ms"));
	struct channel *list[] = {&s->side[role]};
	struct err first = *e, unheard = ERR_INIT;
	json_t *message = NULL, *done = json_incref(rep->done[role]);
	int64_t deadline = channel_now_ms() + (patience < SURVIVOR_MS ? patience : SURVIVOR_MS);
	const char *text;
	size_t who;

	while (patience && !done && channel_wait(list, 1, deadline, &who, &message, &unheard) > 0) {
		if (!strcmp(json_string_value(json_object_get(message, "type")), "done"))
			done = message;
		else
			json_decref(message);
	}
	text = json_text(done, "failure");
	if (*text) {
		err_clear(e);
		err_set(e, -EPIPE, first.status, NULL, NULL, "%s; %s: %s", first.text, role_names[role], text);
	}
	json_decref(done);
}

/* From "run" until both sides have handed their columns over. */
static int follow(struct session *s, struct repetition *rep, struct err *e)
{
	int64_t ask_ms = s->common.timeout / 4000000 < STATUS_MS ? s->common.timeout / 4000000 : STATUS_MS;

	rep->moved_ms = channel_now_ms();
	while (!rep->done[ROLE_SOURCE] || !rep->done[ROLE_SINK]) {
		struct channel *list[2];
		size_t role;
		json_t *message;
		int rc = channel_wait(both(s, list), 2, channel_now_ms() + ask_ms, &role, &message, e);

		if (rc > 0) {
			rc = on_message(s, rep, role, message, e);
			json_decref(message);
		} else if (rc == 0) {
			rc = ask_status(s, rep, &role, e);
		}
		if (*s->co->interrupted && (rc == -EINTR || !rc))
			rc = stop_repetition(s, rep, e);
		if (rc == -EPIPE)
			hear_survivor(s, rep, role, e);
		if (rc && rc != -EINTR)
			return rc;
	}
	return 0;
}

static int arm(struct session *s, const struct repetition *rep, int role, struct err *e)
{
	int rc = channel_send(&s->side[role],
			      json_pack("{s:s, s:I, s:I, s:b}", "type", "arm", "messages", (json_int_t)rep->messages,
					"rep", (json_int_t)(rep->number < 0 ? 0 : rep->number), "restamp",
					rep->number != UNDISTURBED),
			      e);

	return rc ? rc : collect(s, 1u << role, "armed", e);
}

/* As far as the source came: the entries of its columns. A step of a pacer that sent nothing is one, too. */
static uint64_t reached(const struct repetition *rep)
{
	return source_count(rep, "posted") + source_count(rep, "missed") + source_count(rep, "unsent");
}

/* A repetition that was stopped: what was never sent is not lost, so its entries go. */
static int shorten_columns(const struct repetition *rep, uint64_t count, struct err *e)
{
	for (size_t role = 0; role < 2; role++) {
		const json_t *column;
		size_t i;

		json_array_foreach (json_object_get(rep->done[role], "columns"), i, column) {
			char *path = fs_path("%s/%s.npy", rep->dir, json_string_value(column));
			char header[NPY_HEADER];
			int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
			int rc = 0;

			npy_header(header, count);
			if (fd < 0 || pwrite(fd, header, sizeof(header), 0) != NPY_HEADER ||
			    ftruncate(fd, NPY_HEADER + (off_t)(count * sizeof(int64_t))))
				rc = err_sys(e, -errno, path, "shorten");
			if (fd >= 0)
				close(fd);
			free(path);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static int write_counters(const struct repetition *rep, struct err *e)
{
	char *path = fs_path("%s/counters.json", rep->dir);
	json_t *j = json_pack(
	    "{s:i, s:O, s:O, s:{s:O, s:O}}", "schema", 1, "source", json_object_get(rep->done[ROLE_SOURCE], "counters"),
	    "sink", json_object_get(rep->done[ROLE_SINK], "counters"), "device", "source",
	    json_object_get(rep->done[ROLE_SOURCE], "device"), "sink", json_object_get(rep->done[ROLE_SINK], "device"));
	int rc =
	    j ? json_write(path, j, e) : err_set(e, -EPROTO, STATUS_FAILED, "endpoint", NULL, "reports no counters");

	json_decref(j);
	free(path);
	return rc;
}

static int keep_repetition(struct session *s, const struct repetition *rep, struct err *e)
{
	const struct rundir *dir = s->co->rundir;
	uint64_t entries = reached(rep);
	int rc = 0;

	if (entries > rep->messages)
		rc = err_set(e, -EPROTO, STATUS_FAILED, "source", NULL, "reports more messages than it was asked for");
	if (!rc && entries < rep->messages)
		rc = entries ? shorten_columns(rep, entries, e) : fs_remove_tree(rep->dir, e);
	if (!rc && entries)
		rc = write_counters(rep, e);
	if (!rc && entries && rep->number >= 0)
		rc = rep_reduce(dir->path, dir->resolved, s->id, (unsigned)rep->number, e);
	return rc;
}

/* The warm-up is kept as well, apart from what is summarised; so is what t_send is compared with. */
static char *repetition_dir(const struct session *s)
{
	if (s->repetition == UNDISTURBED)
		return fs_path("%s/undisturbed", s->dir);
	return s->repetition < 0 ? fs_path("%s/warmup", s->dir) : fs_path("%s/rep-%02lld", s->dir, s->repetition);
}

static int run_repetition(struct session *s, long long number, uint32_t messages, struct err *e)
{
	struct repetition rep = {.number = number, .messages = messages};
	int rc;

	s->repetition = number;
	rep.dir = repetition_dir(s);
	rc = fs_mkdirs(rep.dir, e);
	if (rc)
		goto out;
	rc = arm(s, &rep, ROLE_SINK, e);
	if (!rc)
		rc = arm(s, &rep, ROLE_SOURCE, e);
	if (!rc)
		rc = channel_send(&s->side[ROLE_SOURCE], json_pack("{s:s}", "type", "run"), e);
	if (!rc)
		rc = follow(s, &rep, e);
	if (!rc)
		rc = keep_repetition(s, &rep, e);
	for (size_t role = 0; !rc && role < 2; role++)
		if (*failure_of(&rep, role))
			rc = err_set(e, -EIO, STATUS_FAILED, role_names[role], NULL, "%s", failure_of(&rep, role));
	if (!rc && rep.stopped)
		rc = -EINTR;
out:
	for (size_t role = 0; role < 2; role++)
		json_decref(rep.done[role]);
	free(rep.dir);
	return rc;
}

/*
 * Nothing half-written stays: a repetition has counters.json, or it is not there. Called when the endpoints are gone:
 * one that hung keeps its columns as if the coordinator had died.
 */
static void drop_incomplete(const struct session *s)
{
	char *dir = repetition_dir(s);
	char *counters = fs_path("%s/counters.json", dir);

	if (access(counters, F_OK))
		fs_remove_tree(dir, NULL);
	free(counters);
	free(dir);
}

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
		rc = run_repetition(s, WARM_UP, (uint32_t)warmup, e);
	if (!rc && kernel_has(s->params, "t_send"))
		rc = run_repetition(s, UNDISTURBED, (uint32_t)s->messages, e);
	for (long long rep = 0; !rc && rep < s->common.repetitions; rep++) {
		rc = *s->co->interrupted ? -EINTR : run_repetition(s, rep, (uint32_t)s->messages, e);
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
		measure_skew(co, s->place[ROLE_SOURCE].cpu, s->place[ROLE_SINK].cpu);
	return environment_enter(co->environment, s->point, e);
}

static int run_session(struct session *s, struct err *e)
{
	int rc = enter_environment(s, e);

	if (!rc)
		rc = start_sides(s, e);
	if (!rc)
		rc = open_sides(s, e);
	if (!rc)
		rc = connect_sides(s, e);
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
	drop_incomplete(&s);
	if (write_point(&s, outcome, e, &write_error) && outcome == OUTCOME_COMPLETED) {
		*e = write_error;
		outcome = OUTCOME_FAILED;
	}
	rundir_log(
	    co->rundir, "point",
	    json_pack("{s:I, s:s, s:s}", "id", (json_int_t)s.id, "outcome", outcome_names[outcome], "why", e->text));
	drop_replies(&s);
	json_decref(s.granted);
	json_decref(s.placement);
	json_decref(s.sent);
	free(s.dir);
	return outcome;
}
