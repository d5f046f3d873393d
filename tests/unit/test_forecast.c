/* How long points take: the arithmetic of forecasts, and what former runs make of it. */
#include <math.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "fixture_params.h"
#include "measure/run/forecast.h"
#include "tap.h"

static const struct forecast none;

/* The forecast of a point with these settings; "key", integer. Ends with NULL. */
static struct forecast of(const char *kernel, const char *transport, json_t *settings)
{
	json_t *params = fixture_params(kernel, transport_find(transport));
	struct err e = ERR_INIT;
	struct point p;
	struct forecast t = none;

	json_object_update(params, settings);
	if (ok(!point_load(&p, 0, params, &e), "a point is read: %s", e.text))
		t = forecast_point(&p);
	point_free(&p);
	json_decref(params);
	json_decref(settings);
	return t;
}

static void is_near(double got, double want, const char *what)
{
	if (!ok(fabs(got - want) < 1e-6 + want * 1e-9, "%s", what))
		printf("# %.9f instead of %.9f\n", got, want);
}

static void test_paced(void)
{
	struct forecast t =
	    of("rate", "shmem",
	       json_pack("{s:i, s:i, s:i, s:i}", "rate_hz", 1000, "messages", 2000, "repetitions", 5, "warmup", 500));

	is_near(t.paced_s, 10.5, "a pacer: steps / rate, each repetition, and the warm-up");
	ok(forecast_seconds(&t) > 10.5 && forecast_seconds(&t) < 12, "and little around it");

	t = of("oneway", "shmem",
	       json_pack("{s:i, s:i, s:i, s:i, s:i}", "messages", 10, "burst", 3, "pause_ns", 1000000000, "repetitions",
			 2, "warmup", 0));
	is_near(t.paced_s, 6, "pauses are between bursts: three between four");

	t = of("oneway", "shmem",
	       json_pack("{s:i, s:i, s:i, s:i, s:i}", "messages", 10, "burst", 5, "gap_ns", 100000000, "repetitions", 1,
			 "warmup", 0));
	is_near(t.paced_s, 0.8, "gaps are inside bursts: four in each of two");

	t = of(
	    "pingpong", "tcp",
	    json_pack("{s:i, s:i, s:i, s:i}", "messages", 100, "pause_ns", 10000000, "repetitions", 3, "warmup", 10));
	is_near(t.paced_s, 3, "a pause after every round trip, but none in the warm-up");
}

static void test_fresh(void)
{
	json_t *params = json_pack("{s:i, s:i, s:i, s:i, s:b}", "rate_hz", 1000, "messages", 2000, "repetitions", 5,
				   "warmup", 500, "fresh", 0);
	const struct forecast once = of("rate", "shmem", json_deep_copy(params));
	struct forecast fresh;

	json_object_set_new(params, "fresh", json_true());
	fresh = of("rate", "shmem", params);
	is_near(fresh.paced_s, 12.5, "fresh: a warm-up for each repetition");
	ok(fresh.rest_s > once.rest_s + 0.4, "and new endpoints");
}

static void test_limits(void)
{
	const struct forecast t = of("pingpong", "tcp",
				     json_pack("{s:i, s:i, s:i, s:i, s:i}", "messages", 1000000, "pause_ns", 1000000,
					       "duration_ns", 2000000000, "repetitions", 4, "warmup", 0));
	const struct forecast scripted =
	    of("rate", "scripted", json_pack("{s:i, s:i, s:i}", "rate_hz", 1, "messages", 1000, "repetitions", 2));

	is_near(t.paced_s, 8, "a duration ends a repetition");
	is_near(scripted.paced_s, 0, "in virtual time a pacer takes none");
	ok(forecast_seconds(&scripted) < 1, "and messages take little");
}

static void test_unpaced(void)
{
	const struct forecast busy = of("pingpong", "shmem", json_pack("{s:i}", "messages", 10000)),
			      event =
				  of("pingpong", "shmem", json_pack("{s:i, s:s}", "messages", 10000, "poll", "event")),
			      twice = of("pingpong", "shmem", json_pack("{s:i}", "messages", 20000));

	is_near(busy.paced_s, 0, "round trips have no lower bound");
	ok(event.rest_s > busy.rest_s, "asleep they take longer");
	ok(twice.rest_s > busy.rest_s && twice.rest_s < 2 * busy.rest_s, "more of them take longer, not all of it");
}

static void test_flows(void)
{
	static const char *const until[] = {"all", "first"};
	static const double want[] = {6, 2};

	for (size_t i = 0; i < 2; i++) {
		json_t *own = fixture_params("rate", transport_find("shmem")), *params = json_object(), *value;
		struct err e = ERR_INIT;
		struct point p;
		const char *key;

		json_object_set_new(params, "flows", json_string("long short"));
		json_object_set_new(params, "until", json_string(until[i]));
		json_object_set_new(own, "messages", json_integer(1000));
		json_object_set_new(own, "warmup", json_integer(0));
		json_object_foreach (own, key, value) {
			char of_flow[80];

			if (setting_is_of_point(key)) {
				json_object_set(params, key, value);
				continue;
			}
			snprintf(of_flow, sizeof(of_flow), "long.%s", key);
			json_object_set(params, of_flow, value);
			snprintf(of_flow, sizeof(of_flow), "short.%s", key);
			json_object_set(params, of_flow, value);
		}
		json_object_set_new(params, "repetitions", json_integer(2));
		json_object_set_new(params, "environment", json_string("none"));
		json_object_set_new(params, "long.rate_hz", json_integer(333));
		json_object_set_new(params, "long.messages", json_integer(999));
		json_object_set_new(params, "short.rate_hz", json_integer(1000));
		if (ok(!point_load(&p, 0, params, &e), "a point with flows: %s", e.text)) {
			const struct forecast t = forecast_point(&p);

			is_near(t.paced_s, want[i], until[i]);
		}
		point_free(&p);
		json_decref(params);
		json_decref(own);
	}
}

