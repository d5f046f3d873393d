#include "measure/spec/observatory_spec.h"

#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "files/observatory/observatory_operations.h"
#include "measure/point/settings.h"
#include "measure/transports/verbs_device.h"

/* --- making a tree --- */

/* A node with the position of another one (NULL: none); free with yaml_free, which also frees what was added to it. */
static struct ynode *yaml_make(enum ynode_kind kind, const struct ynode *at)
{
	struct ynode *n = or_abort(calloc(1, sizeof(*n)));

	n->kind = kind;
	n->line = at ? at->line : 0;
	n->column = at ? at->column : 0;
	return n;
}

static struct ynode *yaml_make_scalar(const char *text, const struct ynode *at)
{
	struct ynode *n = yaml_make(YNODE_SCALAR, at);

	n->scalar = or_abort(strdup(text));
	return n;
}

/* Add to a sequence, or to a mapping under `key`. The collection then owns `item`. Returns `item`. */
static struct ynode *yaml_make_item(struct ynode *sequence, struct ynode *item)
{
	sequence->items = grow_or_abort(sequence->items, sequence->count, sizeof(struct ynode *));
	return sequence->items[sequence->count++] = item;
}

static struct ynode *yaml_make_entry(struct ynode *map, const char *key, struct ynode *item)
{
	map->keys = grow_or_abort(map->keys, map->count, sizeof(struct ynode *));
	map->keys[map->count] = yaml_make_scalar(key, item);
	return yaml_make_item(map, item);
}

/* The same for a text, the most common kind of entry. */
static void yaml_make_text(struct ynode *map, const char *key, const char *text, const struct ynode *at)
{
	yaml_make_entry(map, key, yaml_make_scalar(text, at));
}

/* --- as text --- */

/* Can the text be written without quotes in any position? Numbers can, because the reader treats
 * every scalar as text. */
static bool needs_no_quotes(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";

	return *text && *text != '-' && !text[strspn(text, plain)];
}

/* A JSON string is also a YAML string. */
static void dump_scalar(const char *text, FILE *out)
{
	json_t *value = needs_no_quotes(text) ? NULL : json_string(text);
	char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

	fputs(quoted ? quoted : text, out);
	free(quoted);
	json_decref(value);
}

static void dump_flow(const struct ynode *n, FILE *out)
{
	const bool is_map = n->kind == YNODE_MAPPING;

	if (n->kind == YNODE_SCALAR) {
		dump_scalar(n->scalar, out);
		return;
	}
	fputc(is_map ? '{' : '[', out);
	for (size_t i = 0; i < n->count; i++) {
		fputs(i ? ", " : "", out);
		if (is_map) {
			dump_scalar(n->keys[i]->scalar, out);
			fputs(": ", out);
		}
		dump_flow(n->items[i], out);
	}
	fputc(is_map ? '}' : ']', out);
}

char *yaml_make_dump(const struct ynode *map)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = or_abort(open_memstream(&text, &size));

	for (size_t i = 0; i < map->count; i++) {
		const struct ynode *item = map->items[i];

		dump_scalar(map->keys[i]->scalar, out);
		if (item->kind != YNODE_SEQUENCE || !item->count) {
			fputs(": ", out);
			dump_flow(item, out);
			fputc('\n', out);
			continue;
		}
		fputs(":\n", out);
		for (size_t k = 0; k < item->count; k++) {
			fputs("  - ", out);
			dump_flow(item->items[k], out);
			fputc('\n', out);
		}
	}
	fclose(out);
	return or_abort(text);
}

#define NAME_MAX_CHARS	   48 /* for the run's name, which is only a part of the directory's */
#define QUEUE_SIZE_DEFAULT "100"
#define QUICK_MESSAGES	   1000ULL
#define QUICK_BYTES	   (128ULL << 20) /* total for all messages: fewer messages if they are large */
#define QUICK_WARMUP	   100ULL	  /* but at most a tenth of the messages */
/* maximum per repetition if only a rate is needed; with more messages, several share a stamp */
#define STAMPS_MOST 1000000ULL

