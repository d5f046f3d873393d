#include "measure/run/repetition.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/npy.h"
#include "common/trace_kinds.h"
#include "measure/run/session.h"
#include "measure/run/transfer.h"

/* --- storing columns --- */

struct column_file {
	int fd;
	const char *path;
};

static int columns_write_piece(void *arg, const void *data, size_t size, struct err *e)
{
	struct column_file *f = arg;
	int rc = fs_write_fd(f->fd, data, size);

	return rc ? err_sys(e, rc, f->path, "write") : 0;
}

static int take_column(struct peer *p, const char *path, size_t entries, struct transfer *t, struct err *e)
{
	char header[NPY_HEADER];
	struct column_file f = {open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666), path};
	int rc = f.fd < 0 ? err_sys(e, -errno, path, "create") : 0;

	npy_header(header, entries);
	if (!rc)
		rc = columns_write_piece(&f, header, sizeof(header), e);
	if (!rc)
		rc = channel_raw(&p->channel, t, entries * sizeof(int64_t), columns_write_piece, &f, e);
	if (f.fd >= 0 && close(f.fd) && !rc)
		rc = err_sys(e, -errno, path, "write");
	return rc;
}

/* If this process is killed meanwhile, it does not leave an incomplete column. */
static int store_column(struct peer *p, const char *dir, const char *name, size_t entries, struct transfer *t,
			struct err *e)
{
	char *path = fs_path("%s/%s.npy", dir, name), *part = fs_path("%s.tmp", path);
	int rc = take_column(p, part, entries, t, e);

	if (!rc && rename(part, path))
		rc = err_sys(e, -errno, path, "rename");
	if (rc)
		unlink(part);
	free(part);
	free(path);
	return rc;
}

static int columns_check_end(void *arg, const void *data, size_t size, struct err *e)
{
	const struct peer *p = arg;

	if (size == 1 && *(const char *)data == '\n')
		return 0;
	return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL, "endpoint's columns do not end where expected");
}

/* Are these the columns of this side, each of them once? */
static bool has_its_columns(const struct peer *p, const json_t *columns)
{
	size_t count = 0;

	for (const struct kernel_column *c = p->flow->kernel->columns; c->name; c++) {
		const char *name = json_string_value(json_array_get(columns, count));

		if (!flow_has_column(p->flow, c, p->role))
			continue;
		if (!name || strcmp(name, c->name) != 0)
			return false;
		count++;
	}
	return json_array_size(columns) == count;
}

int columns_store(struct peer *p, const json_t *done, uint32_t messages, const char *dir, struct err *e)
{
	const json_t *columns = json_object_get(done, "columns"), *column;
	const size_t entries = flow_entries(p->flow, messages);
	struct transfer t;
	size_t i;
	int rc = 0;

	if (json_integer_value(json_object_get(done, "messages")) != messages)
		return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL,
			       "endpoint reports a different number of messages than requested");
	if (!has_its_columns(p, columns))
		return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL,
			       "endpoint sent other columns than its kernel has");
	transfer_begin(&t, p->channel.patience_ms);
	transfer_expect(&t, (unsigned long long)json_array_size(columns) * entries * sizeof(int64_t) + 1);
	json_array_foreach (columns, i, column)
		if (!rc)
			rc = store_column(p, dir, json_string_value(column), entries, &t, e);
	return rc ? rc : channel_raw(&p->channel, &t, 1, columns_check_end, p, e);
}

#define TRACE_MOST ((json_int_t)TRACE_EVENTS_MOST * TRACE_WORDS)

static int check_trace(const struct peer *p, const json_t *about, bool asked, struct err *e)
{
	const json_int_t words = json_integer_value(json_object_get(about, "words"));

	if (!asked || p->flow->common.explain == EXPLAIN_NO)
		return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL,
			       "endpoint sent a trace that it was not asked for");
	if (!json_is_object(about) || words < 0 || words > TRACE_MOST || words % TRACE_WORDS)
		return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL, "endpoint sent no valid trace");
	return 0;
}

