#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/npy.h"
#include "files/rundir/manifest.h"
#include "files/rundir/reader.h"
#include "judge/analysis/reduce.h"
#include "judge/analysis/verify.h"
#include "summary_documents.h"
#include "tap.h"

/*
 * A run of five points whose truth is known. Submissions are 100 ns apart; message i takes 1000 + i
 * ns:
 *   0  shmem, 2 repetitions of 1000: in order
 *   1  verbs ud: message 7 is lost, 3 is received twice, message 500 takes 20 us
 *   2  failed after one repetition, which lacks a column
 *   3  not possible here
 *   4  never begun
 */
#define MESSAGES 1000

static char *dir;

static char *shortened; /* the next column that is opened; NULL: it is not shortened */

/* In place of the C library's, which is called when a column has just been mapped. */
int madvise(void *address, size_t length, int advice)
{
	int rc = shortened ? truncate(shortened, 4096) : 0;

	(void)address;
	(void)length;
	(void)advice;
	free(shortened);
	shortened = NULL;
	return rc;
}

static char *at(const char *name)
{
	static char path[2][4096];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static void make_dir(const char *name)
{
	fs_mkdirs(at(name), NULL);
}

static void put(const char *name, const char *text)
{
	tap_file(at(name), text, strlen(text));
}

/* Consumes the value. */
static void put_json(const char *name, json_t *value)
{
	if (!value || json_write(at(name), value, NULL)) {
		printf("Bail out! cannot write %s\n", name);
		exit(1);
	}
	json_decref(value);
}

static json_t *get_json(const char *name)
{
	struct err e = ERR_INIT;
	json_t *j = json_read(at(name), &e);

	if (!j)
		note("%s", e.text);
	return j;
}

static json_t *params(const char *transport, const char *qp, int reps)
{
	json_t *j = json_pack("{s:s, s:s}", "kernel", "oneway", "transport", transport);

	if (qp)
		json_object_set_new(j, "qp", json_string(qp));
	json_object_update_new(j, json_pack("{s:s, s:i, s:i, s:i, s:i, s:s}", "poll", "busy", "messages", MESSAGES,
					    "repetitions", reps, "size_bytes", qp ? 4096 : 32, "limit_ns", 10000,
					    "note", "a, \"b\""));
	return j;
}

static json_t *kernels(void)
{
	return json_pack("{s:{s:[{s:s, s:s}, {s:s, s:s}, {s:s, s:s}], s:[{s:s, s:s, s:s, s:s}, {s:s, s:s, s:s, s:s}]}}",
			 "oneway", "columns", "name", "t_subm", "side", "source", "name", "t_comp", "side", "source",
			 "name", "t_recv", "side", "sink", "series", "name", "lat_ns", "label", "t_lat", "column",
			 "t_recv", "minus", "t_subm", "name", "comp_lat_ns", "label", "t_comp", "column", "t_comp",
			 "minus", "t_subm");
}

static json_t *side(const char *name, int value)
{
	json_t *j = json_object();

#define X(counter, help) json_object_set_new(j, #counter, json_integer(0));
#include "common/counters.def"
#undef X
	json_object_set_new(j, "posted", json_integer(MESSAGES));
	json_object_set_new(j, "locked", json_integer(1));
	json_object_set_new(j, name, json_integer(value));
	return j;
}

static json_t *counters(int duplicates)
{
	return json_pack("{s:i, s:o, s:o, s:{s:{s:{s:i}, s:{s:i}}, s:{}}}", "schema", 1, "source",
			 side("completed", MESSAGES), "sink", side("duplicates", duplicates), "device", "source",
			 "before", "sent_pkts", 0, "after", "sent_pkts", 2 * MESSAGES, "sink");
}

static int64_t column[3][MESSAGES];

static void put_columns(const char *rep, const char *const *names)
{
	for (int k = 0; names[k]; k++) {
		char *name = fs_path("%s/%s.npy", rep, names[k]);

		npy_write(at(name), column[k], MESSAGES, NULL);
		free(name);
	}
}

static const char *const all_columns[] = {"t_subm", "t_comp", "t_recv", NULL};
static const char *const one_column[] = {"t_subm", NULL};

static void fill_columns(int64_t late)
{
	for (int i = 0; i < MESSAGES; i++) {
		column[0][i] = i * 100;
		column[1][i] = i * 100 + 300;
		column[2][i] = i * 100 + 1000 + i + late;
	}
}

static void put_rep(const char *rep, int duplicates)
{
	char *name = fs_path("%s/counters.json", rep);

	make_dir(rep);
	put_columns(rep, all_columns);
	put_json(name, counters(duplicates));
	free(name);
}

static void put_point(int id, const char *outcome, const char *why)
{
	char *name = fs_path("points/%04d/point.json", id);

	put_json(name, json_pack("{s:i, s:i, s:s, s:s, s:{}, s:{}}", "schema", 1, "id", id, "outcome", outcome, "why",
				 why, "granted", "placement"));
	free(name);
}

static void put_points(void)
{
	static const char *const dirs[] = {"points/0000", "points/0001", "points/0002/rep-00", "points/0003"};

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		make_dir(dirs[i]);
	fill_columns(0);
	put_rep("points/0000/rep-00", 0);
	fill_columns(500);
	put_rep("points/0000/rep-01", 0);
	fill_columns(0);
	column[2][7] = NEVER;
	column[2][500] = column[0][500] + 20000;
	put_rep("points/0001/rep-00", 1);
	put_columns("points/0002/rep-00", one_column);
	put_point(0, "completed", "");
	put_point(1, "completed", "");
	put_point(2, "failed", "sink: work completion 17: local length error (1)");
	put_point(3, "impossible", "verbs: there is no RDMA device");
}

static json_t *run_json(const char *status)
{
	return json_pack(
	    "{s:i, s:s, s:s, s:s, s:s, s:s, s:[s], s:{s:{s:[ss]}}, s:{s:s, s:b, s:b, s:b}, s:b, s:[], s:[]}", "schema",
	    1, "name", "five", "title", "Five points", "status", status, "variant", "quick", "version", "0.1.0", "argv",
	    "kblat", "hosts", "alpha", "roles", "source", "sink", "clock", "source", "tsc", "good", 1, "invariant", 1,
	    "common", 1, "valid", 0, "reasons", "warnings");
}

static void put_resolved(void)
{
	json_t *points = json_array();

	json_array_append_new(points, params("shmem", NULL, 2));
	json_array_append_new(points, params("verbs", "ud", 1));
	json_array_append_new(points, params("verbs", "rc", 3));
	json_array_append_new(points, params("verbs", "uc", 1));
	json_array_append_new(points, params("shmem", NULL, 1));
	for (size_t i = 0; i < json_array_size(points); i++) {
		char *name = fs_path("points/%04zu/params.json", i);

		if (i < 4)
			put_json(name, json_incref(json_array_get(points, i)));
		free(name);
		json_array_set_new(points, i,
				   json_pack("{s:i, s:O, s:{s:b, s:b}}", "id", (int)i, "params",
					     json_array_get(points, i), "traits", "reliable", i != 1 && i != 3,
					     "device", i >= 1 && i <= 3));
	}
	put_json("resolved.json", json_pack("{s:i, s:s, s:s, s:s, s:o, s:o}", "schema", 1, "name", "five", "title",
					    "Five points", "variant", "quick", "kernels", kernels(), "points", points));
}

/* A fresh directory, as it is before sealing. */
static void fresh(void)
{
	if (dir)
		tap_dir_remove(dir);
	dir = tap_dir();
	put_points();
	put_resolved();
	put_json("run.json", run_json("RUNNING"));
	make_dir("state/alpha/before");
	put_json("state/alpha/before/state.json", json_pack("{s:i, s:{}}", "schema", 1, "keys"));
}

static json_t *build(struct err *e)
{
	json_t *run = get_json("run.json"), *resolved = get_json("resolved.json");
	json_t *summary = document_build(dir, run, resolved, e);

	json_decref(run);
	json_decref(resolved);
	return summary;
}

static void seal(void)
{
	json_t *run = run_json("FAILED"), *resolved = get_json("resolved.json"), *summary = build(NULL);
	struct err e = ERR_INIT;

	json_object_set(run, "reasons", json_object_get(summary, "reasons"));
	json_object_set(run, "warnings", json_object_get(summary, "warnings"));
	put_json("run.json", run);
	ok(!reduce_write(dir, resolved, 0, 0, &e) && !reduce_write(dir, resolved, 0, 1, &e) &&
	       !reduce_write(dir, resolved, 1, 0, &e),
	   "repetitions are reduced %s", e.text);
	/* A failed point's repetition has no data.json; so that all is in order, it goes. */
	remove(at("points/0002/rep-00/t_subm.npy"));
	rmdir(at("points/0002/rep-00"));
	ok(!document_write(dir, summary, &e), "the summary is written %s", e.text);
	ok(!manifest_write(dir, &e), "the manifest is written %s", e.text);
	json_decref(resolved);
	json_decref(summary);
}

/* Looking into JSON by a path: "points.1.metrics.lat_ns.n". */
static const json_t *look(const json_t *j, const char *path)
{
	while (j && *path) {
		size_t length = strcspn(path, ".");
		char *key = fs_path("%.*s", (int)length, path);

		j = json_is_array(j) ? json_array_get(j, (size_t)atoi(key)) : json_object_get(j, key);
		free(key);
		path += length + (path[length] == '.');
	}
	return j;
}

static void says(const json_t *j, const char *path, const char *want)
{
	char *got = json_dumps(look(j, path), JSON_ENCODE_ANY | JSON_COMPACT);

	is_str(got, want, "%s", path);
	free(got);
}

static void test_numbers(void)
{
	static const struct {
		const char *path, *want;
	} rows[] = {
	    {"schema", "1"},
	    {"name", "\"five\""},
	    {"title", "\"Five points\""},
	    {"variant", "\"quick\""},
	    {"hosts", "[\"alpha\"]"},
	    {"valid", "false"},
	    {"points.0.id", "0"},
	    {"points.0.outcome", "\"completed\""},
	    {"points.0.valid", "true"},
	    {"points.0.reasons", "[]"},
	    {"points.0.warnings", "[]"},
	    {"points.0.params.size_bytes", "32"},
	    {"points.0.loss", "{\"sent\":2000,\"lost\":0,\"duplicates\":0,\"reordered\":0}"},
	    /* In the first repetition up to 19 are under way, in the second five more. */
	    {"points.0.in_flight", "{\"p50\":17,\"max\":24}"},
	    {"points.0.metrics.lat_ns.n", "2000"},
	    {"points.0.metrics.lat_ns.lost", "0"},
	    {"points.0.metrics.lat_ns.min", "1000"},
	    {"points.0.metrics.lat_ns.p50", "1749"},
	    {"points.0.metrics.lat_ns.p90", "2299"},
	    {"points.0.metrics.lat_ns.p99", "2479"},
	    {"points.0.metrics.lat_ns.p99_9", "null"},
	    {"points.0.metrics.lat_ns.max", "2499"},
	    {"points.0.metrics.lat_ns.mean", "1749.5"},
	    {"points.0.metrics.lat_ns.over_limit", "0.0"},
	    {"points.0.metrics.comp_lat_ns.p50", "300"},
	    {"points.0.metrics.comp_lat_ns.stdev", "0.0"},
	    {"points.0.reps.0.rep", "0"},
	    {"points.0.reps.0.metrics.lat_ns.p50", "1499"},
	    {"points.0.reps.1.metrics.lat_ns.p50", "1999"},
	    {"points.0.reps.1.metrics.lat_ns.p99", "null"},
	    {"points.1.valid", "false"},
	    {"points.1.reasons", "[\"1 message received more than once (sink)\"]"},
	    {"points.1.warnings", "[\"1 of 1000 messages lost (0.1 %)\"]"},
	    {"points.1.loss", "{\"sent\":1000,\"lost\":1,\"duplicates\":1,\"reordered\":0}"},
	    {"points.1.metrics.lat_ns.n", "999"},
	    {"points.1.metrics.lat_ns.lost", "1"},
	    {"points.1.metrics.lat_ns.max", "20000"},
	    {"points.1.metrics.lat_ns.over_limit", "0.001001001001001001"},
	    {"points.1.metrics.comp_lat_ns.n", "1000"},
	    {"points.2.outcome", "\"failed\""},
	    {"points.2.why", "\"sink: work completion 17: local length error (1)\""},
	    {"points.2.valid", "false"},
	    {"points.2.reasons", "[\"failed: sink: work completion 17: local length error (1)\"]"},
	    {"points.2.metrics", "{}"},
	    {"points.2.reps", "[]"},
	    {"points.2.in_flight", "{\"p50\":null,\"max\":null}"},
	    {"points.3.reasons", "[\"not possible here: verbs: there is no RDMA device\"]"},
	    {"points.4.outcome", "\"not measured\""},
	    {"points.4.reasons", "[\"not measured\"]"},
	    {"reasons.0", "\"point 1: 1 message received more than once (sink)\""},
	    {"reasons.2", "\"point 4: not measured\""},
	    {"warnings", "[\"point 1: 1 of 1000 messages lost (0.1 %)\","
			 "\"point 3: not possible here: verbs: there is no RDMA device\"]"},
	};
	struct err e = ERR_INIT;
	json_t *summary;

	fresh();
	summary = build(&e);
	ok(summary != NULL, "summarised %s", e.text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		says(summary, rows[i].path, rows[i].want);
	json_decref(summary);
}

/* What several points have in common is said once. */
static void test_merging(void)
{
	json_t *run, *summary;

	fresh();
	run = run_json("RUNNING");
	json_object_set_new(json_object_get(run, "clock"), "common", json_false());
	put_json("run.json", run);
	for (int i = 0; i < 4; i++)
		put_point(i, "completed", "");
	remove(at("points/0002/rep-00/t_subm.npy"));
	rmdir(at("points/0002/rep-00"));
	summary = build(NULL);
	says(summary, "reasons.0", "\"points 0, 1: source and sink have no common clock\"");
	says(summary, "reasons.2", "\"point 2: only 0 of 3 repetitions are complete\"");
	json_decref(summary);
	for (int i = 0; i < 4; i++)
		put_point(i, "interrupted", "");
	summary = build(NULL);
	says(summary, "reasons.0", "\"points 0-3: interrupted\"");
	says(summary, "points.1.warnings", "[]");
	json_decref(summary);
}

/* An endpoint whose coordinator was killed keeps its columns as they are: no counters, no
 * point.json, entries that were never used. */
static void test_killed(void)
{
	struct err e = ERR_INIT;
	json_t *summary;

	fresh();
	fill_columns(0);
	column[2][500] = NEVER;
	for (int i = MESSAGES - 100; i < MESSAGES; i++)
		column[0][i] = column[1][i] = column[2][i] = NEVER;
	put_columns("points/0001/rep-00", all_columns);
	remove(at("points/0001/rep-00/counters.json"));
	remove(at("points/0001/point.json"));
	summary = build(&e);
	ok(summary != NULL, "what a killed run leaves is summarised %s", e.text);
	says(summary, "points.1.outcome", "\"unfinished\"");
	says(summary, "points.1.reasons", "[\"unfinished\",\"its repetitions have no counters\"]");
	says(summary, "points.1.metrics.lat_ns.n", "899");
	says(summary, "points.1.metrics.lat_ns.lost", "1");
	says(summary, "points.1.loss", "{\"sent\":900,\"lost\":1,\"duplicates\":0,\"reordered\":0}");
	json_decref(summary);
}

static char *csv(const json_t *summary)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	is_int(document_csv(summary, out), 0, "CSV is written");
	fclose(out);
	return text;
}

static void test_csv(void)
{
	json_t *summary, *bad = json_pack("{s:[n, i, {s:[], s:{s:i}}]}", "points", 3, "params", "metrics", "x", 4);
	char *text;

	fresh();
	summary = build(NULL);
	text = csv(summary);
	contains(text,
		 "id,valid,kernel,transport,poll,messages,repetitions,size_bytes,limit_ns,note,qp,metric,n,lost,min,"
		 "p10,p50,p90,p99,p99_9,"
		 "p99_99,max,mean,stdev,p90_p10,over_limit\r\n",
		 "the heading");
	contains(text,
		 "\r\n0,true,oneway,shmem,busy,1000,2,32,10000,\"a, "
		 "\"\"b\"\"\",,lat_ns,2000,0,1000,1199,1749,2299,2479,,,2499,1749.5,",
		 "a row, quoted where it must be, null and missing as nothing");
	contains(text, "\r\n1,false,oneway,verbs,busy,1000,1,4096,10000,\"a, \"\"b\"\"\",ud,comp_lat_ns,1000,0,300,",
		 "a row a metric");
	contains(text, "\r\n4,false,oneway,shmem,busy,1000,1,32,10000,\"a, \"\"b\"\"\",,,,,,,,,,,,,,,,\r\n",
		 "a point without numbers has a row");
	free(text);
	text = csv(bad);
	ok(text != NULL, "nonsense in, no crash");
	free(text);
	json_decref(bad);
	json_decref(summary);
}

static char *table(const json_t *const *summaries, size_t count)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	documents_table(summaries, count, out);
	fclose(out);
	return text;
}

