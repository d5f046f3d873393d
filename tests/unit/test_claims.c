#include <math.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/random.h"
#include "common/sort.h"
#include "common/text.h"
#include "files/claim/claim.h"
#include "files/claim/claim_json.h"
#include "files/rundir/layout.h"
#include "fixture_random.h"
#include "judge/analysis/summary_json.h"
#include "judge/claims/claim_metric.h"
#include "judge/claims/claim_needs.h"
#include "judge/claims/claim_verdict.h"
#include "judge/claims/claims.h"
#include "tap.h"

#define REPS 9

/* --- intervals --- */

static void test_intervals(void)
{
	const double nine[] = {10, 11, 12, 13, 14, 15, 16, 17, 18}, outlier[] = {10, 11, 12, 13, 14, 15, 16, 17, 9999};
	const double three[] = {1, 2, 3}, zeros[] = {0, 0, 0}, many[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
	struct sample a = {.value = 14, .rep = nine, .reps = 9}, bad = {.value = 14, .rep = outlier, .reps = 9};
	struct sample few = {.value = 2, .rep = three, .reps = 3}, none = {.value = 0, .rep = zeros, .reps = 3};
	struct sample single = {.value = 7, .rep = nine, .reps = 1}, most = {.value = 7, .rep = many, .reps = 13};
	struct sample peak = {.over_reps = OVER_REPS_MAX, .value = 9999, .rep = outlier, .reps = 9};
	struct sample sum = {.over_reps = OVER_REPS_SUM, .value = 6, .rep = three, .reps = 3};
	struct estimate e = estimate_ratio(&a, &a);

	ok(e.has_interval && e.value == 1 && e.low > 0.7 && e.low < 1 && e.high > 1 && e.high < 1.4,
	   "the ratio of two equal samples of nine lies close around 1: %g to %g", e.low, e.high);
	ok(fabs(e.low * e.high - 1) < 1e-9, "and the interval is as far down as up");
	e = estimate_ratio(&bad, &a);
	ok(e.high < 2, "one repetition that went wrong among nine does not reach the interval: up to %g", e.high);
	e = estimate_ratio(&few, &few);
	ok(e.low == 1. / 3 && e.high == 3, "with three repetitions it is the range of all pairs");
	e = estimate_ratio(&single, &single);
	ok(!e.has_interval && e.low == 1 && e.high == 1, "with one repetition each there is no interval");
	e = estimate_ratio(&few, &none);
	ok(isinf(e.high) && !isnan(e.low), "a ratio to repetitions of 0 has no upper end");
	e = estimate_difference(&a, &few);
	ok(e.value == 12 && e.low >= 7 && e.low < 12 && e.high > 12 && e.high <= 17, "a difference: %g (%g to %g)",
	   e.value, e.low, e.high);
	e = estimate_value(&most);
	ok(e.low == 3 && e.high == 11, "a value of 13 repetitions: from the third on either side: %g to %g", e.low,
	   e.high);
	e = estimate_value(&(struct sample){.value = 100, .rep = three, .reps = 3});
	ok(e.low == 1 && e.high == 100, "the number of all repetitions together always lies within");
	e = estimate_value(&peak);
	ok(e.low == 10 && e.high == 9999, "a maximum: from the least of the repetitions' to the largest, %g to %g",
	   e.low, e.high);
	e = estimate_ratio(&peak, &peak);
	ok(e.low == 10. / 9999 && e.high == 999.9, "a ratio of maxima: the range of all pairs");
	e = estimate_ratio(&peak, &a);
	ok(!e.has_interval, "a maximum against a median has no interval");
	ok(!estimate_value(&sum).has_interval, "neither has a count");
}

/* Of one claim, as resolved.json has it. Takes `claim`. */
static struct claim_list list_of(json_t *claim)
{
	json_t *all = json_pack("[o]", claim);
	struct claim_list list = claim_list_from_json(all);

	json_decref(all);
	return list;
}

/* --- selections --- */

static void test_selections(void)
{
	static const struct {
		const char *conditions;
		bool matches;
	} rows[] = {
	    {"{}", true},
	    {"{'qp': ['rc']}", true},
	    {"{'qp': ['uc', 'rc']}", true},
	    {"{'qp': ['uc']}", false},
	    {"{'qp': ['rc'], 'size_bytes': [65]}", false},
	    {"{'size_bytes': [{'>': 63, '<=': 64}]}", true},
	    {"{'size_bytes': [{'>': 64}]}", false},
	    {"{'size_bytes': [{'>=': 64}]}", true},
	    {"{'size_bytes': [{'<': 64}]}", false},
	    {"{'size_bytes': [{'<': 64}, 64]}", true},
	    {"{'qp': [{'!=': 'uc'}]}", true},
	    {"{'qp': [{'!=': 'rc'}]}", false},
	    {"{'qp': [{'>': 3}]}", false},
	    {"{'mtu_bytes': [{'!=': 3}]}", false},
	    {"{'inline': [false]}", true},
	};
	json_t *params = json_pack("{s:s, s:i, s:b}", "qp", "rc", "size_bytes", 64, "inline", 0);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128];

		snprintf(text, sizeof(text), "%s", rows[i].conditions);
		for (char *c = text; *c; c++)
			*c = *c == '\'' ? '"' : *c;

		json_t *conditions = json_loads(text, 0, NULL);

		if (!ok(conditions, "%s is JSON", rows[i].conditions))
			continue;

		struct claim_list list = list_of(json_pack("{s:o}", "points", conditions));

		ok(claim_selects(&list.claims[0].points, params) == rows[i].matches, "%s %s", rows[i].conditions,
		   rows[i].matches ? "selects" : "does not select");
		claim_list_free(&list);
	}
	json_decref(params);
}

/* --- claims --- */

static json_t *stats(double p50)
{
	return json_pack("{s:{s:I, s:n, s:I, s:f}}", "lat_ns", "p50", (json_int_t)p50, "p99", "max",
			 (json_int_t)(10 * p50), "over_limit", p50 / 1e6);
}

/* A point whose repetitions' medians lie around one. `factor`: of the last repetition. */
static void add_point(json_t *points, const char *qp, const char *poll, int size, double median, double factor)
{
	json_t *reps = json_array();
	int id = (int)json_array_size(points);

	for (int i = 0; i < REPS; i++)
		json_array_append_new(reps, json_pack("{s:i, s:o}", "rep", i, "metrics",
						      stats((median + i - REPS / 2) * (i + 1 == REPS ? factor : 1))));
	json_array_append_new(points, json_pack("{s:i, s:{s:s, s:s, s:i}, s:b, s:[], s:o, s:o}", "id", id, "params",
						"qp", qp, "poll", poll, "size_bytes", size, "valid", 1, "reasons",
						"metrics", stats(median), "reps", reps));
}

