#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "kernels/rate.h"
#include "kernels/sample.h"
#include "transports/list.h"

#define FIELD(f) offsetof(struct rate_settings, f)

static const char *const pacer_names[] = {
    [PACER_TICKS] = "ticks", [PACER_TIMERFD] = "timerfd", [PACER_NANOSLEEP] = "nanosleep", NULL};
static const char *const full_names[] = {[RATE_WAIT] = "wait", [RATE_SKIP] = "skip", NULL};

static const char *const sink_names[] = {[RATE_SINK_NONE] = "none", [RATE_SINK_FILE] = "file", NULL};

static const struct opt rate_options[] = {
    {"rate", OPT_RATE, FIELD(rate), "10kHz", 1, 1000000000, NULL, "steps a second: a sample each"},
    {"messages", OPT_INT, FIELD(messages), "100000", 1, 1000000000, NULL, "steps of one repetition"},
    {"values", OPT_INT, FIELD(values), "8", 1, 1 << 20, NULL, "doubles of a sample, after its header of 24 bytes"},
    {"pacer", OPT_ENUM, FIELD(pacer), "ticks", 0, 0, pacer_names,
     "spin on the tick counter, or sleep: on a periodic timerfd, or with clock_nanosleep until each step's time"},
    {"full", OPT_ENUM, FIELD(full), "wait", 0, 0, full_names,
     "with `depth` samples under way: wait, which delays the pacer, or leave the step unsent"},
    {"missed_limit", OPT_SHARE, FIELD(missed_limit), "10%", 0, 1000000, NULL,
     "a point that missed more of its steps is not valid"},
    {"window", OPT_TIME, FIELD(window), "0ns", 0, 3600000000000, NULL,
     "the source ends so long after the time that its steps should take; what is not sent by then never is (0: it "
     "takes as long as it takes)"},
    {"tick_error", OPT_SHARE, FIELD(tick_error), "0%", 0, 1000000, NULL,
     "by so much the pacer takes the tick counter to be faster than it is; stamps are not touched"},
    {"sink", OPT_ENUM, FIELD(sink), "none", 0, 0, sink_names,
     "what becomes of a sample that arrived: nothing, or it is written to a file"},
    {"sink_dir", OPT_STR, FIELD(sink_dir), "", 0, 0, NULL, "where the file is made; nothing: in the run directory"},
    {"sink_keep", OPT_BOOL, FIELD(sink_keep), "no", 0, 0, NULL, "keep the files of the repetitions"},
    {"check", OPT_BOOL, FIELD(check), "no", 0, 0, NULL, "fill and check every sample (slows the rate)"},
    {.name = NULL},
};

static const struct kernel_column rate_columns[] = {
    [RATE_T_DUE] = {"t_due", ROLE_SOURCE, NULL},
    [RATE_T_SUBM] = {"t_subm", ROLE_SOURCE, NULL},
    [RATE_T_RECV] = {"t_recv", ROLE_SINK, NULL},
    {.name = NULL},
};

static const struct kernel_series rate_series[] = {
    {.name = "lat_ns", .label = "t_lat", .column = "t_recv", .minus = "t_subm", .among = "t_subm"},
    {.name = "due_lat_ns", .label = "t_due_lat", .column = "t_recv", .minus = "t_due", .among = "t_subm"},
    {.name = "pace_ns", .label = "t_pace", .column = "t_subm", .minus = "t_due", .among = "t_subm"},
    {.name = NULL},
};

#define LOOPS(t)    extern const struct kernel_loops rate_loops_##t;
#define INSTANCE(t) {#t, &rate_loops_##t},
EVERY_TRANSPORT(LOOPS)

static const struct kernel_instance rate_instances[] = {EVERY_TRANSPORT(INSTANCE){NULL, NULL}};

static int rate_check(const json_t *params, char *why, size_t why_size)
{
	const char *pacer = json_text(params, "pacer");
	bool ticks = !strcmp(pacer, pacer_names[PACER_TICKS]),
	     scripted = !strcmp(json_text(params, "transport"), "scripted");

	if (scripted && !ticks)
		snprintf(why, why_size, "pacer %s and transport scripted: virtual time has no timers; use pacer ticks",
			 pacer);
	else if (scripted && json_is_true(json_object_get(params, "check")))
		snprintf(why, why_size, "check and transport scripted: no sample is carried that could be checked");
	else if (scripted && !strcmp(json_text(params, "sink"), sink_names[RATE_SINK_FILE]))
		snprintf(why, why_size, "sink file and transport scripted: no sample is carried that could be written");
	else if (!ticks && json_integer_value(json_object_get(params, "tick_error_ppm")))
		snprintf(why, why_size, "tick_error and pacer %s: only the pacer ticks needs to know a frequency",
			 pacer);
	else
		return 0;
	return -EINVAL;
}

static int64_t rate_size(const json_t *params)
{
	return (int64_t)sample_size(json_integer_value(json_object_get(params, "values")));
}

const struct kernel_ops rate_kernel = {
    .name = "rate",
    .summary = "samples at a fixed rate: intended and actual times, missed steps, latency from both",
    .options = rate_options,
    .settings_size = sizeof(struct rate_settings),
    .columns = rate_columns,
    .series = rate_series,
    .check = rate_check,
    .size = rate_size,
    .instances = rate_instances,
};
