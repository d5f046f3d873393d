#include "judge/analysis/summary_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "files/rundir/flows.h"

static char *text_copy(const char *text)
{
	return or_abort(strdup(text ? text : ""));
}

static json_t *keep_texts(const json_t *array)
{
	return json_is_array(array) ? json_incref((json_t *)array) : json_array();
}

static json_int_t integer_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static json_t *real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* Room for the entries of an array. */
static void *room_for(const json_t *array, size_t size)
{
	return or_abort(calloc(json_array_size(array) + 1, size));
}

/* --- what blocks have besides their numbers --- */

static json_t *encode_about(const struct summary_block *b)
{
	return b->about ? json_string(b->about) : json_null();
}

static void decode_about(struct summary_block *b, const json_t *value)
{
	b->about = json_is_string(value) ? text_copy(json_string_value(value)) : NULL;
}

static json_t *encode_why(const struct summary_block *b)
{
	return b->why ? json_string(b->why) : json_null();
}

/* Of messages whose causes are known, it was "". */
static json_t *encode_why_or_empty(const struct summary_block *b)
{
	return json_string(b->why ? b->why : "");
}

static void decode_why(struct summary_block *b, const json_t *value)
{
	const char *why = json_string_value(value);

	b->why = why && *why ? text_copy(why) : NULL;
}

static json_t *encode_causes(const struct summary_block *b)
{
	json_t *list = json_array();

	for (size_t i = 0; i < b->cause_count; i++) {
		const struct summary_cause *c = &b->causes[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s?, s:s, s:I, s:o, s:I, s:I}", "class",
						cause_keys[c->cause.class], "side", cause_side(&c->cause), "name",
						c->cause.name, "messages", c->messages, "share", real_or_null(c->share),
						"time_p50_ns", c->time_p50_ns, "time_max_ns", c->time_max_ns));
	}
	return list;
}

/* False: this version does not know its class. */
static bool decode_cause(const json_t *entry, struct summary_cause *out)
{
	const char *name = json_text(entry, "name");

	*out = (struct summary_cause){
	    .messages = integer_of(entry, "messages"),
	    .share = json_number_value(json_object_get(entry, "share")),
	    .time_p50_ns = integer_of(entry, "time_p50_ns"),
	    .time_max_ns = integer_of(entry, "time_max_ns"),
	};
	while (out->cause.class < CAUSE_CLASSES && strcmp(cause_keys[out->cause.class], json_text(entry, "class")) != 0)
		out->cause.class ++;
	while (out->cause.side < CAUSE_NO_SIDE && strcmp(cause_sides[out->cause.side], json_text(entry, "side")) != 0)
		out->cause.side++;
	text_clean(name, strlen(name), out->cause.name, sizeof(out->cause.name));
	return out->cause.class < CAUSE_CLASSES;
}

static void decode_causes(struct summary_block *b, const json_t *value)
{
	const json_t *entry;
	size_t i;

	b->causes = room_for(value, sizeof(*b->causes));
	json_array_foreach (value, i, entry)
		b->cause_count += decode_cause(entry, &b->causes[b->cause_count]);
}

static json_t *encode_shares(const struct summary_block *b)
{
	json_t *shares = b->share_count ? json_object() : NULL;

	for (size_t i = 0; i < b->share_count; i++) {
		json_t *parts = json_array();

		for (size_t k = 0; k < b->shares[i].count; k++)
			json_array_append_new(parts, real_or_null(b->shares[i].parts[k]));
		json_object_set_new(shares, b->shares[i].flow, parts);
	}
	return shares;
}

static void decode_shares(struct summary_block *b, const json_t *value)
{
	json_t *parts, *part;
	const char *flow;
	size_t i;

	b->shares = or_abort(calloc(json_object_size(value) + 1, sizeof(*b->shares)));
	json_object_foreach ((json_t *)value, flow, parts) {
		struct summary_shares *s = &b->shares[b->share_count++];

		*s = (struct summary_shares){text_copy(flow), room_for(parts, sizeof(double)), json_array_size(parts)};
		json_array_foreach (parts, i, part)
			s->parts[i] = json_is_number(part) ? json_number_value(part) : NAN;
	}
}