struct made {
	struct run_record *run; /* what is pointed to can be copied with it */
	json_t *resolved, *summary, *state;
};

static struct made make(const char *name, const char *variant, const char *host)
{
	struct run_record *record = calloc(1, sizeof(*record));
	json_t *run = json_pack("{s:s, s:{s:{}}, s:{s:b, s:b}}", "variant", variant, "hosts", host, "clock", "common",
				1, "good", 1);

	*record = run_record_from_json(run);
	json_decref(run);
	return (struct made){
	    .run = record,
	    .resolved = json_pack("{s:s, s:s, s:[]}", "name", name, "variant", variant, "claims"),
	    .summary = json_pack("{s:[]}", "points"),
	    .state =
		json_pack("{s:s, s:s, s:s, s:s, s:s}", "cpu.online", "0-3", "cpu.isolated", "2", "cpu.virtual_machine",
			  "no", "idle.cpu0.state1.latency_us", "2", "frequency.*.driver", "!ENOENT"),
	};
}

static void made_free(struct made *m)
{
	run_record_free(m->run);
	free(m->run);
	json_decref(m->resolved);
	json_decref(m->summary);
	json_decref(m->state);
}

static struct claim_side_granted granted_sides[] = {{0, false, "mlx5_0", false, "eth0"},
						    {1, false, "rxe0", true, "eth1"}};

static struct claim_run as_run(const struct made *m)
{
	return (struct claim_run){m->run, m->resolved, summary_decode(m->summary), {m->state, m->state}, granted_sides,
				  2};
}

/* Busy and event over rc and uc, three sizes; medians 100, 200, 300 (busy), five times that (event). */
static struct made experiment_a(void)
{
	struct made m = make("a", "full", "alpha");
	json_t *points = json_object_get(m.summary, "points");

	for (int event = 0; event < 2; event++)
		for (int uc = 0; uc < 2; uc++)
			for (int i = 0; i < 3; i++)
				add_point(points, uc ? "uc" : "rc", event ? "event" : "busy", 8 << i,
					  100 * (i + 1) * (event ? 5 : 1), 1);
	/* 12: not valid; 13: wild. */
	add_point(points, "ud", "busy", 8, 100, 1);
	json_object_set_new(json_array_get(points, 12), "valid", json_false());
	json_object_set_new(json_array_get(points, 12), "reasons", json_pack("[s]", "7 page faults"));
	add_point(points, "ud", "event", 8, 100, 30);
	/* 14: disturbed; 15: hardly. */
	add_point(points, "xd", "busy", 8, 100, 1);
	json_object_set_new(json_array_get(points, 14), "taken", json_real(0.43));
	add_point(points, "xd", "event", 8, 100, 1);
	json_object_set_new(json_array_get(points, 15), "taken", json_real(0.14));
	return m;
}

struct row {
	const char *name;
	const char *claim;		      /* what differs from DEFAULT, with ' for " */
	const char *verdict, *measured, *why; /* parts of these */
};

#define DEFAULT                                                                                                        \
	"{'id': 'x', 'claim': 'c', 'source': '', 'measured_by_source': '', 'metric': 'lat_ns.p50', 'points': {}, "     \
	"'against': null, 'by': null, 'relation': 'ratio', 'min': null, 'max': null, 'along': null, 'tolerance': "     \
	"0.0, "                                                                                                        \
	"'needs': []}"

#define BUSY "'points': {'poll': ['busy'], 'qp': ['rc', 'uc']}"
#define EVENT                                                                                                          \
	"'against': {'experiment': null, 'metric': 'lat_ns.p50', 'points': {'poll': ['event'], 'qp': ['rc', 'uc']}}"