static int store_trace(struct peer *p, const char *dir, const char *name, json_t *about, struct err *e)
{
	const size_t words = (size_t)json_integer_value(json_object_get(about, "words"));
	char *path = fs_path("%s/%s.json", dir, name);
	struct transfer t;
	int rc;

	json_object_del(about, "words");
	transfer_begin(&t, p->channel.patience_ms);
	transfer_expect(&t, words * sizeof(int64_t) + 1);
	rc = store_column(p, dir, name, words, &t, e);
	if (!rc)
		rc = channel_raw(&p->channel, &t, 1, columns_check_end, p, e);
	if (!rc)
		rc = json_write(path, about, e);
	free(path);
	return rc;
}

int columns_store_trace(struct peer *p, json_t *done, bool asked, const char *dir, struct err *e)
{
	json_t *about = json_object_get(done, "trace");
	char name[32];
	int rc;

	if (!about)
		return 0;
	snprintf(name, sizeof(name), "trace-%s", role_names[p->role]);
	rc = check_trace(p, about, asked, e);
	return rc ? rc : store_trace(p, dir, name, about, e);
}

static int shorten_column(const char *path, uint64_t count, struct err *e)
{
	char header[NPY_HEADER];
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC), rc = 0;

	npy_header(header, count);
	if (fd < 0 || pwrite(fd, header, sizeof(header), 0) != NPY_HEADER ||
	    ftruncate(fd, NPY_HEADER + (off_t)(count * sizeof(int64_t))))
		rc = err_sys(e, -errno, path, "shorten");
	if (fd >= 0)
		close(fd);
	return rc;
}

/* For a repetition that was stopped early: removes the entries of messages that were never sent, as these are not
 * lost. */
static int columns_shorten(const json_t *done, const char *dir, uint64_t count, struct err *e)
{
	const json_t *column;
	size_t i;
	int rc = 0;

	json_array_foreach (json_object_get(done, "columns"), i, column) {
		char *path = fs_path("%s/%s.npy", dir, json_string_value(column));

		if (!rc)
			rc = shorten_column(path, count, e);
		free(path);
	}
	return rc;
}

#define STATUS_MS      5000
#define SURVIVOR_MS    10000
#define START_AHEAD_NS 50000000 /* for flows that start together: time for orders to arrive */

/* A flow of a repetition while it is running. */
struct flow_rep {
	const struct flow *flow;
	uint32_t messages; /* 0: it takes no part */
	char *dir;
	json_t *done[2]; /* by role */
	bool stopped;
	uint64_t progress[2];
	int64_t moved_ms; /* time of the last progress */
};

struct repetition {
	struct session *s;
	long long number; /* or REPETITION_… */
	bool interrupted;
	size_t count;
	struct flow_rep flow[POINT_FLOWS_MAX];
};

static struct peer *peer_of(const struct repetition *rep, size_t flow, enum role role)
{
	return &rep->s->peer[2 * flow + role];
}

static bool flow_is_done(const struct flow_rep *f)
{
	return !f->messages || (f->done[ROLE_SOURCE] && f->done[ROLE_SINK]);
}

static bool repetition_is_done(const struct repetition *rep)
{
	for (size_t i = 0; i < rep->count; i++)
		if (!flow_is_done(&rep->flow[i]))
			return false;
	return true;
}

/* The others are not part of the results, or are compared with those that are traced. */
static bool repetition_is_traced(const struct repetition *rep)
{
	return rep->number >= 0;
}

static const char *failure_of(const struct flow_rep *f, enum role role)
{
	return json_text(f->done[role], "failure");
}

static uint64_t endpoint_count(const struct flow_rep *f, enum role role, const char *counter)
{
	const json_t *counters = json_object_get(f->done[role], "counters");

	return (uint64_t)json_integer_value(json_object_get(counters, counter));
}

/* --- messages of endpoints --- */

static void tell_moved(const struct repetition *rep)
{
	uint64_t messages = 0;

	if (!rep->s->moved || rep->number < 0)
		return;
	for (const struct flow_rep *f = rep->flow; f < rep->flow + rep->count; f++)
		messages += f->progress[f->progress[ROLE_SOURCE] < f->progress[ROLE_SINK] ? ROLE_SINK : ROLE_SOURCE];
	rep->s->moved(rep->s->moved_arg, messages);
}

