#include "judge/analysis/summary_json.h"

#include <stdlib.h>
#include <string.h>

#include "common/codec.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "files/rundir/flows.h"

static char *text_copy(const char *text)
{
	return or_abort(strdup(text ? text : ""));
}

/* --- numbers --- */

static json_t *encode_number(const void *number, const void *outer)
{
	(void)outer;
	return number_encode(*(const struct number *)number);
}

/* Nothing, if it is absent. */
static json_t *encode_known_number(const void *number, const void *outer)
{
	return ((const struct number *)number)->kind == NUMBER_ABSENT ? NULL : encode_number(number, outer);
}

static const char *decode_number(void *number, const json_t *value, void *outer)
{
	(void)outer;
	*(struct number *)number = number_decode(value);
	return NULL;
}

static json_t *encode_statistics(const void *values, const void *outer)
{
	(void)outer;
	return statistics_encode(values);
}

static const char *decode_statistics(void *values, const json_t *object, void *outer)
{
	(void)outer;
	statistics_decode(object, values);
	return NULL;
}

#define NUMBER(name, tag, member)	 CODEC_MEMBER_BY(name, tag, member, encode_number, decode_number)
#define STATISTICS_OF(name, tag, member) CODEC_MEMBER_BY(name, tag, member, encode_statistics, decode_statistics)

/* --- what blocks have besides their numbers --- */

/* Of messages whose causes are known, it was "". */
static json_t *encode_why(const void *block, const void *outer)
{
	const char *why = ((const struct summary_block *)block)->why;

	(void)outer;
	return json_string(why ? why : "");
}

static const char *decode_why(void *block, const json_t *value, void *outer)
{
	(void)outer;
	((struct summary_block *)block)->why = json_string_length(value) ? text_copy(json_string_value(value)) : NULL;
	return NULL;
}

static json_t *encode_side(const void *cause, const void *outer)
{
	const char *side = cause_side(&((const struct summary_cause *)cause)->cause);

	(void)outer;
	return side ? json_string(side) : json_null();
}

static const char *decode_side(void *cause, const json_t *value, void *outer)
{
	unsigned *side = &((struct summary_cause *)cause)->cause.side;

	(void)outer;
	while (*side < CAUSE_NO_SIDE && strcmp(cause_sides[*side], json_string_value(value) ?: "") != 0)
		++*side;
	return NULL;
}

static const struct codec cause_rows[] = {
    CODEC_AS("class", summary_cause, cause.class, CODEC_WORDS(cause_keys), .otherwise = CAUSE_CLASSES),
    CODEC_BY("side", encode_side, decode_side),
    CODEC_AS("name", summary_cause, cause.name, .flags = CODEC_CLEAN),
    CODEC(summary_cause, messages),
    CODEC(summary_cause, share),
    CODEC(summary_cause, time_p50_ns),
    CODEC(summary_cause, time_max_ns),
    {0},
};

/* Those whose class this version does not know. */
static void drop_unknown_causes(struct summary_block *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->cause_count; i++)
		if (b->causes[i].cause.class < CAUSE_CLASSES)
			b->causes[kept++] = b->causes[i];
	b->cause_count = kept;
}

static const struct codec share_rows[] = {CODEC_LISTED(NULL, summary_shares, parts, count, codec_reals), {0}};

static const struct codec phase_rows[] = {
    CODEC(summary_phases, phases, .flags = CODEC_NEVER_NULL), CODEC(summary_phases, p50_ns), {0}};

#define PHASES(tag, member) CODEC_LISTED(#member, tag, member.list, member.count, phase_rows)

static const struct codec period_rows[] = {CODEC(summary_period, period),
					   CODEC(summary_period, strength),
					   PHASES(summary_period, high),
					   PHASES(summary_period, low),
					   {0}};

static const struct codec shift_rows[] = {CODEC(summary_shift, rep), CODEC(summary_shift, shift), {0}};

static void decode_block(const struct block *of, const char *flow, const json_t *object, struct summary_block *out);

