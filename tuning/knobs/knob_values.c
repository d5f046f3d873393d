#include "tuning/knobs/knob_values.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/units.h"
#include "tuning/knobs/knob.h"
#include "tuning/knobs/place.h"
#include "tuning/machine/cards.h"
#include "tuning/machine/ethtool.h"
#include "tuning/machine/machine.h"
#include "tuning/ops/op_card.h"
#include "tuning/ops/op_file.h"

/* --- knobs of network cards --- */

/* Their names, NULL-terminated. If there are none, the plan says so for the knob. */
static char *const *knob_cards_of(struct planner *p, const char *knob)
{
	if (!p->cards)
		p->cards = cards_list(p->m);
	if (!*p->cards)
		plan_missing(p->plan, knob, "network cards", "there are none here (interfaces with a device)");
	return p->cards;
}

static void fault_card(struct planner *p, const struct setting *s, const struct ynode *n)
{
	char **names = cards_list(p->m), quoted[TEXT_QUOTE_MAX], hint[SUGGESTION_MAX];

	setting_fault(s, n, "there is no network interface %s here%s", text_quote(n->scalar, quoted, sizeof(quoted)),
		      suggestion(suggest(n->scalar, (const char *const *)names), hint, sizeof(hint)));
	sysroot_names_free(names);
}

static bool is_card_taken(char *const *names, const char *name)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names != NULL;
}

static void take_card(struct planner *p, const struct setting *s, const struct ynode *n, size_t *count)
{
	if (n->kind != YNODE_SCALAR)
		setting_must_be(s, n, s->key, "all, an interface such as eth0, or a list of these");
	else if (!strcmp(n->scalar, "lo"))
		setting_fault(s, n, "'lo' is no network card");
	else if (!cards_has(p->m, n->scalar))
		fault_card(p, s, n);
	else if (!is_card_taken(p->cards, n->scalar)) {
		p->cards = or_abort(reallocarray(p->cards, *count + 2, sizeof(*p->cards)));
		p->cards[(*count)++] = fs_path("%s", n->scalar);
		p->cards[*count] = NULL;
	}
}

void knob_cards_plan(struct planner *p, const struct setting *s, const struct knob *k)
{
	size_t count = 0;

	(void)k;
	if (setting_is_word(s->value, "all"))
		return;
	p->cards = or_abort(calloc(1, sizeof(*p->cards)));
	if (s->value->kind != YNODE_SEQUENCE)
		take_card(p, s, s->value, &count);
	for (size_t i = 0; s->value->kind == YNODE_SEQUENCE && i < s->value->count; i++)
		take_card(p, s, s->value->items[i], &count);
}

/* --- what drivers let be set --- */

/* ethtool's short names for offloads, and which of the kernel's they are. */
static const struct {
	const char *name, *pattern;
} short_names[] = {
    {"rx", "rx-checksum"},
    {"tx", "tx-checksum-*"},
    {"sg", "tx-scatter-gather*"},
    {"tso", "tx-tcp*-segmentation"},
    {"gso", "tx-generic-segmentation"},
    {"gro", "rx-gro"},
    {"lro", "rx-lro"},
    {"rxvlan", "rx-vlan-hw-parse"},
    {"txvlan", "tx-vlan-hw-insert"},
    {"ntuple", "rx-ntuple-filter"},
    {"rxhash", "rx-hashing"},
};

/* A value for the group's field, or NULL and a fault. */
static json_t *read_field(const struct setting *s, const struct ethtool_field *f, const struct ynode *key,
			  const struct ynode *value)
{
	char text[16];
	int64_t n;

	if (!f || f->is_switch)
		return json_string(setting_is_on(s, value, key->scalar) ? "on" : "off");
	if (f->maximum && setting_is_word(value, "max"))
		return json_string("max");
	if (value->kind != YNODE_SCALAR || unit_read(UNIT_ONE, value->scalar, &n) != UNIT_FINE || n < 0 ||
	    n > UINT32_MAX) {
		setting_must_be(s, value, key->scalar, f->maximum ? "a number from 0, or max" : "a number from 0");
		return NULL;
	}
	snprintf(text, sizeof(text), "%lld", (long long)n);
	return json_string(text);
}

static void check_field_names(const struct setting *s, const struct ethtool_group *g)
{
	const char *names[32] = {NULL};
	size_t count = 0;

	for (const struct ethtool_field *f = g->fields; f && f->name && count < 31; f++)
		names[count++] = f->name;
	if (g->fields)
		setting_check_keys(s, s->value, names);
}

