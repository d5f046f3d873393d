#include <errno.h>

#include "files/rundir/flows.h"
#include "files/rundir/layout.h"
#include "files/rundir/rep.h"
#include "flow_run.h"
#include "judge/analysis/summary_json.h"
#include "judge/analysis/verify.h"
#include "judge/compare/compare_judge.h"
#include "judge/compare/history.h"
#include "tap.h"

static char *dir;

/* --- names --- */

static void test_keys(void)
{
	static const struct {
		const char *flow, *key, *full;
	} rows[] = {{"", "lat_ns", "lat_ns"}, {"small", "lat_ns", "small.lat_ns"}, {"a-b", "kernel", "a-b.kernel"}};
	json_t *params = flow_run_params(true), *names = flows_names(params), *view = flows_params(params, "small");
	char buf[FLOWS_KEY_MAX], *text = json_dumps(view, JSON_COMPACT);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is_str(flows_key(rows[i].flow, rows[i].key, buf, sizeof(buf)), rows[i].full, "%s", rows[i].full);
		is_str(flows_bare_key(rows[i].full), rows[i].key, "%s without its flow", rows[i].full);
		ok(flows_owns(rows[i].flow, rows[i].full), "%s is its own", rows[i].full);
	}
	ok(!flows_owns("small", "lat_ns") && !flows_owns("", "small.lat_ns") && !flows_owns("smal", "small.lat_ns") &&
	       !flows_owns("small", "smaller.lat_ns"),
	   "and nobody else's");
	is_int((long long)json_array_size(names), 2, "two flows");
	is_str(json_string_value(json_array_get(names, 1)), "small", "in their order");
	is_str(text,
	       "{\"flows\":\"large "
	       "small\",\"until\":\"all\",\"repetitions\":2,\"kernel\":\"pingpong\",\"transport\":\"shmem\","
	       "\"poll\":\"busy\",\"messages\":300,\"size_bytes\":32,\"limit_ns\":10000}",
	       "the settings of one, with the point's own");
	free(text);
	json_decref(view);
	json_decref(names);
	json_decref(params);
}

static void says_error(const char *what, json_t *resolved, const char *want)
{
	struct layout l;
	struct err e = ERR_INIT;

	is_int(layout_read("/r", resolved, 0, &l, &e), -EINVAL, "%s is refused", what);
	contains(e.text, want, "%s: why", what);
	json_decref(resolved);
}

static json_t *resolved_with(const char *key, json_t *value)
{
	json_t *resolved = flow_run_resolved(), *point = json_array_get(json_object_get(resolved, "points"), 0);

	json_object_set_new(json_object_get(point, "params"), key, value);
	return resolved;
}

static json_t *resolved_with_columns(size_t columns)
{
	json_t *resolved = flow_run_resolved(), *rate = json_object_get(json_object_get(resolved, "kernels"), "rate");

	for (size_t i = 3; i < columns; i++)
		json_array_append_new(json_object_get(rate, "columns"),
				      json_pack("{s:o}", "name", json_sprintf("t_%zu", i)));
	return resolved;
}

static void test_layout(void)
{
	json_t *resolved = resolved_with_columns(LAYOUT_MOST);
	struct layout l;
	struct err e = ERR_INIT;

	is_int(layout_read("/r", resolved, 0, &l, &e), 0, "a layout with flows is read %s", e.text);
	is_int((long long)l.flow_count, 2, "both of them");
	is_int(l.flows[0].column_count, LAYOUT_MOST, "with as many columns as there are");
	is_str(l.flows[1].series[0].label, "t_rtt/2", "series have labels");
	is_int(l.flows[0].limit_ns, 5000, "each has its limit");
	ok(!l.flows[0].traits.reliable && l.flows[1].traits.reliable, "and its traits");
	ok(layout_is_bookkeeping(resolved, "small.messages") && layout_is_bookkeeping(resolved, "repetitions") &&
	       !layout_is_bookkeeping(resolved, "small.depth"),
	   "what is bookkeeping, resolved.json says");
	layout_free(&l);
	json_decref(resolved);
	says_error("a column too many", resolved_with_columns(LAYOUT_MOST + 1), "more than 64 columns");
	says_error("a flow that leads elsewhere", resolved_with("flows", json_string("large ../x")),
		   "its flows are not distinct names");
	says_error("a flow named twice", resolved_with("flows", json_string("large large")), "are not distinct names");
	says_error("a flow without settings", resolved_with("flows", json_string("large b")),
		   "points[0]: the columns and series of its kernel '' are missing or wrong");
}