struct maker {
	const struct ynode *config;
	const struct observatory_request *request;
	struct diag *d, *warnings;
	struct ynode *matrix;
	bool is_verbs, has_blocks; /* some messages share stamps */
	const char *choice;	   /* the setting that chooses an operation; NULL: there is only one, which sends */
};

static void add_number(struct ynode *map, const char *key, unsigned long long value, const struct ynode *at)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", value);
	yaml_make_text(map, key, text, at);
}

/* --- a block of the matrix: one operation in one mode, and the iterations that differ in their size alone --- */

struct mode {
	const struct observatory_operation *operation;
	const struct ynode *node; /* of the operation */
	bool both;
};

/* The number of messages of the quick variant; never more than in the complete one. */
static unsigned long long quick_messages(const struct ynode *iteration)
{
	const unsigned long long count = observatory_config_number(iteration, "count"),
				 size = observatory_config_number(iteration, "size"),
				 fit = size * QUICK_MESSAGES > QUICK_BYTES ? QUICK_BYTES / size : QUICK_MESSAGES;

	return count < fit ? count : fit ? fit : 1;
}

static bool is_same_count(const struct ynode *a, const struct ynode *b)
{
	return observatory_config_number(a, "count") == observatory_config_number(b, "count") &&
	       observatory_config_number(a, "warmUp") == observatory_config_number(b, "warmUp") &&
	       quick_messages(a) == quick_messages(b);
}

static void add_block_operation(struct maker *m, struct ynode *block, const struct mode *mode)
{
	const struct observatory_operation *o = mode->operation;
	const struct ynode *name = yaml_get(mode->node, "name"),
			   *queue = observatory_config_parameter(m->config, "queueSize");

	yaml_make_text(block, "kernel", o->kernel, name);
	if (m->choice)
		yaml_make_text(block, m->choice, observatory_operations_word(m->request->transport, o->op), name);
	if (o->measure == OBSERVATORY_THROUGHPUT)
		yaml_make_text(block, "both", mode->both ? "yes" : "no", name);
	if (o->measure == OBSERVATORY_THROUGHPUT)
		yaml_make_text(block, "depth", queue ? queue->scalar : QUEUE_SIZE_DEFAULT, queue ? queue : name);
	else /* for a round trip: the request in use, and one already posted for the next message */
		yaml_make_text(block, "depth", o->measure == OBSERVATORY_LATENCY ? "1" : "2", name);
}

/* Add the settings of the quick variant of a block if they are smaller than the general ones. */
static void add_quick(struct ynode *block, const struct ynode *at)
{
	const unsigned long long messages = quick_messages(at), asked = observatory_config_number(at, "warmUp"),
				 most = messages < QUICK_MESSAGES ? messages / 10 : QUICK_WARMUP,
				 warmup = asked < most ? asked : most;
	struct ynode *quick;

	if (messages == QUICK_MESSAGES && warmup == QUICK_WARMUP)
		return;
	quick = yaml_make(YNODE_MAPPING, at);
	if (messages < QUICK_MESSAGES)
		add_number(quick, "messages", messages, yaml_get(at, "count"));
	if (warmup < QUICK_WARMUP)
		add_number(quick, "warmup", warmup, yaml_get(at, "warmUp"));
	yaml_make_entry(block, "quick", quick);
}

static void add_block_counts(struct maker *m, struct ynode *block, const struct mode *mode, const struct ynode *first)
{
	const struct ynode *repetitions = yaml_get(mode->node, "repetitions");
	const unsigned long long count = observatory_config_number(first, "count"),
				 warmup = observatory_config_number(first, "warmUp");

	yaml_make_text(block, "repetitions", repetitions->scalar, repetitions);
	add_number(block, "messages", count, yaml_get(first, "count"));
	add_number(block, "warmup", warmup, yaml_get(first, "warmUp"));
	if (mode->operation->measure == OBSERVATORY_THROUGHPUT && count > STAMPS_MOST) {
		add_number(block, "stamp_every", (count + STAMPS_MOST - 1) / STAMPS_MOST, yaml_get(first, "count"));
		m->has_blocks = true;
	}
	add_quick(block, first);
}

