/* How flows share what they move: made-up stamps, whose shares can be counted by hand. */
#include <math.h>
#include <string.h>

#include "files/rundir/flows.h"
#include "judge/analysis/fairness.h"
#include "judge/analysis/summary_json.h"
#include "tap.h"

#define FLOWS_MAX   3
#define ENTRIES_MAX 64
#define COLUMNS	    4

/* A flow: one after the other, a message for each entry from `from` to `to`; the last `unfinished` never complete. */
struct sender {
	const char *name;
	int64_t size, from, each;
	size_t messages, unfinished;
	int64_t block, completed; /* 0: a message an entry, all of them */
	bool both;		  /* the other side sends as much, in the same time */
	bool is_no_stream;
};

struct made {
	struct layout_flow layout[FLOWS_MAX];
	struct flow_summary flows[FLOWS_MAX];
	struct rep reps[FLOWS_MAX];
	struct npy columns[FLOWS_MAX][COLUMNS];
	int64_t stamps[FLOWS_MAX][COLUMNS][ENTRIES_MAX];
	size_t count;
};

static const char *names[COLUMNS] = {"t_subm", "t_comp", "t_subm_back", "t_comp_back"};

static void make_flow(struct made *m, const struct sender *s)
{
	const size_t i = m->count++;
	const int64_t done = s->completed ? s->completed : (int64_t)(s->messages - s->unfinished);

	for (size_t k = 0; k < s->messages; k++)
		for (size_t way = 0; way < COLUMNS; way += 2) {
			const int64_t at = s->from + s->each * (int64_t)k;

			m->stamps[i][way][k] = at;
			m->stamps[i][way + 1][k] = k + s->unfinished < s->messages ? at + s->each : NEVER;
		}
	for (size_t c = 0; c < COLUMNS; c++)
		m->columns[i][c] = (struct npy){.data = m->stamps[i][c], .count = s->messages};
	m->layout[i] = (struct layout_flow){.name = s->name,
					    .params = json_pack("{s:I}", "size_bytes", (json_int_t)s->size),
					    .traits = {.block = s->block ? s->block : 1},
					    .counts_loss = !s->is_no_stream,
					    .column_count = s->both ? 4 : 2,
					    .columns = names};
	m->reps[i] = (struct rep){.is_whole = true,
				  .column_count = COLUMNS,
				  .columns = m->columns[i],
				  .counters = json_pack("{s:{s:I}, s:{s:I}}", "source", "completed", (json_int_t)done,
							"sink", "completed", (json_int_t)done)};
	m->flows[i] = (struct flow_summary){.flow = &m->layout[i], .reps = &m->reps[i], .count = 1};
}

static json_t *fairness(const struct sender *senders, size_t count, bool alone)
{
	static struct made m;
	struct summary_results results = {.metrics = NULL};
	json_t *to = json_pack("{s:[]}", "warnings");
	char key[FLOWS_KEY_MAX];

	m = (struct made){0};
	for (size_t i = 0; i < count; i++)
		make_flow(&m, &senders[i]);
	fairness_add(m.flows, count, 0, 1, alone, &results, json_object_get(to, "warnings"));
	for (size_t i = 0; i < results.block_count; i++)
		json_object_set_new(to, flows_key(results.blocks[i].flow, "fairness", key, sizeof(key)),
				    summary_encode_block(&results.blocks[i]));
	summary_free_results(&results);
	for (size_t i = 0; i < count; i++) {
		json_decref((json_t *)m.layout[i].params);
		json_decref(m.reps[i].counters);
	}
	return to;
}