static const char expected_table[] =
    "five (quick): Five points, on alpha: NOT VALID\n"
    "oneway, busy: lat in us; 5 points, 4 not valid (!)\n"
    "\n"
    "   point  transport  repetitions  size  qp     n  lost   p50   p90   p99  p99.9  p99.99    max  % >10us\n"
    "       0  shmem                2   32B  -   2000     0  1.75  2.30  2.48      -       -   2.50     0\n"
    "!      1  verbs                1  4KiB  ud   999     1  1.50  1.90  -         -       -  20.0      0.10\n"
    "!      2  verbs                3  4KiB  rc     -     -  -     -     -         -       -   -        -\n"
    "!      3  verbs                1  4KiB  uc     -     -  -     -     -         -       -   -        -\n"
    "!      4  shmem                1   32B  -      -     -  -     -     -         -       -   -        -\n"
    "\n"
    "! point 1: 1 message received more than once (sink)\n"
    "! point 2: failed: sink: work completion 17: local length error (1)\n"
    "! point 4: not measured\n"
    "warning: point 1: 1 of 1000 messages lost (0.1 %)\n"
    "warning: point 3: not possible here: verbs: there is no RDMA device\n";

static void test_table(void)
{
	json_t *summary, *other,
	    *bad = json_pack("{s:[n, i, {s:[], s:{s:i}, s:s}], s:[i], s:s}", "points", 3, "params", "metrics", "x", 4,
			     "id", "y", "reasons", 5, "hosts", "z");
	char *text;

	fresh();
	summary = build(NULL);
	text = table((const json_t *const[]){summary}, 1);
	is_str(text, expected_table, "the table of one run");
	free(text);
	other = json_deep_copy(summary);
	json_object_set_new(other, "hosts", json_pack("[s]", "beta"));
	text = table((const json_t *const[]){summary, other}, 2);
	like(text, "^1: five \\(quick\\): Five points, on alpha: NOT VALID\n2: five .* on beta: NOT VALID\n",
	     "of two runs: both are named");
	like(text, "\n +1\\.0  alpha +shmem .*\n!  +2\\.1  beta +verbs ",
	     "points are numbered by run, the host is shown");
	contains(text, "\n! run 2, point 4: not measured\n", "and reasons say which run");
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		if (strcspn(line, "\n") > 110)
			ok(false, "at most 110 columns: %.*s", (int)strcspn(line, "\n"), line);
	free(text);
	json_object_set_new(summary, "named", json_pack("[s, s]", "transport", "qp"));
	text = table((const json_t *const[]){summary}, 1);
	contains(text, "   point  transport  qp ",
		 "settings that the spec does not name are not shown, whatever their defaults are");
	free(text);
	text = table((const json_t *const[]){bad}, 1);
	ok(text != NULL, "nonsense in, no crash");
	free(text);
	text = table(NULL, 0);
	ok(text != NULL, "nothing in, no crash");
	free(text);
	json_decref(bad);
	json_decref(other);
	json_decref(summary);
}