/* {name: text}: what is asked for. */
static json_t *read_group(const struct setting *s, const struct ethtool_group *g)
{
	json_t *want = json_object();

	check_field_names(s, g);
	for (size_t i = 0; i < s->value->count; i++) {
		const struct ynode *key = s->value->keys[i];
		const struct ethtool_field *f = ethtool_field(g, key->scalar);

		if (f || !g->fields)
			json_object_set_new(want, key->scalar, read_field(s, f, key, s->value->items[i]));
	}
	return want;
}

static const char *pattern_of(const char *name)
{
	for (size_t i = 0; i < sizeof(short_names) / sizeof(short_names[0]); i++)
		if (!strcmp(short_names[i].name, name))
			return short_names[i].pattern;
	return name;
}

/* The card's own names for an offload: those that can be changed, if any, else all. */
static void add_offloads(const json_t *all, const char *asked, json_t *value, json_t *want)
{
	const char *pattern = pattern_of(asked), *name;
	bool any = false, changeable = false;
	json_t *now;

	json_object_foreach ((json_t *)all, name, now)
		if (!fnmatch(pattern, name, 0)) {
			any = true;
			changeable |= !strchr(json_string_value(now), ' ');
		}
	json_object_foreach ((json_t *)all, name, now)
		if (!fnmatch(pattern, name, 0) && changeable == !strchr(json_string_value(now), ' '))
			json_object_set(want, name, value);
	if (!any)
		json_object_set(want, asked, value);
}

/* As the kernel calls them: a new object. */
static json_t *expand_offloads(const struct planner *p, const char *card, const json_t *asked)
{
	json_t *want = json_object(), *all = NULL, *value;
	const char *name;
	char why[256];

	cards_read(p->m, card, &ethtool_offloads, &all, why, sizeof(why));
	json_object_foreach ((json_t *)asked, name, value)
		add_offloads(all, name, value, want);
	json_decref(all);
	return want;
}

static bool would_change(const struct planner *p, const char *card, const struct ethtool_group *g, const json_t *want)
{
	struct plan scratch;
	const struct step *s;
	bool would;

	plan_init(&scratch, "", "");
	s = op_card_plan(&scratch, p->m, "", card, g, want);
	would = s && strcmp(s->before, s->after) != 0;
	plan_free(&scratch);
	return would;
}

static void keep_masks(struct planner *p, const char *knob, const char *card, const char *files)
{
	char *pattern = fs_path(CARDS "/%s/%s", card, files), **paths;
	int n = sysroot_glob(&p->m->root, pattern, &paths);

	for (int i = 0; i < n; i++)
		op_file_plan_to_keep(p->plan, p->m, knob, paths[i], FORM_MASK);
	if (n >= 0)
		sysroot_names_free(paths);
	free(pattern);
}

static bool is_card_kept(const struct planner *p, const char *card)
{
	for (size_t i = 0; i < p->plan->step_count; i++) {
		const struct step *s = &p->plan->steps[i];

		if (s->op == &op_card && !strcmp(step_text(s, "card"), card) && json_object_get(s->data, "keep"))
			return true;
	}
	return false;
}

/*
 * Other channels or rings reset in many drivers what is set for each queue, and a queue that goes takes its masks along.
 * Steps are undone in reverse, so what is kept here is put back when channels and rings are as they were: rings,
 * coalescing, then the masks of queues that are there again.
 */
static void keep_others(struct planner *p, const char *knob, const char *card, const struct ethtool_group *g)
{
	if (is_card_kept(p, card))
		return;
	keep_masks(p, knob, card, "queues/tx-[0-9]*/xps_cpus");
	keep_masks(p, knob, card, "queues/rx-[0-9]*/rps_cpus");
	op_card_plan_to_keep(p->plan, p->m, knob, card, &ethtool_coalesce);
	op_card_plan_to_keep(p->plan, p->m, knob, card, g == &ethtool_channels ? &ethtool_rings : g);
}

