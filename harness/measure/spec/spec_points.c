#include "measure/spec/spec_points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/or_abort.h"

/* --- axes --- */

size_t axis_count(const struct axis *a)
{
	return a->values && a->values->kind == YNODE_SEQUENCE ? a->values->count : 1;
}

struct written axis_value(const struct axis *a, size_t i)
{
	const struct ynode *n = a->values;

	if (!n)
		return (struct written){a->text, 0, 0};
	if (n->kind == YNODE_SEQUENCE)
		n = n->items[i];
	return (struct written){n->scalar, n->line, n->column};
}

static bool axis_check_values(struct diag *d, const char *name, const struct ynode *n)
{
	if (n->kind == YNODE_SCALAR)
		return true;
	if (n->kind == YNODE_MAPPING || n->count == 0) {
		diag_add(d, n->line, n->column, "setting '%s' must be a value or a list of values, not %s", name,
			 n->kind == YNODE_MAPPING ? "a mapping" : "an empty list");
		return false;
	}
	for (size_t i = 0; i < n->count; i++)
		if (n->items[i]->kind != YNODE_SCALAR) {
			diag_add(d, n->items[i]->line, n->items[i]->column, "a value of setting '%s' must be a scalar",
				 name);
			return false;
		}
	return true;
}

void axes_add(struct diag *d, struct axes_block *b, const struct axis *axis)
{
	size_t i = 0;

	while (i < b->count && strcmp(b->axes[i].name, axis->name))
		i++;
	if (i == AXES_MAX) {
		diag_add(d, axis->line, axis->column, "more than %d settings", AXES_MAX);
		return;
	}
	bool was_required = i < b->count && !b->axes[i].optional;

	b->axes[i] = *axis;
	if (was_required)
		b->axes[i].optional = false;
	if (was_required && axis->used)
		*axis->used = true;
	if (i == b->count)
		b->count++;
}

void axes_add_mapping(struct diag *d, struct axes_block *b, const struct ynode *map, bool *used)
{
	if (!map)
		return;
	if (map->kind != YNODE_MAPPING) {
		diag_add(d, map->line, map->column, "must be a mapping of settings");
		return;
	}
	for (size_t i = 0; i < map->count; i++) {
		const struct ynode *key = map->keys[i];
		struct axis a = {key->scalar,
				 key->line,
				 key->column,
				 map->items[i],
				 NULL,
				 used != NULL,
				 used && i < AXES_MAX ? &used[i] : NULL};

		if (strcmp(a.name, "quick") && axis_check_values(d, a.name, map->items[i]))
			axes_add(d, b, &a);
	}
}

const struct axis *axes_find(const struct axes_block *b, const char *name)
{
	for (size_t i = 0; i < b->count; i++)
		if (!strcmp(b->axes[i].name, name))
			return &b->axes[i];
	return NULL;
}

size_t axes_product(const struct axes_block *b, size_t most)
{
	size_t n = 1;

	for (size_t i = 0; i < b->count && n <= most; i++)
		n *= axis_count(&b->axes[i]);
	return n;
}

#define SETTING_NAME_MAX (2 * FLOW_NAME_MAX + 64)

void spec_complain_unknown(struct diag *d, unsigned line, unsigned column, const char *what, const char *name,
			   const char *nearest)
{
	char hint[SUGGESTION_MAX];

	diag_add(d, line, column, "unknown %s '%s'%s", what, name, suggestion(nearest, hint, sizeof(hint)));
}

static const char *suggest_kernel(const char *name)
{
	const char *names[64] = {0};

	for (size_t i = 0; i < 63 && kernels[i]; i++)
		names[i] = kernels[i]->name;
	return suggest(name, names);
}

static const char *suggest_transport(const char *name)
{
	const char *names[64] = {0};

	for (size_t i = 0; i < 63 && transports[i]; i++)
		names[i] = transports[i]->name;
	return suggest(name, names);
}

/* A flow of a point that is being made. */
struct part {
	const char *flow; /* "": the only one */
	const struct kernel_ops *kernel;
	const struct transport_ops *transport;
};

/* A point that is being made: the chosen value of each axis of its block. */
struct choice {
	struct spec *spec;
	struct diag *d;
	const struct axes_block *block;
	const size_t *index;
	struct part part[POINT_FLOWS_MAX];
	size_t parts;
	json_t *params;
	bool is_whole; /* all settings have been chosen */
};

static struct written chosen(const struct choice *c, const char *name)
{
	const struct axis *a = axes_find(c->block, name);

	return a ? axis_value(a, c->index[a - c->block->axes])
		 : (struct written){NULL, c->block->line, c->block->column};
}