/* --- damage --- */

static void edit(const char *name, const char *key, const char *value)
{
	json_t *j = get_json(name);

	json_object_set_new(j, key, json_loads(value, JSON_DECODE_ANY, NULL));
	put_json(name, j);
}

/* Looks at what others take, of which some found nothing out; points 2 and 4 were not looked at. */
static void test_taken(void)
{
	json_t *summary;

	fresh();
	edit("points/0000/point.json", "taken_looks", "[0.0625, 0.0625, null]");
	edit("points/0001/point.json", "taken_looks", "[0.25, 0.25, 0.4375]");
	edit("points/0003/point.json", "taken_looks", "[null]");
	summary = build(NULL);
	says(summary, "points.0.taken", "0.1875");
	says(summary, "points.1.taken", "0.1875");
	says(summary, "points.3.taken", "null");
	ok(!json_object_get(json_array_get(json_object_get(summary, "points"), 2), "taken"),
	   "nothing is said of a point that was not looked at");
	says(summary, "points.0.warnings", "[\"others took 19 % of the time of the CPUs that it was measured on\"]");
	json_decref(summary);
}

static void truncate_column(void)
{
	ok(!truncate(at("points/0000/rep-01/t_recv.npy"), 5000), "a column is cut off");
}

static void another_length(void)
{
	npy_write(at("points/0000/rep-01/t_recv.npy"), column[0], MESSAGES - 1, NULL);
}