void knob_cards_plan_group(struct planner *p, const struct setting *s, const struct knob *k)
{
	const struct ethtool_group *g = k->row;
	json_t *asked;

	if (s->value->kind != YNODE_MAPPING || !s->value->count) {
		setting_must_be(s, s->value, s->key, "a mapping {name: value}");
		return;
	}
	asked = read_group(s, g);
	for (char *const *card = knob_cards_of(p, k->key); *card && !profile_has_faults(p->profile); card++) {
		json_t *want = g->fields ? json_incref(asked) : expand_offloads(p, *card, asked);

		if ((g == &ethtool_channels || g == &ethtool_rings) && would_change(p, *card, g, want))
			keep_others(p, k->key, *card, g);
		op_card_plan(p->plan, p->m, k->key, *card, g, want);
		json_decref(want);
	}
	json_decref(asked);
}

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

/* The file below `folder` whose path `name` is, if each of its dots may be a separator or a part of a name, as in
 * "net.ipv4.conf.eth0.100.mtu"; NULL: there is none. */
static char *find_by_dots(const struct machine *m, const char *folder, const char *name)
{
	for (const char *dot = strchr(name, '.');; dot = strchr(dot + 1, '.')) {
		char *path = fs_path("%s/%.*s", folder, dot ? (int)(dot - name) : (int)strlen(name), name);
		char *found = NULL;

		if (sysroot_exists(&m->root, path))
			found = dot ? find_by_dots(m, path, dot + 1) : fs_path("%s", path);
		free(path);
		if (found || !dot)
			return found;
	}
}

/*
 * "vm.swappiness" and "/sys/a/b" -> a path below `base`; NULL if it would be outside. As in sysctl(8), the first of dot and
 * slash separates, and the other one is a dot: "net.ipv4.conf.eth0/100.mtu", "net/ipv4/conf/eth0.100/mtu". If there is no
 * such file, dots may be either.
 */
static char *file_path(const struct machine *m, const char *name, const char *base)
{
	const size_t n = strlen(base);
	bool is_path = !strncmp(name, base, n), swaps = !is_path && name[strcspn(name, "./")] == '.';
	char *path, *found = NULL, *folder;

	if (!*name || (!is_path && name[0] == '/') || strstr(name, ".."))
		return NULL;
	path = fs_path("%s%s", base, is_path ? name + n : name);
	for (char *c = path + n; swaps && *c; c++)
		*c = *c == '.' ? '/' : *c == '/' ? '.' : *c;
	if (swaps && !strchr(name, '/') && !sysroot_exists(&m->root, path)) {
		folder = fs_path("%.*s", (int)n - 1, base);
		found = find_by_dots(m, folder, name);
		free(folder);
	}
	if (!found)
		return path;
	free(path);
	return found;
}

static enum form form_at(const struct machine *m, const char *path)
{
	char line[512];

	return form_of_file(path, sysroot_line(&m->root, path, line, sizeof(line)) ? "" : line);
}

/* Linux 5.13 moved what tunes its scheduler. */
#define SCHED_SYSCTL "/proc/sys/kernel/sched_"
#define SCHED_DEBUG  "/sys/kernel/debug/sched/"

static void plan_path(struct planner *p, const char *knob, const char *path, const char *value)
{
	char absent[256] = "this kernel has no such file", *moved;

	if (!strncmp(path, SCHED_SYSCTL, strlen(SCHED_SYSCTL))) {
		moved = fs_path(SCHED_DEBUG "%s", path + strlen(SCHED_SYSCTL));
		if (sysroot_exists(&p->m->root, moved))
			snprintf(absent, sizeof(absent), "this kernel has it as %.120s: give that under sysfs", moved);
		free(moved);
	}
	op_file_plan(p->plan, p->m, knob, path, form_at(p->m, path), value, absent);
}

/* As in sysctl.d, a name may be a pattern. */
static void plan_pattern(struct planner *p, const char *knob, const char *path, const char *value)
{
	char **paths;
	int n = strpbrk(path, "*?[") ? sysroot_glob(&p->m->root, path, &paths) : -1;

	for (int i = 0; i < n; i++)
		plan_path(p, knob, paths[i], value);
	if (n <= 0)
		plan_path(p, knob, path, value);
	if (n >= 0)
		sysroot_names_free(paths);
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
		char *path = file_path(p->m, key->scalar, k->row);

		if (!path)
			setting_fault(s, key, "%s is not a name below %s",
				      text_quote(key->scalar, quoted, sizeof(quoted)), (const char *)k->row);
		else if (value->kind != YNODE_SCALAR || !*value->scalar || strlen(value->scalar) >= MACHINE_VALUE_MAX)
			setting_fault(s, value, "a value is a text");
		else
			plan_pattern(p, s->key, path, value->scalar);
		free(path);
	}
}
