/* What a configuration of Observatory becomes, and what is said of a wrong one. */
#include "measure/spec/observatory_spec.h"

#include "fixture_diag.h"
#include "tap.h"

#define OPERATION(name, modes, rest) "{\"name\": \"" name "\", \"modes\": [" modes "], " rest "}"
#define ONE_WAY			     "\"unidirectional\""
#define ITERATION		     "{\"size\": 64, \"count\": 2000000, \"warmUp\": 100}"
#define CONFIG(operations)	     "{\"resultName\": \"R\", \"operations\": [" operations "]}"
#define WITH(iteration)                                                                                                \
	CONFIG(OPERATION("MessagingThroughput", ONE_WAY, "\"repetitions\": 3, \"iterations\": [" iteration "]"))

static const char *const devices[] = {"mlx5_0", "mlx5_1"};

struct outcome {
	char *spec, *errors, *warnings;
};

static struct outcome outcome_of(const char *config, const char *transport)
{
	const struct observatory_request request = {transport, devices, 2, strcmp(transport, "tcp") ? 1 : 4};
	struct diag d, warnings;
	struct ynode *root = NULL, *spec = NULL;
	struct outcome o = {NULL, NULL, NULL};

	diag_init(&d, "c.json");
	diag_init(&warnings, "c.json");
	d.text = warnings.text = config;
	d.length = warnings.length = strlen(config);
	if (!yaml_load_text(config, strlen(config), &d, &root))
		observatory_config_check(root, config, strlen(config), &d, &warnings);
	if (!d.count)
		spec = observatory_spec_make(root, &request, &d, &warnings);
	o = (struct outcome){spec ? yaml_make_dump(spec) : strdup(""), fixture_diag_text(&d),
			     fixture_diag_text(&warnings)};
	yaml_free(spec);
	yaml_free(root);
	diag_free(&d);
	diag_free(&warnings);
	return o;
}

static void outcome_free(struct outcome *o)
{
	free(o->spec);
	free(o->errors);
	free(o->warnings);
}

static void check_spec(const char *config, const char *transport, const char *spec, const char *what)
{
	struct outcome o = outcome_of(config, transport);

	is_str(o.errors, "", "%s: nothing is wrong", what);
	is_str(o.spec, spec, "%s", what);
	outcome_free(&o);
}

static void test_translation(void)
{
	check_spec(
	    "{\"resultName\": \"hadroNIO (64K)\", \"parameters\": ["
	    "{\"key\": \"deviceNumber\", \"value\": \"1\"}, {\"key\": \"portNumber\", \"value\": 2},"
	    "{\"key\": \"queueSize\", \"value\": \"200\"}], \"operations\": [" //
	    OPERATION(
		"MessagingThroughput", ONE_WAY ", \"bidirectional\"",
		"\"repetitions\": 3, \"iterations\": [{\"size\": 1, \"count\": 5000000, \"warmUp\": 100},"
		"{\"size\": 2, \"count\": 5000000, \"warmUp\": 100},"
		"{\"size\": 4, \"count\": 500, \"warmUp\": 10}]") "," OPERATION("RdmaReadLatency", ONE_WAY,
										"\"repetitions\": 1, \"iterations\": "
										"[" ITERATION
										"]") "," OPERATION("MessagingPingPong",
												   ONE_WAY,
												   "\"repetitions\": "
												   "1, \"iterations\": "
												   "[" ITERATION
												   "]") "]}",
	    "verbs",
	    "kblat: 1\n"
	    "name: hadronio-64k\n"
	    "title: \"hadroNIO (64K): throughput (200 operations in flight), latency, round trips over verbs\"\n"
	    "source: \"Observatory, configuration hadroNIO (64K)\"\n"
	    "settings: {transport: verbs, device: mlx5_1, port: 2}\n"
	    "matrix:\n"
	    "  - {kernel: stream, op: send, both: no, depth: 200, repetitions: 3, messages: 5000000, warmup: 100, "
	    "stamp_every: 5, size: [1, 2]}\n"
	    "  - {kernel: stream, op: send, both: no, depth: 200, repetitions: 3, messages: 500, warmup: 10, quick: "
	    "{messages: 500, warmup: 10}, size: [4]}\n"
	    "  - {kernel: stream, op: send, both: yes, depth: 200, repetitions: 3, messages: 5000000, warmup: 100, "
	    "stamp_every: 5, size: [1, 2]}\n"
	    "  - {kernel: stream, op: send, both: yes, depth: 200, repetitions: 3, messages: 500, warmup: 10, quick: "
	    "{messages: 500, warmup: 10}, size: [4]}\n"
	    "  - {kernel: stream, op: read, depth: 1, repetitions: 1, messages: 2000000, warmup: 100, size: [64]}\n"
	    "  - {kernel: pingpong, op: send_imm, depth: 2, repetitions: 1, messages: 2000000, warmup: 100, size: "
	    "[64]}\n"
	    "quick: {messages: 1000, warmup: 100, repetitions: 1, stamp_every: 1}\n",
	    "operations, modes and iterations become blocks");
	check_spec(
	    CONFIG(OPERATION(
		"MessagingLatency", ONE_WAY,
		"\"repetitions\": 2, \"iterations\": [{\"size\": 2, \"count\": 1000, \"warmUp\": 100}, "
		"{\"size\": 8, \"count\": 1000, \"warmUp\": 100}]") "," OPERATION("RdmaWriteLatency", ONE_WAY,
										  "\"repetitions\": 2, \"iterations\": "
										  "[" ITERATION "]")),
	    "tcp",
	    "kblat: 1\n"
	    "name: r\n"
	    "title: \"R: latency over tcp\"\n"
	    "source: \"Observatory, configuration R\"\n"
	    "settings: {transport: tcp}\n"
	    "matrix:\n"
	    "  - {kernel: stream, depth: 1, repetitions: 2, messages: 1000, warmup: 100, size: [8]}\n"
	    "quick: {messages: 1000, warmup: 100, repetitions: 1}\n",
	    "over sockets: no RDMA operations, no op, no message too small for its number");
}