static void not_a_column(void)
{
	put("points/0001/rep-00/t_comp.npy", "hello");
}

static void no_column(void)
{
	remove(at("points/0000/rep-00/t_comp.npy"));
}

static void no_counters(void)
{
	remove(at("points/0000/rep-00/counters.json"));
}

static void counters_list(void)
{
	put("points/0000/rep-00/counters.json", "[]");
}

static void counters_newer(void)
{
	edit("points/0000/rep-00/counters.json", "schema", "2");
}

static void counters_no_sink(void)
{
	edit("points/0000/rep-00/counters.json", "sink", "7");
}

static void rep_twice(void)
{
	make_dir("points/0000/rep-1");
}

static void point_garbage(void)
{
	put("points/0001/point.json", "{\"schema\": 1,");
}

static void point_outcome(void)
{
	edit("points/0001/point.json", "outcome", "[]");
}

static void kernels_gone(void)
{
	edit("resolved.json", "kernels", "{}");
}

static void kernels_column_up(void)
{
	edit("resolved.json", "kernels",
	     "{\"oneway\": {\"columns\": [{\"name\": \"../../x\"}], \"series\": [{\"name\": \"lat_ns\", \"column\": "
	     "\"../../x\"}]}}");
}

static void kernels_many_columns(void)
{
	json_t *j = get_json("resolved.json"), *columns = json_array();

	for (int i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "c%d", i);
		json_array_append_new(columns, json_pack("{s:s}", "name", name));
	}
	json_object_set_new((json_t *)look(j, "kernels.oneway"), "columns", columns);
	put_json("resolved.json", j);
}

