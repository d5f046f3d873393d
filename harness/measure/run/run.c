#include "measure/run/run.h"

#include <errno.h>
#include <jansson.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "common/trust.h"
#include "common/version.h"
#include "files/claim/claim_json.h"
#include "files/rundir/schema.h"
#include "files/rundir/writer.h"
#include "measure/instrument/clock.h"
#include "measure/point/settings.h"
#include "measure/run/host_state.h"
#include "measure/run/preflight.h"
#include "measure/run/seal.h"
#include "measure/spec/spec.h"

/* --- run.json and resolved.json, as they are before the first point --- */

_Static_assert(SPEC_MAX_POINTS <= SCHEMA_POINTS_MOST, "every run can be read");

static json_t *describe_series(const struct kernel_series *s)
{
	json_t *j = json_pack("{s:s, s:s, s:s, s:s*, s:s*, s:s*}", "name", s->name, "label", s->label, "column",
			      s->column, "minus", s->minus, "with", s->with, "among", s->among);

	if (s->divide > 1)
		json_object_set_new(j, "divide", json_integer(s->divide));
	if (s->lag)
		json_object_set_new(j, "lag", json_true());
	if (s->sparse)
		json_object_set_new(j, "sparse", json_true());
	return j;
}

static json_t *describe_kernel(const struct kernel_ops *k)
{
	json_t *columns = json_array(), *series = json_array();

	for (const struct kernel_column *c = k->columns; c->name; c++)
		json_array_append_new(columns, json_pack("{s:s, s:s, s:s*, s:s*}", "name", c->name, "side",
							 role_names[c->side], "with", c->with, "stamped_by",
							 c->from_source ? role_names[ROLE_SOURCE] : NULL));
	for (const struct kernel_series *s = k->series; s->name; s++)
		json_array_append_new(series, describe_series(s));
	return json_pack("{s:o, s:o, s:o*}", "columns", columns, "series", series, "counts_loss",
			 k->counts_loss ? json_true() : NULL);
}

static json_t *describe_kernels(const struct spec *spec)
{
	json_t *all = json_object();

	for (size_t i = 0; i < spec->point_count; i++)
		for (size_t k = 0; k < spec->point[i].flow_count; k++) {
			const struct kernel_ops *kernel = spec->point[i].flow[k].kernel;

			if (!json_object_get(all, kernel->name))
				json_object_set_new(all, kernel->name, describe_kernel(kernel));
		}
	return all;
}

static void describe_add_defaults(json_t *all, const char *name, const struct opt *table)
{
	if (!json_object_get(all, name))
		json_object_set_new(all, name, setting_defaults(table, false));
}

/* The values of settings before they existed, for comparisons with runs from that time. */
static json_t *describe_defaults(const struct spec *spec)
{
	json_t *kernels_of = json_object(), *transports_of = json_object();

	for (size_t i = 0; i < spec->point_count; i++)
		for (size_t k = 0; k < spec->point[i].flow_count; k++) {
			const struct flow *f = &spec->point[i].flow[k];

			describe_add_defaults(kernels_of, f->kernel->name, f->kernel->options);
			describe_add_defaults(transports_of, f->transport->name, f->transport->options);
		}
	return json_pack("{s:o, s:o, s:o, s:o}", "point", setting_defaults(common_options, true), "flow",
			 setting_defaults(common_options, false), "kernels", kernels_of, "transports", transports_of);
}

json_t *describe_resolved(const struct spec *spec)
{
	json_t *points = json_array(), *resolved;

	for (size_t i = 0; i < spec->point_count; i++)
		json_array_append_new(points, point_json(&spec->point[i]));
	resolved = json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:O, s:o, s:O*, s:o, s:o}", "schema", 1, "name",
			     spec->name, "title", spec->title, "variant", spec->quick ? "quick" : "full", "kernels",
			     describe_kernels(spec), "points", points, "named", spec->named, "claims",
			     claim_list_to_json(&spec->claims), "judge", spec->judge, "bookkeeping",
			     setting_bookkeeping(), "defaults", describe_defaults(spec));
	if (spec->claims.count)
		json_object_set_new(resolved, "claim_rules", json_integer(CLAIM_RULES));
	return resolved;
}