static void note_status(struct flow_rep *f, enum role role, const json_t *message)
{
	uint64_t now = (uint64_t)json_integer_value(json_object_get(message, "progress"));

	/* Progress can only increase this often, so an endpoint that claims otherwise does not
	 * count as making progress. */
	if (now <= f->progress[role] || now > f->messages)
		return;
	f->moved_ms = monotonic_ms();
	f->progress[role] = now;
}

static int send_stop(struct repetition *rep, size_t i, struct err *e)
{
	struct flow_rep *f = &rep->flow[i];

	if (f->stopped || !f->messages || f->done[ROLE_SOURCE])
		return 0;
	f->stopped = true;
	return channel_send(&peer_of(rep, i, ROLE_SOURCE)->channel, json_pack("{s:s}", "type", "stop"), e);
}

static int send_stops(struct repetition *rep, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < rep->count; i++)
		rc = send_stop(rep, i, e);
	return rc;
}

/* If the source has ended, the sink waits for stragglers. If the sink has failed, the source need
 * not continue. If the first flow of several has ended, with `until: first` the others need not
 * continue, either. */
static int repetition_pass_on(struct repetition *rep, size_t i, enum role role, struct err *e)
{
	struct flow_rep *f = &rep->flow[i];

	if (role == ROLE_SOURCE && !f->done[ROLE_SINK])
		return channel_send(&peer_of(rep, i, ROLE_SINK)->channel,
				    json_pack("{s:s, s:I, s:I}", "type", "finish", "posted",
					      (json_int_t)endpoint_count(f, ROLE_SOURCE, "posted"), "completed",
					      (json_int_t)endpoint_count(f, ROLE_SOURCE, "completed")),
				    e);
	if (role == ROLE_SINK && !f->done[ROLE_SOURCE] && *failure_of(f, role))
		return send_stop(rep, i, e);
	return flow_is_done(f) && rep->s->point->until == UNTIL_FIRST ? send_stops(rep, e) : 0;
}

static int on_message(struct repetition *rep, size_t who, json_t *message, struct err *e)
{
	struct flow_rep *f = &rep->flow[who / 2];
	struct peer *p = &rep->s->peer[who];
	const char *type = json_text(message, "type");
	int rc;

	if (!strcmp(type, "status")) {
		note_status(f, p->role, message);
		tell_moved(rep);
		p->asked -= p->asked > 0;
		return 0;
	}
	if (!strcmp(type, "error"))
		return session_complain(p, message, e);
	if (strcmp(type, "done") || f->done[p->role] || !f->messages)
		return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL,
			       "endpoint sent '%.40s', which was not expected", type);
	f->done[p->role] = json_incref(message);
	f->moved_ms = monotonic_ms();
	rc = columns_store(p, message, f->messages, f->dir, e);
	if (!rc)
		rc = columns_store_trace(p, message, repetition_is_traced(rep), f->dir, e);
	return rc ? rc : repetition_pass_on(rep, who / 2, p->role, e);
}

/* --- progress --- */

/* How long an endpoint may appear to be idle. */
static int64_t patience_ms(const struct flow *f)
{
	return (f->common.timeout + f->config.schedule.pause_ns) / 1000000;
}

static int complain_stuck(const struct repetition *rep, size_t i, struct err *e)
{
	const struct flow_rep *f = &rep->flow[i];
	enum role role = f->done[ROLE_SOURCE] ? ROLE_SINK : ROLE_SOURCE;
	const struct channel *c;
	char object[64];

	/* Report the side that is behind. */
	if (!f->done[ROLE_SINK] && f->progress[ROLE_SINK] < f->progress[ROLE_SOURCE])
		role = ROLE_SINK;
	c = &peer_of(rep, i, role)->channel;
	snprintf(object, sizeof(object), "%s endpoint", peer_of(rep, i, role)->name);
	return err_set(e, -ETIMEDOUT, STATUS_FAILED, object, NULL,
		       "no progress for %lld s, at message %llu of %u; its standard error ends in: %s",
		       (long long)patience_ms(f->flow) / 1000, (unsigned long long)f->progress[role], f->messages,
		       *c->stderr_tail ? c->stderr_tail : "(none)");
}