static const struct row rows[] = {
    {"a ratio that holds in all cases", "{" BUSY "," EVENT ", 'max': 0.5}", "holds", "0.2 to 0.2 in 6 cases", ""},
    {"one that fails", "{" BUSY "," EVENT ", 'max': 0.1}", "fails", "0.2", "rc, 8B: 0.2 (0.1"},
    {"one whose bound is within the interval", "{" BUSY "," EVENT ", 'max': 0.2}", "not judged", "0.2",
     "too close to call"},
    {"a lower bound", "{" BUSY "," EVENT ", 'min': 0.5}", "fails", "0.2", "below 0.5"},
    {"by: sizes are then not told apart", "{" BUSY "," EVENT ", 'by': ['qp'], 'max': 0.5}", "not judged", "",
     "point 0 could be compared with 3 points"},
    {"a selection that differs in a setting compares it",
     "{'points': {'qp': ['uc'], 'poll': ['busy']}, 'against': {'experiment': null, 'metric': 'lat_ns.p50', 'points': "
     "{'qp': ['rc'], 'poll': ['busy']}}, 'min': 0.9, 'max': 1.1}",
     "holds", "8B 1; 16B 1; 32B 1", ""},
    {"and joins nothing, even if it varies on both sides",
     "{'points': {'qp': ['rc'], 'poll': ['busy'], 'size_bytes': [8, 16]}, 'against': {'experiment': null, 'metric': "
     "'lat_ns.p50', 'points': {'qp': ['rc'], 'poll': ['busy'], 'size_bytes': [16, 32]}}, 'max': 1}",
     "not judged", "", "8B: point 0 could be compared with 2 points"},
    {"two numbers of one point",
     "{'points': {'qp': ['rc'], 'poll': ['busy']}, 'against': {'experiment': null, 'metric': 'lat_ns.max', 'points': "
     "{'qp': ['rc'], 'poll': ['busy']}}, 'max': 0.15}",
     "holds", "8B 0.1; 16B 0.1", ""},
    {"a value with its unit",
     "{'points': {'qp': ['rc'], 'poll': ['busy'], 'size_bytes': [32]}, 'relation': 'value', 'max': 200}", "fails",
     "300 ns (29", "above 200 ns"},
    {"a share",
     "{'points': {'qp': ['rc'], 'poll': ['busy'], 'size_bytes': [32]}, 'relation': 'value', 'metric': "
     "'lat_ns.over_limit', 'max': 0.001}",
     "holds", "0.03 %", ""},
    {"a difference", "{" BUSY "," EVENT ", 'relation': 'difference', 'max': -300}", "holds", "-1.2", ""},
    {"what rises", "{" BUSY ", 'relation': 'rising', 'along': 'size_bytes'}", "holds", "rc 3; uc 3", ""},
    {"and does not fall", "{" BUSY ", 'relation': 'falling', 'along': 'size_bytes'}", "fails", "rc 3",
     "from 8B to 16B it rises"},
    {"nor is flat", "{" BUSY ", 'relation': 'flat', 'along': 'size_bytes', 'tolerance': 0.1}", "fails", "rc 3",
     "at 32B it is 3 times that at 8B"},
    {"but for a large tolerance", "{" BUSY ", 'relation': 'flat', 'along': 'size_bytes', 'tolerance': 2.5}", "holds",
     "rc 3", ""},
    {"a trend needs points",
     "{'points': {'size_bytes': [8], 'poll': ['busy'], 'qp': ['rc']}, 'relation': 'rising', 'along': "
     "'size_bytes'}",
     "not judged", "", "only one point along size_bytes"},
    {"a trend has one point at each value", "{" BUSY ", 'by': [], 'relation': 'rising', 'along': 'size_bytes'}",
     "not judged", "", "several points at 8B"},
    {"a point that is not valid", "{'points': {'qp': ['ud'], 'poll': ['busy']}, 'relation': 'value', 'max': 1e9}",
     "not judged", "", "point 12 is not valid: 7 page faults"},
    {"a point whose CPUs others took", "{'points': {'qp': ['xd'], 'poll': ['busy']}, 'relation': 'value', 'max': 1e9}",
     "not judged", "", "point 14 was disturbed: others took 43 % of its CPUs' time"},
    {"a little of them", "{'points': {'qp': ['xd'], 'poll': ['event']}, 'relation': 'value', 'max': 1e9}", "holds", "",
     ""},
    {"one wild repetition does not decide",
     "{'points': {'qp': ['ud'], 'poll': ['event']}, 'relation': 'value', 'max': 1000}", "holds", "100 ns", ""},
    {"a quantile that is null", "{" BUSY ", 'relation': 'value', 'metric': 'lat_ns.p99', 'max': 1000}", "not judged",
     "", "too few samples"},
    {"a series that is not there", "{" BUSY ", 'relation': 'value', 'metric': 'rtt_ns.p50', 'max': 1000}", "not judged",
     "", "has no rtt_ns.p50"},
    {"no point", "{'points': {'qp': ['xx']}, 'relation': 'value', 'max': 1000}", "not judged", "",
     "the run has no point"},
    {"nothing to compare with",
     "{" BUSY ", 'against': {'experiment': null, 'metric': 'lat_ns.p50', 'points': {'qp': ['xx']}}, 'max': 1}",
     "not judged", "", "the run has no point that the claim compares with"},
    {"an experiment that is missing",
     "{" BUSY ", 'against': {'experiment': 'z', 'metric': 'lat_ns.p50', 'points': {}}, 'max': 1}", "not judged", "",
     "experiment z, which is not among"},
    {"one of another variant",
     "{" BUSY ", 'against': {'experiment': 'quick', 'metric': 'lat_ns.p50', 'points': {}}, 'max': 1}", "not judged", "",
     "quick was run in its quick variant"},
    {"one of another machine",
     "{" BUSY ", 'against': {'experiment': 'beta', 'metric': 'lat_ns.p50', 'points': {}}, 'max': 1}", "not judged", "",
     "beta was run on another machine"},
    {"another experiment", "{" BUSY ", 'against': {'experiment': 'b', 'metric': 'lat_ns.p50', 'points': {}}, 'max': 1}",
     "holds", "0.5 to 0.5 in 6 cases", ""},
    {"a need that is not met keeps what was measured",
     "{" BUSY "," EVENT ", 'max': 0.5, 'needs': [{'need': 'isolated', 'count': 2}]}", "not judged", "0.2",
     "2 isolated CPUs; there is 1"},
    {"an unknown relation is not judged", "{" BUSY "," EVENT ", 'relation': 'sideways'}", "not judged", "",
     "does not know"},
};

static json_t *read_claim(const char *text)
{
	char copy[2048];
	json_t *j;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	j = json_loads(copy, 0, NULL);
	if (!j)
		printf("Bail out! not JSON: %s\n", copy);
	return j;
}

static void judge_row(const struct row *row, struct made *a, const struct made *others, size_t count)
{
	json_t *claim = read_claim(DEFAULT), *more = read_claim(row->claim);
	struct claim_run runs[8] = {as_run(a)};
	struct claim_verdicts verdicts;
	const struct claim_verdict *v;

	json_object_update(claim, more);
	json_array_clear(json_object_get(a->resolved, "claims"));
	json_array_append_new(json_object_get(a->resolved, "claims"), claim);
	for (size_t i = 0; i < count; i++)
		runs[i + 1] = as_run(&others[i]);
	verdicts = claims_judge_read(runs, count + 1);
	v = &verdicts.all[0];
	is_str(claim_outcome_names[v->verdict], row->verdict, "%s: %s", row->name, row->verdict);
	contains(v->measured, row->measured, "  measured");
	contains(v->why, row->why, "  why");
	if (!*row->why)
		is_str(v->why, "", "  and nothing else");
	claim_verdicts_free(&verdicts);
	for (size_t i = 0; i <= count; i++)
		summary_free(runs[i].summary);
	json_decref(more);
}

static void test_rows(void)
{
	struct made a = experiment_a();
	struct made others[] = {make("b", "full", "alpha"), make("quick", "quick", "alpha"),
				make("beta", "full", "beta")};

	for (size_t i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++) {
			add_point(json_object_get(others[i].summary, "points"), "rc", "event", 8 << k, 200 * (k + 1),
				  1);
			add_point(json_object_get(others[i].summary, "points"), "uc", "event", 8 << k, 200 * (k + 1),
				  1);
		}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		judge_row(&rows[i], &a, others, 3);
	made_free(&a);
	for (size_t i = 0; i < 3; i++)
		made_free(&others[i]);
}

/* --- flows --- */

static json_t *flow_numbers(double small, double large)
{
	return json_pack("{s:{s:I, s:I}, s:{s:I, s:I}}", "small.lat_ns", "p50", (json_int_t)small, "max",
			 (json_int_t)(10 * small), "large.lat_ns", "p50", (json_int_t)large, "max",
			 (json_int_t)(10 * large));
}

/* A small flow beside a large one; the median of the small one grows with its size. */
static void add_point_with_flows(json_t *points, int size)
{
	double small = 100. * size, large = 2000;
	json_t *reps = json_array();

	for (int i = 0; i < REPS; i++) {
		double more = i - REPS / 2;

		json_array_append_new(reps, json_pack("{s:i, s:o, s:{s:f}}", "rep", i, "metrics",
						      flow_numbers(small + more, large + 10 * more), "small.pacing",
						      "missed_share", 0.02 + more / 1e4));
	}
	json_array_append_new(points, json_pack("{s:i, s:{s:s, s:i, s:s, s:i, s:s, s:i}, s:b, s:[], s:o, s:{s:f}, s:o}",
						"id", (int)json_array_size(points), "params", "flows", "large small",
						"repetitions", REPS, "large.kernel", "rate", "large.size_bytes", 4096,
						"small.kernel", "oneway", "small.size_bytes", size, "valid", 1,
						"reasons", "metrics", flow_numbers(small, large), "small.pacing",
						"missed_share", 0.02, "reps", reps));
}