static json_int_t in_ns(const struct timespec *t)
{
	return (json_int_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

json_t *describe_command(int argc, char *const *argv)
{
	json_t *words = json_texts((const char *const *)argv, (size_t)argc);

	json_array_insert_new(words, 0, json_string("kblat"));
	return words;
}

struct run_record describe_run(const char *name, const char *title, const char *source, bool quick, int argc,
			       char *const *argv)
{
	char utc[32];

	return (struct run_record){
	    .name = fs_path("%s", name),
	    .title = fs_path("%s", title),
	    .source = json_outside_text(source),
	    .status = fs_path("RUNNING"),
	    .variant = fs_path("%s", quick ? "quick" : "full"),
	    .argv = describe_command(argc, argv),
	    .version = fs_path("%s", kblat_version),
	    .commit = fs_path("%s", kblat_commit),
	    .started_utc = fs_path("%s", utc_now(utc, sizeof(utc), 0)),
	    .reasons = json_array(),
	    .warnings = json_array(),
	};
}

int64_t describe_start(struct run_record *r, const char *host, const char *boot_id, const char *role,
		       const struct clock_report *clock)
{
	const char *sysroot = machine_state_sysroot();
	struct timespec mono, real, tai;
	int64_t ticks;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_TAI, &tai);
	ticks = clock_ticks_begin();
	r->t0 = (struct run_start){in_ns(&mono), in_ns(&real), in_ns(&tai)};
	run_record_add_host(r, host, boot_id, role, NULL);
	r->clock = clock_json(clock);
	json_object_set_new(r->clock, "common", json_true());
	r->sysroot = sysroot ? json_outside_text(sysroot) : NULL;
	return ticks;
}

#define CALIBRATION_MS 25 /* the fit's slope is known to some 0.1 ppm by then, and the run says how well (drift_ppm) */

/* The state of a run. */
struct engine {
	const struct run_request *request;
	struct run_result *result;
	struct rundir dir;
	struct environment environment;
	struct run_context context;
	struct clock_report clock;
	struct progress progress;
	char host[MACHINE_NAME_MAX];
	bool warned_of_adapter;
	struct hosts hosts;
};

/* --- before the first point --- */

char *run_parent(const struct spec *spec, const char *out)
{
	char *path, *record, *parent;
	const char *folder;

	if (out)
		return fs_path("%s", out);
	path = or_abort(strdup(spec->path));
	folder = dirname(path);
	record = fs_path("%s/run.json", folder);
	/* A run that is measured again is sealed: the new one goes beside it. */
	parent = fs_path(access(record, F_OK) ? "%s/runs" : "%s/..", folder);
	free(record);
	free(path);
	return parent;
}

static void find_identity(struct engine *g)
{
	_Static_assert(sizeof(g->context.boot_id) == MACHINE_BOOT_MAX, "it has no room for a boot ID");
	machine_identify(g->host, g->context.boot_id);
	if (g->request->mask)
		snprintf(g->host, sizeof(g->host), "%s", hosts_label(&g->hosts, g->host));
	machine_name_folder(g->host);
	g->hosts.own = g->host;
}

static bool run_is_local(const struct run_request *r)
{
	return (!r->launcher[0] || !*r->launcher[0]) && (!r->launcher[1] || !*r->launcher[1]);
}

static int create_directory(struct engine *g, const char *parent, struct err *e)
{
	const struct run_request *r = g->request;
	const struct spec *spec = r->spec;
	const struct rundir_head head = {spec->name,	 spec->title,		spec->text, spec->length,
					 spec->original, spec->original_length, spec->quick};
	struct run_record record = describe_run(spec->name, spec->title, spec->source, spec->quick, r->argc, r->argv);
	const int64_t t0 = describe_start(&record, g->host, g->context.boot_id, "coordinator", &g->clock);
	int rc = rundir_create(&g->dir, parent, &head, describe_resolved(spec), &record, e);

	g->context.path = g->dir.path;
	g->context.resolved = g->dir.resolved;
	g->context.tick_hz = g->clock.hz;
	g->context.conversion = clock_conversion_from(t0, g->clock.hz);
	g->context.wants_skew = true;
	g->context.wants_taken = spec->claims.count;
	g->context.hosts = &g->hosts;
	g->hosts.run_path = g->dir.path;
	g->hosts.conversion = g->context.conversion;
	return rc;
}

static int run_prepare(struct engine *g, struct err *e)
{
	const struct spec *spec = g->request->spec;
	char *parent = run_parent(spec, g->request->out);
	int rc;

	environment_open(&g->environment, g->request->interrupted);
	find_identity(g);
	rc = (g->request->out ? 0 : trust_no_link(parent, "keep the run there", e)) ?: fs_mkdirs(parent, e);
	if (!rc)
		rc = preflight(spec->point, spec->point_count, parent, run_is_local(g->request), e);
	if (!rc)
		rc = environment_check(&g->environment, spec->point, spec->point_count, e);
	if (!rc) {
		clock_calibrate(CALIBRATION_MS, &g->clock);
		rc = create_directory(g, parent, e);
	}
	free(parent);
	return rc;
}

/* --- points --- */

/* Add what was found out about hosts and clocks during a point to run.json. */
static void merge_outcome(struct engine *g, const struct point_outcome *o)
{
	json_t *host, *role;
	const char *name;
	size_t i;

	json_object_foreach (o->hosts, name, host)
		json_array_foreach (json_object_get(host, "roles"), i, role)
			run_record_add_host(&g->dir.record, name, json_text(host, "boot_id"), json_string_value(role),
					    json_object_get(host, "clock"));
	if (!o->common_clock)
		json_object_set_new(g->dir.record.clock, "common", json_false());
	if (o->skew_ns >= 0) {
		json_object_set_new(g->dir.record.clock, "skew_ns", json_integer(o->skew_ns));
		g->context.wants_skew = false;
	}
}

/* Once per run, because it will apply to most points. */
static void warn_of_adapter(struct engine *g, const char *device)
{
	char text[256];

	if (!*device || g->warned_of_adapter)
		return;
	g->warned_of_adapter = true;
	snprintf(text, sizeof(text),
		 "source and sink both use the adapter %.60s, so nothing leaves it; choose two with source_device and "
		 "sink_device, or set device if this is intended",
		 device);
	g->request->warn(text);
	rundir_log(&g->dir, "adapter", json_pack("{s:s}", "warning", text));
}

/* Warn about parts of other hosts' states that could not be stored. */
static void warn_of_hosts(struct engine *g)
{
	const json_t *text;
	size_t i;

	json_array_foreach (g->hosts.warnings, i, text) {
		g->request->warn(json_string_value(text));
		rundir_log(&g->dir, "state", json_pack("{s:O}", "error", text));
	}
	json_array_clear(g->hosts.warnings);
}

/* It has failed, or been measured in all its rounds. */
static void end_point(struct engine *g, const struct point *p, const struct point_outcome *o, const struct err *e)
{
	rundir_log(&g->dir, "point",
		   json_pack("{s:I, s:s, s:s, s:I}", "id", (json_int_t)p->id, "outcome", outcome_names[o->outcome],
			     "why", e->text, "took_ms", (json_int_t)o->took_ms));
	g->result->count[o->outcome]++;
	g->request->point_ended(&g->progress, o->outcome, e->text);
	if (o->outcome != OUTCOME_COMPLETED)
		rundir_update(&g->dir, NULL);
}

static void run_point(struct engine *g, const struct point *p, struct point_outcome *o)
{
	struct err e = ERR_INIT;

	g->progress.point_started_ms = monotonic_ms() - o->took_ms;
	coordinator_run_point(&g->context, &g->environment, p, &g->progress, o, &e);
	merge_outcome(g, o);
	warn_of_adapter(g, o->shared_adapter);
	warn_of_hosts(g);
	if (point_is_over(p, o))
		end_point(g, p, o, &e);
}

/* Unblocks signals for a moment, so that one that arrived outside of a wait is noticed. */
static bool is_interrupted(const struct engine *g)
{
	sigset_t none, old;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, &old);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return *g->request->interrupted != 0;
}