/* `asked`: the last endpoint asked, which is the one concerned if there is an error. */
static int ask_status(struct repetition *rep, size_t *asked, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < rep->count; i++) {
		struct flow_rep *f = &rep->flow[i];

		if (!flow_is_done(f) && monotonic_ms() - f->moved_ms > patience_ms(f->flow))
			rc = complain_stuck(rep, i, e);
		for (enum role role = ROLE_SOURCE; !rc && f->messages && role <= ROLE_SINK; role++)
			if (!f->done[role]) {
				*asked = 2 * i + role;
				rep->s->peer[*asked].asked++;
				rc = channel_send(&rep->s->peer[*asked].channel, json_pack("{s:s}", "type", "status"),
						  e);
			}
	}
	return rc;
}

/*
 * One side has disappeared during the measurement. If its device watches the connection, it soon
 * reports that to the other side. The report is added to the point's reason. Only some transports
 * can report it: those that grant `gives_up_ms`.
 */
static void ask_survivor(struct repetition *rep, size_t gone, struct err *e)
{
	struct peer *p = &rep->s->peer[gone ^ 1];
	const json_t *of = rep->s->granted, *granted;
	json_t *message = NULL, *done = json_incref(rep->flow[gone / 2].done[p->role]);
	struct err first = *e, ignored = ERR_INIT;
	json_int_t patience;
	int64_t deadline;
	size_t who;

	if (*p->flow->name)
		of = json_object_get(of, p->flow->name);
	granted = json_object_get(of, role_names[p->role]);
	patience = json_integer_value(json_object_get(granted, "gives_up_ms"));
	deadline = monotonic_ms() + (patience < SURVIVOR_MS ? patience : SURVIVOR_MS);
	while (patience && !done && monotonic_ms() < deadline &&
	       channel_wait((struct channel *[]){&p->channel}, 1, deadline, &who, &message, &ignored) > 0) {
		if (!strcmp(json_text(message, "type"), "done"))
			done = message;
		else
			json_decref(message);
	}
	if (*json_text(done, "failure")) {
		err_clear(e);
		err_set(e, -EPIPE, first.status, NULL, NULL, "%s; %s: %s", first.text, p->name,
			json_text(done, "failure"));
	}
	json_decref(done);
}

static int64_t ask_every_ms(const struct repetition *rep)
{
	int64_t ms = STATUS_MS;

	for (size_t i = 0; i < rep->count; i++)
		if (rep->flow[i].flow->common.timeout / 4000000 < ms)
			ms = rep->flow[i].flow->common.timeout / 4000000;
	return ms;
}

/* From "run" until all endpoints have handed over their columns. */
static int follow(struct repetition *rep, struct err *e)
{
	struct session *s = rep->s;
	struct channel *list[2 * POINT_FLOWS_MAX];
	const int64_t ask_ms = ask_every_ms(rep);
	int64_t asked_ms = monotonic_ms();

	for (size_t i = 0; i < s->count; i++)
		list[i] = &s->peer[i].channel;
	for (size_t i = 0; i < rep->count; i++)
		rep->flow[i].moved_ms = monotonic_ms();
	while (!repetition_is_done(rep)) {
		size_t who = 0;
		json_t *message;
		int rc = channel_wait(list, s->count, asked_ms + ask_ms, &who, &message, e);

		if (rc > 0) {
			rc = on_message(rep, who, message, e);
			json_decref(message);
		}
		/* Also done if there is always a message: an endpoint that floods this process with
		 * messages must make progress, too. */
		if (rc == 0 && monotonic_ms() >= asked_ms + ask_ms) {
			asked_ms = monotonic_ms();
			rc = ask_status(rep, &who, e);
		}
		if (*s->run->interrupted && (rc == -EINTR || !rc)) {
			rep->interrupted = true;
			rc = send_stops(rep, e);
		}
		if (rc == -EPIPE)
			ask_survivor(rep, who, e);
		if (rc && rc != -EINTR)
			return rc;
	}
	return 0;
}

/* --- start --- */

/* Where an endpoint keeps its columns if this process is killed: nowhere on other hosts, which do not
 * have this directory. */
static json_t *keep_in(const struct repetition *rep, size_t flow, enum role role)
{
	return session_peer_is_local(rep->s, peer_of(rep, flow, role)) ? json_outside(rep->flow[flow].dir) : NULL;
}

