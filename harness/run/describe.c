#include "run/describe.h"

#include <time.h>

#include "claims/claim_json.h"
#include "common/json.h"
#include "common/version.h"
#include "point/settings.h"
#include "run/machine_state.h"
#include "rundir/schema.h"
#include "rundir/writer.h"

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
	json_t *points = json_array();

	for (size_t i = 0; i < spec->point_count; i++)
		json_array_append_new(points, point_json(&spec->point[i]));
	return json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:O, s:o, s:o, s:o}", "schema", 1, "name", spec->name, "title",
			 spec->title, "variant", spec->quick ? "quick" : "full", "kernels", describe_kernels(spec),
			 "points", points, "named", spec->named, "claims", claim_list_to_json(&spec->claims),
			 "bookkeeping", setting_bookkeeping(), "defaults", describe_defaults(spec));
}

static json_int_t in_ns(const struct timespec *t)
{
	return (json_int_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static json_t *clocks_at_start(int64_t *ticks)
{
	struct timespec mono, real, tai;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_TAI, &tai);
	*ticks = clock_ticks_begin();
	return json_pack("{s:I, s:I, s:I}", "monotonic_ns", in_ns(&mono), "realtime_ns", in_ns(&real), "tai_ns",
			 in_ns(&tai));
}

json_t *describe_command(int argc, char *const *argv)
{
	json_t *words = json_texts((const char *const *)argv, (size_t)argc);

	json_array_insert_new(words, 0, json_string("kblat"));
	return words;
}

json_t *describe_run(const struct spec *spec, const struct run_identity *who, int64_t *t0_ticks)
{
	char utc[32];
	json_t *clock = clock_json(who->clock), *run;
	const char *sysroot = machine_state_sysroot();

	json_object_set_new(clock, "common", json_true());
	run = json_pack(
	    "{s:i, s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:n, s:o, s:{s:{s:s, s:[s]}}, s:o, s:b, s:[], s:[]}",
	    "schema", 1, "name", spec->name, "title", spec->title, "source", spec->source, "status", "RUNNING",
	    "variant", spec->quick ? "quick" : "full", "argv", describe_command(who->argc, who->argv), "version",
	    kblat_version, "commit", kblat_commit, "started_utc", utc_now(utc, sizeof(utc), 0), "ended_utc", "t0",
	    clocks_at_start(t0_ticks), "hosts", who->host, "boot_id", who->boot_id, "roles", "coordinator", "clock",
	    clock, "valid", 0, "reasons", "warnings");
	if (sysroot)
		json_object_set_new(run, "sysroot", json_string(sysroot));
	return run;
}