#define SMALL "'points': {'flows': ['large small']}, 'metric': 'small.lat_ns.p50'"
#define LARGE "'against': {'experiment': null, 'metric': 'large.lat_ns.p50', 'points': {'flows': ['large small']}}"
#define ALONE "'against': {'experiment': null, 'metric': 'lat_ns.p50', 'points': {'poll': ['busy']}}"

static const struct row rows_of_flows[] = {
    {"two flows of one point", "{" SMALL "," LARGE ", 'max': 0.3}", "holds",
     "small.size 1B 0.05; small.size 2B 0.1; small.size 4B 0.2", ""},
    {"that they are not", "{" SMALL "," LARGE ", 'max': 0.15}", "fails", "", "small.size 4B: 0.2 (0.19"},
    {"their difference", "{" SMALL "," LARGE ", 'relation': 'difference', 'max': -1700}", "fails", "",
     "small.size 4B: -1.60 us (-1.63 us to -1.57 us) is above -1.70 us"},
    {"points that are selected by a flow's setting",
     "{'points': {'small.size_bytes': [{'>=': 4}]}, 'metric': 'small.lat_ns.p50', 'relation': 'value', 'max': 400}",
     "not judged", "400 ns (39", "too close to call"},
    {"a flow's block", "{" SMALL ", 'metric': 'small.pacing.missed_share', 'relation': 'value', 'max': 0.03}", "holds",
     "2 %", ""},
    {"an order along a flow's setting", "{" SMALL ", 'relation': 'rising', 'along': 'small.size_bytes'}", "holds", "4",
     ""},
    {"that falls", "{" SMALL ", 'relation': 'falling', 'along': 'small.size_bytes'}", "fails", "4",
     "from 1B to 2B it rises"},
    {"a flow beside another and alone: by must say what joins them", "{" SMALL "," ALONE ", 'max': 2}", "not judged",
     "", "point 0 could be compared with 3 points"},
    {"and may say it without a flow, for the one that the metric is of",
     "{" SMALL "," ALONE ", 'by': ['size_bytes'], 'max': 2.5}", "holds",
     "small.size 1B 2; small.size 2B 2; small.size 4B 2", ""},
    {"a metric of no flow is not there", "{" SMALL ", 'metric': 'lat_ns.p50', 'relation': 'value', 'max': 1}",
     "not judged", "", "has no lat_ns.p50"},
};

static void test_flows(void)
{
	struct made m = make("a", "full", "alpha");
	json_t *points = json_object_get(m.summary, "points");

	for (int size = 1; size <= 4; size *= 2)
		add_point_with_flows(points, size);
	for (int size = 1; size <= 4; size *= 2)
		add_point(points, "rc", "busy", size, 50. * size, 1);
	for (size_t i = 0; i < sizeof(rows_of_flows) / sizeof(rows_of_flows[0]); i++)
		judge_row(&rows_of_flows[i], &m, NULL, 0);
	made_free(&m);
}

/* --- metrics --- */

struct complained {
	char text[512];
};

static void keep_complaint(void *arg, const char *text)
{
	struct complained *c = arg;
	size_t length = strlen(c->text);

	snprintf(c->text + length, sizeof(c->text) - length, "%s%s", length ? " | " : "", text);
}

static void test_metrics(void)
{
	static const char *const series[] = {"lat_ns", "rtt_ns", NULL}, *const flows[] = {"large", "small", NULL};
	static const char *const none[] = {NULL};
	static const struct {
		const char *metric;
		const char *const *flows;
		const char *complaint;
	} checks[] = {
	    {"lat_ns.p50", none, ""},
	    {"lat_ns.p99_99", none, ""},
	    {"pacing.missed_share", none, ""},
	    {"sink.bytes_per_s", none, ""},
	    {"lat_n.p50", none, "no kernel has a series 'lat_n'; did you mean 'lat_ns'?"},
	    {"lat_ns.p5", none, "no series has a statistic 'p5'; did you mean 'p50'?"},
	    {"lat_ns.p99.9", none, "no series has a statistic 'p99.9'; did you mean 'p99_9'?"},
	    {"lat_ns.over limit", none, "no series has a statistic 'over limit'; did you mean 'over_limit'?"},
	    {"pacing.p50", none, "'pacing' has no 'p50'"},
	    {"lat_ns.missed_share", none, "'lat_ns' has no 'missed_share'"},
	    {"small.lat_ns.p50", flows, ""},
	    {"small.pacing.missed_share", flows, ""},
	    {"small.lat_ns.p50", NULL, ""},
	    {"lat_ns.p50", NULL, ""},
	    {"smal.lat_ns.p50", flows, "no point has a flow 'smal'; did you mean 'small'?"},
	    {"small.lat_ns.p50", none, "no point has a flow 'small'"},
	    {"small.lat_n.p5", flows,
	     "no kernel has a series 'lat_n'; did you mean 'lat_ns'? | no series has a statistic 'p5'; did you mean "
	     "'p50'?"},
	    {"lat_ns.p50", flows,
	     "'metric' must name the flow, too: all points have flows; did you mean 'large.lat_ns.p50'?"},
	    {"pattern.high_first(32)", none, ""},
	    {"pattern.next_ns(rtt_ns, 32)", none, ""},
	    {"small.pattern.strength( rtt_ns ,2 )", flows, ""},
	    {"pattern.base_ns(rtt_ns)", none, ""},
	    {"pattern.base_ns(32)", none, "'pattern.base_ns(32)': base_ns belongs to all periods of a series"},
	    {"pattern.high_ns(1)", none, "'pattern.high_ns(1)': a period is a number of messages, 2 or more"},
	    {"pattern.high_ns(99999999999999999999)", none,
	     "'pattern.high_ns(99999999999999999999)': a period is a number of messages, 2 or more"},
	    {"pattern.high_ns(2, 4)", none, "'pattern.high_ns(2, 4)': in parentheses, a pattern has one period"},
	    {"pattern.high_ns(2, rtt_ns)", none,
	     "'pattern.high_ns(2, rtt_ns)': in parentheses, a pattern's series comes first, and then a period"},
	    {"pattern.high_ns(rtt_ns 2)", none,
	     "'pattern.high_ns(rtt_ns 2)': a comma is missing between a pattern's series and its period"},
	    {"pattern.high_ns()", none,
	     "'pattern.high_ns()': in parentheses, a pattern has a series, a period (2 or more), or both"},
	    {"pattern.high_ns(rtt_ns,)", none,
	     "'pattern.high_ns(rtt_ns,)': in parentheses, a pattern has a series, a period (2 or more), or both"},
	    {"pattern.high_ns(2", none, "'pattern.high_ns(2': ')' must be the end of the metric"},
	    {"pattern.high_ns(2)x", none, "'pattern.high_ns(2)x': ')' must be the end of the metric"},
	    {"pattern.evidence(2)", none,
	     "'pattern.evidence(2)': of a period there are: period, strength, base_ns, high_ns, high_first, high_last, "
	     "next_ns, next_first, next_last"},
	    {"pattern.high_ns(rtt_n, 2)", none, "no kernel has a series 'rtt_n'; did you mean 'rtt_ns'?"},
	    {"rtt_ns.p50(2)", none, "no series has a statistic 'p50(2)'"},
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		const struct claim_metric_names names = {series, checks[i].flows, checks[i].flows == flows};
		struct complained c = {""};
		struct claim_metric m = {0};

		claim_metric_set(&m, checks[i].metric);
		claim_metric_check(&m, &names, &(struct complaints){keep_complaint, &c, 0});
		is_str(c.text, checks[i].complaint, "%s %s", checks[i].metric, *c.text ? "is wrong" : "is fine");
		claim_metric_free(&m);
	}
}