/* --- the block `pattern` --- */

static json_t *encode_phases(const struct summary_phase_list *of)
{
	json_t *list = json_array();

	for (size_t i = 0; i < of->count; i++)
		json_array_append_new(
		    list, json_pack("{s:s, s:I}", "phases", of->list[i].phases, "p50_ns", of->list[i].p50_ns));
	return list;
}

static struct summary_phase_list decode_phases(const json_t *value)
{
	struct summary_phase_list of = {room_for(value, sizeof(*of.list)), json_array_size(value)};
	const json_t *entry;
	size_t i;

	json_array_foreach (value, i, entry)
		of.list[i] =
		    (struct summary_phases){text_copy(json_text(entry, "phases")), integer_of(entry, "p50_ns")};
	return of;
}

static json_t *encode_high(const struct summary_block *b)
{
	return encode_phases(&b->pattern->high);
}

static void decode_high(struct summary_block *b, const json_t *value)
{
	b->pattern->high = decode_phases(value);
}

static json_t *encode_low(const struct summary_block *b)
{
	return encode_phases(&b->pattern->low);
}

static void decode_low(struct summary_block *b, const json_t *value)
{
	b->pattern->low = decode_phases(value);
}

static json_t *encode_nested(const struct summary_block *b)
{
	json_t *list = json_array();

	for (size_t i = 0; i < b->pattern->nested_count; i++) {
		const struct summary_period *p = &b->pattern->nested[i];

		json_array_append_new(list,
				      json_pack("{s:I, s:f, s:o, s:o}", "period", p->period, "strength", p->strength,
						"high", encode_phases(&p->high), "low", encode_phases(&p->low)));
	}
	return list;
}

static void decode_nested(struct summary_block *b, const json_t *value)
{
	const json_t *entry;
	size_t i;

	b->pattern->nested = room_for(value, sizeof(*b->pattern->nested));
	b->pattern->nested_count = json_array_size(value);
	json_array_foreach (value, i, entry)
		b->pattern->nested[i] = (struct summary_period){
		    .period = integer_of(entry, "period"),
		    .strength = json_number_value(json_object_get(entry, "strength")),
		    .high = decode_phases(json_object_get(entry, "high")),
		    .low = decode_phases(json_object_get(entry, "low")),
		};
}

/* Without a period there are none. */
static json_t *encode_shifts(const struct summary_block *b)
{
	json_t *list = b->pattern->shift_count ? json_array() : NULL;

	for (size_t i = 0; i < b->pattern->shift_count; i++)
		json_array_append_new(list, json_pack("{s:I, s:I}", "rep", b->pattern->shifts[i].rep, "shift",
						      b->pattern->shifts[i].shift));
	return list;
}

static void decode_shifts(struct summary_block *b, const json_t *value)
{
	const json_t *entry;
	size_t i;

	b->pattern->shifts = room_for(value, sizeof(*b->pattern->shifts));
	b->pattern->shift_count = json_array_size(value);
	json_array_foreach (value, i, entry)
		b->pattern->shifts[i] = (struct summary_shift){integer_of(entry, "rep"), integer_of(entry, "shift")};
}

static void decode_block(const struct block *of, const char *flow, const json_t *object, struct summary_block *out);

static json_t *encode_others(const struct summary_block *b)
{
	json_t *others = b->pattern->leads ? json_object() : NULL;

	for (size_t i = 0; i < b->pattern->other_count; i++)
		json_object_set_new(others, b->pattern->others[i].about, summary_encode_block(&b->pattern->others[i]));
	return others;
}