static json_t *encode_others(const void *pattern, const void *block)
{
	const struct summary_pattern *p = pattern;
	json_t *others = p->leads ? json_object() : NULL;

	(void)block;
	for (size_t i = 0; i < p->other_count; i++)
		json_object_set_new(others, p->others[i].about, summary_encode_block(&p->others[i]));
	return others;
}

static const char *decode_others(void *pattern, const json_t *value, void *block)
{
	struct summary_pattern *p = pattern;
	const char *series;
	json_t *other;

	p->leads = json_is_object(value);
	p->others = or_abort(calloc(json_object_size(value) + 1, sizeof(*p->others)));
	json_object_foreach ((json_t *)value, series, other) {
		struct summary_block *o = &p->others[p->other_count++];

		decode_block(&pattern_block, ((struct summary_block *)block)->flow, other, o);
		free(o->about);
		o->about = text_copy(series);
	}
	return NULL;
}

static void free_others(void *pattern)
{
	struct summary_pattern *p = pattern;

	for (size_t i = 0; i < p->other_count; i++)
		summary_free_block(&p->others[i]);
	free(p->others);
}

/* What stands before the numbers of entries, and after all numbers. Without a period there are no shifts. */
static const struct codec entry_rows[] = {
    PHASES(summary_pattern, high),
    PHASES(summary_pattern, low),
    CODEC_LISTED("nested", summary_pattern, nested, nested_count, period_rows),
    {0},
};
static const struct codec pattern_rows[] = {
    CODEC_LISTED("reps", summary_pattern, shifts, shift_count, shift_rows, .flags = CODEC_OPTIONAL),
    CODEC_BY("others", encode_others, decode_others, .release = free_others),
    {0},
};
static const struct codec overhead_rows[] = {CODEC(summary_block, why), {0}};
static const struct codec metric_of_rows[] = {CODEC_AS("metric", summary_block, about), {0}};
static const struct codec series_of_rows[] = {CODEC_AS("series", summary_block, about), {0}};
static const struct codec causes_rows[] = {
    CODEC_BY("why", encode_why, decode_why),
    CODEC_LISTED("causes", summary_block, causes, cause_count, cause_rows),
    {0},
};
static const struct codec fairness_rows[] = {
    CODEC_MAPPED("shares", summary_block, shares, share_count, share_rows, .flags = CODEC_OPTIONAL), {0}};

