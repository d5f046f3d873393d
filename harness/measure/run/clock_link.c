#include "measure/run/clock_link.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/npy.h"
#include "common/or_abort.h"
#include "common/trace_kinds.h"
#include "measure/kernels/exchange.h"
#include "measure/run/channel.h"
#include "measure/run/repetition.h"
#include "measure/run/session.h"

/* --- two clocks, compared by round trips --- */

bool clock_pair_is_time(int64_t ns)
{
	return ns > -CLOCK_PAIR_FURTHEST_NS && ns < CLOCK_PAIR_FURTHEST_NS;
}

/* The round-trip time minus the far side's processing time; negative: the stamps contradict each other. */
static int64_t path_ns(const struct clock_exchange *x)
{
	if (!clock_pair_is_time(x->sent) || !clock_pair_is_time(x->received) || !clock_pair_is_time(x->answered) ||
	    !clock_pair_is_time(x->returned))
		return -1;
	return (x->returned - x->sent) - (x->answered - x->received);
}

bool clock_pair_compare(const struct clock_exchange *exchanges, size_t count, struct clock_comparison *out)
{
	const struct clock_exchange *best = NULL;

	for (size_t i = 0; i < count; i++) {
		const int64_t way = path_ns(&exchanges[i]);

		if (way >= 0 && (!best || way < path_ns(best)))
			best = &exchanges[i];
	}
	if (!best)
		return false;

	const int64_t most = best->received - best->sent, least = best->answered - best->returned;
	const int64_t took = best->returned - best->sent;

	*out = (struct clock_comparison){
	    .at_ns = best->sent + took / 2,
	    .offset_ns = least + (most - least) / 2,
	    /* Each stamp is rounded, and the clocks drift apart meanwhile. */
	    .error_ns = (most - least + 1) / 2 + 2 + took * CLOCK_PAIR_MOST_PPM / 1000000,
	};
	return true;
}

/* --- the line through all points --- */

static void fit_line(const struct clock_comparison *c, size_t count, struct clock_line *out)
{
	double mean_t = 0, mean_o = 0, tt = 0, to = 0;

	/* Differences from the first, because the values themselves may exceed a double's 53 bits. */
	for (size_t i = 0; i < count; i++) {
		mean_t += (double)(c[i].at_ns - c[0].at_ns) / (double)count;
		mean_o += (double)(c[i].offset_ns - c[0].offset_ns) / (double)count;
	}
	for (size_t i = 0; i < count; i++) {
		const double t = (double)(c[i].at_ns - c[0].at_ns) - mean_t;

		tt += t * t;
		to += t * ((double)(c[i].offset_ns - c[0].offset_ns) - mean_o);
	}
	const double slope = tt > 0 ? to / tt : 0;

	out->at_ns = c[0].at_ns;
	out->offset_ns = c[0].offset_ns + llround(mean_o - slope * mean_t);
	out->drift_ppb = slope * 1e9;
}

static int64_t distance_from(const struct clock_line *line, const struct clock_comparison *c)
{
	const double moved = line->drift_ppb * 1e-9 * (double)(c->at_ns - line->at_ns);

	return llabs(c->offset_ns - line->offset_ns - llround(moved));
}

/* --- bounds --- */

/* A change of the rate has the largest effect in the middle of an interval, where it bends the line
 * by a quarter of the change over the interval. */
static int64_t wander_ns(int64_t interval_ns)
{
	return (int64_t)ceil((double)interval_ns * CLOCK_PAIR_WANDER_PPB * 1e-9 / 4);
}

static int64_t bound_between(const struct clock_comparison *a, const struct clock_comparison *b)
{
	return (a->error_ns > b->error_ns ? a->error_ns : b->error_ns) + wander_ns(b->at_ns - a->at_ns);
}

static bool is_step(const struct clock_comparison *a, const struct clock_comparison *b)
{
	const int64_t most = (b->at_ns - a->at_ns) / 1000000 * CLOCK_PAIR_MOST_PPM;

	return llabs(b->offset_ns - a->offset_ns) > a->error_ns + b->error_ns + most;
}

/* A line through points with errors of at most e is at most 3 e away from any of them; and rates
 * change a little. */