static void decode_others(struct summary_block *b, const json_t *value)
{
	struct summary_pattern *p = b->pattern;
	const char *series;
	json_t *other;

	p->leads = json_is_object(value);
	p->others = or_abort(calloc(json_object_size(value) + 1, sizeof(*p->others)));
	json_object_foreach ((json_t *)value, series, other) {
		struct summary_block *o = &p->others[p->other_count++];

		decode_block(&pattern_block, b->flow, other, o);
		free(o->about);
		o->about = text_copy(series);
	}
}

/* --- blocks --- */

/* What is not a number, and the number before which it stands in the file. Nothing is written if encode() returns NULL.
 */
static const struct {
	const struct block *of;
	unsigned before;
	const char *key;
	json_t *(*encode)(const struct summary_block *b);
	void (*decode)(struct summary_block *b, const json_t *value);
} parts[] = {
    {&overhead_block, BLOCK_NUMBERS, "why", encode_why, decode_why},
    {&causes_block, 0, "metric", encode_about, decode_about},
    {&causes_block, BLOCK_NUMBERS, "why", encode_why_or_empty, decode_why},
    {&causes_block, BLOCK_NUMBERS, "causes", encode_causes, decode_causes},
    {&fairness_block, BLOCK_NUMBERS, "shares", encode_shares, decode_shares},
    {&pattern_block, 0, "series", encode_about, decode_about},
    {&pattern_block, PATTERN_ENTRIES, "high", encode_high, decode_high},
    {&pattern_block, PATTERN_ENTRIES, "low", encode_low, decode_low},
    {&pattern_block, PATTERN_ENTRIES, "nested", encode_nested, decode_nested},
    {&pattern_block, BLOCK_NUMBERS, "reps", encode_shifts, decode_shifts},
    {&pattern_block, BLOCK_NUMBERS, "others", encode_others, decode_others},
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

json_t *summary_encode_block(const struct summary_block *b)
{
	json_t *object = json_object();

	for (unsigned number = 0; number <= BLOCK_NUMBERS; number++) {
		const struct block_statistic *row = block_number_row(b->of, number);

		for (size_t i = 0; i < PARTS; i++)
			if (parts[i].of == b->of && parts[i].before == number)
				json_object_set_new(object, parts[i].key, parts[i].encode(b));
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
			parts[i].decode(out, json_object_get(object, parts[i].key));
}

/* --- results --- */

static json_t *encode_metrics(const struct summary_results *r)
{
	json_t *metrics = json_object();

	for (size_t i = 0; i < r->metric_count; i++) {
		json_t *values = statistics_encode(r->metrics[i].values);

		json_object_set_new(values, CLOCK_ERROR_KEY, number_encode(r->metrics[i].clock_error));
		json_object_set_new(metrics, r->metrics[i].name, values);
	}
	return metrics;
}

static void decode_metrics(const json_t *metrics, struct summary_results *out)
{
	const char *name;
	json_t *values;

	out->metrics = or_abort(calloc(json_object_size(metrics) + 1, sizeof(*out->metrics)));
	json_object_foreach ((json_t *)metrics, name, values) {
		struct summary_metric *m = &out->metrics[out->metric_count++];

		m->name = text_copy(name);
		statistics_decode(values, m->values);
		m->clock_error = number_decode(json_object_get(values, CLOCK_ERROR_KEY));
	}
}

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

/* All blocks of a point or a repetition, whose names are among its other keys. */
static void decode_blocks(const json_t *holder, struct summary_results *out)
{
	const char *key;
	json_t *value;

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
}

static struct summary_results decode_results(const json_t *holder)
{
	struct summary_results r = {.metrics = NULL};

	decode_metrics(json_object_get(holder, "metrics"), &r);
	decode_blocks(holder, &r);
	return r;
}

static json_t *encode_rep(const struct summary_rep *rep, const struct summary_point *p)
{
	json_t *object = json_pack("{s:I, s:o}", "rep", rep->number, "metrics", encode_metrics(&rep->results));

	for (size_t i = 0; i < p->flow_count; i++)
		put_summary_blocks(object, &rep->results, p->flows[i].name);
	put_summary_blocks(object, &rep->results, NULL);
	return object;
}

static void decode_reps(const json_t *list, struct summary_point *out)
{
	const json_t *rep;
	size_t i;

	out->reps = room_for(list, sizeof(*out->reps));
	out->rep_count = json_array_size(list);
	json_array_foreach (list, i, rep)
		out->reps[i] = (struct summary_rep){integer_of(rep, "rep"), decode_results(rep)};
}

/* --- flows --- */

static json_t *encode_loss(const struct summary_loss *l)
{
	return l->is_known ? json_pack("{s:I, s:I, s:I, s:I}", "sent", l->sent, "lost", l->lost, "duplicates",
				       l->duplicates, "reordered", l->reordered)
			   : NULL;
}

static struct summary_loss decode_loss(const json_t *object)
{
	return (struct summary_loss){
	    .is_known = json_is_object(object),
	    .sent = integer_of(object, "sent"),
	    .lost = integer_of(object, "lost"),
	    .duplicates = integer_of(object, "duplicates"),
	    .reordered = integer_of(object, "reordered"),
	};
}

static json_t *encode_in_flight(const struct summary_flow *f)
{
	json_t *object = json_object();

	json_object_set_new(object, "p50", number_encode(f->in_flight_p50));
	json_object_set_new(object, "max", number_encode(f->in_flight_max));
	return object;
}

static json_t *encode_interference(const struct summary_interference *i)
{
	return i ? json_pack("{s:s, s:o, s:o}", "metric", i->metric, "undisturbed", statistics_encode(i->undisturbed),
			     "p50_ratio", number_encode(i->p50_ratio))
		 : NULL;
}

static struct summary_interference *decode_interference(const json_t *object)
{
	struct summary_interference *i;

	if (!json_is_object(object))
		return NULL;
	i = or_abort(calloc(1, sizeof(*i)));
	i->metric = text_copy(json_text(object, "metric"));
	i->p50_ratio = number_decode(json_object_get(object, "p50_ratio"));
	statistics_decode(json_object_get(object, "undisturbed"), i->undisturbed);
	return i;
}

/* The facts about a flow, and its blocks in between. */
static void put_summary_flow(json_t *point, const struct summary_flow *f, const struct summary_results *r)
{
	char key[FLOWS_KEY_MAX];

	json_object_set_new(point, flows_key(f->name, "loss", key, sizeof(key)), encode_loss(&f->loss));
	json_object_set_new(point, flows_key(f->name, "in_flight", key, sizeof(key)), encode_in_flight(f));
	put_summary_blocks(point, r, f->name);
	json_object_set_new(point, flows_key(f->name, "interference", key, sizeof(key)),
			    encode_interference(f->interference));
}

static struct summary_flow decode_flow(const json_t *point, const char *name)
{
	const json_t *in_flight = flows_get(point, name, "in_flight");

	return (struct summary_flow){
	    .name = text_copy(name),
	    .loss = decode_loss(flows_get(point, name, "loss")),
	    .in_flight_p50 = number_decode(json_object_get(in_flight, "p50")),
	    .in_flight_max = number_decode(json_object_get(in_flight, "max")),
	    .interference = decode_interference(flows_get(point, name, "interference")),
	};
}

static void decode_flows(const json_t *point, struct summary_point *out)
{
	json_t *names = flows_names(out->params);

	out->flow_count = json_array_size(names);
	out->flows = room_for(names, sizeof(*out->flows));
	for (size_t i = 0; i < out->flow_count; i++)
		out->flows[i] = decode_flow(point, json_string_value(json_array_get(names, i)));
	json_decref(names);
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

static void add_several_flows(json_t *object, const struct summary_point *p)
{
	if (p->spread_ns.kind == NUMBER_ABSENT)
		return;
	json_object_set_new(object, "loss", encode_loss(&p->loss));
	json_object_set_new(object, "start", json_pack("{s:o}", "spread_ns", number_encode(p->spread_ns)));
}

json_t *summary_encode_point(const struct summary_point *p)
{
	json_t *object = json_pack("{s:I, s:O, s:s, s:s, s:b, s:O, s:O}", "id", p->id, "params", p->params, "outcome",
				   p->outcome_text, "why", p->why, "valid", p->valid, "reasons", p->reasons, "warnings",
				   p->warnings);

	add_several_flows(object, p);
	for (size_t i = 0; i < p->flow_count; i++)
		put_summary_flow(object, &p->flows[i], &p->results);
	put_summary_blocks(object, &p->results, NULL);
	if (p->clock)
		json_object_set(object, "clock", p->clock);
	if (p->cpu_share_of_others.kind != NUMBER_ABSENT)
		json_object_set_new(object, "taken", number_encode(p->cpu_share_of_others));
	json_object_set_new(object, "metrics", encode_metrics(&p->results));
	json_object_set_new(object, "reps", json_array());
	for (size_t i = 0; i < p->rep_count; i++)
		json_array_append_new(json_object_get(object, "reps"), encode_rep(&p->reps[i], p));
	return object;
}

static void decode_point(const json_t *object, struct summary_point *out)
{
	const json_t *params = json_object_get(object, "params"), *clock = json_object_get(object, "clock");
	const char *outcome = json_text_or(object, "outcome", outcomes[POINT_NOT_MEASURED]);

	*out = (struct summary_point){
	    .id = integer_of(object, "id"),
	    .params = json_is_object(params) ? json_incref((json_t *)params) : json_object(),
	    .outcome = summary_outcome_of(outcome),
	    .outcome_text = text_copy(outcome),
	    .why = text_copy(json_text(object, "why")),
	    .valid = json_is_true(json_object_get(object, "valid")),
	    .reasons = keep_texts(json_object_get(object, "reasons")),
	    .warnings = keep_texts(json_object_get(object, "warnings")),
	    .loss = decode_loss(json_object_get(object, "loss")),
	    .spread_ns = number_decode(json_object_get(json_object_get(object, "start"), "spread_ns")),
	    .clock = json_is_object(clock) ? json_incref((json_t *)clock) : NULL,
	    .cpu_share_of_others = number_decode(json_object_get(object, "taken")),
	    .results = decode_results(object),
	};
	decode_flows(object, out);
	decode_reps(json_object_get(object, "reps"), out);
}

/* --- the run --- */

json_t *summary_encode(const struct summary *s)
{
	json_t *points = json_array();

	for (size_t i = 0; i < s->point_count; i++)
		json_array_append_new(points, summary_encode_point(&s->points[i]));
	return json_pack("{s:i, s:s, s:s, s:s, s:O, s:b, s:O, s:O, s:O*, s:o}", "schema", 1, "name", s->name, "title",
			 s->title, "variant", s->variant, "hosts", s->hosts, "valid", s->valid, "reasons", s->reasons,
			 "warnings", s->warnings, "named", s->named, "points", points);
}

struct summary *summary_decode(const json_t *document)
{
	const json_t *points = json_object_get(document, "points"), *named = json_object_get(document, "named"), *point;
	struct summary *s = or_abort(calloc(1, sizeof(*s)));
	size_t i;

	*s = (struct summary){
	    .name = text_copy(json_text(document, "name")),
	    .title = text_copy(json_text(document, "title")),
	    .variant = text_copy(json_text(document, "variant")),
	    .hosts = keep_texts(json_object_get(document, "hosts")),
	    .valid = json_is_true(json_object_get(document, "valid")),
	    .reasons = keep_texts(json_object_get(document, "reasons")),
	    .warnings = keep_texts(json_object_get(document, "warnings")),
	    .named = json_is_array(named) ? json_incref((json_t *)named) : NULL,
	    .points = room_for(points, sizeof(*s->points)),
	    .point_count = json_array_size(points),
	};
	json_array_foreach (points, i, point)
		decode_point(point, &s->points[i]);
	return s;
}