static void test_correct(void)
{
	const struct forecast t = {.paced_s = 10, .rest_s = 2}, former = {.paced_s = 5, .rest_s = 1};
	struct forecast c = forecast_correct(t, former, 8);

	is_near(forecast_seconds(&c), 16, "the rest took three times what was assumed, and will again");
	ok(c.is_former, "and the forecast says that it is a former run's");
	c = forecast_correct(t, former, 4);
	is_near(forecast_seconds(&c), 10, "what is prescribed stays");
	is_near(forecast_left_s(former, t, 8), 16, "so does what is left of a run");
	is_near(forecast_left_s(none, t, 0), 12, "of which nothing is known at its start");
}

static void test_former(const char *dir)
{
	char *runs = fs_path("%s/runs", dir), *run = fs_path("%s/x-20261121T093000Z-0a1b2c3d", runs),
	     *resolved_path = fs_path("%s/resolved.json", run), *log = fs_path("%s/log.jsonl", run);
	json_t *params = fixture_params("pingpong", transport_find("shmem"));
	json_t *resolved = json_pack("{s:o, s:[{s:i, s:O}]}", "bookkeeping", setting_bookkeeping(), "points", "id", 7,
				     "params", params);
	static const char text[] =
	    "{\"event\":\"point\",\"id\":7,\"outcome\":\"completed\",\"took_ms\":60000}\nnonsense\n"
	    "{\"event\":\"point\",\"id\":8,\"outcome\":\"completed\",\"took_ms\":1}\n"
	    "{\"event\":\"point\",\"id\":7,\"outcome\":\"failed\",\"took_ms\":1}\n";
	struct err e = ERR_INIT;
	struct forecast each[2], sum, judged;
	struct point p[2];
	struct spec spec = {.name = "x", .point = p, .point_count = 2};

	fs_mkdirs(run, &e);
	json_write(resolved_path, resolved, &e);
	fs_write(log, text, strlen(text), &e);
	point_load(&p[0], 0, params, &e);
	json_decref(params);
	params = json_deep_copy(p[0].params);
	json_object_set_new(params, "size_bytes", json_integer(4096));
	point_load(&p[1], 1, params, &e);
	sum = forecast_run(&spec, runs, each);
	is_near(forecast_seconds(&each[0]), 60, "a former run of the point says how long it takes");
	ok(each[0].is_former && !each[1].is_former && !sum.is_former, "another size is another point");
	ok(forecast_seconds(&sum) > forecast_seconds(&each[0]) + forecast_seconds(&each[1]),
	   "a run takes more than its points");
	spec.name = "y";
	forecast_run(&spec, runs, each);
	ok(!each[0].is_former, "so is another experiment");
	spec.name = "x";
	forecast_run(&spec, NULL, each);
	ok(!each[0].is_former, "without a place to look there are none");
	spec.claims.count = 1;
	judged = forecast_run(&spec, runs, NULL);
	is_near(forecast_seconds(&judged) - forecast_seconds(&sum), 0.2,
		"if claims are judged, looks at its CPUs are added to the point that is not known");
	p[1].flow[0].common.priority = 1;
	judged = forecast_run(&spec, runs, NULL);
	is_near(forecast_seconds(&judged) - forecast_seconds(&sum), 0,
		"but not if it has a real-time priority, as it does not wait for others");
	struct flow two[] = {p[1].flow[0], p[1].flow[0]}, *const one = p[1].flow;
	two[1].common.priority = 0;
	p[1].flow = two;
	p[1].flow_count = 2;
	judged = forecast_run(&spec, runs, NULL);
	spec.claims.count = 0;
	sum = forecast_run(&spec, runs, NULL);
	is_near(forecast_seconds(&judged) - forecast_seconds(&sum), 0.1,
		"and half of them if one of its two flows has");
	p[1].flow = one;
	p[1].flow_count = 1;
	point_free(&p[0]);
	point_free(&p[1]);
	json_decref(params);
	json_decref(resolved);
	free(log);
	free(resolved_path);
	free(run);
	free(runs);
}

static void test_text(void)
{
	static const struct {
		double seconds;
		const char *text;
	} rows[] = {{0.8504, "850 ms"},	 {0.9999, "1 s"},	{59.4, "59 s"},	    {59.6, "1 min 0 s"},
		    {200, "3 min 20 s"}, {3599.6, "1 h 0 min"}, {7500, "2 h 5 min"}};
	char text[FORECAST_TEXT_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_str(forecast_text(rows[i].seconds, text, sizeof(text)), rows[i].text, "%g s", rows[i].seconds);
}

int main(void)
{
	char *dir = tap_dir();

	test_paced();
	test_fresh();
	test_limits();
	test_unpaced();
	test_flows();
	test_correct();
	test_former(dir);
	test_text();
	tap_dir_remove(dir);
	return done_testing();
}