/* --- periods --- */

static const char two_periods[] =
    "{'name': 'x', 'points': [{'id': 0, 'params': {}, 'valid': true, 'metrics': {}, 'reps': [], 'pattern': {"
    "'series': 'rtt_ns', 'period': 16, 'strength': 0.33, 'base_ns': 3150, 'high_ns': 3950, 'high_first': 15, "
    "'high_last': 16, 'high': [{'phases': '15-16', 'p50_ns': 3950}], 'low': [{'phases': '1', 'p50_ns': 3000}], "
    "'nested': [{'period': 32, 'strength': 0.25, 'high': [{'phases': '30,31-32', 'p50_ns': 4400}], 'low': "
    "[{'phases': '15-16', 'p50_ns': 3850}, {'phases': '9', 'p50_ns': 3100}]}], 'others': {'turn_ns': {'series': "
    "'turn_ns', 'period': null, 'strength': 0, 'base_ns': null, 'high_ns': null, 'high_first': null, 'high_last': "
    "null, 'high': [], 'low': []}}}}]}";

static void test_periods(void)
{
	static const struct {
		const char *metric;
		double value; /* NAN: the claim cannot be judged */
		enum unit unit;
	} checks[] = {
	    {"pattern.period(16)", 16, UNIT_ONE},
	    {"pattern.period(32)", 32, UNIT_ONE},
	    {"pattern.period(8)", 0, UNIT_ONE},
	    {"pattern.strength(32)", 0.25, UNIT_ONE},
	    {"pattern.strength(8)", 0, UNIT_ONE},
	    {"pattern.strength(rtt_ns)", 0.33, UNIT_ONE},
	    {"pattern.high_ns(16)", 3950, UNIT_TIME_NS},
	    {"pattern.high_ns(32)", 4400, UNIT_TIME_NS},
	    {"pattern.high_first(32)", 30, UNIT_ONE},
	    {"pattern.high_last(32)", 32, UNIT_ONE},
	    {"pattern.next_ns(32)", 3850, UNIT_TIME_NS},
	    {"pattern.next_first(32)", 15, UNIT_ONE},
	    {"pattern.next_last(rtt_ns, 32)", 16, UNIT_ONE},
	    {"pattern.next_ns(16)", NAN, UNIT_TIME_NS}, /* phase 1 is not slow */
	    {"pattern.high_ns(8)", NAN, UNIT_TIME_NS},
	    {"pattern.period(turn_ns, 32)", 0, UNIT_ONE},
	    {"pattern.strength(turn_ns)", 0, UNIT_ONE},
	    {"pattern.base_ns(turn_ns)", NAN, UNIT_TIME_NS},
	    {"pattern.base_ns(rtt_ns)", 3150, UNIT_TIME_NS},
	    {"pattern.period(lat_ns, 32)", NAN, UNIT_ONE}, /* a series that the point does not have */
	};
	json_t *document = read_claim(two_periods);
	struct summary *s = summary_decode(document);

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct claim_metric m = {0};
		struct sample sample;
		char *why;
		bool known;

		claim_metric_set(&m, checks[i].metric);
		known = claim_point_sample(&s->points[0], &m, CLAIM_RULES, &sample, &why);
		ok(isnan(checks[i].value) ? !known && strlen(why) > 0 : known && sample.value == checks[i].value,
		   "%s is %g", checks[i].metric, known ? sample.value : NAN);
		ok(claim_metric_unit(&m) == checks[i].unit, "and its unit is right");
		if (known)
			claim_sample_free(&sample);
		free(why);
		claim_metric_free(&m);
	}
	summary_free(s);
	json_decref(document);
}

/* --- needs --- */