/* The flow's own value, or the one for all flows. */
static struct written chosen_for(const struct choice *c, const char *flow, const char *name)
{
	char own[SETTING_NAME_MAX];

	return chosen(c, *flow && axes_find(c->block, setting_of_flow(flow, name, own, sizeof(own))) ? own : name);
}

/* --- flows, kernels, transports --- */

static bool choose_flows(struct choice *c, char *text, size_t size)
{
	struct written flows = chosen(c, "flows");
	const char *names[POINT_FLOWS_MAX];
	char why[256];

	c->parts = 1;
	c->part[0] = (struct part){.flow = ""};
	if (!flows.text)
		return true;
	if (strlen(flows.text) >= size) {
		diag_add(c->d, flows.line, flows.column, "flows is longer than %zu characters", size - 1);
		return false;
	}
	snprintf(text, size, "%s", flows.text);
	if (point_cut_flows(text, names, &c->parts, why, sizeof(why))) {
		diag_add(c->d, flows.line, flows.column, "flows %s", why);
		return false;
	}
	for (size_t i = 0; i < c->parts; i++)
		c->part[i] = (struct part){.flow = names[i]};
	return true;
}

static bool choose_parts(struct choice *c, struct part *p)
{
	struct written kernel = chosen_for(c, p->flow, "kernel"), transport = chosen_for(c, p->flow, "transport");

	if (!kernel.text)
		diag_add(c->d, kernel.line, kernel.column, "no 'kernel' is given here or under 'settings'");
	else if (!(p->kernel = kernel_find(kernel.text)))
		spec_complain_unknown(c->d, kernel.line, kernel.column, "kernel", kernel.text,
				      suggest_kernel(kernel.text));
	/* A kernel that runs over one transport only needs none to be named. */
	if (!transport.text && p->kernel && p->kernel->transports && !p->kernel->transports[1])
		p->transport = transport_find(p->kernel->transports[0]);
	else if (!transport.text)
		diag_add(c->d, transport.line, transport.column, "no 'transport' is given here or under 'settings'");
	else if (!(p->transport = transport_find(transport.text)))
		spec_complain_unknown(c->d, transport.line, transport.column, "transport", transport.text,
				      suggest_transport(transport.text));
	if (p->kernel && p->transport && !kernel_loops_find(p->kernel, p->transport->name)) {
		diag_add(c->d, c->block->line, c->block->column, "the kernel %s does not run over the transport %s",
			 p->kernel->name, p->transport->name);
		return false;
	}
	return p->kernel && p->transport;
}

/* --- settings --- */

static void note_named(struct spec *s, const char *key)
{
	if (json_object_get(s->named_keys, key))
		return;
	json_object_set_new(s->named_keys, key, json_true());
	json_array_append_new(s->named, json_string(key));
}

static void complain_setting(struct choice *c, const struct axis *a, const struct part *p, const char *name)
{
	char owner[64];

	if (!setting_find_anywhere(name, owner, sizeof(owner)))
		spec_complain_unknown(c->d, a->line, a->column, "setting", name, setting_suggest(name));
	else
		diag_add(c->d, a->line, a->column,
			 "setting '%s' belongs to %s; a %s with kernel %s and transport %s has none of that name", name,
			 owner, *p->flow ? "flow" : "point", p->kernel->name, p->transport->name);
}

/* "50" is 50 ns, which few mean. */
static void warn_bare_time(struct choice *c, const struct axis *a, const struct opt *row, struct written w)
{
	if (row->type != OPT_TIME || strspn(w.text, "0123456789") != strlen(w.text) ||
	    strspn(w.text, "0") == strlen(w.text))
		return;
	diag_add(&c->spec->warnings, w.line, w.column,
		 "warning: %s%s: %s without a unit is %s ns; write it as %sns, %sus or %sms", w.line ? "" : "--set ",
		 a->name, w.text, w.text, w.text, w.text, w.text);
}

/* Check the value, and store it in the params under the flow's name. */
static void set_param(struct choice *c, const struct axis *a, const struct opt *row, const char *flow)
{
	struct written w = axis_value(a, c->index[a - c->block->axes]);
	char why[256], key[64], name[SETTING_NAME_MAX];
	json_t *value = opt_parse(row, w.text, why, sizeof(why));

	if (a->used)
		*a->used = true;
	if (!value) {
		diag_add(c->d, w.line, w.column, "%s%s %s", w.line ? "" : "--set ", a->name, why);
		return;
	}
	warn_bare_time(c, a, row, w);
	setting_of_flow(flow, opt_key(row, key, sizeof(key)), name, sizeof(name));
	json_object_set_new(c->params, name, value);
	note_named(c->spec, name);
}