/* Is an iteration possible? With some transports, every message must have room for its number. */
static bool is_possible(const struct maker *m, const struct mode *mode, const struct ynode *iteration)
{
	return observatory_operations_is_one_sided(mode->operation) ||
	       observatory_config_number(iteration, "size") >= m->request->least_bytes;
}

/* Add a block that begins with iteration `from`; returns where the next one begins. */
static size_t add_block(struct maker *m, const struct mode *mode, size_t from)
{
	const struct ynode *iterations = yaml_get(mode->node, "iterations"), *first = iterations->items[from];
	struct ynode *block = yaml_make_item(m->matrix, yaml_make(YNODE_MAPPING, first)), *sizes;
	size_t i = from;

	add_block_operation(m, block, mode);
	add_block_counts(m, block, mode, first);
	sizes = yaml_make_entry(block, "size", yaml_make(YNODE_SEQUENCE, first));
	do {
		const struct ynode *size = yaml_get(iterations->items[i], "size");

		yaml_make_item(sizes, yaml_make_scalar(size->scalar, size));
	} while (++i < iterations->count && is_same_count(first, iterations->items[i]) &&
		 is_possible(m, mode, iterations->items[i]));
	return i;
}

static void add_mode(struct maker *m, const struct mode *mode)
{
	const struct ynode *iterations = yaml_get(mode->node, "iterations");

	for (size_t i = 0; i < iterations->count;) {
		const struct ynode *iteration = iterations->items[i], *size = yaml_get(iteration, "size");

		if (is_possible(m, mode, iteration)) {
			i = add_block(m, mode, i);
			continue;
		}
		diag_add(m->warnings, size->line, size->column,
			 "warning: this size is left out: a message over %s has at least %llu bytes, for its number",
			 m->request->transport, m->request->least_bytes);
		i++;
	}
}

static void add_operation(struct maker *m, const struct ynode *node)
{
	const struct ynode *name = yaml_get(node, "name"), *modes = yaml_get(node, "modes");
	struct mode mode = {observatory_operations_find(name->scalar), node, false};

	if (!m->choice && observatory_operations_is_one_sided(mode.operation)) {
		diag_add(m->warnings, name->line, name->column,
			 "warning: %s is left out: the transport %s has no RDMA operations", name->scalar,
			 m->request->transport);
		return;
	}
	for (size_t i = 0; i < modes->count; i++) {
		mode.both = !strcmp(modes->items[i]->scalar, "bidirectional");
		add_mode(m, &mode);
	}
}

/* --- common settings --- */

/* A name suitable for a run's directory: "hadroNIO (64K)" becomes "hadronio-64k". */
static void make_name(const char *result, char *name, size_t size)
{
	size_t n = 0;

	for (; *result && n + 1 < size; result++) {
		const unsigned char ch = (unsigned char)*result;
		const bool is_kept = ch < 0x80 && (isalnum(ch) || ch == '_');

		if (is_kept && (n || ch != '_'))
			name[n++] = (char)tolower(ch);
		else if (n && name[n - 1] != '-')
			name[n++] = '-';
	}
	while (n && name[n - 1] == '-')
		n--;
	name[n] = '\0';
	if (!n)
		snprintf(name, size, "observatory");
}

/* Does the spec have an operation with this measure? */
static bool has_measure(const struct maker *m, enum observatory_measure measure)
{
	const struct ynode *operations = yaml_get(m->config, "operations");

	for (size_t i = 0; i < operations->count; i++) {
		const struct observatory_operation *o =
		    observatory_operations_find(yaml_get(operations->items[i], "name")->scalar);

		if (o->measure == measure && (m->choice || !observatory_operations_is_one_sided(o)))
			return true;
	}
	return false;
}