/* --- numbers --- */

static const json_t *look(const json_t *j, const char *path)
{
	while (j && *path) {
		size_t length = strcspn(path, "/");
		char *key = fs_path("%.*s", (int)length, path);

		j = json_is_array(j) ? json_array_get(j, (size_t)atoi(key)) : json_object_get(j, key);
		free(key);
		path += length + (path[length] == '/');
	}
	return j;
}

static void says(const json_t *j, const char *path, const char *want)
{
	char *got = json_dumps(look(j, path), JSON_ENCODE_ANY | JSON_COMPACT);

	is_str(got ?: "absent", want ?: "absent", "%s", path);
	free(got);
}

static void test_summary(void)
{
	static const struct {
		const char *path, *want;
	} rows[] = {
	    {"0/valid", "true"},
	    {"0/reasons", "[]"},
	    {"0/warnings", "[\"large: 4 of 198 messages lost (2.02 %)\",\"small: source and sink share a CPU\"]"},
	    {"0/loss", "{\"sent\":798,\"lost\":4,\"duplicates\":0,\"reordered\":0}"},
	    {"0/start", "{\"spread_ns\":400}"},
	    {"0/large.loss", "{\"sent\":198,\"lost\":4,\"duplicates\":0,\"reordered\":0}"},
	    {"0/small.loss", "{\"sent\":600,\"lost\":0,\"duplicates\":0,\"reordered\":0}"},
	    {"0/large.in_flight", "{\"p50\":0,\"max\":0}"},
	    {"0/small.in_flight", "{\"p50\":null,\"max\":null}"},
	    {"0/in_flight", NULL},
	    {"0/large.pacing/steps", "200"},
	    {"0/large.pacing/missed", "2"},
	    {"0/small.pacing", NULL},
	    {"0/pacing", NULL},
	    {"0/metrics/large.lat_ns/n", "194"},
	    {"0/metrics/large.lat_ns/lost", "4"},
	    {"0/metrics/large.lat_ns/min", "5000"},
	    {"0/metrics/large.lat_ns/over_limit", "0.98969072164948457"},
	    {"0/metrics/large.pace_ns/max", "10"},
	    {"0/metrics/small.rtt_ns/p50", "2149"},
	    {"0/metrics/small.half_rtt_ns/p50", "1074"},
	    {"0/metrics/rtt_ns", NULL},
	    {"0/reps/1/rep", "1"},
	    {"0/reps/1/metrics/large.lat_ns/n", "97"},
	    {"0/reps/1/large.pacing/missed_share", "0.01"},
	    {"0/reps/1/small.pacing", NULL},
	    {"1/loss", "{\"sent\":600,\"lost\":0,\"duplicates\":0,\"reordered\":0}"},
	    {"1/start", NULL},
	    {"1/metrics/rtt_ns/p50", "2149"},
	    {"2/valid", "false"},
	    {"2/reasons", "[\"failed: small sink: it was killed\"]"},
	    {"2/metrics", "{}"},
	    {"2/start", "{\"spread_ns\":null}"},
	};
	json_t *summary = flow_run_summary(dir);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		says(json_object_get(summary, "points"), rows[i].path, rows[i].want);
	json_decref(summary);
}

/* A completed point of which a flow lacks its counters. */
static void test_missing(void)
{
	char *path = fs_path("%s/points/0000/rep-01/small/counters.json", dir);
	json_t *run = flow_run_run(), *resolved = flow_run_resolved();
	struct err e = ERR_INIT;

	remove(path);
	ok(!document_build(dir, run, resolved, &e), "without a flow's counters there is no summary");
	contains(e.text, "points/0000/rep-01/small: counters.json is missing", "and why");
	free(path);
	path = fs_path("%s/points/0000/rep-01/small", dir);
	flow_run_counters(path, FLOW_RUN_TRIPS, 0);
	free(path);
	json_decref(run);
	json_decref(resolved);
}

/* --- files --- */

static char *print(int (*how)(const json_t *summary, FILE *out))
{
	json_t *summary = flow_run_summary(dir);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	is_int(how(summary, out), 0, "it is printed");
	fclose(out);
	json_decref(summary);
	return text;
}