static const struct opt *find_setting(const struct part *p, const char *name)
{
	return setting_find(p->kernel, p->transport, name);
}

/* A setting without the name of a flow: it belongs to the point, or to all flows that have it and
 * do not set it themselves. */
static void set_for_all(struct choice *c, const struct axis *a)
{
	const bool of_point = setting_is_of_point(a->name), has_flows = *c->part[0].flow;
	const struct opt *row = opt_find(flow_options, a->name);
	bool found = false;
	char own[SETTING_NAME_MAX];

	if (row && has_flows) {
		set_param(c, a, row, "");
		return;
	}
	for (size_t i = 0; i < c->parts && !(of_point && found); i++) {
		const struct part *p = &c->part[i];

		row = find_setting(p, a->name);
		if (!row)
			continue;
		found = true;
		if (of_point || !has_flows || !axes_find(c->block, setting_of_flow(p->flow, a->name, own, sizeof(own))))
			set_param(c, a, row, of_point ? "" : p->flow);
		else if (a->used)
			*a->used = true;
	}
	if (!found && !a->optional && opt_find(flow_options, a->name))
		diag_add(c->d, a->line, a->column, "setting '%s' requires 'flows', and the point has none", a->name);
	else if (!found && !a->optional)
		complain_setting(c, a, &c->part[0], a->name);
}

static const struct part *find_part(const struct choice *c, const char *flow)
{
	for (size_t i = 0; i < c->parts; i++)
		if (*flow && !strcmp(c->part[i].flow, flow))
			return &c->part[i];
	return NULL;
}

static void complain_flow(struct choice *c, const struct axis *a, const char *flow)
{
	const char *names[POINT_FLOWS_MAX + 1];
	char hint[SUGGESTION_MAX];

	for (size_t i = 0; i < c->parts; i++)
		names[i] = c->part[i].flow;
	names[c->parts] = NULL;
	if (*c->part[0].flow)
		diag_add(c->d, a->line, a->column, "setting '%s' is for a flow '%s', which does not exist%s", a->name,
			 flow, suggestion(suggest(flow, names), hint, sizeof(hint)));
	else
		diag_add(c->d, a->line, a->column, "setting '%s' is for a flow '%s', but the point has no 'flows'",
			 a->name, flow);
}

/* Does another value of the axis `flows` contain that flow? Then the setting is just for other points. */
static bool is_elsewhere(const struct choice *c, const char *flow)
{
	const struct axis *flows = axes_find(c->block, "flows");

	for (size_t i = 0; flows && i < axis_count(flows); i++) {
		const char *names[POINT_FLOWS_MAX];
		char text[OPT_STR_MAX], why[256];
		size_t count = 0;

		snprintf(text, sizeof(text), "%s", axis_value(flows, i).text);
		if (point_cut_flows(text, names, &count, why, sizeof(why)))
			continue;
		for (size_t k = 0; k < count; k++)
			if (!strcmp(names[k], flow))
				return true;
	}
	return false;
}

static void set_for_flow(struct choice *c, const struct axis *a, const char *flow, const char *name)
{
	const struct part *p = find_part(c, flow);
	const struct opt *row = p ? find_setting(p, name) : NULL;

	if (!p) {
		if (!a->optional && !is_elsewhere(c, flow))
			complain_flow(c, a, flow);
	} else if (setting_is_of_point(name)) {
		diag_add(c->d, a->line, a->column, "setting '%s' belongs to the point, not to one of its flows", name);
	} else if (row) {
		set_param(c, a, row, flow);
	} else if (!a->optional) {
		complain_setting(c, a, p, name);
	}
}

static void set_axis(struct choice *c, const struct axis *a)
{
	char flow[FLOW_NAME_MAX];
	const char *name = setting_cut_flow(a->name, flow, sizeof(flow));

	if (!strcmp(name, "kernel") || !strcmp(name, "transport")) {
		if (*flow && !find_part(c, flow) && !a->optional && !is_elsewhere(c, flow))
			complain_flow(c, a, flow);
		else if (a->used)
			*a->used = true;
	} else if (name != a->name) {
		set_for_flow(c, a, flow, name);
	} else {
		set_for_all(c, a);
	}
}

/* --- defaults --- */

struct defaults {
	json_t *params;
	const char *flow;
};

static void set_default(void *arg, const struct opt *row)
{
	const struct defaults *d = arg;
	const bool of_point = row->flags & OPT_OF_POINT;
	char key[64], name[SETTING_NAME_MAX];

	setting_of_flow(of_point ? "" : d->flow, opt_key(row, key, sizeof(key)), name, sizeof(name));
	json_object_set_new(d->params, name, opt_default(row));
}

