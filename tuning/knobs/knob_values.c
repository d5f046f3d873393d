#include "tuning/knobs/knob_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/text.h"
#include "common/units.h"
#include "tuning/knobs/knob_cards.h"
#include "tuning/knobs/place.h"
#include "tuning/machine/cards.h"
#include "tuning/machine/machine.h"
#include "tuning/ops/op_card.h"
#include "tuning/ops/op_file.h"

/* A value of the profile to be written to a file. */
struct value {
	struct planner *p;
	const struct setting *s;
	const struct knob *k;
	const struct value_row *row;
	const struct ynode *node; /* the node in the profile */
};

/* "on, off": all words of a row. */
static char *row_words(const struct value_row *row, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < 8 && row->words[i].word && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", row->words[i].word);
	return buf;
}

/* "a number from 0 to 15, or one of performance, normal, power" */
static void value_fault(const struct value *v)
{
	char words[200], range[80] = "", what[320];

	row_words(v->row, words, sizeof(words));
	if (v->row->kind == VALUE_NUMBER)
		snprintf(range, sizeof(range), "a number from %ld to %ld", v->row->min, v->row->max);
	if (v->row->kind == VALUE_FREQUENCY)
		snprintf(range, sizeof(range), "a frequency such as 2400MHz");
	if (v->row->kind == VALUE_TIME)
		snprintf(range, sizeof(range), "a time such as 50us");
	if (v->row->any_word)
		snprintf(range, sizeof(range), "one word");
	snprintf(what, sizeof(what), "%s%s%s%s", range, *range && *words ? ", or " : "",
		 strchr(words, ',') ? "one of " : "", words);
	setting_must_be(v->s, v->node, v->s->key, what);
}

static const char *find_word(const struct value_row *row, const char *word)
{
	for (size_t i = 0; i < 8 && row->words[i].word; i++)
		if (!strcmp(row->words[i].word, word))
			return row->words[i].written;
	return NULL;
}

/* The path of a file in the same folder as another one. The caller frees. */
static char *beside(const char *path, const char *name)
{
	return fs_path("%.*s/%s", (int)(strrchr(path, '/') - path), path, name);
}

static bool read_number(const struct value *v, char *out, size_t size)
{
	int64_t n;

	if (unit_read(UNIT_ONE, v->node->scalar, &n) != UNIT_FINE || n < v->row->min || n > v->row->max)
		return false;
	snprintf(out, size, "%lld", (long long)n);
	return true;
}

static bool read_frequency(const struct value *v, char *out, size_t size)
{
	int64_t hz;

	if (unit_read(UNIT_RATE_HZ, v->node->scalar, &hz) != UNIT_FINE || hz < 1000)
		return false;
	snprintf(out, size, "%lld", (long long)hz / 1000);
	return true;
}

static bool read_time(const struct value *v, char *out, size_t size)
{
	int64_t ns;

	if (unit_read(UNIT_TIME_NS, v->node->scalar, &ns) != UNIT_FINE || ns < 0 || ns % v->row->unit_ns ||
	    ns / v->row->unit_ns > v->row->max)
		return false;
	snprintf(out, size, "%lld", (long long)ns / v->row->unit_ns);
	return true;
}

static bool read_place(const struct value *v, char *out, size_t size)
{
	struct cpulist cpus;

	if (place_resolve(v->p, v->s, v->node, "placement", &cpus))
		return false;
	if (v->row->form == FORM_MASK)
		cpulist_format_mask(&cpus, out, size);
	else
		cpulist_format(&cpus, out, size);
	return true;
}

/* The value to write, which is the same for all files except for "@name". False: an error or a
 * reason has been recorded. */
static bool read_value(const struct value *v, char *out, size_t size)
{
	const char *word = v->node->kind == YNODE_SCALAR ? find_word(v->row, v->node->scalar) : NULL;

	if (word) {
		snprintf(out, size, "%s", word);
		return true;
	}
	if (v->row->kind == VALUE_PLACE)
		return read_place(v, out, size);
	if (v->node->kind == YNODE_SCALAR && *v->node->scalar) {
		if (v->row->any_word && strlen(v->node->scalar) < 64 && !strpbrk(v->node->scalar, " \t\n")) {
			snprintf(out, size, "%s", v->node->scalar);
			return true;
		}
		if (v->row->kind == VALUE_NUMBER && read_number(v, out, size))
			return true;
		if (v->row->kind == VALUE_FREQUENCY && read_frequency(v, out, size))
			return true;
		if (v->row->kind == VALUE_TIME && read_time(v, out, size))
			return true;
	}
	value_fault(v);
	return false;
}