/* The next round of all points that have one. Returns whether there is another one. */
static bool run_round(struct engine *g, struct point_outcome *outcomes)
{
	const struct spec *spec = g->request->spec;
	bool another = false;

	for (size_t i = 0; i < spec->point_count && !is_interrupted(g); i++) {
		if (point_is_over(&spec->point[i], &outcomes[i]))
			continue;
		g->progress.point = i + 1;
		run_point(g, &spec->point[i], &outcomes[i]);
		another |= !point_is_over(&spec->point[i], &outcomes[i]);
	}
	return another && !is_interrupted(g);
}

static void run_points(struct engine *g)
{
	const struct spec *spec = g->request->spec;
	struct point_outcome *outcomes = or_abort(calloc(spec->point_count + 1, sizeof(*outcomes)));

	g->result->total = spec->point_count;
	g->progress = (struct progress){.path = g->dir.path,
					.points = spec->point_count,
					.all_messages = preflight_messages(spec->point, spec->point_count),
					.started_ms = monotonic_ms(),
					.show = g->request->show};
	for (size_t i = 0; i < spec->point_count; i++)
		point_outcome_init(&outcomes[i]);
	while (run_round(g, outcomes))
		;
	for (size_t i = 0; i < spec->point_count; i++) {
		g->result->count[OUTCOME_INTERRUPTED] +=
		    outcomes[i].rounds && !point_is_over(&spec->point[i], &outcomes[i]);
		point_outcome_free(&outcomes[i]);
	}
	free(outcomes);
}