static void set_point_defaults(struct choice *c)
{
	const struct opt *const tables[] = {flow_options, common_options};

	for (size_t i = 0; *c->part[0].flow && i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct opt *row = tables[i]; row->name; row++)
			if (row->flags & OPT_OF_POINT)
				set_default(&(struct defaults){c->params, ""}, row);
}

/* In the order in which settings are shown: those of the point, then flow by flow. */
static void set_defaults(struct choice *c)
{
	char name[SETTING_NAME_MAX];

	set_point_defaults(c);
	for (size_t i = 0; i < c->parts; i++) {
		const struct part *p = &c->part[i];
		struct defaults d = {c->params, p->flow};

		json_object_set_new(c->params, setting_of_flow(p->flow, "kernel", name, sizeof(name)),
				    json_string(p->kernel->name));
		json_object_set_new(c->params, setting_of_flow(p->flow, "transport", name, sizeof(name)),
				    json_string(p->transport->name));
		setting_each(p->kernel, p->transport, set_default, &d);
	}
}

/* --- points --- */

static void complain_contradiction(void *arg, const struct flow *f, const char *why)
{
	struct choice *c = arg;

	diag_add(c->d, c->block->line, c->block->column, "%s%s%s", f->name, *f->name ? ": " : "", why);
}

static void keep_point(struct choice *c)
{
	struct spec *s = c->spec;
	struct err e = ERR_INIT;
	struct point p;

	if (point_load(&p, 0, c->params, &e)) {
		diag_add(c->d, c->block->line, c->block->column, "%s", e.text);
		point_free(&p);
		return;
	}
	point_check(&p, complain_contradiction, c);
	s->point = or_abort(realloc(s->point, (s->point_count + 1) * sizeof(*s->point)));
	s->point[s->point_count++] = p;
}

/* Of a point whose kernel and transport do not go together. */
static void set_parts(struct choice *c)
{
	char name[SETTING_NAME_MAX];

	for (size_t i = 0; i < c->parts; i++) {
		const struct part *p = &c->part[i];

		if (p->kernel)
			json_object_set_new(c->params, setting_of_flow(p->flow, "kernel", name, sizeof(name)),
					    json_string(p->kernel->name));
		if (p->transport)
			json_object_set_new(c->params, setting_of_flow(p->flow, "transport", name, sizeof(name)),
					    json_string(p->transport->name));
	}
}

static void make_point(struct choice *c)
{
	struct spec *s = c->spec;
	const struct axes_block *b = c->block;
	char flows[OPT_STR_MAX];
	bool good = choose_flows(c, flows, sizeof(flows));

	s->flow_count += c->parts;
	if (s->flow_count > SPEC_MAX_POINTS) {
		diag_add(c->d, b->line, b->column, "makes more than %d flows in all points", SPEC_MAX_POINTS);
		return;
	}
	for (size_t i = 0; good && i < c->parts; i++)
		good = choose_parts(c, &c->part[i]);
	if (!good) {
		set_parts(c);
		return;
	}
	c->is_whole = true;
	set_defaults(c);
	for (size_t i = 0; i < b->count; i++)
		set_axis(c, &b->axes[i]);
	if (!c->d->said)
		keep_point(c);
}

static void add_point(struct spec *s, const struct axes_block *b, const size_t *index,
		      const struct points_wanted *wanted, struct diag *d)
{
	struct diag own;
	struct choice c = {.spec = s, .d = &own, .block = b, .index = index, .params = json_object()};

	diag_init(&own, "");
	make_point(&c);
	diag_move(&own,
		  !wanted->is_wanted || wanted->is_wanted(wanted->arg, c.params, c.is_whole) ? d : wanted->others);
	diag_free(&own);
	json_decref(c.params);
}

void spec_add_points(struct spec *s, const struct axes_block *b, const struct points_wanted *wanted, struct diag *d)
{
	size_t index[AXES_MAX] = {0};

	if (s->point_count + axes_product(b, SPEC_MAX_POINTS) > SPEC_MAX_POINTS) {
		diag_add(d, b->line, b->column, "makes more than %d points", SPEC_MAX_POINTS);
		return;
	}
	/* Once there are more errors than are shown, checking further points just takes time. */
	while (!d->dropped) {
		add_point(s, b, index, wanted, d);

		size_t i = b->count;

		while (i > 0 && ++index[i - 1] == axis_count(&b->axes[i - 1]))
			index[--i] = 0;
		if (i == 0)
			return;
	}
}