static bool is_offered(const struct value *v, const char *path, const char *value)
{
	char *list, *line;
	bool offered = true;

	if (!v->row->offers)
		return true;
	list = beside(path, v->row->offers);
	if (!machine_read(v->p->m, list, &line)) {
		offered = form_offers(FORM_CHOICE, line, value);
		if (!offered)
			plan_missing(v->p->plan, v->k->key, path, "'%s' is not one of its choices: %.*s", value,
				     (int)strcspn(line, "\n"), line);
		free(line);
	}
	free(list);
	return offered;
}

static void plan_file(const struct value *v, const char *path, const char *value, bool inverted)
{
	char fetched[64];
	struct step *step;

	if (*value == '@') {
		char *source = beside(path, value + 1);
		int rc = sysroot_line(&v->p->m->root, source, fetched, sizeof(fetched));

		free(source);
		if (rc)
			return;
		value = fetched;
	}
	if (inverted)
		value = *value == '1' ? "0" : "1";
	if (!is_offered(v, path, value))
		return;
	step = op_file_plan(v->p->plan, v->p->m, v->k->key, path, v->row->form, value, v->row->absent);
	if (step && v->row->may_refuse)
		op_file_may_refuse(step);
	if (step && v->row->of_card)
		op_file_is_of_card(step);
}

