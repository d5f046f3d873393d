#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "measure/instrument/sample_file.h"
#include "measure/kernels/rate.h"
#include "measure/kernels/sample.h"

#define FIELD(f) offsetof(struct rate_settings, f)

static const char *const pacer_names[] = {
    [PACER_TICKS] = "ticks", [PACER_TIMERFD] = "timerfd", [PACER_NANOSLEEP] = "nanosleep", NULL};
static const char *const full_names[] = {[RATE_WAIT] = "wait", [RATE_SKIP] = "skip", NULL};

static const char *const late_names[] = {[RATE_LATE_LAST] = "last", [RATE_LATE_FIRST] = "first", NULL};

static const char *const sink_names[] = {[RATE_SINK_NONE] = "none", [RATE_SINK_FILE] = "file", NULL};

static const char *const source_file_names[] = {[RATE_SOURCE_FILE_NONE] = "none", [RATE_SOURCE_FILE_CSV] = "csv", NULL};

static const struct opt rate_options[] = {
    {"rate", OPT_RATE, FIELD(rate), "10kHz", 1, 1000000000, NULL, "steps per second, with one sample each"},
    {"messages", OPT_INT, FIELD(messages), "100000", 1, 1000000000, NULL, "number of steps in one repetition",
     OPT_BOOKKEEPING},
    {"values", OPT_INT, FIELD(values), "8", 1, 1 << 20, NULL,
     "number of doubles in a sample, after its header of 24 bytes"},
    {"pacer", OPT_ENUM, FIELD(pacer), "ticks", 0, 0, pacer_names,
     "how to wait for the next step: spin on the tick counter, or sleep on a periodic timerfd or with clock_nanosleep"},
    {"full", OPT_ENUM, FIELD(full), "wait", 0, 0, full_names,
     "when `depth` samples are in flight: wait, which delays the pacer, or leave the step unsent"},
    {"late", OPT_ENUM, FIELD(late), "last", 0, 0, late_names,
     "which one is sent of several steps that are due at once; the others are missed"},
    {"missed_limit", OPT_SHARE, FIELD(missed_limit), "10%", 0, 1000000, NULL,
     "a point that missed a larger share of its steps is not valid"},
    {"window", OPT_TIME, FIELD(window), "0ns", 0, 3600000000000, NULL,
     "how long after its last step is due the source ends; steps that are not sent by then are unsent (0: no limit)"},
    {"tick_error", OPT_SHARE, FIELD(tick_error), "0%", 0, 1000000, NULL,
     "error of the pacer's tick frequency: how much higher it is than the true one; stamps are not affected"},
    {"sink", OPT_ENUM, FIELD(sink), "none", 0, 0, sink_names,
     "what the sink does with a sample: nothing, or write it to a file"},
    {"source_file", OPT_ENUM, FIELD(source_file), "none", 0, 0, source_file_names,
     "csv: the source writes each sample as a line of text after posting it, which delays the pacer"},
    {"sink_dir", OPT_STR, FIELD(sink_dir), "", 0, 0, NULL,
     "directory for the files of both sides; empty: the run directory"},
    {"sink_keep", OPT_BOOL, FIELD(sink_keep), "no", 0, 0, NULL, "keep the files of the repetitions"},
    {"check", OPT_BOOL, FIELD(check), "no", 0, 0, NULL, "fill and check every sample (slows the rate)"},
    {.name = NULL},
};

static const struct kernel_column rate_columns[] = {
    [RATE_T_DUE] = {"t_due", ROLE_SOURCE, NULL},
    [RATE_T_GEN] = {"t_gen", ROLE_SOURCE, NULL},
    [RATE_T_SUBM] = {"t_subm", ROLE_SOURCE, NULL},
    [RATE_T_RECV] = {"t_recv", ROLE_SINK, NULL},
    {.name = NULL},
};

static const struct kernel_series rate_series[] = {
    {.name = "lat_ns", .label = "t_lat", .column = "t_recv", .minus = "t_subm", .among = "t_subm"},
    {.name = "due_lat_ns", .label = "t_due_lat", .column = "t_recv", .minus = "t_due", .among = "t_subm"},
    {.name = "gen_lat_ns", .label = "t_gen_lat", .column = "t_recv", .minus = "t_gen", .among = "t_subm"},
    {.name = "pace_ns", .label = "t_pace", .column = "t_subm", .minus = "t_due", .among = "t_subm"},
    {.name = NULL},
};

static const struct kernel_thread rate_threads[] = {
    [RATE_SOURCE] = {.name = "source", .side = ROLE_SOURCE},
    [RATE_SINK] = {.name = "sink", .side = ROLE_SINK},
    {.name = NULL},
};

KERNEL_FITS(rate_columns, rate_threads);

static void rate_plan(const void *settings, struct transport_config *config)
{
	const struct rate_settings *s = settings;

	config->size = (int64_t)sample_size(s->values);
	config->schedule = (struct schedule){.messages = s->messages,
					     .rate_hz = s->rate,
					     .tick_error_ppm = s->tick_error,
					     .window_ns = s->window,
					     .keeps_first = s->late == RATE_LATE_FIRST};
}

/* A pacer that is late skips steps, so the steps take the same time, however slow the transport is. */
static struct kernel_demand rate_demand(const void *settings, int64_t messages, bool warm_up)
{
	const struct rate_settings *s = settings;

	(void)warm_up; /* at the same rate */
	return (struct kernel_demand){.paced_ns = (int64_t)((__int128)messages * 1000000000 / s->rate), .ways = 1};
}