static bool is_bent(const struct clock_line *line, const struct clock_comparison *c, size_t count)
{
	int64_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = c[i].error_ns > most ? c[i].error_ns : most;
	return line->residual_ns > 3 * most + 4 * wander_ns(c[count - 1].at_ns - c[0].at_ns);
}

struct clock_line clock_pair_fit(const struct clock_comparison *c, size_t count)
{
	struct clock_line line = {.error_ns = c[0].error_ns};

	fit_line(c, count, &line);
	for (size_t i = 0; i < count; i++) {
		const int64_t residual = distance_from(&line, &c[i]);

		line.residual_ns = residual > line.residual_ns ? residual : line.residual_ns;
	}
	for (size_t i = 0; i + 1 < count; i++) {
		const int64_t bound = bound_between(&c[i], &c[i + 1]);

		line.error_ns = bound > line.error_ns ? bound : line.error_ns;
		line.has_stepped |= is_step(&c[i], &c[i + 1]);
	}
	line.has_stepped |= is_bent(&line, c, count);
	return line;
}

int64_t clock_pair_offset(const struct clock_comparison *c, size_t count, int64_t far_ns)
{
	size_t i = 0;

	if (count == 1)
		return c[0].offset_ns;
	while (i + 2 < count && far_ns > c[i + 1].at_ns + c[i + 1].offset_ns)
		i++;

	/* By the far clock, the comparisons were at at_ns + offset_ns. */
	const int64_t from = c[i].at_ns + c[i].offset_ns, to = c[i + 1].at_ns + c[i + 1].offset_ns;
	const double share = to > from ? (double)(far_ns - from) / (double)(to - from) : 0;
	const double moved = share * (double)(c[i + 1].offset_ns - c[i].offset_ns), most = CLOCK_PAIR_FURTHEST_NS;

	return c[i].offset_ns + llround(fmin(fmax(moved, -most), most));
}

#define ROUND_TRIPS   200
#define LOST_AFTER_NS 100000000
#define DEPTH	      16
#define ROUNDING_NS   4
#define WALL_LAST_NS  (1LL << 62) /* the year 2116 */

/* --- clocks that other programs synchronise --- */

static int64_t by_most_ppm(int64_t ns)
{
	return (int64_t)((double)llabs(ns) * CLOCK_PAIR_MOST_PPM * 1e-6) + ROUNDING_NS;
}

bool clock_wall_between(const struct wall_look source[2], const struct wall_look *sink, int64_t kept_ns,
			struct clock_comparison *out)
{
	const int64_t took = source[1].at_ns - source[0].at_ns, wall_took = source[1].wall_ns - source[0].wall_ns;
	const int64_t widths = source[0].width_ns + source[1].width_ns;
	const int64_t since = sink->wall_ns - source[0].wall_ns;
	const int64_t outside = since < 0 ? -since : since > wall_took ? since - wall_took : 0;
	double passed_ns;
	int64_t at_ns;

	if (took <= 0 || wall_took <= 0 || llabs(wall_took - took) > by_most_ppm(took) + widths)
		return false;
	passed_ns = (double)since * ((double)took / (double)wall_took);
	if (fabs(passed_ns) >= CLOCK_PAIR_FURTHEST_NS)
		return false;
	at_ns = source[0].at_ns + (int64_t)passed_ns;
	*out = (struct clock_comparison){
	    .at_ns = at_ns,
	    .offset_ns = sink->at_ns - at_ns,
	    .error_ns = kept_ns + (widths + sink->width_ns) / 2 + by_most_ppm(outside),
	};
	return clock_pair_is_time(out->at_ns) && clock_pair_is_time(out->offset_ns);
}

static const char *interface_of(const json_t *kept)
{
	return json_text(kept, "interface");
}

/* With PTP, both must follow the same grandmaster. chrony follows UTC, which is the same
 * everywhere, unless a host uses its own local reference. */