static void kernels_series_of_nothing(void)
{
	edit("resolved.json", "kernels",
	     "{\"oneway\": {\"columns\": [{\"name\": \"t_subm\"}], \"series\": [{\"name\": \"lat_ns\", \"column\": "
	     "\"t_recv\"}]}}");
}

static void ids_twice(void)
{
	json_t *j = get_json("resolved.json");

	json_object_set_new((json_t *)look(j, "points.2"), "id", json_integer(1));
	put_json("resolved.json", j);
}

static void id_negative(void)
{
	json_t *j = get_json("resolved.json");

	json_object_set_new((json_t *)look(j, "points.0"), "id", json_integer(-1));
	put_json("resolved.json", j);
}

static void params_text(void)
{
	json_t *j = get_json("resolved.json");

	json_object_set_new((json_t *)look(j, "points.0"), "params", json_string("x"));
	put_json("resolved.json", j);
}

static void points_numbers(void)
{
	edit("resolved.json", "points", "[1, 2, 3]");
}

static void test_damage(void)
{
	static const struct {
		const char *what;
		void (*change)(void);
		const char *cause;
	} rows[] = {
	    {"a column cut off", truncate_column,
	     "/points/0000/rep-01/t_recv.npy: it is truncated: expected 1000 entries, found 113"},
	    {"columns of two lengths", another_length,
	     "/points/0000/rep-01: t_recv.npy has 999 entries, but t_subm.npy has 1000"},
	    {"a column that is a text", not_a_column, "/points/0001/rep-00/t_comp.npy: it is not a .npy file"},
	    {"a column gone from a completed point", no_column, "/points/0000/rep-00: a column is missing"},
	    {"counters gone from a completed point", no_counters, "/points/0000/rep-00: counters.json is missing"},
	    {"counters that are a list", counters_list, "counters.json: it is not a JSON object"},
	    {"counters of a newer schema", counters_newer,
	     "counters.json: its schema is 2, from a newer kblat; this one knows 1"},
	    {"counters without a sink", counters_no_sink, "counters.json: 'sink' has the wrong type"},
	    {"a repetition twice", rep_twice, "/points/0000: it contains 'rep-1'; that repetition's name is 'rep-01'"},
	    {"half a point.json", point_garbage, "/points/0001/point.json:1:13: not valid JSON"},
	    {"an outcome that is a list", point_outcome, "point.json: 'outcome' has the wrong type"},
	    {"no kernels", kernels_gone,
	     "/resolved.json: points[0]: the columns and series of its kernel 'oneway' are missing or wrong"},
	    {"a column's name that leads elsewhere", kernels_column_up, "resolved.json: points[0]: the columns"},
	    {"a hundred columns", kernels_many_columns,
	     "resolved.json: points[0]: its kernel 'oneway' has more than 64 columns or series"},
	    {"a series of a column that is not there", kernels_series_of_nothing,
	     "resolved.json: points[0]: the columns"},
	    {"an id twice", ids_twice, "resolved.json: the ids of its points are not ascending"},
	    {"a negative id", id_negative, "resolved.json: points[0] has no id from 0 to 999999"},
	    {"params that are a text", params_text, "resolved.json: points[0] has no params"},
	    {"points that are numbers", points_numbers, "resolved.json: points[0] has no id"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err e = ERR_INIT;
		json_t *summary;

		fresh();
		rows[i].change();
		summary = build(&e);
		ok(!summary && e.status == STATUS_USAGE, "%s: no summary", rows[i].what);
		contains(e.text, rows[i].cause, "%s: why", rows[i].what);
		json_decref(summary);
	}
}

static void test_reduction(void)
{
	struct err e = ERR_INIT;
	json_t *resolved, *data;

	fresh();
	resolved = get_json("resolved.json");
	ok(!reduce_write(dir, resolved, 1, 0, &e), "a repetition is reduced %s", e.text);
	data = get_json("points/0001/rep-00/data.json");
	says(data, "schema", "1");
	says(data, "metrics.lat_ns.n", "999");
	says(data, "histograms.lat_ns.width", "1");
	says(data, "histograms.lat_ns.values.0", "1000");
	says(data, "histograms.comp_lat_ns.counts", "[1000]");
	json_decref(data);
	is_int(reduce_write(dir, resolved, 9, 0, &e), -ENOENT, "there is no point 9");
	contains(e.text, "there is no point 9", "which is said");
	err_clear(&e);
	ok(reduce_write(dir, resolved, 0, 7, &e) < 0, "nor a repetition 7");
	contains(e.text, "rep-07", "likewise");
	json_decref(resolved);
}

/* --- opening and verifying --- */

static char told[65536];

static void note_it(void *arg, const char *text)
{
	(void)arg;
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s\n", text);
}

static int verify(struct verified *seen)
{
	struct err e = ERR_INIT;
	struct run run;
	int rc;

	told[0] = '\0';
	rc = run_open(dir, &run, &e);
	if (rc) {
		note_it(NULL, e.text);
		return -1;
	}
	rc = verify_run(&run, NULL, note_it, NULL, seen, &e);
	run_close(&run);
	return rc;
}

static void change_sample(void)
{
	fill_columns(0);
	column[2][3]++;
	put_columns("points/0000/rep-00", all_columns);
}

static void change_number(void)
{
	json_t *j = get_json("summary.json");

	json_object_set_new((json_t *)look(j, "points.0.metrics.lat_ns"), "p50", json_integer(1));
	put_json("summary.json", j);
}

static void change_verdict(void)
{
	edit("run.json", "valid", "true");
}

static void change_params(void)
{
	edit("points/0000/params.json", "size_bytes", "64");
}

static void change_point_summary(void)
{
	edit("points/0001/summary.json", "valid", "true");
}

static void change_csv(void)
{
	put("summary.csv", "id\r\n");
}

static void change_data(void)
{
	edit("points/0000/rep-01/data.json", "metrics", "{}");
}

static void change_outcome(void)
{
	edit("points/0003/point.json", "outcome", "\"completed\"");
}

static void shorten_all(void)
{
	json_t *resolved = get_json("resolved.json"), *summary;

	fill_columns(0);
	for (int k = 0; k < 3; k++) {
		char *name = fs_path("points/0000/rep-00/%s.npy", all_columns[k]);

		npy_write(at(name), column[k], MESSAGES / 2, NULL);
		free(name);
	}
	reduce_write(dir, resolved, 0, 0, NULL);
	summary = build(NULL);
	document_write(dir, summary, NULL);
	json_decref(summary);
	json_decref(resolved);
}

static void garbage_json(void)
{
	put("state/alpha/before/state.json", "\x80\x81");
}

static void test_shortened(void)
{
	struct err e = ERR_INIT;
	json_t *summary, *resolved;

	fresh();
	resolved = get_json("resolved.json");
	shortened = fs_path("%s/points/0000/rep-00/t_subm.npy", dir);
	summary = build(&e);
	ok(!shortened && !summary && e.status == STATUS_FAILED, "a column shortened while it is read: no summary");
	contains(e.text, "points/0000/rep-00/t_subm.npy: cannot read: it was shortened", "and why");
	json_decref(summary);
	err_clear(&e);

	shortened = fs_path("%s/points/0001/rep-00/t_subm.npy", dir);
	ok(reduce_write(dir, resolved, 1, 0, &e) < 0 && !shortened, "nor is a repetition reduced");
	contains(e.text, "points/0001/rep-00/t_subm.npy: cannot read: it was shortened", "and why");
	json_decref(resolved);
}

static void garbage_column(void)
{
	put("points/0000/rep-00/t_recv.npy", "");
}

static void test_verify(void)
{
	static const struct {
		const char *what;
		void (*change)(void);
		const char *told;
	} rows[] = {
	    {"one sample", change_sample, "summary.json: it differs from what the columns give\n"},
	    {"one number of the summary", change_number, "summary.json: it differs from what the columns give\n"},
	    {"the verdict", change_verdict, "run.json: 'valid' contradicts the columns and counters\n"},
	    {"a point's params", change_params, "points/0000/params.json: it differs from resolved.json\n"},
	    {"a point's own summary", change_point_summary,
	     "points/0001/summary.json: it differs from what the columns give\n"},
	    {"the CSV", change_csv, "summary.csv: it differs from what summary.json gives\n"},
	    {"a repetition's data", change_data,
	     "points/0000/rep-01/data.json: it differs from what the columns give\n"},
	    {"an outcome", change_outcome, "summary.json: it differs from what the columns give\n"},
	    {"the length of a repetition", shorten_all,
	     "points/0000/rep-00/t_subm.npy: it has 500 entries for 1000 messages\n"},
	    {"JSON into garbage", garbage_json, "state/alpha/before/state.json:1:0: not valid JSON"},
	    {"a column into nothing", garbage_column, "points/0000/rep-00/t_recv.npy: it is empty\n"},
	};
	struct verified seen;

	fresh();
	seal();
	is_int(verify(&seen), 0, "a sealed run is verified");
	is_str(told, "", "without complaint");
	ok(seen.files == 32 && seen.points == 5, "%zu files, %zu points", seen.files, seen.points);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fresh();
		seal();
		rows[i].change();
		ok(verify(&seen) > 0, "changed %s: not verified", rows[i].what);
		contains(told, rows[i].told, "changed %s: what is said", rows[i].what);
	}
}

