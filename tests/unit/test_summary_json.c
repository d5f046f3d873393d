#include "judge/analysis/summary_json.h"

#include <math.h>

#include "tap.h"

/* Every kind of block and number, as they are written to files. */
static const char flows[] =
    "{\"schema\":1,\"name\":\"n\",\"title\":\"t\",\"variant\":\"quick\",\"hosts\":[\"a\",\"b\"],\"valid\":false,"
    "\"reasons\":[\"point 3: r\"],\"warnings\":[],\"named\":[\"size\"],\"points\":[{\"id\":3,\"params\":{\"flows\":"
    "\"large small\",\"large.kernel\":\"stream\"},\"outcome\":\"completed\",\"why\":\"\",\"valid\":false,\"reasons\":"
    "[\"r\"],\"warnings\":[\"w\"],\"loss\":{\"sent\":9,\"lost\":1,\"duplicates\":0,\"reordered\":2},\"start\":{"
    "\"spread_ns\":null},\"large.loss\":{\"sent\":4,\"lost\":0,\"duplicates\":0,\"reordered\":0},\"large.in_flight\":{"
    "\"p50\":null,\"max\":7},\"large.rate\":{\"messages_per_s\":1.5,\"bytes_per_s\":3.25,\"delivered_bytes_per_s\":"
    "null,"
    "\"link_bits_per_s\":100,\"link_share\":0.5},\"large.wire\":{\"payload_bytes\":10,\"raw_bytes\":null,\"factor\":"
    "null,"
    "\"percent\":null,\"bytes_per_s\":null,\"why\":\"no counter\"},\"large.interference\":{\"metric\":\"large.lat_ns\","
    "\"undisturbed\":{\"n\":5,\"lost\":0,\"p50\":12,\"mean\":12.5},\"p50_ratio\":1.25},\"small.loss\":{\"sent\":5,"
    "\"lost\":1,\"duplicates\":0,\"reordered\":2},\"small.in_flight\":{\"p50\":1,\"max\":2},\"small.pacing\":{"
    "\"achieved_hz\":null,\"steps\":3,\"missed\":1,\"missed_share\":0.5},\"small.causes\":{\"metric\":\"lat_ns\","
    "\"messages\":2,\"explained\":1,\"explained_share\":0.5,\"not_known\":0,\"typical_share\":null,\"events_lost\":0,"
    "\"p50_ratio\":null,\"p99_ratio\":1.5,\"why\":\"\",\"causes\":[{\"class\":\"interrupt\",\"side\":\"sink\",\"name\":"
    "\"local timer\",\"messages\":1,\"share\":0.5,\"time_p50_ns\":40,\"time_max_ns\":41},{\"class\":\"unexplained\","
    "\"side\":null,\"name\":\"\",\"messages\":1,\"share\":0.5,\"time_p50_ns\":50,\"time_max_ns\":51}]},"
    "\"small.pattern\":{\"series\":\"lat_ns\",\"period\":32,\"strength\":0.25,\"base_ns\":5,\"high_ns\":9,\"high_"
    "first\":"
    "31,\"high_last\":32,\"high\":[{\"phases\":\"31-32\",\"p50_ns\":9}],\"low\":[],\"nested\":[{\"period\":64,"
    "\"strength\":0.125,\"high\":[],\"low\":[{\"phases\":\"1\",\"p50_ns\":2}]}],\"entries\":99,\"longest\":40,"
    "\"evidence\":1.5,\"threshold\":null,\"shuffles\":20,\"seed\":1,\"reps\":[{\"rep\":1,\"shift\":0},{\"rep\":2,"
    "\"shift\":4}],\"others\":{\"due_ns\":{\"series\":\"due_ns\",\"period\":null,\"strength\":0.0,\"base_ns\":null,"
    "\"high_ns\":null,\"high_first\":null,\"high_last\":null,\"high\":[],\"low\":[],\"nested\":[],\"entries\":9,"
    "\"longest\":0,\"evidence\":0.0,\"threshold\":2.5,\"shuffles\":20,\"seed\":1}}},\"fairness\":{\"from_ns\":null,"
    "\"to_ns\":null,\"jain\":0.5,\"jain_min\":0.25,\"spread_ns\":1},\"large.fairness\":{\"share\":1.0,\"quantum_"
    "share\":"
    "null,\"bytes_per_s\":8.5,\"done_messages\":3,\"jain\":0.5,\"jain_min\":0.25},\"clock\":{\"error_ns\":7},"
    "\"metrics\":{"
    "\"large.lat_ns\":{\"n\":4,\"lost\":0,\"min\":1,\"p50\":null,\"mean\":2.5,\"over_limit\":0.0,\"clock_error_ns\":7},"
    "\"small.lat_ns\":{\"n\":4,\"p50\":88}},\"reps\":[{\"rep\":1,\"metrics\":{\"small.lat_ns\":{\"p50\":87}},"
    "\"small.pacing\":{\"steps\":3},\"fairness\":{\"from_ns\":1,\"to_ns\":2,\"jain\":1.0,\"jain_min\":1.0,\"spread_"
    "ns\":0,"
    "\"shares\":{\"large\":[0.5,null],\"small\":[0.5,null]}}}]}]}";