int clock_wall_check(const json_t *source, const json_t *sink, struct err *e)
{
	const char *why = NULL;

	if (!strcmp(json_text(source, "by"), "linuxptp")) {
		if (strcmp(json_text(source, "reference"), json_text(sink, "reference")) != 0)
			why = "their clocks follow different grandmasters";
		else if (!*interface_of(source) != !*interface_of(sink))
			why = "ptp4l synchronises an adapter's clock on one host and the system clock on the other; "
			      "these differ by leap seconds";
	} else if (json_is_true(json_object_get(source, "is_source")) &&
		   json_is_true(json_object_get(sink, "is_source"))) {
		why = "chrony follows no source on either host (`local` in chrony.conf)";
	}
	return why ? err_set(e, -ENODATA, STATUS_FAILED, NULL, NULL, "%s", why) : 0;
}

/* --- what endpoints report of them --- */

static int ask_keeper(struct peer *p, enum clock_method method, json_t *kept, struct err *e)
{
	json_t *reply;
	const json_t *error;
	int rc = channel_ask(&p->channel,
			     json_pack("{s:s, s:s}", "type", "discipline", "method", clock_method_names[method]),
			     "disciplined", &reply, e);

	if (rc)
		return rc;
	error = json_object_get(json_object_get(reply, "discipline"), "error_ns");
	if (!json_is_integer(error) || json_integer_value(error) < 0 || !clock_pair_is_time(json_integer_value(error)))
		rc = err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL, "endpoint's clock report cannot be read");
	json_object_set(kept, role_names[p->role], json_object_get(reply, "discipline"));
	json_decref(reply);
	return rc;
}

static int look(struct peer *p, struct wall_look *out, struct err *e)
{
	json_t *reply;
	int rc = channel_ask(&p->channel, json_pack("{s:s}", "type", "wall"), "wall", &reply, e);

	if (rc)
		return rc;
	*out = (struct wall_look){json_integer_value(json_object_get(reply, "at_ns")),
				  json_integer_value(json_object_get(reply, "wall_ns")),
				  json_integer_value(json_object_get(reply, "width_ns"))};
	json_decref(reply);
	if (clock_pair_is_time(out->at_ns) && out->wall_ns >= 0 && out->wall_ns < WALL_LAST_NS && out->width_ns >= 0 &&
	    clock_pair_is_time(out->width_ns))
		return 0;
	return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL, "endpoint sent impossible times of its clock");
}

static int64_t kept_within(const json_t *kept)
{
	int64_t sum = 0;

	for (size_t role = 0; role < 2; role++)
		sum += json_integer_value(json_object_get(json_object_get(kept, role_names[role]), "error_ns"));
	return sum;
}

/* Compare the clocks of a flow's source and sink, which must be open and idle. `kept` gets a new
 * reference to the reports of the programs that synchronise them, {"source", "sink"}. 0 or a
 * negative errno. */
static int clock_wall_compare(struct peer peer[2], enum clock_method method, json_t **kept,
			      struct clock_comparison *out, struct err *e)
{
	struct peer *source = &peer[ROLE_SOURCE], *sink = &peer[ROLE_SINK];
	struct wall_look near[2], far;
	json_t *said = json_object();
	int rc = ask_keeper(source, method, said, e) ?: ask_keeper(sink, method, said, e);

	if (!rc)
		rc = clock_wall_check(json_object_get(said, role_names[ROLE_SOURCE]),
				      json_object_get(said, role_names[ROLE_SINK]), e);
	rc = rc ?: look(source, &near[0], e) ?: look(sink, &far, e) ?: look(source, &near[1], e);
	if (!rc && !clock_wall_between(near, &far, kept_within(said), out))
		rc = err_set(e, -ESTALE, STATUS_FAILED, source->name, NULL,
			     "the clock of its host was set meanwhile, or is months from that of the sink's");
	json_decref(*kept);
	*kept = said;
	return rc;
}

/* --- the flow for comparisons --- */

/* Settings that determine the route of messages and the placement are those of the measured flow;
 * all others are chosen for comparing clocks. */
static const char *const shared_keys[] = {
    "device",		"source_device",     "sink_device", "port",	"gid_index",
    "source_gid_index", "sink_gid_index",    "mtu",	    "sl",	"connect",
    "ack_timeout",	"retry_cnt",	     "over",	    "pattern",	"nodelay",
    "source_address",	"sink_address",	     "source_cpu",  "sink_cpu", "timeout_ns",
    "priority",		"priority_limit_ns", NULL};