static void test_open(void)
{
	struct err e = ERR_INIT;
	struct run run;

	fresh();
	ok(!run_open(dir, &run, &e) && !run.sealed && !run.summary && run.path[0] == '/',
	   "a run that is not sealed opens");
	run_close(&run);
	seal();
	ok(!run_open(dir, &run, &e) && run.sealed && run.summary, "a sealed one, with its summary");
	run_close(&run);
	char *partial = fs_path("%s.partial", dir);

	ok(!rename(dir, partial) && !run_open(partial, &run, &e) && !run.sealed, "not sealed before it has its name");
	run_close(&run);
	ok(!rename(partial, dir), "with its name again");
	free(partial);
	edit("run.json", "schema", "2");
	is_int(run_open(dir, &run, &e), -EINVAL, "one of a newer kblat is refused");
	contains(e.text, "run.json: its schema is 2, from a newer kblat", "and why");
	err_clear(&e);
	put("run.json", "[]");
	ok(run_open(dir, &run, &e) < 0 && e.status == STATUS_USAGE, "one whose run.json is a list");
	err_clear(&e);
	put_json("run.json", run_json("FAILED"));
	put("summary.json", "{}");
	ok(run_open(dir, &run, &e) < 0, "one whose summary is empty");
	contains(e.text, "summary.json: it has no number of its schema", "and why");
	err_clear(&e);
	remove(at("resolved.json"));
	ok(run_open(dir, &run, &e) < 0 && e.status == STATUS_USAGE, "one without resolved.json is none");
	contains(e.text, "not a run directory", "and that is said");
	err_clear(&e);
	ok(run_open(at("nowhere"), &run, &e) < 0 && e.status == STATUS_USAGE, "nor is what is not there");
	err_clear(&e);
	ok(run_open(at("run.json"), &run, &e) < 0 && e.status == STATUS_USAGE, "nor a file");
}