static int arm(struct repetition *rep, enum role role, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < rep->count; i++) {
		const struct flow_rep *f = &rep->flow[i];

		if (f->messages)
			rc = channel_send(
			    &peer_of(rep, i, role)->channel,
			    json_pack("{s:s, s:I, s:I, s:b, s:b, s:b, s:o*, s:O*, s:s*}", "type", "arm", "messages",
				      (json_int_t)f->messages, "rep", (json_int_t)(rep->number < 0 ? 0 : rep->number),
				      "control", rep->number == REPETITION_CONTROL, "warm_up",
				      rep->number == REPETITION_WARM_UP, "trace", repetition_is_traced(rep), "keep_in",
				      keep_in(rep, i, role), "comparison", rep->s->borrows ? f->flow->params : NULL,
				      "name", rep->s->borrows ? rep->s->peer[0].flow_name : NULL),
			    e);
	}
	return rc ? rc : session_collect(rep->s, role == ROLE_SINK ? WHOM_SINKS : WHOM_SOURCES, "armed", e);
}

static bool starts_at_one_moment(const struct repetition *rep)
{
	bool together = rep->count > 1;

	for (size_t i = 0; i < rep->count; i++)
		together |= flow_starts_together(rep->flow[i].flow);
	return together && session_is_local(rep->s);
}

/* Several flows start at the same time of this machine's clock, and so do both sides of a flow
 * whose sink does not wait for messages. */
static int send_run(struct repetition *rep, struct err *e)
{
	const int64_t start_ns = starts_at_one_moment(rep) ? monotonic_ns() + START_AHEAD_NS : 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < rep->count; i++) {
		const enum role last = flow_starts_together(rep->flow[i].flow) ? ROLE_SINK : ROLE_SOURCE;

		for (enum role role = ROLE_SOURCE; !rc && rep->flow[i].messages && role <= last; role++)
			rc = channel_send(&peer_of(rep, i, role)->channel,
					  json_pack("{s:s, s:I}", "type", "run", "start_ns", (json_int_t)start_ns), e);
	}
	return rc;
}

/* --- storing results --- */

static int write_counters(const struct flow_rep *f, struct err *e)
{
	char *path = fs_path("%s/counters.json", f->dir);
	const json_t *source = f->done[ROLE_SOURCE], *sink = f->done[ROLE_SINK];
	json_t *j = json_pack("{s:i, s:O, s:O, s:{s:O, s:O}}", "schema", 1, "source",
			      json_object_get(source, "counters"), "sink", json_object_get(sink, "counters"), "device",
			      "source", json_object_get(source, "device"), "sink", json_object_get(sink, "device"));
	int rc =
	    j ? json_write(path, j, e) : err_set(e, -EPROTO, STATUS_FAILED, "endpoint", NULL, "reports no counters");

	json_decref(j);
	free(path);
	return rc;
}

/* The progress in messages. A step of a pacer without a message counts, too. If both sides post
 * independently, the one that got further counts. */
static uint64_t reached(const struct flow_rep *f)
{
	const uint64_t source = endpoint_count(f, ROLE_SOURCE, "posted") + endpoint_count(f, ROLE_SOURCE, "missed") +
				endpoint_count(f, ROLE_SOURCE, "unsent");
	const uint64_t sink = f->flow->kernel->counts_loss ? endpoint_count(f, ROLE_SINK, "posted") : 0;

	return source > sink ? source : sink;
}

static int keep_flow(const struct repetition *rep, size_t i, struct err *e)
{
	const struct flow_rep *f = &rep->flow[i];
	const uint64_t messages = reached(f);
	int rc = 0;

	if (messages > f->messages)
		return err_set(e, -EPROTO, STATUS_FAILED, peer_of(rep, i, ROLE_SOURCE)->name, NULL,
			       "reports more messages than requested");
	for (enum role role = ROLE_SOURCE; !rc && messages < f->messages && role <= ROLE_SINK; role++)
		rc = columns_shorten(f->done[role], f->dir, flow_entries(f->flow, (int64_t)messages), e);
	return rc ? rc : write_counters(f, e);
}