/* The rows of what is not a number, and the number before which it stands in the file. */
static const struct {
	const struct block *of;
	unsigned before;
	bool of_pattern; /* rather than of the block */
	const struct codec *rows;
} parts[] = {
    {&overhead_block, BLOCK_NUMBERS, false, overhead_rows},
    {&causes_block, 0, false, metric_of_rows},
    {&causes_block, BLOCK_NUMBERS, false, causes_rows},
    {&fairness_block, BLOCK_NUMBERS, false, fairness_rows},
    {&pattern_block, 0, false, series_of_rows},
    {&pattern_block, PATTERN_ENTRIES, true, entry_rows},
    {&pattern_block, BLOCK_NUMBERS, true, pattern_rows},
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

/* --- blocks --- */

json_t *summary_encode_block(const struct summary_block *b)
{
	json_t *object = json_object();

	for (unsigned number = 0; number <= BLOCK_NUMBERS; number++) {
		const struct block_statistic *row = block_number_row(b->of, number);

		for (size_t i = 0; i < PARTS; i++)
			if (parts[i].of == b->of && parts[i].before == number) {
				const void *has = parts[i].of_pattern ? (const void *)b->pattern : b;
				json_t *part = codec_encode(parts[i].rows, has, b);

				json_object_update(object, part);
				json_decref(part);
			}
		if (row)
			json_object_set_new(object, row->key, number_encode(b->numbers[number]));
	}
	return object;
}

static void decode_block(const struct block *of, const char *flow, const json_t *object, struct summary_block *out)
{
	*out = (struct summary_block){.of = of, .flow = text_copy(flow)};
	if (of == &pattern_block)
		out->pattern = or_abort(calloc(1, sizeof(*out->pattern)));
	for (unsigned number = 0; number < BLOCK_NUMBERS; number++) {
		const struct block_statistic *row = block_number_row(of, number);

		if (row)
			out->numbers[number] = number_decode(json_object_get(object, row->key));
	}
	for (size_t i = 0; i < PARTS; i++)
		if (parts[i].of == of)
			codec_decode(parts[i].rows, parts[i].of_pattern ? (void *)out->pattern : out, object, out);
	drop_unknown_causes(out);
}

void summary_free_block(struct summary_block *b)
{
	codec_free(series_of_rows, b);
	codec_free(overhead_rows, b);
	codec_free(causes_rows, b);
	codec_free(fairness_rows, b);
	if (b->pattern) {
		codec_free(entry_rows, b->pattern);
		codec_free(pattern_rows, b->pattern);
	}
	free(b->pattern);
	free(b->flow);
}

/* --- results --- */

static void put_summary_block(json_t *to, const struct summary_block *b)
{
	char key[FLOWS_KEY_MAX];

	json_object_set_new(to, flows_key(b->flow, b->of->name, key, sizeof(key)), summary_encode_block(b));
}

/* Those of one flow; `flow` is NULL: those that are made for all flows together, which come last. */
static void put_summary_blocks(json_t *to, const struct summary_results *r, const char *flow)
{
	for (size_t i = 0; i < r->block_count; i++) {
		const struct summary_block *b = &r->blocks[i];

		if (flow ? b->of->make && !strcmp(b->flow, flow) : !b->of->make)
			put_summary_block(to, b);
	}
}

/* Of a repetition: they are in the order of files. */
static json_t *encode_blocks(const void *results, const void *rep)
{
	const struct summary_results *r = results;
	json_t *all = json_object();

	(void)rep;
	for (size_t i = 0; i < r->block_count; i++)
		put_summary_block(all, &r->blocks[i]);
	return all;
}

/* All blocks of a point or a repetition, whose names are among its other keys. */
static const char *decode_blocks(void *results, const json_t *holder, void *outer)
{
	struct summary_results *out = results;
	const char *key;
	json_t *value;

	(void)outer;
	json_object_foreach ((json_t *)holder, key, value) {
		const char *bare = flows_bare_key(key);
		const struct block *of = block_find(bare);
		char *flow = of ? fs_path("%.*s", bare > key ? (int)(bare - key - 1) : 0, key) : NULL;

		if (of && json_is_object(value)) {
			out->blocks = grow_or_abort(out->blocks, out->block_count, sizeof(*out->blocks));
			decode_block(of, flow, value, &out->blocks[out->block_count++]);
		}
		free(flow);
	}
	return NULL;
}

static void free_blocks(void *results)
{
	struct summary_results *r = results;

	for (size_t i = 0; i < r->block_count; i++)
		summary_free_block(&r->blocks[i]);
	free(r->blocks);
}

static const struct codec metric_rows[] = {
    STATISTICS_OF(NULL, summary_metric, values), NUMBER(CLOCK_ERROR_KEY, summary_metric, clock_error), {0}};

static const struct codec result_rows[] = {
    CODEC_MAPPED("metrics", summary_results, metrics, metric_count, metric_rows),
    CODEC_BY(NULL, encode_blocks, decode_blocks, .release = free_blocks),
    {0},
};

void summary_free_results(struct summary_results *r)
{
	codec_free(result_rows, r);
}

static const struct codec rep_rows[] = {
    CODEC_AS("rep", summary_rep, number), CODEC_NESTED(NULL, summary_rep, results, result_rows), {0}};

/* --- flows --- */

static const struct codec loss_rows[] = {CODEC(summary_loss, sent),
					 CODEC(summary_loss, lost),
					 CODEC(summary_loss, duplicates),
					 CODEC(summary_loss, reordered),
					 {0}};

static json_t *encode_loss(const struct summary_loss *l)
{
	return l->is_known ? codec_encode(loss_rows, l, NULL) : NULL;
}

static struct summary_loss decode_loss(const json_t *object)
{
	struct summary_loss l = {.is_known = json_is_object(object)};

	codec_decode(loss_rows, &l, object, NULL);
	return l;
}

static const struct codec in_flight_rows[] = {
    NUMBER("p50", summary_flow, in_flight_p50), NUMBER("max", summary_flow, in_flight_max), {0}};

static const struct codec interference_rows[] = {
    CODEC(summary_interference, metric, .flags = CODEC_NEVER_NULL),
    STATISTICS_OF("undisturbed", summary_interference, undisturbed),
    NUMBER("p50_ratio", summary_interference, p50_ratio),
    {0},
};

void summary_free_interference(struct summary_interference *i)
{
	if (i)
		codec_free(interference_rows, i);
	free(i);
}

/* The facts about a flow, and its blocks in between. */
static void put_summary_flow(json_t *point, const struct summary_flow *f, const struct summary_results *r)
{
	char key[FLOWS_KEY_MAX];

	json_object_set_new(point, flows_key(f->name, "loss", key, sizeof(key)), encode_loss(&f->loss));
	json_object_set_new(point, flows_key(f->name, "in_flight", key, sizeof(key)),
			    codec_encode(in_flight_rows, f, NULL));
	put_summary_blocks(point, r, f->name);
	if (f->interference)
		json_object_set_new(point, flows_key(f->name, "interference", key, sizeof(key)),
				    codec_encode(interference_rows, f->interference, NULL));
}

static void decode_flow(const json_t *point, const char *name, struct summary_flow *f)
{
	const json_t *interference = flows_get(point, name, "interference");

	f->name = text_copy(name);
	f->loss = decode_loss(flows_get(point, name, "loss"));
	codec_decode(in_flight_rows, f, flows_get(point, name, "in_flight"), NULL);
	if (!json_is_object(interference))
		return;
	f->interference = or_abort(calloc(1, sizeof(*f->interference)));
	codec_decode(interference_rows, f->interference, interference, NULL);
}

static json_t *encode_flows(const void *point, const void *summary)
{
	const struct summary_point *p = point;
	json_t *all = json_object();

	(void)summary;
	if (p->spread_ns.kind != NUMBER_ABSENT) {
		json_object_set_new(all, "loss", encode_loss(&p->loss));
		json_object_set_new(all, "start", json_pack("{s:o}", "spread_ns", number_encode(p->spread_ns)));
	}
	for (size_t i = 0; i < p->flow_count; i++)
		put_summary_flow(all, &p->flows[i], &p->results);
	put_summary_blocks(all, &p->results, NULL);
	return all;
}

static const char *decode_flows(void *point, const json_t *object, void *summary)
{
	struct summary_point *p = point;
	json_t *names = flows_names(p->params);

	(void)summary;
	p->loss = decode_loss(json_object_get(object, "loss"));
	p->spread_ns = number_decode(json_object_get(json_object_get(object, "start"), "spread_ns"));
	p->flow_count = json_array_size(names);
	p->flows = or_abort(calloc(p->flow_count + 1, sizeof(*p->flows)));
	for (size_t i = 0; i < p->flow_count; i++)
		decode_flow(object, json_string_value(json_array_get(names, i)), &p->flows[i]);
	json_decref(names);
	return NULL;
}

static void free_flows(void *point)
{
	struct summary_point *p = point;

	for (size_t i = 0; i < p->flow_count; i++) {
		summary_free_interference(p->flows[i].interference);
		free(p->flows[i].name);
	}
	free(p->flows);
}

/* --- points --- */

static const char *const outcomes[POINT_OTHER] = {"completed", "impossible", "not measured"};

enum summary_outcome summary_outcome_of(const char *text)
{
	enum summary_outcome o = 0;

	while (o < POINT_OTHER && strcmp(outcomes[o], text) != 0)
		o++;
	return o;
}

static const char *decode_outcome(void *point, const json_t *object, void *summary)
{
	struct summary_point *p = point;
	const char *outcome = json_text_or(object, "outcome", outcomes[POINT_NOT_MEASURED]);

	(void)summary;
	p->outcome = summary_outcome_of(outcome);
	p->outcome_text = text_copy(outcome);
	return NULL;
}

static const struct codec lack_rows[] = {
    CODEC(summary_lack, host, .flags = CODEC_NEVER_NULL),
    CODEC(summary_lack, knob, .flags = CODEC_NEVER_NULL),
    CODEC(summary_lack, object, .flags = CODEC_NEVER_NULL),
    CODEC(summary_lack, reason, .flags = CODEC_NEVER_NULL),
    {0},
};

static const struct codec environment_rows[] = {
    CODEC_AS("profile", summary_point, environment),
    CODEC_LISTED("lacks", summary_point, lacks, lack_count, lack_rows),
    {0},
};

static bool is_lacking(const void *point)
{
	return ((const struct summary_point *)point)->lack_count > 0;
}

void summary_decode_environment(struct summary_point *p, const json_t *environment)
{
	codec_decode(environment_rows, p, environment, NULL);
}

#define TEXTS(tag, member) CODEC(tag, member, .flags = CODEC_ARRAY | CODEC_NEVER_NULL)

static const struct codec point_rows[] = {
    CODEC(summary_point, id),
    CODEC(summary_point, params, .flags = CODEC_OBJECT | CODEC_NEVER_NULL),
    CODEC_AS("outcome", summary_point, outcome_text, .flags = CODEC_UNREAD),
    CODEC_BY(NULL, NULL, decode_outcome, .flags = CODEC_UNWRITTEN),
    CODEC(summary_point, why, .flags = CODEC_NEVER_NULL),
    CODEC(summary_point, valid),
    TEXTS(summary_point, reasons),
    TEXTS(summary_point, warnings),
    CODEC_BY(NULL, encode_flows, decode_flows, .release = free_flows),
    CODEC(summary_point, clock, .flags = CODEC_OBJECT | CODEC_OPTIONAL),
    CODEC_GROUPED("environment", environment_rows, .given = is_lacking),
    CODEC_MEMBER_BY("taken", summary_point, cpu_share_of_others, encode_known_number, decode_number),
    CODEC_MAPPED("metrics", summary_point, results.metrics, results.metric_count, metric_rows),
    CODEC_MEMBER_BY(NULL, summary_point, results, NULL, decode_blocks, .release = free_blocks,
		    .flags = CODEC_UNWRITTEN),
    CODEC_LISTED("reps", summary_point, reps, rep_count, rep_rows),
    {0},
};

json_t *summary_encode_point(const struct summary_point *p)
{
	return codec_encode(point_rows, p, NULL);
}

void summary_free_point(struct summary_point *p)
{
	codec_free(point_rows, p);
}

/* --- the run --- */

static const struct codec summary_rows[] = {
    CODEC_SCHEMA,
    CODEC(summary, name, .flags = CODEC_NEVER_NULL),
    CODEC(summary, title, .flags = CODEC_NEVER_NULL),
    CODEC(summary, variant, .flags = CODEC_NEVER_NULL),
    TEXTS(summary, hosts),
    CODEC(summary, valid),
    TEXTS(summary, reasons),
    TEXTS(summary, warnings),
    CODEC(summary, named, .flags = CODEC_ARRAY | CODEC_OPTIONAL),
    CODEC_LISTED("points", summary, points, point_count, point_rows),
    {0},
};

json_t *summary_encode(const struct summary *s)
{
	return codec_encode(summary_rows, s, NULL);
}

struct summary *summary_decode(const json_t *document)
{
	struct summary *s = or_abort(calloc(1, sizeof(*s)));

	codec_decode(summary_rows, s, document, NULL);
	return s;
}

void summary_free(struct summary *s)
{
	if (s)
		codec_free(summary_rows, s);
	free(s);
}