static void add_defaults(json_t *params, const struct opt *table)
{
	json_t *of_flow = setting_defaults(table, false), *of_point = setting_defaults(table, true);

	json_object_update(params, of_flow);
	json_object_update(params, of_point);
	json_decref(of_flow);
	json_decref(of_point);
}

/* Over the measured endpoints, what their transport was opened with is given. */
static void take_given(json_t *params, const struct flow *f)
{
	json_t *given = json_object();
	const char *key;
	json_t *value;

	add_defaults(given, f->transport->options);
	json_object_foreach (given, key, value)
		json_object_set(params, key, json_object_get(f->params, key));
	json_object_set_new(params, "size_bytes", json_integer((json_int_t)f->config.size));
	if (f->config.depth < DEPTH)
		json_object_set_new(params, "depth", json_integer((json_int_t)f->config.depth));
	json_decref(given);
}

static json_t *comparing_params(const struct flow *f)
{
	json_t *params = json_object();

	add_defaults(params, common_options);
	add_defaults(params, exchange_kernel.options);
	add_defaults(params, f->transport->options);
	for (const char *const *key = shared_keys; *key; key++) {
		json_t *value = json_object_get(f->params, *key);

		if (value && json_object_get(params, *key))
			json_object_set(params, *key, value);
	}
	json_object_set_new(params, "kernel", json_string(exchange_kernel.name));
	json_object_set_new(params, "transport", json_string(f->transport->name));
	json_object_set_new(params, "messages", json_integer(ROUND_TRIPS));
	json_object_set_new(params, "lost_after_ns", json_integer(LOST_AFTER_NS));
	json_object_set_new(params, "depth", json_integer(DEPTH));
	json_object_set_new(params, "warmup", json_integer(0));
	json_object_set_new(params, "repetitions", json_integer(1));
	if (f->transport->is_exclusive)
		take_given(params, f);
	return params;
}

/* Source and sink of the first flow that needs a clock common to both; NULL: none does. */
static struct peer *peers_in_need(const struct session *of)
{
	for (size_t i = 0; i < of->point->flow_count; i++)
		if (flow_crosses(&of->point->flow[i]) && !of->point->flow[i].transport->has_own_clock)
			return &of->peer[2 * i];
	return NULL;
}

/* --- open --- */

/* Use the same place as the measured side. */
static void take_place(struct peer *p, const struct peer *measured)
{
	p->shield = measured->shield;
	memcpy(p->host, measured->host, sizeof(p->host));
}

/* Endpoints of its own. */
static int start_others(struct clock_link *l, const struct session *of)
{
	struct session *s = &l->session;
	int rc = session_begin(s, of->run, &l->point, &l->why);

	if (rc)
		return rc;
	free(s->dir);
	s->dir = fs_path("%s/clock", of->dir);
	for (size_t i = 0; i < s->count; i++)
		take_place(&s->peer[i], &l->measured[i]);
	rc = fs_mkdirs(s->dir, &l->why);
	if (!rc)
		rc = session_start(s, &l->why);
	if (!rc)
		rc = session_open(s, &l->why);
	return rc ? rc : session_connect(s, &l->why);
}

/* Nobody else can open what the measured endpoints have open: they compare the clocks themselves. */
static int borrow(struct clock_link *l, const struct session *of)
{
	l->session = (struct session){.run = of->run,
				      .point = &l->point,
				      .dir = fs_path("%s/clock", of->dir),
				      .count = 2,
				      .peer = l->measured,
				      .borrows = true};
	return fs_mkdirs(l->session.dir, &l->why);
}

static int start(struct clock_link *l, const struct session *of)
{
	json_t *params = comparing_params(l->measured->flow);
	int rc = point_load(&l->point, of->point->id, params, &l->why);

	json_decref(params);
	if (rc)
		return rc;
	return l->measured->flow->transport->is_exclusive ? borrow(l, of) : start_others(l, of);
}