static int rate_check(const void *settings, const struct transport_config *config,
		      const struct transport_traits *traits, char *why, size_t why_size)
{
	const struct rate_settings *s = settings;
	const bool ticks = s->pacer == PACER_TICKS, scripted = config->ops->has_own_clock;

	if (scripted && !ticks)
		snprintf(why, why_size, "pacer %s and transport scripted: virtual time has no timers; use pacer ticks",
			 pacer_names[s->pacer]);
	else if (scripted && s->check)
		snprintf(why, why_size, "check and transport scripted: it carries no samples that could be checked");
	else if (scripted && s->sink == RATE_SINK_FILE)
		snprintf(why, why_size,
			 "sink file and transport scripted: it carries no samples that could be written");
	else if (scripted && s->source_file)
		snprintf(why, why_size,
			 "source_file csv and transport scripted: its time stands still while a line is written");
	else if (s->check && s->source_file)
		snprintf(why, why_size, "check and source_file csv: the values written for the check are not numbers");
	else if (!ticks && s->tick_error)
		snprintf(why, why_size, "tick_error and pacer %s: only the pacer ticks needs to know a frequency",
			 pacer_names[s->pacer]);
	else
		return s->check ? kernel_check_payloads(config, traits, why, why_size) : 0;
	return -EINVAL;
}

/* --- files of samples --- */

struct rate_store {
	union {
		struct sample_text text; /* of the source */
		struct sample_file file; /* of the sink */
	};
	enum role role;
	char name[2 * OPT_STR_MAX]; /* of its files, without the repetition's number */
};

_Static_assert(offsetof(struct rate_store, text) == 0 && offsetof(struct rate_store, file) == 0,
	       "the loops take a side for its file");

static void store_close(void *side)
{
	struct rate_store *store = side;

	if (store->role == ROLE_SOURCE)
		sample_text_close(&store->text);
	else
		sample_file_close(&store->file);
	free(store);
}

/* Does this side write a file? */
static bool store_is_wanted(const struct rate_settings *s, enum role role)
{
	return role == ROLE_SOURCE ? s->source_file != RATE_SOURCE_FILE_NONE : s->sink == RATE_SINK_FILE;
}

static struct rate_store *store_new(const struct rate_settings *s, const struct kernel_place *place)
{
	struct rate_store *store = or_abort(aligned_alloc(64, (sizeof(*store) + 63) / 64 * 64));

	memset(store, 0, sizeof(*store));
	store->role = place->role;
	/* In a directory chosen by the user, names of different runs must differ. */
	snprintf(store->name, sizeof(store->name), "%s%s%s%s%.16s", place->role == ROLE_SOURCE ? "sent" : "samples",
		 *place->flow ? "-" : "", place->flow, *s->sink_dir ? "-" : "", *s->sink_dir ? place->name : "");
	return store;
}

static int store_open(const void *settings, const struct kernel_place *place, void **side, struct err *e)
{
	const struct rate_settings *s = settings;
	const char *const dir = *s->sink_dir ? s->sink_dir : place->dir;
	const char *const what = place->role == ROLE_SOURCE ? "source_file csv" : "sink file";
	struct rate_store *store;
	int rc = 0;

	*side = NULL;
	if (!store_is_wanted(s, place->role))
		return 0;
	if (!dir)
		return err_set(e, -EINVAL, STATUS_USAGE, what, NULL,
			       "the run directory is on another machine; choose a folder on this one with sink_dir");
	store = store_new(s, place);
	if (place->role == ROLE_SOURCE)
		sample_text_open(&store->text, dir, store->name, s->sink_keep);
	else
		rc = sample_file_open(&store->file, dir, store->name, s->sink_keep, place->spare_cpu, place->numa_node,
				      place->stop, e);
	if (rc) {
		store_close(store);
		return rc;
	}
	*side = store;
	return 0;
}

static int store_start(void *side, unsigned repetition, struct err *e)
{
	struct rate_store *store = side;

	return store->role == ROLE_SOURCE ? sample_text_start(&store->text, repetition, e)
					  : sample_file_start(&store->file, repetition, e);
}

static int store_finish(void *side, struct counters *c, struct err *e)
{
	struct rate_store *store = side;
	int rc;

	if (store->role == ROLE_SOURCE) {
		rc = sample_text_finish(&store->text, e);
		c->stored_bytes = (int64_t)store->text.bytes;
		return rc;
	}
	rc = sample_file_finish(&store->file, e);
	c->stored_bytes = (int64_t)store->file.put;
	c->store_ns = store->file.store_ns;
	c->store_write_ns = store->file.write_ns;
	c->store_waits = (int64_t)store->file.waits;
	return rc;
}

static const struct kernel_side_ops rate_side = {store_open, store_start, store_finish, store_close};

static void rate_rules(const void *settings, struct kernel_rules *out)
{
	const struct rate_settings *s = settings;

	out->stores = s->sink == RATE_SINK_FILE;
	out->missed_limit_ppm = s->missed_limit;
}

const struct kernel_ops rate_kernel = {
    .name = "rate",
    .summary = "samples at a fixed rate: intended and actual times, missed steps, latency from both",
    .options = rate_options,
    .settings_size = sizeof(struct rate_settings),
    .adds_overhead = true,
    .columns = rate_columns,
    .series = rate_series,
    .threads = rate_threads,
    .plan = rate_plan,
    .demand = rate_demand,
    .check = rate_check,
    .rules = rate_rules,
    .side = &rate_side,
};