static void check_name(const char *result, const char *name)
{
	char *config = NULL, line[128];
	struct outcome o;

	if (asprintf(&config, "{\"resultName\": %s, \"className\": \"de.hhu.Socket\", \"operations\": [%s]}", result,
		     OPERATION("MessagingLatency", ONE_WAY, "\"repetitions\": 2, \"iterations\": [" ITERATION "]")) < 0)
		exit(1);
	o = outcome_of(config, "verbs");
	snprintf(line, sizeof(line), "\nname: %s\n", name);
	ok(strstr(o.spec, line) != NULL, "resultName %s: a run's name is %s", result, name);
	is_str(o.errors, "", "and nothing is wrong");
	outcome_free(&o);
	free(config);
}

static void test_names(void)
{
	check_name("\"../../etc/passwd\"", "etc-passwd");
	check_name("\"a,b\\nC D\"", "a-b-c-d");
	check_name("\"-_x_-\"", "x_");
	check_name("\"é\"", "observatory");
	check_name("\"\"", "de-hhu-socket");
	check_name("\"0123456789012345678901234567890123456789012345678901234567890123456789\"",
		   "012345678901234567890123456789012345678901234567");
}

static const struct {
	const char *config, *said;
} bad[] = {
    {CONFIG(OPERATION("MessagingLatency", "\"bidirectional\"", "\"repetitions\": 3, \"iterations\": [" ITERATION "]")),
     "c.json:1:75: MessagingLatency cannot be bidirectional"},
    {CONFIG(OPERATION("MessagingLatancy", ONE_WAY, "\"repetitions\": 3, \"iterations\": [" ITERATION "]")),
     "c.json:1:45: unknown operation 'MessagingLatancy'; did you mean 'MessagingLatency'?"},
    {CONFIG(OPERATION("MessagingLatency", "\"unidirektional\"", "\"repetitions\": 3, \"iterations\": [" ITERATION "]")),
     "c.json:1:75: unknown mode 'unidirektional'; expected unidirectional or bidirectional"},
    {WITH("{\"size\": 64, \"count\": 0, \"warmUp\": 1}"),
     "c.json:1:152: 'count' must be a whole number from 1 to 1000000000"},
    {WITH("{\"size\": 64, \"count\": -1, \"warmUp\": 1}"), "c.json:1:152: 'count' must be a whole number"},
    {WITH("{\"size\": 64, \"count\": 1.5, \"warmUp\": 1}"), "not '1.5'"},
    {WITH("{\"size\": 64, \"count\": 1000000001, \"warmUp\": 1}"), "not '1000000001'"},
    {WITH("{\"size\": 64, \"count\": 99999999999999999999999, \"warmUp\": 1}"), "'count' must be a whole number"},
    {WITH("{\"size\": 64, \"count\": \"5\", \"warmUp\": 1}"), "'count' must be a whole number"},
    {WITH("{\"size\": 64, \"count\": [5], \"warmUp\": 1}"), "'count' must be a whole number"},
    {WITH("{\"size\": 0, \"count\": 5, \"warmUp\": 1}"), "'size' must be a whole number from 1"},
    {WITH("{\"size\": 64, \"count\": 5}"), "c.json:1:130: 'warmUp' is missing"},
    {WITH("{\"size\": 64, \"count\": 5, \"count\": 6, \"warmUp\": 1}"), "c.json:1:155: duplicate key 'count'"},
    {WITH("5"), "c.json:1:130: an iteration must be {\"size\""},
    {WITH(""), "'iterations' must be a list with at least one entry"},
    {CONFIG("7"), "an operation must be {\"name\""},
    {CONFIG(""), "'operations' must be a list with at least one entry"},
    {CONFIG("{}"), "c.json:1:36: 'modes' is missing"},
    {"{\"resultName\": \"R\"}", "c.json:1:1: 'operations' is missing"},
    {"{\"operations\": [" ITERATION "]}", "'resultName' is missing"},
    {"{\"resultName\": \"\", \"operations\": []}",
     "'resultName' is empty, and there is no 'className' to be used instead"},
    {"{\"resultName\": 5, \"operations\": []}", "'resultName' must be a text in quotes"},
    {"{\"resultName\": \"R\", \"parameters\": {}, \"operations\": []}", "'parameters' must be a list"},
    {"{\"resultName\": \"R\", \"parameters\": [{\"key\": \"queueSize\", \"value\": \"many\"}], \"operations\": []}",
     "queueSize must be a whole number from 1 to 1048576"},
    {"{\"resultName\": \"R\", \"parameters\": [{\"key\": \"a\", \"value\": 1}, {\"key\": \"a\", \"value\": 1}], "
     "\"operations\": []}",
     "the parameter 'a' is given twice"},
    {"{\"resultName\": \"R\", \"detector\": {\"enabled\": \"yes\", \"mode\": \"mud\"}, \"operations\": []}",
     "'enabled' must be true or false"},
    {"{\"resultName\": \"R\", \"detector\": {\"enabled\": true, \"mode\": \"mud\"}, \"operations\": []}",
     "'mode' must be mad or compat"},
    {"{\"resultName\": \"R\", \"operations\": [],}", "not valid JSON"},
    {"{\"resultName\": \"R\", \"operations\": []} # here", "not valid JSON"},
    {"{\"resultName\": \"R\", \"parameters\": [{\"key\": \"deviceNumber\", \"value\": \"2\"}], \"operations\": "
     "[" OPERATION("MessagingLatency", ONE_WAY, "\"repetitions\": 2, \"iterations\": [" ITERATION "]") "]}",
     "c.json:1:69: deviceNumber is 2, and this machine has 2 RDMA devices, counted from 0"},
};