static int print_table(const json_t *summary, FILE *out)
{
	documents_table((const json_t *const[]){summary}, 1, out);
	return 0;
}

static void test_csv(void)
{
	char *text = print(document_csv);

	contains(text, "id,valid,flows,until,repetitions,large.kernel,", "CSV has the settings of both flows");
	contains(text, ",stdev,p90_p10,over_limit,achieved_hz,steps,missed,unsent\r\n", "and the blocks, once");
	like(text, ",large\\.lat_ns,194,4,5000,.*,200,2,0\r\n", "a metric has its flow's block beside it");
	like(text, ",small\\.rtt_ns,600,0,2000,.*,,,,\r\n", "and no other's");
	like(text, "\r\n1,true,.*,rtt_ns,600,0,2000,", "a point without flows has bare names");
	free(text);
}

static const char expected_table[] =
    "flows: Two flows, on alpha: NOT VALID\n"
    "in us; 3 points, 1 not valid (!)\n"
    "\n"
    "   point  flow   kernel    metric      n  lost   p50   p90  p99  p99.9  p99.99   max  % >limit  % missed\n"
    "       0  large  rate      lat       194     4  5.05  -       -      -       -  5.10        99       1.0\n"
    "       0  small  pingpong  half_rtt  600     0  1.07  1.13    -      -       -  1.15         0       -\n"
    "       1         pingpong  half_rtt  600     0  1.07  1.13    -      -       -  1.15         0       -\n"
    "!      2  large  rate                  -     -  -     -       -      -       -  -            -       -\n"
    "!      2  small  pingpong              -     -  -     -       -      -       -  -            -       -\n"
    "\n";

static void test_table(void)
{
	char *text = print(print_table);

	contains(text, expected_table, "the table has a row a point and flow");
	contains(text, "warning: point 0: large: 4 of 198 messages lost (2.02 %)\n", "texts name the flow");
	free(text);
}

static char told[65536];

static void note_it(void *arg, const char *text)
{
	(void)arg;
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s\n", text);
}

static int verify(void)
{
	struct verified seen;
	struct err e = ERR_INIT;
	struct run run;
	int rc;

	told[0] = '\0';
	flow_run_check(run_open(dir, &run, &e), e.text);
	rc = verify_run(&run, NULL, note_it, NULL, &seen, &e);
	run_close(&run);
	return rc;
}

static void test_verify(void)
{
	char *path = fs_path("%s/points/0000/rep-00/small/data.json", dir),
	     *rep = fs_path("%s/points/0000/rep-00/large", dir);
	json_t *data = json_read(path, NULL);

	is_int(verify(), 0, "a run with flows is what it says %s", told);
	json_object_set_new((json_t *)look(data, "metrics/rtt_ns"), "p50", json_integer(1));
	json_write(path, data, NULL);
	is_int(verify(), 1, "one number in a flow's data.json is seen");
	is_str(told, "points/0000/rep-00/small/data.json: it differs from what the columns give\n", "and named");
	flow_run_measure(dir);
	flow_run_make(dir);
	flow_run_counters(rep, FLOW_RUN_STEPS - 3, 1);
	is_int(verify(), 3, "so is a counter, also by what run.json says of it");
	contains(told, "summary.json: it differs from what the columns give\n", "which the summary is made of");
	flow_run_make(dir);
	json_decref(data);
	free(path);
	free(rep);
}

static void drop_key(json_t *j, const char *key)
{
	const char *name;
	json_t *inner;
	size_t i;

	json_object_del(j, key);
	json_array_foreach (j, i, inner)
		drop_key(inner, key);
	json_object_foreach (j, name, inner)
		if (strcmp(name, "params") != 0)
			drop_key(inner, key);
}

/* Every JSON file of numbers as a version would have written it that did not know `key`. */
static void forget_key(const char *key)
{
	static const char *const files[] = {"summary.json",
					    "points/0000/summary.json",
					    "points/0001/summary.json",
					    "points/0002/summary.json",
					    "points/0000/rep-00/large/data.json",
					    "points/0000/rep-01/small/data.json",
					    "points/0001/rep-00/data.json"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *path = fs_path("%s/%s", dir, files[i]);
		json_t *j = json_read(path, NULL);

		drop_key(j, key);
		flow_run_save(path, j);
	}
}

/* summary.csv made again from the summary that is there. */
static void write_csv_again(void)
{
	char *path = fs_path("%s/summary.json", dir);
	json_t *summary = json_read(path, NULL);

	flow_run_check(document_write(dir, summary, NULL), path);
	json_decref(summary);
	free(path);
}