static double number(const json_t *of, const char *object, const char *key)
{
	const json_t *value = json_object_get(json_object_get(of, object), key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool is_near(double got, double want)
{
	return isnan(want) ? isnan(got) : fabs(got - want) < 1e-9;
}

static void shares_are_what_was_moved(void)
{
	static const struct {
		const char *what;
		struct sender large, small;
		double share, quantum_share, jain, jain_min; /* of the large one */
	} rows[] = {
	    {"equal flows",
	     {.name = "large", .size = 1000, .each = 1000, .messages = 2},
	     {.name = "small", .size = 100, .each = 100, .messages = 20},
	     .5,
	     .5,
	     1,
	     1},
	    {"one of them three times as fast",
	     {.name = "large", .size = 3000, .each = 1000, .messages = 2},
	     {.name = "small", .size = 100, .each = 100, .messages = 20},
	     .75,
	     .75,
	     .8,
	     .8},
	    {"a message under way counts by its part of the time, but not among the completed",
	     {.name = "large", .size = 2000, .each = 2000, .messages = 1},
	     {.name = "small", .size = 100, .each = 100, .messages = 10},
	     .5,
	     0,
	     1,
	     1},
	    {"only the time in which both are under way",
	     {.name = "large", .size = 1000, .from = 500, .each = 100, .messages = 20},
	     {.name = "small", .size = 1000, .each = 100, .messages = 10},
	     .5,
	     .5,
	     1,
	     1},
	    {"what was stopped ends with its last completion",
	     {.name = "large", .size = 1000, .each = 1000, .messages = 2, .unfinished = 1},
	     {.name = "small", .size = 100, .each = 100, .messages = 20},
	     .5,
	     .5,
	     1,
	     1},
	    {"blocks of four messages, the last of two",
	     {.name = "large", .size = 100, .each = 400, .messages = 3, .block = 4, .completed = 10},
	     {.name = "small", .size = 100, .each = 100, .messages = 12},
	     10. / 22,
	     10. / 22,
	     22. * 22 / (2 * (100 + 144)),
	     0.9},
	    {"both ways of a flow count",
	     {.name = "large", .size = 1000, .each = 1000, .messages = 2, .both = true},
	     {.name = "small", .size = 100, .each = 100, .messages = 20},
	     2. / 3,
	     2. / 3,
	     .9,
	     .9},
	    {"one that ended before the other began: no time, no share",
	     {.name = "large", .size = 1000, .each = 100, .messages = 5},
	     {.name = "small", .size = 1000, .from = 500, .each = 100, .messages = 5},
	     NAN,
	     NAN,
	     NAN,
	     NAN},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sender both[] = {rows[i].large, rows[i].small};
		json_t *j = fairness(both, 2, false);
		char *text = json_dumps(j, JSON_SORT_KEYS);

		ok(is_near(number(j, "large.fairness", "share"), rows[i].share), "%s: share in %s", rows[i].what, text);
		ok(is_near(number(j, "large.fairness", "quantum_share"), rows[i].quantum_share), "%s: completed",
		   rows[i].what);
		ok(is_near(number(j, "small.fairness", "share"), 1 - rows[i].share), "%s: the rest is the other's",
		   rows[i].what);
		ok(is_near(number(j, "fairness", "jain"), rows[i].jain), "%s: Jain's index", rows[i].what);
		ok(is_near(number(j, "fairness", "jain_min"), rows[i].jain_min), "%s: its least", rows[i].what);
		free(text);
		json_decref(j);
	}
}

static void worst_part_is_found(void)
{
	/* The small one rests for the second half of the time: a message that takes as long as ten. */
	static const struct sender both[] = {{.name = "large", .size = 1000, .each = 100, .messages = 20},
					     {.name = "small", .size = 0, .each = 1000, .messages = 2}};
	json_t *j = fairness(both, 2, true);
	const json_t *shares = json_object_get(json_object_get(j, "fairness"), "shares");

	is_int((long long)json_array_size(json_object_get(shares, "large")), FAIRNESS_WINDOWS, "shares over time");
	ok(is_near(json_number_value(json_array_get(json_object_get(shares, "large"), 7)), 1), "one has everything");
	ok(is_near(number(j, "fairness", "jain_min"), .5), "of two: a half");
	ok(is_near(number(j, "fairness", "from_ns"), 0) && is_near(number(j, "fairness", "to_ns"), 2000), "when");
	json_decref(j);
}

static void three_flows(void)
{
	static const struct sender three[] = {
	    {.name = "a", .size = 100, .each = 100, .messages = 10},
	    {.name = "b", .size = 100, .each = 100, .messages = 10},
	    {.name = "c", .size = 200, .each = 100, .messages = 10},
	};
	struct sender other[] = {three[0], three[1], three[2]};
	json_t *j = fairness(three, 3, false);

	ok(is_near(number(j, "fairness", "jain"), 16. / 18), "three flows: (1+1+2)^2 / (3 (1+1+4))");
	ok(is_near(number(j, "b.fairness", "bytes_per_s"), 1e9), "and how fast each was");
	is_int((long long)number(j, "b.fairness", "done_messages"), 10, "and its messages");
	json_decref(j);
	other[1].is_no_stream = true;
	j = fairness(other, 3, false);
	ok(is_near(number(j, "a.fairness", "share"), 1. / 3) && !json_object_get(j, "b.fairness"),
	   "what is no stream takes no part");
	json_decref(j);
	other[0].is_no_stream = true;
	j = fairness(other, 3, false);
	ok(!json_object_get(j, "fairness") && !json_object_get(j, "c.fairness"), "of one flow nothing is said");
	json_decref(j);
}

static void late_starts_are_warned_of(void)
{
	static const struct {
		int64_t from;
		size_t warnings;
	} rows[] = {{0, 0}, {9, 0}, {30, 1}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sender both[] = {
		    {.name = "large", .size = 1000, .each = 100, .messages = 10},
		    {.name = "small", .size = 1000, .from = rows[i].from, .each = 100, .messages = 12},
		};
		json_t *j = fairness(both, 2, false);
		const json_t *warnings = json_object_get(j, "warnings");

		is_int((long long)json_array_size(warnings), (long long)rows[i].warnings, "%lld ns apart: warnings",
		       (long long)rows[i].from);
		if (rows[i].warnings)
			contains(json_string_value(json_array_get(warnings, 0)), "3.09 % of the time", "its words");
		json_decref(j);
	}
}

int main(void)
{
	shares_are_what_was_moved();
	worst_part_is_found();
	three_flows();
	late_starts_are_warned_of();
	return done_testing();
}