static const char single[] =
    "{\"schema\":1,\"name\":\"n\",\"title\":\"\",\"variant\":\"\",\"hosts\":[],\"valid\":true,\"reasons\":[],"
    "\"warnings\":[],\"points\":[{\"id\":0,\"params\":{\"size_bytes\":32},\"outcome\":\"unfinished\",\"why\":\"x\","
    "\"valid\":true,\"reasons\":[],\"warnings\":[],\"loss\":{\"sent\":4,\"lost\":0,\"duplicates\":0,\"reordered\":0},"
    "\"in_flight\":{\"p50\":0,\"max\":0},\"cpu\":{\"source_share\":1.0,\"sink_share\":1.0,\"machine_cpus\":null,"
    "\"source_ns\":1,\"sink_ns\":1,\"source_cycles\":null,\"sink_cycles\":null},\"sink\":{\"stored_bytes\":1,"
    "\"bytes_per_s\":null,\"write_bytes_per_s\":null,\"waits\":0},\"metrics\":{},\"reps\":[]}]}";

static struct summary *from_text(const char *text)
{
	json_error_t error;
	json_t *document = json_loads(text, 0, &error);
	struct summary *s;

	if (!document)
		printf("Bail out! %s in column %d\n", error.text, error.column);
	s = summary_decode(document);
	json_decref(document);
	return s;
}

static void test_round_trip(const char *text, const char *what)
{
	struct summary *s = from_text(text);
	json_t *again = summary_encode(s), *points = json_object_get(again, "points"), *point;
	char *now = json_dumps(again, JSON_COMPACT);

	is_str(now, text, "%s: encoding what was decoded gives the same text", what);
	point = summary_encode_point(&s->points[0]);
	ok(json_equal(point, json_array_get(points, 0)), "%s: a point alone is that of the summary", what);
	json_decref(point);
	json_decref(again);
	free(now);
	summary_free(s);
}

static void test_fields(void)
{
	struct summary *s = from_text(flows);
	const struct summary_point *p = summary_find_point(s, 3);
	const struct summary_results *r = &p->results;
	const struct summary_block *pattern = summary_find_block(r, "small", &pattern_block);
	const struct summary_block *causes = summary_late(p, "small");

	ok(!summary_find_point(s, 0) && !summary_find_point(s, 4), "there are no other points");
	ok(p->outcome == POINT_COMPLETED && !p->valid && p->flow_count == 2, "the point");
	is_int(p->flows[1].loss.lost, 1, "a flow's loss");
	is_str(summary_find_metric(r, "small", NULL)->name, "small.lat_ns", "the first series of a flow");
	ok(!summary_find_metric(r, "small", "lat") && !summary_find_metric(r, "", "lat_ns"), "and no other");
	is_int(summary_find_metric(r, "small", "lat_ns")->values[STATISTIC_P50].integer, 88, "its median");
	is_int(r->metrics[0].values[STATISTIC_P50].kind, NUMBER_NONE, "a quantile of too few samples");
	is_int(r->metrics[0].values[STATISTIC_P99].kind, NUMBER_ABSENT, "a statistic that the file does not have");
	is_int(r->metrics[0].clock_error.integer, 7, "the error of the clock");
	is_int(number_count(summary_number(r, "small.lat_ns", "p50")), 88, "the number that a claim names");
	is_int(number_count(summary_number(r, "small.pacing", "steps")), 3, "or one of a block");
	is_int(summary_number(r, "pacing", "steps").kind, NUMBER_ABSENT, "not of another flow");
	is_int(summary_number(r, "small.lat_ns", "p99.9").kind, NUMBER_ABSENT, "by its key, not by its label");
	is_int(number_count(summary_number(r, "fairness", "spread_ns")), 0, "nor what is no statistic");
	ok(number_value(summary_number(r, "fairness", "jain")) == 0.5, "of all flows together");
	is_int(pattern->numbers[PATTERN_HIGH_LAST].integer, 32, "the last slow phase");
	is_str(pattern->pattern->nested[0].low.list[0].phases, "1", "a phase of a period within it");
	is_str(pattern->pattern->others[0].about, "due_ns", "another series");
	ok(!summary_late(p, "large") && causes->cause_count == 2, "only one flow has late messages");
	is_int(causes->causes[0].cause.side, 1, "on the sink's CPU");
	is_int(causes->causes[1].cause.side, CAUSE_NO_SIDE, "or on neither");
	ok(isnan(summary_find_block(&p->reps[0].results, "", &fairness_block)->shares[1].parts[1]),
	   "a share that is not known");
	summary_free(s);
}

/* Files are not trusted. */
static void test_damaged(void)
{
	static const char *const texts[] = {
	    "{}",
	    "[]",
	    "{\"points\":{}}",
	    "{\"points\":[7,null,[],{}]}",
	    "{\"points\":[{\"id\":\"x\",\"params\":[],\"metrics\":[],\"reps\":{},\"reasons\":{},\"pacing\":[]}]}",
	    "{\"points\":[{\"metrics\":{\"a\":1},\"reps\":[1,{\"metrics\":2}],\"pattern\":{\"high\":[1],\"nested\":[2],"
	    "\"reps\":[3],\"others\":{\"x\":{\"others\":{\"y\":4}}}},\"causes\":{\"causes\":[1,{\"class\":\"new\"}]}}]"
	    "}",
	    "{\"points\":[{\"fairness\":{\"shares\":{\"a\":1,\"b\":[\"x\"]}},\"params\":{\"flows\":7},\"outcome\":9}]}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct summary *s = from_text(texts[i]);
		json_t *again = summary_encode(s);
		char *text = again ? json_dumps(again, JSON_COMPACT) : NULL;

		ok(text, "%s", texts[i]);
		free(text);
		json_decref(again);
		summary_free(s);
	}
}

int main(void)
{
	test_round_trip(flows, "several flows");
	test_round_trip(single, "no flows");
	test_fields();
	test_damaged();
	return done_testing();
}