static void test_needs(void)
{
	static const struct {
		const char *need, *device, *key, *value; /* key: of state, changed to value (NULL: taken out) */
		int count;
		bool met;
	} rows_of_needs[] = {
	    {"hca", "mlx5_0", NULL, NULL, 0, true},
	    {"hca", "rxe0", NULL, NULL, 0, false},
	    {"hca", NULL, NULL, NULL, 0, false},
	    {"bare_metal", NULL, NULL, NULL, 0, true},
	    {"bare_metal", NULL, "cpu.virtual_machine", "yes", 0, false},
	    {"one_clock", NULL, NULL, NULL, 0, true},
	    {"cpuidle", NULL, NULL, NULL, 0, true},
	    {"cpuidle", NULL, "idle.cpu0.state1.latency_us", "0", 0, false},
	    {"cpuidle", NULL, "cpu.virtual_machine", "yes", 0, false},
	    {"cpufreq", NULL, NULL, NULL, 0, false},
	    {"cpufreq", NULL, "frequency.policy0.driver", "intel_pstate", 0, true},
	    {"aspm", NULL, NULL, NULL, 0, false},
	    {"aspm", NULL, "pci.aspm_policy", "default", 0, true},
	    {"dma_latency", NULL, NULL, NULL, 0, false},
	    {"dma_latency", NULL, "pm_qos.cpu_dma_latency_us", "2000000000", 0, true},
	    {"cpus", NULL, NULL, NULL, 4, true},
	    {"cpus", NULL, NULL, NULL, 5, false},
	    {"isolated", NULL, NULL, NULL, 1, true},
	    {"isolated", NULL, "cpu.isolated", "", 1, false},
	    {"nodes", NULL, "numa.online", "0-1", 2, true},
	    {"nodes", NULL, NULL, NULL, 1, false},
	    {"full", NULL, NULL, NULL, 0, true},
	    {"levitation", NULL, NULL, NULL, 0, false},
	};

	for (size_t i = 0; i < sizeof(rows_of_needs) / sizeof(rows_of_needs[0]); i++) {
		const char *device = rows_of_needs[i].device, *key = rows_of_needs[i].key;
		struct made m = make("a", "full", "alpha");
		const struct claim_side_granted *sides[] = {&granted_sides[device && !strcmp(device, "rxe0")]};
		struct claim_list list = list_of(json_pack("{s:[{s:s, s:i}]}", "needs", "need", rows_of_needs[i].need,
							   "count", rows_of_needs[i].count));
		struct claim_machine machine = {m.run, {m.state, m.state}, sides, device ? 1 : 0};
		char why[256] = "";

		if (key)
			json_object_set_new(m.state, key, json_string(rows_of_needs[i].value));
		is_int(claim_needs_met(&list.claims[0], &machine, why, sizeof(why)), rows_of_needs[i].met,
		       "%s %s with %s %s", rows_of_needs[i].need, rows_of_needs[i].met ? "is met" : "is not met",
		       key	? key
		       : device ? device
				: "no device",
		       key ? rows_of_needs[i].value : "");
		ok(rows_of_needs[i].met || *why, "  and it is said why: %s", why);
		claim_list_free(&list);
		made_free(&m);
	}
}

static void write_granted(const char *run_path, unsigned id, json_t *granted)
{
	char *dir = layout_point_dir(run_path, id), *path = fs_path("%s/point.json", dir);
	json_t *point = json_pack("{s:i, s:i, s:s, s:s, s:o}", "schema", 1, "id", id, "outcome", "completed", "why", "",
				  "granted", granted);
	struct err e = ERR_INIT;

	ok(!fs_mkdirs(dir, &e) && !json_write(path, point, &e), "point.json is written");
	json_decref(point);
	free(path);
	free(dir);
}

/* Two points with a source and a sink each; NULL: no link. */
static void test_same_link(void)
{
	static const struct {
		const char *what, *links[4], *why;
	} cases[] = {
	    {"one interface", {"eth0", "eth0", "eth0", "eth0"}, NULL},
	    {"an interface of each side", {"eth0", "eth1", "eth0", "eth1"}, NULL},
	    {"another interface of the sources", {"eth0", "eth1", "eth2", "eth1"}, "eth0 and eth2 were used"},
	    {"sides that are exchanged", {"eth0", "eth1", "eth1", "eth0"}, "eth0 and eth1 were used"},
	    {"shared memory", {"eth0", "eth0", NULL, NULL}, "point 1 used none"},
	};
	struct claim_list list = list_of(json_pack("{s:[{s:s}]}", "needs", "need", "same_link"));
	struct claim_machine nothing = {.side_count = 0};
	char why[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct claim_side_granted side[4];
		const struct claim_side_granted *sides[4];
		struct claim_machine machine = {.sides = sides, .side_count = 4};

		for (int k = 0; k < 4; k++) {
			side[k] = (struct claim_side_granted){k / 2, k % 2, NULL, false, (char *)cases[i].links[k]};
			sides[k] = &side[k];
		}
		snprintf(why, sizeof(why), "%s", "");
		is_int(claim_needs_met(&list.claims[0], &machine, why, sizeof(why)), !cases[i].why, "same_link: %s",
		       cases[i].what);
		contains(why, cases[i].why ? cases[i].why : "", "  why");
	}
	ok(!claim_needs_met(&list.claims[0], &nothing, why, sizeof(why)), "same_link: nothing is known");
	claim_list_free(&list);
}

/* What the sides of a point were granted, of one flow and of several. */
static void test_granted(void)
{
	static const struct claim_side_granted want[] = {
	    {0, false, "mlx5_0", false, "mlx5_0"}, {0, true, NULL, false, NULL},
	    {1, false, "mlx5_0", false, "eth0"},   {1, true, "mlx5_1", false, "mlx5_1"},
	    {1, false, "soft9", true, "eth1"},	   {1, true, NULL, false, "eth2"}};
	char *path = tap_dir();
	json_t *summary = json_object();
	struct run run = {.path = path, .summary = summary};
	struct claim_run read;
	struct err e = ERR_INIT;

	run.resolved = json_pack("{s:[{s:i}, {s:i}, {s:i}]}", "points", "id", 0, "id", 1, "id", 2);
	write_granted(path, 0,
		      json_pack("{s:{s:s, s:s}, s:{}}", "source", "device", "mlx5_0", "driver", "mlx5_core", "sink"));
	write_granted(path, 1,
		      json_pack("{s:{s:{s:s, s:s}, s:{s:s, s:n}}, s:{s:{s:s, s:s, s:s}, s:{s:s}}}", "large", "source",
				"device", "mlx5_0", "netdev", "eth0", "sink", "device", "mlx5_1", "netdev", "small",
				"source", "device", "soft9", "software", "Soft-RoCE", "netdev", "eth1", "sink",
				"interface", "eth2"));
	is_int(claim_run_read(&run, &read, &e), 0, "the run is read");
	is_int((long long)read.side_count, 6, "sides of all flows; a point that was not begun has none");
	for (size_t i = 0; i < read.side_count && i < 6; i++) {
		const struct claim_side_granted *is = &read.sides[i];

		is_int(is->point, want[i].point, "side %zu is of point %d", i, (int)want[i].point);
		is_int(is->is_sink, want[i].is_sink, "  a %s", want[i].is_sink ? "sink" : "source");
		is_str(is->device, want[i].device, "  with device %s", want[i].device ? want[i].device : "none");
		is_int(is->is_software, want[i].is_software, "  which is %s",
		       want[i].is_software ? "software" : "not software");
		is_str(is->link, want[i].link, "  through %s", want[i].link ? want[i].link : "nothing");
	}
	claim_run_free(&read);
	json_decref(run.resolved);
	json_decref(summary);
	tap_dir_remove(path);
}

/* --- JSON --- */