static void test_bad(void)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct outcome o = outcome_of(bad[i].config, "verbs");

		if (!ok(strstr(o.errors, bad[i].said) != NULL, "refused: %s", bad[i].said))
			note("%s\n%s", bad[i].config, o.errors);
		is_str(o.spec, "", "and there is no spec");
		outcome_free(&o);
	}
}

static const struct {
	const char *config, *transport, *said;
} odd[] = {
    {WITH("{\"size\": 64, \"count\": 5, \"warmUp\": 6}"), "verbs",
     "c.json:1:165: warning: the warm-up has more operations than the measurement"},
    {WITH("{\"size\": 64, \"count\": 5, \"warmUp\": 5, \"wormUp\": 6}"), "verbs",
     "warning: unknown key 'wormUp' is ignored; did you mean 'warmUp'?"},
    {"{\"resultName\": \"R\", \"parameters\": [{\"key\": \"svmOptimization\", \"value\": \"true\"}], \"operations\": "
     "[" OPERATION("MessagingLatency", ONE_WAY, "\"repetitions\": 2, \"iterations\": [" ITERATION "]") "]}",
     "verbs", "c.json:1:44: warning: the parameter 'svmOptimization' has no meaning here and is ignored"},
    {CONFIG(OPERATION("MessagingLatency", ONE_WAY, "\"repetitions\": 2, \"iterations\": [" ITERATION "]") "," OPERATION(
	 "RdmaReadLatency", ONE_WAY, "\"repetitions\": 2, \"iterations\": [" ITERATION "]")),
     "tcp", "warning: RdmaReadLatency is left out: the transport tcp has no RDMA operations"},
};

static void test_odd(void)
{
	struct outcome o;

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		o = outcome_of(odd[i].config, odd[i].transport);
		if (!ok(strstr(o.warnings, odd[i].said) != NULL, "%s", odd[i].said))
			note("%s", o.warnings);
		is_str(o.errors, "", "and it is measured");
		outcome_free(&o);
	}
	o = outcome_of(
	    CONFIG(OPERATION("RdmaReadLatency", ONE_WAY, "\"repetitions\": 2, \"iterations\": [" ITERATION "]")),
	    "tcp");
	ok(strstr(o.errors, "c.json:1:35: nothing is left of it") != NULL, "RDMA operations alone, over sockets");
	outcome_free(&o);
}

int main(void)
{
	test_translation();
	test_names();
	test_bad();
	test_odd();
	return done_testing();
}