/* --- before and after the points --- */

/* Errors in describing the machine are reported, but do not end the run. */
static void warn(struct engine *g, const struct err *e)
{
	g->request->warn(e->text);
	rundir_log(&g->dir, "state", json_pack("{s:s}", "error", e->text));
}

static void keep_state(struct engine *g, const char *when)
{
	struct err e = ERR_INIT;

	if (g->request->no_state)
		return;
	if (machine_state_keep(g->dir.path, g->host, when, g->request->mask, &e))
		warn(g, &e);
}

static void keep_changes(struct engine *g)
{
	struct err e = ERR_INIT;

	if (g->request->no_state)
		return;
	if (machine_state_keep_changes(g->dir.path, g->host, g->environment.history, &e))
		rundir_log(&g->dir, "state", json_pack("{s:s}", "error", e.text));
}

static int seal(struct engine *g, struct err *e)
{
	struct run_result *r = g->result;
	json_t *points = json_pack("{s:I}", "total", (json_int_t)r->total);
	const char *status = *g->request->interrupted	? "INTERRUPTED"
			     : r->count[OUTCOME_FAILED] ? "FAILED"
							: "COMPLETED";
	int rc;

	for (size_t i = 0; i < OUTCOMES; i++)
		json_object_set_new(points, outcome_names[i], json_integer((json_int_t)r->count[i]));
	g->dir.record.points = points;
	rc = seal_run(&g->dir, status, &r->summary, e);
	r->path = or_abort(strdup(g->dir.path));
	return rc;
}

int run_execute(const struct run_request *request, struct run_result *result, struct err *e)
{
	struct engine g = {.request = request, .result = result};
	struct err left = ERR_INIT;
	int rc;

	*result = (struct run_result){.path = NULL};
	hosts_init(&g.hosts, request->mask, request->interrupted);
	g.hosts.no_state = request->no_state;
	g.context.launcher[0] = request->launcher[0];
	g.context.launcher[1] = request->launcher[1];
	g.context.interrupted = request->interrupted;
	g.context.mask = request->mask;
	rc = run_prepare(&g, e);
	g.context.kbtune = g.environment.kbtune;
	if (!rc) {
		keep_state(&g, "before");
		run_points(&g);
		if (environment_leave(&g.environment, &left))
			request->warn(left.text);
		keep_state(&g, "after");
		keep_changes(&g);
		hosts_keep_after(&g.hosts);
		warn_of_hosts(&g);
		rc = seal(&g, e);
	}
	rundir_close(&g.dir);
	environment_close(&g.environment);
	hosts_free(&g.hosts);
	return rc;
}

void run_result_free(struct run_result *r)
{
	seal_free_summary(r->summary);
	free(r->path);
	*r = (struct run_result){.path = NULL};
}