static void test_json(void)
{
	static const char *const claims[] = {
	    DEFAULT,
	    "{'id': 'x', 'claim': 'c', 'source': 'S', 'measured_by_source': '-65 %', 'metric': 'small.lat_ns.p50', "
	    "'points': {'qp': ['rc', 'uc'], 'size_bytes': [{'>=': 64, '<=': 4096}, 65536]}, 'against': {'experiment': "
	    "'other', 'metric': 'large.lat_ns.max', 'points': {'qp': [{'!=': 'rc'}]}}, 'by': ['qp', 'size_bytes'], "
	    "'relation': 'ratio', 'min': 0.5, 'max': 2.0, 'along': null, 'tolerance': 0.0, 'needs': [{'need': 'hca'}, "
	    "{'need': 'cpus', 'count': 4}]}",
	    "{'id': 'x', 'claim': 'c', 'source': '', 'measured_by_source': '', 'metric': 'lat_ns.p50', 'points': {}, "
	    "'against': null, 'by': [], 'relation': 'flat', 'min': null, 'max': null, 'along': 'size_bytes', "
	    "'tolerance': "
	    "0.1, 'needs': []}",
	    "{'id': 'x', 'claim': 'c', 'source': '', 'measured_by_source': '', 'metric': '', 'points': {}, 'against': "
	    "null, 'by': null, 'relation': 'sideways', 'min': null, 'max': null, 'along': null, 'tolerance': 0.0, "
	    "'needs': [{'need': 'levitation'}], 'origin': 'self-test'}",
	};

	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		json_t *claim = read_claim(claims[i]), *again;
		struct claim_list list = list_of(json_incref(claim));

		again = claim_list_to_json(&list);

		char *before = json_dumps(claim, 0), *after = json_dumps(json_array_get(again, 0), 0);

		is_str(after, before, "a claim that was read is written as it was");
		free(before);
		free(after);
		claim_list_free(&list);
		json_decref(again);
		json_decref(claim);
	}
	struct claim_list list = list_of(json_pack("{s:s}", "metric", "small.lat_ns.p99_9"));

	is_str(list.claims[0].metric.of, "small.lat_ns", "a metric's name is split at the last dot");
	is_str(list.claims[0].metric.statistic, "p99_9", "what follows is the statistic");
	claim_list_free(&list);
}

/* --- status, tables --- */

static void test_status(void)
{
	struct claim_verdict of[] = {{.verdict = CLAIM_NOT_JUDGED}, {.verdict = CLAIM_HOLDS}, {.verdict = CLAIM_FAILS}};

	is_int(claim_verdicts_status(&(struct claim_verdicts){of, 1}), STATUS_UNDECIDED, "nothing judged is undecided");
	is_int(claim_verdicts_status(&(struct claim_verdicts){of, 2}), STATUS_OK, "one that holds is enough");
	is_int(claim_verdicts_status(&(struct claim_verdicts){of, 3}), STATUS_NO, "one that fails is a no");
	is_int(claim_verdicts_status(&(struct claim_verdicts){of, 0}), STATUS_UNDECIDED, "no claims are undecided");
}

/* Claims are counted by who says so, if not all are the source's. */
static void test_origins(void)
{
	struct claim_verdict of[] = {{.origin = CLAIM_OF_SOURCE, .verdict = CLAIM_HOLDS},
				     {.origin = CLAIM_OF_SOURCE, .verdict = CLAIM_FAILS},
				     {.origin = CLAIM_OURS, .verdict = CLAIM_HOLDS},
				     {.origin = CLAIM_SELF_TEST, .verdict = CLAIM_NOT_JUDGED}};
	char *texts[] = {"", "", "", ""}, *text = NULL;
	struct claim_verdicts v = {of, 2};
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *j;

	for (size_t i = 0; i < 4; i++)
		of[i].experiment = of[i].id = of[i].claim = of[i].source = of[i].measured_by_source = of[i].metric =
		    of[i].wanted = of[i].measured = of[i].why = texts[i];
	claims_table(&v, out);
	v.count = 4;
	claims_table(&v, out);
	fclose(out);
	contains(text, "\n2 claims: 1 holds, 1 fails, 0 not judged\n", "all are the source's");
	contains(text,
		 "\n2 claims of the source: 1 holds, 1 fails, 0 not judged\n1 claim of ours: 1 holds, 0 fail, 0 not "
		 "judged\n1 claim of the measurement itself: 0 hold, 0 fail, 1 not judged\n",
		 "each origin is counted");
	j = claim_verdicts_to_json(&v);
	v = claim_verdicts_from_json(j);
	for (size_t i = 0; i < 4; i++)
		is_int(v.all[i].origin, of[i].origin, "in claims.json: %s", claim_origin_names[of[i].origin]);
	ok(!json_object_get(json_array_get(json_object_get(j, "claims"), 0), "origin"), "the source's have none there");
	claim_verdicts_free(&v);
	json_decref(j);
	free(text);
}

static void test_tables(void)
{
	json_t *j =
	    json_pack("{s:[{s:s, s:s, s:s, s:s, s:s}]}", "claims", "id", "long", "verdict", "holds", "claim",
		      "Words words words words words words words words words words\twords \033[31mthe end", "measured",
		      "averyveryverylongmeasurementwithoutanyblankinit", "measured_by_source", "\xc2\xb5s 3");
	struct claim_verdicts v = claim_verdicts_from_json(j);
	char *text = NULL, *tsv = NULL;
	size_t size, tabs = 0;
	FILE *out = open_memstream(&text, &size);

	claims_table(&v, out);
	fclose(out);
	out = open_memstream(&tsv, &size);
	claims_tsv(&v, out);
	fclose(out);
	ok(!strchr(text, '\033') && !strchr(tsv, '\033'), "nothing of a terminal's gets through");
	contains(text, "the end", "a long claim is wrapped to its end");
	for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		ok(strcspn(line, "\n") <= 101, "a line of %zu bytes fits", strcspn(line, "\n"));
	for (const char *c = strchr(tsv, '\n') + 1; *c; c++)
		tabs += *c == '\t';
	is_int((long long)tabs, 9, "a row has ten cells, whatever is in them");
	free(text);
	free(tsv);
	claim_verdicts_free(&v);
	json_decref(j);
}

static double normal(uint64_t *state)
{
	double a = ((double)random_below(state, 1 << 30) + 0.5) / (1 << 30);
	double b = ((double)random_below(state, 1 << 30) + 0.5) / (1 << 30);

	return sqrt(-2 * log(a)) * cos(2 * M_PI * b);
}