static const char *first_path(const struct value *v, const struct cpulist *cpus, bool *inverted)
{
	for (size_t i = 0; i < 4 && v->row->paths[i]; i++) {
		char path[256];
		bool there;

		/* The format string comes from a row and contains at most one number. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(path, sizeof(path), v->row->paths[i], cpulist_first(cpus));
#pragma GCC diagnostic pop
		there = sysroot_exists(&v->p->m->root, path);
		if (there) {
			*inverted = v->row->inverted[i];
			return v->row->paths[i];
		}
	}
	return NULL;
}

static void plan_on(const struct value *v, const struct cpulist *cpus)
{
	char value[CPULIST_TEXT_MAX];
	bool inverted = false;
	const char *pattern;

	if (!read_value(v, value, sizeof(value)))
		return;
	pattern = first_path(v, cpus, &inverted);
	if (!pattern) {
		plan_missing(v->p->plan, v->k->key, v->node->kind == YNODE_SCALAR ? v->node->scalar : "placement", "%s",
			     v->row->absent);
		return;
	}
	for (int cpu = cpulist_first(cpus); cpu >= 0; cpu = cpulist_next(cpus, cpu)) {
		char path[256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(path, sizeof(path), pattern, cpu);
#pragma GCC diagnostic pop
		plan_file(v, path, value, inverted);
		if (!strstr(pattern, "%d"))
			break;
	}
}

/* {cpus: PLACE, value: X} */
static void plan_some(struct value *v, const struct ynode *one)
{
	static const char *const keys[] = {"cpus", "value", NULL};
	const struct ynode *place = yaml_get(one, "cpus");
	struct cpulist cpus;

	setting_check_keys(v->s, one, keys);
	v->node = yaml_get(one, "value");
	if (!place || !v->node)
		setting_must_be(v->s, one, v->s->key, "a value, or {cpus: PLACE, value: ...}");
	else if (!place_resolve(v->p, v->s, place, "placement", &cpus) && cpulist_first(&cpus) >= 0)
		plan_on(v, &cpus);
}

/* The CPUs of queue `at` of `count`, if each CPU has one. */
static char *spread_over(const struct planner *p, int at, int count, char *out, size_t size)
{
	struct cpulist own;
	int nth = 0;

	cpulist_clear(&own);
	for (int cpu = cpulist_first(&p->topo.online); cpu >= 0; cpu = cpulist_next(&p->topo.online, cpu))
		if (nth++ % count == at)
			cpulist_add(&own, (unsigned)cpu);
	return cpulist_format_mask(&own, out, size);
}

/* The queues among the first `n` that are still there when the card's channels are as planned. */
static int count_queues_left(const struct value *v, const char *card, int n)
{
	long then = op_card_queues(v->p->plan, card, strstr(v->row->paths[0], "/rx-") != NULL);

	if (then > n && n > 0)
		plan_warn(v->p->plan,
			  "%s of %s is for the %d queues that it has now; %ld more are as its driver makes them",
			  v->k->key, card, n, then - n);
	return then >= 0 && then < n ? (int)then : n;
}

static void plan_card(const struct value *v, const char *card, bool spread, char *value, size_t size)
{
	char *pattern = fs_path(CARDS "/%s/%s", card, v->row->paths[0]), **paths;
	int n = sysroot_glob(&v->p->m->root, pattern, &paths);
	int used = strncmp(v->row->paths[0], "queues/", 7) ? n : count_queues_left(v, card, n);

	for (int i = 0; i < used; i++)
		plan_file(v, paths[i], spread ? spread_over(v->p, i, used, value, size) : value, false);
	if (n <= 0)
		plan_missing(v->p->plan, v->k->key, card, "%s", v->row->absent);
	if (n >= 0)
		sysroot_names_free(paths);
	free(pattern);
}

static void plan_cards(const struct value *v)
{
	bool spread = v->row->may_spread && setting_is_word(v->node, "spread");
	char value[CPULIST_TEXT_MAX];

	if (spread || read_value(v, value, sizeof(value)))
		for (char *const *card = knob_cards_of(v->p, v->k->key); *card; card++)
			plan_card(v, *card, spread, value, sizeof(value));
}

void knob_values_plan(struct planner *p, const struct setting *s, const struct knob *k)
{
	struct value v = {.p = p, .s = s, .k = k, .row = k->row, .node = s->value};
	bool per_cpu = strstr(v.row->paths[0], "%d") != NULL;

	if (v.row->of_card)
		plan_cards(&v);
	else if (!per_cpu || s->value->kind == YNODE_SCALAR) {
		plan_on(&v, &p->topo.online);
	} else if (s->value->kind == YNODE_MAPPING) {
		plan_some(&v, s->value);
	} else {
		for (size_t i = 0; i < s->value->count; i++)
			plan_some(&v, s->value->items[i]);
	}
}

/* "vm.swappiness" and "/sys/a/b" -> a path below `base`; NULL if it would be outside. As in
 * sysctl(8), a name that contains a slash is used unchanged; otherwise dots are separators. */
static char *file_path(const char *name, const char *base)
{
	bool is_path = !strncmp(name, base, strlen(base)), dots = !strchr(name, '/');
	char *path;

	if (!*name || (!is_path && name[0] == '/') || strstr(name, ".."))
		return NULL;
	path = fs_path("%s%s", base, is_path ? name + strlen(base) : name);
	for (char *c = path + strlen(base); dots && *c; c++)
		if (*c == '.')
			*c = '/';
	return path;
}

/* A choice between words is recognised by its brackets. */
static enum form form_at(const struct machine *m, const char *path)
{
	char line[512];

	return !sysroot_line(&m->root, path, line, sizeof(line)) && strchr(line, '[') && strchr(line, ']') ? FORM_CHOICE
													   : FORM_TEXT;
}

void knob_values_plan_files(struct planner *p, const struct setting *s, const struct knob *k)
{
	char quoted[TEXT_QUOTE_MAX];

	if (s->value->kind != YNODE_MAPPING) {
		setting_must_be(s, s->value, s->key, "a mapping {name: value}");
		return;
	}
	for (size_t i = 0; i < s->value->count; i++) {
		const struct ynode *key = s->value->keys[i], *value = s->value->items[i];
		char *path = file_path(key->scalar, k->row);

		if (!path)
			setting_fault(s, key, "%s is not a name below %s",
				      text_quote(key->scalar, quoted, sizeof(quoted)), (const char *)k->row);
		else if (value->kind != YNODE_SCALAR || !*value->scalar || strlen(value->scalar) >= MACHINE_VALUE_MAX)
			setting_fault(s, value, "a value is a text");
		else
			op_file_plan(p->plan, p->m, s->key, path, form_at(p->m, path), value->scalar,
				     "this kernel has no such file");
		free(path);
	}
}