static bool repetition_is_empty(const struct repetition *rep)
{
	for (size_t i = 0; i < rep->count; i++)
		if (rep->flow[i].messages && !reached(&rep->flow[i]))
			return true;
	return false;
}

char *repetition_dir(const struct session *s, const struct flow *f, long long number)
{
	char name[32];

	snprintf(name, sizeof(name), "rep-%02lld", number);
	return session_path(s, f,
			    number == REPETITION_CONTROL      ? "undisturbed"
			    : number == REPETITION_WARM_UP    ? "warmup"
			    : number == REPETITION_COMPARISON ? "comparison"
			    : number == REPETITION_UNTRACED   ? "untraced"
							      : name);
}

void repetition_drop(const struct session *s, long long number)
{
	char *dir = repetition_dir(s, &(const struct flow){.name = ""}, number);

	fs_remove_tree(dir, NULL);
	free(dir);
}

/* A repetition that was stopped before a flow had begun is not kept. */
static int repetition_keep(const struct repetition *rep, bool *kept, struct err *e)
{
	int rc = 0;

	if (repetition_is_empty(rep)) {
		repetition_drop(rep->s, rep->number);
		return 0;
	}
	for (size_t i = 0; !rc && i < rep->count; i++)
		if (rep->flow[i].messages)
			rc = keep_flow(rep, i, e);
	*kept = !rc;
	return rc;
}

/* An error reported by an endpoint that nevertheless handed over its columns. */
static int repetition_find_failure(const struct repetition *rep, struct err *e)
{
	for (size_t i = 0; i < rep->count; i++)
		for (enum role role = ROLE_SOURCE; role <= ROLE_SINK; role++)
			if (*failure_of(&rep->flow[i], role))
				return err_set(e, -EIO, STATUS_FAILED, peer_of(rep, i, role)->name, NULL, "%s",
					       failure_of(&rep->flow[i], role));
	return 0;
}

/* --- the whole repetition --- */

static int repetition_begin(struct repetition *rep, struct session *s, long long number, struct err *e)
{
	int rc = 0;

	*rep = (struct repetition){.s = s, .number = number, .count = s->point->flow_count};
	for (size_t i = 0; !rc && i < rep->count; i++) {
		const struct flow *f = &s->point->flow[i];
		int64_t messages = f->config.schedule.messages;

		if (number == REPETITION_WARM_UP && f->common.warmup < messages)
			messages = f->common.warmup;
		rep->flow[i] =
		    (struct flow_rep){.flow = f, .messages = (uint32_t)messages, .dir = repetition_dir(s, f, number)};
		peer_of(rep, i, ROLE_SOURCE)->idle = peer_of(rep, i, ROLE_SINK)->idle = !messages;
		if (messages)
			rc = fs_mkdirs(rep->flow[i].dir, e);
	}
	return rc;
}

static void repetition_end(struct repetition *rep)
{
	for (size_t i = 0; i < rep->count; i++) {
		json_decref(rep->flow[i].done[ROLE_SOURCE]);
		json_decref(rep->flow[i].done[ROLE_SINK]);
		free(rep->flow[i].dir);
	}
}

int repetition_run(struct session *s, long long number, bool *kept, struct err *e)
{
	struct repetition rep;
	int rc = repetition_begin(&rep, s, number, e);

	*kept = false;
	if (!rc)
		rc = arm(&rep, ROLE_SINK, e);
	if (!rc)
		rc = arm(&rep, ROLE_SOURCE, e);
	if (!rc)
		rc = send_run(&rep, e);
	if (!rc)
		rc = follow(&rep, e);
	if (!rc)
		rc = repetition_keep(&rep, kept, e);
	if (!rc)
		rc = repetition_find_failure(&rep, e);
	if (!rc && rep.interrupted)
		rc = -EINTR;
	repetition_end(&rep);
	return rc;
}

void repetition_drop_incomplete(const struct session *s, long long number)
{
	bool whole = true;

	for (size_t i = 0; i < s->point->flow_count; i++) {
		char *dir = repetition_dir(s, &s->point->flow[i], number);
		char *counters = fs_path("%s/counters.json", dir);

		whole &= !access(counters, F_OK) || access(dir, F_OK);
		free(counters);
		free(dir);
	}
	if (!whole)
		repetition_drop(s, number);
}