/* A later version has more statistics and blocks than the one that made a run: no difference. */
static void test_older(void)
{
	static const struct {
		const char *key;
		bool differs;
	} rows[] = {{"p99", false},	     {"max", false},	      {"large.pacing", false},
		    {"missed_share", false}, {"large.pace_ns", true}, {"start", true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int wrong;

		forget_key(rows[i].key);
		write_csv_again();
		wrong = verify();
		ok(rows[i].differs == (wrong > 0), "a run that does not know %s is %s %s", rows[i].key,
		   rows[i].differs ? "not what it says" : "what it says", rows[i].differs ? "" : told);
		flow_run_make(dir);
	}
}

/* Where the first flow to end ends the others, a repetition has as many entries as its counters
 * say. */
static void test_until_first(void)
{
	char *rep = fs_path("%s/points/0000/rep-00/large", dir), *name = fs_path("%s/points/0000/params.json", dir),
	     *resolved_name = fs_path("%s/resolved.json", dir);
	json_t *resolved = resolved_with("until", json_string("first")), *summary, *run = flow_run_run();

	flow_run_counters(rep, 97, 1);
	flow_run_save(name, json_incref((json_t *)look(resolved, "points/0/params")));
	json_write(resolved_name, resolved, NULL);
	summary = document_build(dir, run, resolved, NULL);
	document_write(dir, summary, NULL);
	flow_run_conclude(dir, run, summary);
	is_int(verify(), 1, "until the first: what was posted, missed and unsent counts %s", told);
	is_str(told, "points/0000/rep-00/large/t_due.npy: it has 100 entries for 98 messages\n",
	       "and is held against it");
	flow_run_make(dir);
	json_decref(summary);
	json_decref(resolved);
	free(resolved_name);
	free(rep);
}

/* --- comparing --- */

static struct compare_runs runs_of(json_t *const *summaries, size_t count)
{
	struct compare_runs runs = {.run = calloc(count, sizeof(*runs.run)), .count = count, .kind = UNIT_BOOT};

	for (size_t i = 0; i < count; i++)
		runs.run[i] = (struct compare_run){
		    .unit = i,
		    .kernel = fs_path("k"),
		    .boot = fs_path("b%zu", i),
		    .hosts = fs_path("h"),
		    .run = {.path = fs_path("run %zu", i),
			    .resolved = json_pack("{s:s}", "name", "flows"),
			    .summary = json_incref(summaries[i])},
		    .summary = summary_decode(summaries[i]),
		};
	runs.units[ARM_BASE] = count;
	return runs;
}

static void test_compare(void)
{
	static const struct {
		const char *metric; /* asked for */
		const char *error;  /* NULL: none */
		size_t count;
		const char *metrics[4], *flows[4];
		double first; /* the first quantity's level of the first point, the run's point 0 */
	} rows[] = {
	    {NULL,
	     NULL,
	     5,
	     {"large.lat_ns", "small.half_rtt_ns", "half_rtt_ns", NULL},
	     {"large", "small", "", "large"},
	     5051},
	    {"small.rtt_ns", NULL, 1, {"small.rtt_ns"}, {"small"}, 2149},
	    {"large.pacing", NULL, 1, {"large.pacing"}, {"large"}, 0.01},
	    {"pacing", NULL, 1, {"large.pacing"}, {"large"}, 0.01},
	    {"rtt_ns", NULL, 1, {"small.rtt_ns"}, {"small"}, 2149},
	    {"nothing_ns", "point 0 has no small.nothing_ns, but large.lat_ns", 0, {NULL}, {NULL}, 0},
	};
	json_t *summary = flow_run_summary(dir);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct compare_choice choice = {.metric = rows[i].metric};
		const char *asked = rows[i].metric ? rows[i].metric : "each flow's first metric";
		json_t *copy = json_deep_copy(summary), *points = json_object_get(copy, "points");
		struct compare_runs runs;
		struct compare_join join;
		struct err e = ERR_INIT;

		/* A metric that is asked for is one that all points have. */
		if (rows[i].metric) {
			json_array_remove(points, 2);
			json_array_remove(points, 1);
		}
		runs = runs_of(&copy, 1);
		is_int(compare_join(&join, &runs, &choice, &e), rows[i].error ? -EINVAL : 0, "%s %s", asked, e.text);
		if (rows[i].error)
			contains(e.text, rows[i].error, "%s: why", asked);
		else
			is_int((long long)join.count, (long long)rows[i].count, "%s: a point for each flow that has it",
			       asked);
		for (size_t k = 0; !rows[i].error && k < join.count && k < 4; k++) {
			is_str(join.point[k].metric ?: "-", rows[i].metrics[k] ?: "-", "%s: metric %zu", asked, k);
			is_str(join.point[k].flow, rows[i].flows[k], "%s: flow %zu", asked, k);
		}
		if (!rows[i].error)
			is_int((long long)(1e6 * join.point[0].quantity[0].level[ARM_BASE] + 0.5),
			       (long long)(1e6 * rows[i].first), "%s: the value", asked);
		compare_join_free(&join);
		compare_runs_free(&runs);
		json_decref(copy);
	}
	json_decref(summary);
}