/* "JUCX: throughput (1000 operations in flight), latency, round trips over verbs". */
static void add_title(struct maker *m, struct ynode *spec, const char *result, const struct ynode *at)
{
	const struct ynode *queue = observatory_config_parameter(m->config, "queueSize");
	const char *separator = "";
	char *title = NULL;
	size_t size = 0;
	FILE *out = or_abort(open_memstream(&title, &size));

	fprintf(out, "%s: ", result);
	if (has_measure(m, OBSERVATORY_THROUGHPUT)) {
		fprintf(out, "throughput (%s operations in flight)", queue ? queue->scalar : QUEUE_SIZE_DEFAULT);
		separator = ", ";
	}
	if (has_measure(m, OBSERVATORY_LATENCY)) {
		fprintf(out, "%slatency", separator);
		separator = ", ";
	}
	if (has_measure(m, OBSERVATORY_ROUND_TRIP))
		fprintf(out, "%sround trips", separator);
	fprintf(out, " over %s", m->request->transport);
	fclose(out);
	yaml_make_text(spec, "title", title, at);
	free(title);
}

static void add_source(struct ynode *spec, const char *result, const struct ynode *at)
{
	char *source = fs_path("%s%s", OBSERVATORY_SOURCE, result);

	yaml_make_text(spec, "source", source, at);
	free(source);
}

static void add_head(struct maker *m, struct ynode *spec)
{
	const char *result = observatory_config_result_name(m->config);
	const struct ynode *at = yaml_get(m->config, "resultName");
	char name[NAME_MAX_CHARS + 1];

	make_name(result, name, sizeof(name));
	yaml_make_text(spec, "kblat", "1", m->config);
	yaml_make_text(spec, "name", name, at);
	add_title(m, spec, result, at);
	add_source(spec, result, at);
}

/* Add the device that a number refers to. If there are no devices at all, that is reported when a
 * point is opened. */
static void add_spec_device(struct maker *m, struct ynode *settings)
{
	const struct ynode *number = observatory_config_parameter(m->config, "deviceNumber");
	const unsigned long long n = number ? strtoull(number->scalar, NULL, 10) : 0;

	if (!number)
		return;
	if (!m->request->device_count)
		diag_add(m->warnings, number->line, number->column,
			 "warning: deviceNumber is left out: there is no RDMA device here that it could refer to");
	else if (n >= m->request->device_count)
		diag_add(m->d, number->line, number->column,
			 "deviceNumber is %llu, and this machine has %zu RDMA device%s, counted from 0", n,
			 m->request->device_count, m->request->device_count == 1 ? "" : "s");
	else
		yaml_make_text(settings, "device", m->request->devices[n], number);
}

static void add_spec_settings(struct maker *m, struct ynode *spec)
{
	struct ynode *settings = yaml_make_entry(spec, "settings", yaml_make(YNODE_MAPPING, m->config));
	const struct ynode *port = observatory_config_parameter(m->config, "portNumber");

	yaml_make_text(settings, "transport", m->request->transport, m->config);
	if (!m->is_verbs)
		return;
	add_spec_device(m, settings);
	if (port)
		yaml_make_text(settings, "port", port->scalar, port);
}

static void add_quick_of_all(struct maker *m, struct ynode *spec)
{
	struct ynode *quick = yaml_make_entry(spec, "quick", yaml_make(YNODE_MAPPING, m->config));

	add_number(quick, "messages", QUICK_MESSAGES, m->config);
	add_number(quick, "warmup", QUICK_WARMUP, m->config);
	add_number(quick, "repetitions", 1, m->config);
	if (m->has_blocks)
		add_number(quick, "stamp_every", 1, m->config);
}