/* Of 1000 claims about so many cases, in none of which anything differs: in how many does an interval miss 1? */
static size_t missed(size_t cases, double error)
{
	uint64_t state = 7;
	size_t count = 0;

	for (size_t trial = 0; trial < 1000; trial++) {
		bool misses = false;

		for (size_t c = 0; c < cases; c++) {
			double x[REPS], y[REPS];
			struct sample a = {.value = 1, .rep = x, .reps = REPS, .error = error};
			struct sample b = {.value = 1, .rep = y, .reps = REPS, .error = error};
			struct estimate e;

			for (size_t i = 0; i < REPS; i++) {
				x[i] = exp(0.1 * normal(&state));
				y[i] = exp(0.1 * normal(&state));
			}
			/* The number of all repetitions together is near their middle. */
			sort_doubles(x, REPS);
			sort_doubles(y, REPS);
			a.value = x[REPS / 2];
			b.value = y[REPS / 2];
			e = estimate_ratio(&a, &b);
			misses |= e.low > 1 || e.high < 1;
		}
		count += misses;
	}
	return count;
}

static void test_shared_error(void)
{
	size_t one = missed(1, 0), alone = missed(6, 0), shared = missed(6, CLAIM_ERROR / 6);

	ok(one <= 65, "one case: the interval misses the truth in %zu of 1000", one);
	ok(alone >= 150, "six cases, each by itself: one of the intervals does in %zu", alone);
	ok(shared <= 65, "six cases that share the error: in %zu", shared);
}

/* All pairs of these would need 80 GB. */
static void test_many_repetitions(void)
{
	enum { MANY = 100000 };
	double *rep = malloc(MANY * sizeof(*rep)), *later = malloc(MANY * sizeof(*later));
	struct sample a = {OVER_REPS_SPREAD, 0.5, rep, MANY}, b = {OVER_REPS_SPREAD, 0.6, later, MANY};
	struct estimate e;

	for (size_t i = 0; rep && later && i < MANY; i++) {
		rep[i] = (double)(i * 7919 % MANY) / MANY;
		later[i] = rep[i] + 0.1;
	}
	e = estimate_difference(&b, &a);
	ok(e.has_interval && e.low < 0.1 && e.high > 0.1, "an interval about the difference: %g to %g", e.low, e.high);
	ok(e.low > 0.09 && e.high < 0.11, "a narrow one");
	e = estimate_ratio(&a, &a);
	ok(e.low < 1 && e.high > 1 && e.low > 0.9 && e.high < 1.1, "about 1 where both are the same: %g to %g", e.low,
	   e.high);
	free(rep);
	free(later);
}

/* Knuth's; of few events on average. */
static double poisson(uint64_t *state, double mean)
{
	double product = fixture_uniform(state), end = exp(-mean);
	int n = 0;

	for (; product > end; n++)
		product *= fixture_uniform(state);
	return n;
}

enum { COUNTED = 25, MESSAGES = 8000 };

/* A share of rare events in each repetition; in bursts of so many at a time. */
static struct sample draw_share(uint64_t *state, double mean, double burst, double *rep, double *of)
{
	struct sample s = {.rep = rep, .reps = COUNTED, .of = of, .error = CLAIM_ERROR};

	for (size_t i = 0; i < COUNTED; i++) {
		of[i] = MESSAGES;
		rep[i] = burst * poisson(state, mean / burst) / MESSAGES;
		s.value += rep[i] / COUNTED;
	}
	return s;
}

static void test_counts(void)
{
	static const struct {
		double mean, burst;
	} drawn[] = {{8, 1}, {1, 1}, {8, 4}};
	double rep[2][COUNTED], of[2][COUNTED];
	uint64_t state = 7;

	for (size_t r = 0; r < sizeof(drawn) / sizeof(drawn[0]); r++) {
		size_t ratio = 0, difference = 0, value = 0, undecided = 0;

		for (int i = 0; i < 1000; i++) {
			struct sample a = draw_share(&state, drawn[r].mean, drawn[r].burst, rep[0], of[0]);
			struct sample b = draw_share(&state, drawn[r].mean / 4, drawn[r].burst, rep[1], of[1]);
			struct estimate e = estimate_ratio(&a, &b);

			ratio += e.low > 4 || e.high < 4;
			undecided += e.low < 1;
			e = estimate_difference(&a, &b);
			difference +=
			    e.low > drawn[r].mean * 0.75 / MESSAGES || e.high < drawn[r].mean * 0.75 / MESSAGES;
			e = estimate_value(&a);
			value += e.low > drawn[r].mean / MESSAGES || e.high < drawn[r].mean / MESSAGES;
		}
		ok(ratio <= 80 && difference <= 80 && value <= 80,
		   "%g late messages of 8000 in bursts of %g: the ratio is missed in %zu of 1000, the difference in "
		   "%zu, the "
		   "share in %zu",
		   drawn[r].mean, drawn[r].burst, ratio, difference, value);
		ok(undecided <= 100, "and four times as many are told from as many, but in %zu of 1000", undecided);
	}
	struct sample none = draw_share(&state, 0, 1, rep[0], of[0]), some = draw_share(&state, 3, 1, rep[1], of[1]);

	ok(estimate_ratio(&none, &some).low == 0 && estimate_ratio(&none, &some).high < 0.1, "none, against some");
	ok(estimate_value(&none).low == 0 && estimate_value(&none).high > 0, "none in these is not none ever");
}

static void test_clock_error(void)
{
	const double nine[] = {996, 997, 998, 999, 1000, 1001, 1002, 1003, 1004};
	struct sample a = {.value = 1000, .rep = nine, .reps = 9}, b = a;
	struct estimate e = estimate_ratio(&a, &b);

	ok(e.low > 0.98 && e.high < 1.02 && e.clock_error == 0, "one host: %g to %g", e.low, e.high);
	a.clock_error = b.clock_error = 100;
	e = estimate_ratio(&a, &b);
	ok(e.low < 0.9 / 1.1 && e.low > 0.8 && e.high > 1.1 / 0.9 && e.high < 1.25 && e.clock_error == 100,
	   "each may be off by 100 ns of 1000: %g to %g", e.low, e.high);
	e = estimate_difference(&a, &b);
	ok(e.low < -200 && e.low > -220 && e.high > 200 && e.high < 220, "their difference: %g to %g", e.low, e.high);
	e = estimate_value(&a);
	ok(e.low < 900 && e.low > 890 && e.high > 1100 && e.high < 1110, "one of them: %g to %g", e.low, e.high);
	b.clock_error = 1000;
	ok(isinf(estimate_ratio(&a, &b).high), "what the error may make 0 is no bound");
	a.reps = b.reps = 1;
	ok(estimate_value(&a).has_interval, "a single repetition has that interval, too");
}

int main(void)
{
	test_intervals();
	test_counts();
	test_clock_error();
	test_shared_error();
	test_many_repetitions();
	test_selections();
	test_rows();
	test_flows();
	test_metrics();
	test_periods();
	test_needs();
	test_same_link();
	test_granted();
	test_json();
	test_status();
	test_origins();
	test_tables();
	return done_testing();
}