/* Points 0 and 2 differ in small.size_bytes. */
static void test_ignore(void)
{
	static const struct {
		const char *key;
		bool joins;
	} rows[] = {{"small.size_bytes", true}, {"small.size", true}, {"size_bytes", true},	{"size", true},
		    {"large.size", false},	{"messages", false},  {"small.messages", false}};
	json_t *summary = flow_run_summary(dir);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct compare_choice choice = {.ignore = &rows[i].key, .ignore_count = 1};
		struct compare_runs runs = runs_of(&summary, 1);
		struct compare_join join;
		struct err e = ERR_INIT;

		is_int(compare_join(&join, &runs, &choice, &e), rows[i].joins ? -EINVAL : 0, "without %s", rows[i].key);
		if (rows[i].joins)
			contains(e.text, "its points 0 and 2 have the same settings", "without %s: two are the same",
				 rows[i].key);
		compare_join_free(&join);
		compare_runs_free(&runs);
	}
	json_decref(summary);
}

static void test_history(void)
{
	const struct compare_choice choice = {.metric = "large.pacing"};
	json_t *summary = flow_run_summary(dir), *json;
	struct history history;
	struct compare_runs runs;
	struct compare_join join;
	struct err e = ERR_INIT;

	json_array_remove(json_object_get(summary, "points"), 2);
	json_array_remove(json_object_get(summary, "points"), 1);
	runs = runs_of((json_t *const[]){summary, summary}, 2);
	is_int(compare_join(&join, &runs, &choice, &e), 0, "two runs are joined %s", e.text);
	history = history_of(&join, "missed_share", false);
	json = history_json(&history);
	says(json, "points/0/label", "\"large\"");
	says(json, "points/0/unit", "\"share\"");
	says(json, "points/0/builds/1/value", "0.01");
	json_decref(json);
	history_free(&history);
	compare_join_free(&join);
	compare_runs_free(&runs);
	json_decref(summary);
}

static void test_quantities(void)
{
	static const struct {
		const char *metric, *names;
	} rows[] = {
	    {NULL, "p50, p90, p99, p99.9 or over_limit"},
	    {"small.lat_ns", "p50, p90, p99, p99.9 or over_limit"},
	    {"pacing", "missed_share, achieved_hz or unsent_share"},
	    {"small.sink", "bytes_per_s, write_bytes_per_s or waits"},
	};
	const char *quantity = NULL;
	char *block = compare_quantity_split("small.pacing.missed_share", &quantity);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *names = compare_quantity_names(rows[i].metric, " or ");

		is_str(names, rows[i].names, "what is compared of %s", rows[i].metric ? rows[i].metric : "a series");
		free(names);
	}
	is_str(block, "small.pacing", "a block with a quantity behind it");
	is_str(quantity, "missed_share", "which is that");
	free(block);
	ok(!compare_quantity_split("small.pacing", &quantity) && !compare_quantity_split("small.lat_ns", &quantity) &&
	       !compare_quantity_split("lat_ns", &quantity) && !compare_quantity_split(NULL, &quantity),
	   "all else is a metric");
}

int main(void)
{
	dir = tap_dir();
	flow_run_make(dir);
	test_keys();
	test_layout();
	test_summary();
	test_missing();
	test_csv();
	test_table();
	test_verify();
	test_older();
	test_until_first();
	test_compare();
	test_ignore();
	test_history();
	test_quantities();
	tap_dir_remove(dir);
	return done_testing();
}
