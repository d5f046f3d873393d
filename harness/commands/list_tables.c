#include "commands/list_tables.h"

#include <stdio.h>

#include "common/cli.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/opt.h"
#include "judge/analysis/blocks.h"
#include "measure/kernels/kernel.h"
#include "measure/point/settings.h"
#include "measure/transports/transport.h"

/* --- settings ----------------------------------------------------------------------------------------------------- */

static const char *const type_names[] = {
    [OPT_INT] = "integer",  [OPT_TIME] = "time",   [OPT_BYTES] = "bytes", [OPT_RATE] = "rate", [OPT_SHARE] = "share",
    [OPT_BOOL] = "boolean", [OPT_ENUM] = "choice", [OPT_STR] = "text",	  [OPT_CPU] = "cpu",   [OPT_LIST] = "list",
};

/* Settings that belong neither to a kernel nor to a transport. */
static const struct {
	const struct opt *table;
	const char *owner, *title;
} of_points[] = {
    {common_options, "point", "settings of every point, whatever its kernel and transport:"},
    {flow_options, "flows",
     "settings of points with several flows (docs/spec.md); any other is given to one flow as NAME.setting:"},
};

#define OF_POINTS (sizeof(of_points) / sizeof(*of_points))

static json_t *choices_json(const struct opt *o)
{
	json_t *choices = json_array();

	for (const char *const *c = o->choices; c && *c; c++)
		json_array_append_new(choices, json_string(*c));
	return choices;
}

static json_t *option_json(const struct opt *o)
{
	char key[128], usage[OPT_USAGE_MAX], limits[OPT_USAGE_MAX];
	json_t *j =
	    json_pack("{s:s, s:s, s:s, s:o, s:s, s:s, s:s}", "name", o->name, "key", opt_key(o, key, sizeof(key)),
		      "type", type_names[o->type], "default", opt_default(o), "help", o->help, "usage",
		      opt_usage(o, usage, sizeof(usage)), "limits", opt_limits(o, limits, sizeof(limits)));

	if (o->min || o->max) {
		json_object_set_new(j, "min", json_integer(o->min));
		json_object_set_new(j, "max", json_integer(o->max));
	}
	if (o->type == OPT_ENUM)
		json_object_set_new(j, "choices", choices_json(o));
	return j;
}

static json_t *options_json(const struct opt *table)
{
	json_t *options = json_array();

	for (const struct opt *o = table; o && o->name; o++)
		json_array_append_new(options, option_json(o));
	return options;
}

int list_settings(json_t *out, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < OF_POINTS; i++)
		json_array_append_new(out, json_pack("{s:s, s:o}", "of", of_points[i].owner, "options",
						     options_json(of_points[i].table)));
	return 0;
}

void list_settings_show(const json_t *list)
{
	(void)list;
	for (size_t i = 0; i < OF_POINTS; i++) {
		printf("\n%s\n", of_points[i].title);
		opt_help(of_points[i].table, stdout);
	}
}

/* --- kernels and transports --------------------------------------------------------------------------------------- */

static json_t *series_json(const struct kernel_ops *k)
{
	json_t *list = json_array();

	for (const struct kernel_series *s = k->series; s->name; s++)
		json_array_append_new(list, json_pack("{s:s, s:s}", "name", s->name, "label", s->label));
	return list;
}

static json_t *instances_json(const struct kernel_ops *k)
{
	json_t *list = json_array();

	for (const struct kernel_instance *i = k->instances; i->transport; i++)
		json_array_append_new(list, json_string(i->transport));
	return list;
}

int list_kernels(json_t *out, struct err *e)
{
	(void)e;
	for (size_t i = 0; kernels[i]; i++) {
		const struct kernel_ops *k = kernels[i];

		json_array_append_new(out, json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", k->name, "summary",
						     k->summary, "series", series_json(k), "transports",
						     instances_json(k), "options", options_json(k->options)));
	}
	return 0;
}

void list_kernels_show(const json_t *list)
{
	(void)list;
	for (size_t i = 0; kernels[i]; i++) {
		printf("\n%s: %s\n", kernels[i]->name, kernels[i]->summary);
		opt_help(kernels[i]->options, stdout);
	}
}

int list_transports(json_t *out, struct err *e)
{
	(void)e;
	for (size_t i = 0; transports[i]; i++) {
		const struct transport_ops *t = transports[i];
		json_t *polls = json_array();

		if (t->poll_modes & 1u << POLL_BUSY)
			json_array_append_new(polls, json_string("busy"));
		if (t->poll_modes & 1u << POLL_EVENT)
			json_array_append_new(polls, json_string("event"));
		json_array_append_new(out, json_pack("{s:s, s:s, s:o, s:o}", "name", t->name, "summary", t->summary,
						     "poll", polls, "options", options_json(t->options)));
	}
	return 0;
}

void list_transports_show(const json_t *list)
{
	(void)list;
	for (size_t i = 0; transports[i]; i++) {
		printf("\n%s: %s\n", transports[i]->name, transports[i]->summary);
		opt_help(transports[i]->options, stdout);
	}
}

/* --- statistics --------------------------------------------------------------------------------------------------- */

static void add_statistic(json_t *out, const char *block, const char *key, const char *label, const char *help)
{
	json_array_append_new(
	    out, json_pack("{s:s?, s:s, s:s, s:s}", "block", block, "name", key, "label", label, "help", help));
}

int list_statistics(json_t *out, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < STATISTICS; i++)
		add_statistic(out, NULL, statistics[i].key, statistics[i].label, statistics[i].help);
	for (size_t i = 0; blocks[i]; i++)
		for (const struct block_statistic *s = blocks[i]->statistics; s->key; s++)
			add_statistic(out, blocks[i]->name, s->key, s->label, s->help);
	return 0;
}

/* "lat_ns.p99", "pacing.missed_share": the names used in claims and comparisons. */
void list_statistics_show(const json_t *list)
{
	const json_t *s;
	size_t i;

	json_array_foreach (list, i, s) {
		char *name = fs_path("%s.%s", json_text_or(s, "block", "SERIES"), json_text(s, "name"));

		cli_print_item(name, 32, json_text(s, "help"), stdout);
		free(name);
	}
}
