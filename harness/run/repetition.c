#include "run/repetition.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/reduce.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "kernels/kernel.h"
#include "run/channel.h"
#include "run/coordinator.h"
#include "run/session.h"
#include "rundir/npy.h"

#define STATUS_MS   5000
#define SURVIVOR_MS 10000

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
	int rc = f->fd < 0 ? 0 : fs_write_fd(f->fd, data, size);

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

static void note_status(struct repetition *rep, size_t role, const json_t *message)
{
	uint64_t now = (uint64_t)json_integer_value(json_object_get(message, "progress"));

	if (now != rep->progress[role])
		rep->moved_ms = channel_now_ms();
	rep->progress[role] = now;
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

	if (!strcmp(type, "status")) {
		note_status(rep, role, message);
		return 0;
	}
	if (!strcmp(type, "error"))
		return session_complain(s, role, message, e);
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
		int rc = channel_wait(session_sides(s, list), 2, channel_now_ms() + ask_ms, &role, &message, e);

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

	return rc ? rc : session_collect(s, 1u << role, "armed", e);
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
		rc = reduce_write(dir->path, dir->resolved, s->id, (unsigned)rep->number, e);
	return rc;
}

/* The warm-up is kept as well, apart from what is summarised; so is what t_send is compared with. */
static char *repetition_dir(const struct session *s)
{
	if (s->repetition == UNDISTURBED)
		return fs_path("%s/undisturbed", s->dir);
	return s->repetition < 0 ? fs_path("%s/warmup", s->dir) : fs_path("%s/rep-%02lld", s->dir, s->repetition);
}

int repetition_run(struct session *s, long long number, uint32_t messages, struct err *e)
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

void repetition_drop_incomplete(const struct session *s)
{
	char *dir = repetition_dir(s);
	char *counters = fs_path("%s/counters.json", dir);

	if (access(counters, F_OK))
		fs_remove_tree(dir, NULL);
	free(counters);
	free(dir);
}