/* resolved.json with that many points, which have different settings each. */
static void put_points_with(size_t count, size_t settings)
{
	json_t *resolved = get_json("resolved.json"), *points = json_array();
	size_t setting = 0;

	for (size_t i = 0; i < count; i++) {
		json_t *params = json_object();

		for (size_t k = 0; k < settings; k++) {
			char *name = fs_path("s%zu", setting++);

			json_object_set_new(params, name, json_true());
			free(name);
		}
		json_array_append_new(points, json_pack("{s:I, s:o}", "id", (json_int_t)i, "params", params));
	}
	json_object_set_new(resolved, "points", points);
	put_json("resolved.json", resolved);
}

static void refuses_points(void (*change)(void), size_t count, size_t settings, const char *cause)
{
	struct err e = ERR_INIT;
	struct run run;

	fresh();
	if (change)
		change();
	else
		put_points_with(count, settings);
	ok((run_open(dir, &run, &e) != 0) == (cause != NULL), "%zu points of %zu settings %s", count, settings, e.text);
	if (cause)
		contains(e.text, cause, "are refused");
	run_close(&run);
}

static void test_limits(void)
{
	refuses_points(NULL, 10000, 0, NULL);
	refuses_points(NULL, 10001, 0, "resolved.json: it has 10001 points; the limit is 10000");
	refuses_points(NULL, 64, 128, NULL);
	refuses_points(NULL, 64, 129, "resolved.json: its points have more than 8192 settings");
	refuses_points(ids_twice, 5, 0, "resolved.json: the ids of its points are not ascending");
}

int main(void)
{
	test_numbers();
	test_merging();
	test_killed();
	test_taken();
	test_csv();
	test_table();
	test_damage();
	test_reduction();
	test_verify();
	test_shortened();
	test_open();
	test_limits();
	tap_dir_remove(dir);
	return done_testing();
}