struct ynode *observatory_spec_make(const struct ynode *config, const struct observatory_request *request,
				    struct diag *d, struct diag *warnings)
{
	const struct ynode *operations = yaml_get(config, "operations");
	struct ynode *spec = yaml_make(YNODE_MAPPING, config);
	struct maker m = {
	    .config = config,
	    .request = request,
	    .d = d,
	    .warnings = warnings,
	    .is_verbs = !strcmp(request->transport, "verbs"),
	    .choice = observatory_operations_setting(request->transport),
	};

	add_head(&m, spec);
	add_spec_settings(&m, spec);
	m.matrix = yaml_make_entry(spec, "matrix", yaml_make(YNODE_SEQUENCE, operations));
	for (size_t i = 0; i < operations->count; i++)
		add_operation(&m, operations->items[i]);
	if (!m.matrix->count)
		diag_add(d, operations->line, operations->column,
			 "nothing is left of it: over %s there are only Messaging operations", request->transport);
	add_quick_of_all(&m, spec);
	if (d->count) {
		yaml_free(spec);
		spec = NULL;
	}
	return spec;
}

/* --- local devices --- */

/* The RDMA devices of this machine, each once, in the order of libibverbs; `list` owns the names. */
static size_t find_devices(json_t **list, const char ***names)
{
	json_t *port;
	size_t count = 0, i;

	*list = verbs_devices();
	json_array_foreach (*list, i, port) {
		const char *name = json_text(port, "name");

		if (count && !strcmp((*names)[count - 1], name))
			continue;
		*names = grow_or_abort(*names, count, sizeof(**names));
		(*names)[count++] = name;
	}
	return count;
}

/* --- limits of a transport --- */

static void set_param_default(void *params, const struct opt *row)
{
	char key[64];

	json_object_set_new(params, opt_key(row, key, sizeof(key)), opt_default(row));
}

static void note_complaint(void *complaints, const struct flow *f, const char *why)
{
	(void)f, (void)why;
	++*(unsigned *)complaints;
}

static bool carries(const struct transport_ops *t, int size)
{
	json_t *params = json_pack("{s:s, s:s}", "kernel", "pingpong", "transport", t->name);
	unsigned complaints = 0;
	struct flow flow;

	setting_each(kernel_find("pingpong"), t, set_param_default, params);
	json_object_set_new(params, "size_bytes", json_integer(size));
	if (flow_load(&flow, "", params, NULL))
		complaints++;
	else
		flow_check(&flow, note_complaint, &complaints);
	flow_free(&flow);
	json_decref(params);
	return !complaints;
}

/* The smallest message that the transport allows, as messages may have to contain their number. */
static unsigned long long find_least_bytes(const char *transport)
{
	const struct transport_ops *t = transport_find(transport);
	int size = 1;

	while (t && size < 64 && !carries(t, size))
		size++;
	return (unsigned long long)size;
}

static const char *find_transport(const struct spec_overrides *o)
{
	const char *transport = "verbs";

	for (size_t i = 0; i < o->set_count; i++)
		if (!strncmp(o->set[i], "transport=", strlen("transport=")))
			transport = o->set[i] + strlen("transport=");
	return transport;
}

void spec_import(struct spec *s, struct ynode **root, const struct spec_overrides *overrides, struct diag *d)
{
	struct observatory_request request = {.transport = find_transport(overrides)};
	const char **devices = NULL;
	json_t *list = NULL;
	struct ynode *made;

	if (!observatory_config_is(*root))
		return;
	request.device_count = find_devices(&list, &devices);
	request.devices = devices;
	request.least_bytes = find_least_bytes(request.transport);
	s->warnings.text = s->text;
	s->warnings.length = s->length;
	observatory_config_check(*root, s->text, s->length, d, &s->warnings);
	made = d->count ? NULL : observatory_spec_make(*root, &request, d, &s->warnings);
	s->wants_wire = made && observatory_config_has_detector(*root);
	yaml_free(*root);
	*root = made;
	s->original = s->text;
	s->original_length = s->length;
	s->text = made ? yaml_make_dump(made) : NULL;
	s->length = s->text ? strlen(s->text) : 0;
	free(devices);
	json_decref(list);
}