void clock_link_open(struct clock_link *l, const struct session *of)
{
	*l = (struct clock_link){.is_apart = of->run->hosts && session_flow_is_apart(of, 0),
				 .method = (enum clock_method)of->point->flow[0].common.clock,
				 .measured = peers_in_need(of)};
	if (!l->is_apart)
		return;
	for (size_t i = 0; i < 2; i++)
		l->hosts[i] = or_abort(strdup(session_hosts_name(of, &of->peer[i])));
	if (l->measured)
		l->is_open = l->method != CLOCK_BY_EXCHANGE || !start(l, of);
}

void clock_link_close(struct clock_link *l)
{
	if (l->session.count) {
		session_stop(&l->session);
		fs_remove_tree(l->session.dir, NULL);
	}
	session_end(&l->session);
	point_free(&l->point);
	free(l->hosts[0]);
	free(l->hosts[1]);
	free(l->list);
	json_decref(l->kept);
	*l = (struct clock_link){.count = 0};
}

/* --- compare --- */

static int open_stamps(const char *dir, struct npy column[4], struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < 4; i++) {
		char *path = fs_path("%s/%s.npy", dir, exchange_kernel.columns[i].name);

		rc = npy_open(path, &column[i], e);
		free(path);
	}
	return rc;
}

static int read_exchanges(struct clock_link *l, struct clock_comparison *out)
{
	char *dir = session_path(&l->session, l->point.flow, "comparison");
	struct clock_exchange exchange[ROUND_TRIPS];
	struct npy column[4] = {{NULL}};
	size_t count = 0;
	int rc = open_stamps(dir, column, &l->why);

	for (; !rc && count < ROUND_TRIPS && count < column[0].count; count++)
		exchange[count] =
		    (struct clock_exchange){column[EXCHANGE_T_SUBM].data[count], column[EXCHANGE_T_RECV].data[count],
					    column[EXCHANGE_T_ANSWER].data[count], column[EXCHANGE_T_BACK].data[count]};
	if (!rc && !clock_pair_compare(exchange, count, out))
		rc =
		    err_set(&l->why, -ENODATA, STATUS_FAILED, NULL, NULL, "no message of %d was answered", ROUND_TRIPS);
	for (size_t i = 0; i < 4; i++)
		if (npy_close(&column[i], &l->why))
			rc = -EIO;
	free(dir);
	return rc;
}

/* Borrowed endpoints belong to the comparison's flow meanwhile. */
static int run_comparison(struct clock_link *l, bool *kept)
{
	const struct flow *measured = l->measured->flow;
	int rc;

	if (!l->session.borrows)
		return repetition_run(&l->session, REPETITION_COMPARISON, kept, &l->why);
	l->measured[ROLE_SOURCE].flow = l->measured[ROLE_SINK].flow = l->point.flow;
	rc = repetition_run(&l->session, REPETITION_COMPARISON, kept, &l->why);
	l->measured[ROLE_SOURCE].flow = l->measured[ROLE_SINK].flow = measured;
	return rc;
}

static int compare_by_exchange(struct clock_link *l, struct clock_comparison *found)
{
	bool kept;
	int rc = run_comparison(l, &kept);

	if (!rc)
		rc = kept ? read_exchanges(l, found) : -ENODATA;
	repetition_drop(&l->session, REPETITION_COMPARISON);
	return rc;
}

int clock_link_compare(struct clock_link *l, struct err *e)
{
	struct clock_comparison found;
	int rc;

	if (!l->is_open)
		return 0;
	rc = l->method == CLOCK_BY_EXCHANGE ? compare_by_exchange(l, &found)
					    : clock_wall_compare(l->measured, l->method, &l->kept, &found, &l->why);
	if (rc == -EINTR)
		return rc;
	l->is_open = !rc;
	if (rc && l->session.borrows && rc != -ENODATA) { /* they cannot go on */
		*e = l->why;
		return rc;
	}
	if (rc)
		return 0;
	l->list = or_abort(realloc(l->list, (l->count + 1) * sizeof(*l->list)));
	l->list[l->count++] = found;
	return 0;
}

/* --- correct --- */

#define PART_VALUES 8192 /* read and written at once */

/* Every `stride`-th number is a time. */
static void correct_stamps(const struct clock_link *l, int64_t *data, size_t count, size_t stride)
{
	const size_t around = l->count < 2 ? l->count : 2;
	const struct clock_comparison *from = l->list + l->count - around;

	for (size_t i = 0; i < count; i += stride)
		data[i] = clock_pair_is_time(data[i]) ? data[i] - clock_pair_offset(from, around, data[i]) : NEVER;
}

/* Correct a part of a file in place. Written as usual, so that an error is an error of the write, and of the later
 * fsync(): what a mapping writes may fail at any time, and then nobody is told. */
static int correct_part(const struct clock_link *l, int fd, off_t at, int64_t *data, size_t size, size_t stride)
{
	if (pread(fd, data, size, at) != (ssize_t)size)
		return -EIO;
	correct_stamps(l, data, size / sizeof(*data), stride);

	const ssize_t n = pwrite(fd, data, size, at);

	return n == (ssize_t)size ? 0 : n < 0 ? -errno : -ENOSPC;
}

static int correct_file(const struct clock_link *l, const char *path, size_t stride, struct err *e)
{
	const size_t most = PART_VALUES * stride * sizeof(int64_t);
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	int64_t *data = or_abort(malloc(most));
	struct stat st;
	int rc = 0;

	if (fd < 0 || fstat(fd, &st) || st.st_size < NPY_HEADER)
		rc = err_sys(e, fd < 0 ? -errno : -EIO, path, "open");
	for (off_t at = NPY_HEADER; !rc && at < st.st_size; at += (off_t)most) {
		const size_t left = (size_t)(st.st_size - at);

		rc = correct_part(l, fd, at, data, left < most ? left : most, stride);
		if (rc)
			err_sys(e, rc, path, "correct the stamps in");
	}
	if (fd >= 0)
		close(fd);
	free(data);
	return rc;
}

static int correct_column(const struct clock_link *l, const char *dir, const char *name, size_t stride, struct err *e)
{
	char *path = fs_path("%s/%s.npy", dir, name);
	int rc = stride > 1 && fs_is_missing(path) ? 0 : correct_file(l, path, stride, e);

	free(path);
	return rc;
}

/* Correct the sink's stamps and kernel events. */
static int correct_flow(const struct clock_link *l, const struct flow *f, const char *dir, struct err *e)
{
	int rc = 0;

	for (const struct kernel_column *c = f->kernel->columns; !rc && c->name; c++)
		if (flow_has_column(f, c, ROLE_SINK) && !c->from_source)
			rc = correct_column(l, dir, c->name, 1, e);
	return rc ? rc : correct_column(l, dir, "trace-sink", TRACE_WORDS, e);
}

int clock_link_correct(const struct clock_link *l, const struct session *of, long long repetition, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && l->count && i < of->point->flow_count; i++) {
		char *dir = repetition_dir(of, &of->point->flow[i], repetition);

		rc = correct_flow(l, &of->point->flow[i], dir, e);
		free(dir);
	}
	return rc;
}

/* --- the result --- */

static json_t *comparisons_json(const struct clock_link *l)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->count; i++)
		json_array_append_new(list, json_pack("{s:I, s:I, s:I}", "at_ns", (json_int_t)l->list[i].at_ns,
						      "offset_ns", (json_int_t)l->list[i].offset_ns, "error_ns",
						      (json_int_t)l->list[i].error_ns));
	return list;
}

json_t *clock_link_json(const struct clock_link *l)
{
	struct clock_line line;

	if (!l->is_apart)
		return NULL;
	if (!l->is_open || !l->count)
		return json_pack("{s:[s, s], s:s, s:s}", "hosts", l->hosts[0], l->hosts[1], "method", "none", "why",
				 l->why.text);
	line = clock_pair_fit(l->list, l->count);
	return json_pack("{s:[s, s], s:s, s:O*, s:I, s:f, s:I, s:I, s:b, s:o}", "hosts", l->hosts[0], l->hosts[1],
			 "method", clock_method_names[l->method], "kept", l->kept, "offset_ns",
			 (json_int_t)line.offset_ns, "drift_ppb", line.drift_ppb, "error_ns", (json_int_t)line.error_ns,
			 "residual_ns", (json_int_t)line.residual_ns, "stepped", line.has_stepped, "comparisons",
			 comparisons_json(l));
}
