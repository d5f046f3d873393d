#include "tuning/steps/plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"

void plan_init(struct plan *p, const char *profile, const char *title)
{
	*p = (struct plan){.profile = fs_path("%s", profile),
			   .title = fs_path("%s", title),
			   .without = json_array(),
			   .gone = json_array()};
}

void plan_free(struct plan *p)
{
	for (size_t i = 0; i < p->step_count; i++)
		step_free(&p->steps[i]);
	for (size_t i = 0; i < p->missing_count; i++) {
		free(p->missing[i].knob);
		free(p->missing[i].object);
		free(p->missing[i].reason);
	}
	for (size_t i = 0; i < p->boot_count; i++) {
		free(p->boot[i].name);
		free(p->boot[i].want);
		free(p->boot[i].have);
	}
	for (size_t i = 0; i < p->warning_count; i++)
		free(p->warnings[i]);
	free(p->steps);
	free(p->missing);
	free(p->boot);
	free(p->warnings);
	free(p->profile);
	free(p->title);
	json_decref(p->without);
	json_decref(p->gone);
	*p = (struct plan){0};
}

struct step *plan_step(struct plan *p, const char *knob, const struct op *op, const char *path, const char *before,
		       const char *after, json_t *data)
{
	p->steps = grow_or_abort(p->steps, p->step_count, sizeof(*p->steps));
	step_init(&p->steps[p->step_count], knob, op, path, before, after, data);
	return &p->steps[p->step_count++];
}

static char *format_text(const char *format, va_list ap)
{
	char *text;

	return or_abort(vasprintf(&text, format, ap) < 0 ? NULL : text);
}

void plan_missing(struct plan *p, const char *knob, const char *object, const char *reason, ...)
{
	va_list ap;

	p->missing = grow_or_abort(p->missing, p->missing_count, sizeof(*p->missing));
	va_start(ap, reason);
	p->missing[p->missing_count++] = (struct missing){
	    .knob = fs_path("%s", knob), .object = fs_path("%s", object), .reason = format_text(reason, ap)};
	va_end(ap);
}

void plan_boot(struct plan *p, const char *name, const char *want, const char *have, bool is_met)
{
	p->boot = grow_or_abort(p->boot, p->boot_count, sizeof(*p->boot));
	p->boot[p->boot_count++] = (struct boot_argument){.name = fs_path("%s", name),
							  .want = fs_path("%s", want),
							  .have = have ? fs_path("%s", have) : NULL,
							  .is_met = is_met};
}

void plan_warn(struct plan *p, const char *format, ...)
{
	va_list ap;

	p->warnings = grow_or_abort(p->warnings, p->warning_count, sizeof(*p->warnings));
	va_start(ap, format);
	p->warnings[p->warning_count++] = format_text(format, ap);
	va_end(ap);
}

void plan_gone(struct plan *p, const char *name)
{
	json_array_append_new(p->gone, json_string(name));
}

static bool is_file_of(const char *path, const char *name)
{
	char *part = fs_path("/%s/", name);
	const bool is =
	    (!strncmp(path, "/sys/class/", 11) || !strncmp(path, "/proc/sys/net/", 14)) && strstr(path, part);

	free(part);
	return is;
}

bool plan_is_gone(const struct plan *p, const char *name_or_path)
{
	const json_t *one;
	size_t i;

	json_array_foreach (p->gone, i, one)
		if (!strcmp(name_or_path, json_string_value(one)) || is_file_of(name_or_path, json_string_value(one)))
			return true;
	return false;
}

static const char *cpus_text(const struct cpulist *set, char *buf)
{
	return cpulist_format(set, buf, CPULIST_TEXT_MAX);
}

static size_t count_unmet(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->boot_count; i++)
		n += !p->boot[i].is_met;
	return n;
}

static size_t count_changed_steps(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->step_count; i++)
		n += step_is_change(&p->steps[i]);
	return n;
}

static void print_head(const struct plan *p, FILE *out)
{
	char cpus[CPULIST_TEXT_MAX], memory[CPULIST_TEXT_MAX];

	fprintf(out, "profile %s: %zu changes, %zu not possible here, %zu need a reboot\n", p->profile,
		count_changed_steps(p), p->missing_count, count_unmet(p));
	if (*p->title)
		fprintf(out, "  %s\n", p->title);
	for (size_t i = 0; i < p->shield_count; i++)
		fprintf(out, "  shield %s: CPUs %s, memory of node %s, %s\n", p->shields[i].name,
			cpus_text(&p->shields[i].cpus, cpus), cpus_text(&p->shields[i].memory, memory),
			p->shields[i].partition);
	for (size_t i = 0; i < json_array_size(p->without); i++)
		fprintf(out, "%s%s%s",
			i ? ", " : "  left out (--without): ", json_string_value(json_array_get(p->without, i)),
			i + 1 < json_array_size(p->without) ? "" : "\n");
	fprintf(out, "  housekeeping: CPUs %s of %s\n", cpus_text(&p->housekeeping, cpus),
		cpus_text(&p->online, memory));
}

/* Long values, such as masks of 4096 characters, are truncated. */
static void print_value(const char *value, FILE *out)
{
	if (strlen(value) > 200)
		fprintf(out, "%.200s...", value);
	else
		fputs(*value ? value : "(empty)", out);
}

/* Split a path that contains the number of a CPU, an interrupt or a queue: "/sys/devices/system/cpu/cpu", 7,
 * "/power/x". */
static bool split(const char *path, int *prefix, unsigned *number, const char **suffix)
{
	static const char *const before[] = {"/cpu/cpu", "/proc/irq/", "/queues/rx-", "/queues/tx-"};

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		const char *at = strstr(path, before[i]);
		char *end;

		if (!at)
			continue;
		at += strlen(before[i]);
		*number = (unsigned)strtoul(at, &end, 10);
		*prefix = (int)(at - path);
		*suffix = end;
		return end > at && *number < CPULIST_MAX;
	}
	return false;
}

static bool is_same_but_number(const struct step *a, const struct step *b)
{
	const char *a_suffix, *b_suffix;
	int a_prefix, b_prefix;
	unsigned number;

	return !strcmp(a->knob, b->knob) && !strcmp(a->before, b->before) && !strcmp(a->after, b->after) &&
	       split(a->path, &a_prefix, &number, &a_suffix) && split(b->path, &b_prefix, &number, &b_suffix) &&
	       a_prefix == b_prefix && !strncmp(a->path, b->path, (size_t)a_prefix) && !strcmp(a_suffix, b_suffix);
}

/* "cpu{0-23}": one line for steps that only differ in the number. Returns the number of steps. */
static size_t print_path(const struct plan *p, size_t from, FILE *out)
{
	const struct step *s = &p->steps[from];
	struct cpulist numbers;
	const char *suffix = "";
	char list[CPULIST_TEXT_MAX];
	unsigned number;
	size_t n = 1;
	int prefix = 0;

	cpulist_clear(&numbers);
	while (from + n < p->step_count && is_same_but_number(s, s + n))
		n++;
	if (n == 1) {
		fputs(s->path, out);
		return 1;
	}
	for (size_t i = 0; i < n; i++)
		if (split(s[i].path, &prefix, &number, &suffix))
			cpulist_add(&numbers, number);
	split(s->path, &prefix, &number, &suffix);
	fprintf(out, "%.*s{%s}%s", prefix, s->path, cpus_text(&numbers, list), suffix);
	return n;
}

static void print_steps(const struct plan *p, FILE *out)
{
	size_t changes = count_changed_steps(p), n = 1;

	if (changes)
		fprintf(out, "\nto change, in this order:\n");
	for (size_t i = 0; i < p->step_count; i += n) {
		const struct step *s = &p->steps[i];

		n = 1;
		if (!strcmp(s->before, s->after))
			continue;
		fprintf(out, "  %-16s ", s->knob);
		n = print_path(p, i, out);
		fputs(": ", out);
		print_value(s->before, out);
		fputs(" -> ", out);
		print_value(s->after, out);
		fputc('\n', out);
	}
	if (changes < p->step_count)
		fprintf(out, "\nalready as required: %zu values\n", p->step_count - changes);
}

/* Those that survive a reboot, or the others: a list of {"knob", "object", "reason", "lasts"}. */
static void add_irreversible(const struct plan *p, bool lasts, json_t *list)
{
	const json_t *one;
	size_t k;

	for (size_t i = 0; i < p->step_count; i++)
		json_array_foreach (step_irreversible(&p->steps[i]), k, one)
			if (json_is_true(json_object_get(one, "lasts")) == lasts) {
				json_t *copy = json_copy((json_t *)one);

				json_object_set_new(copy, "knob", json_string(p->steps[i].knob));
				json_array_append_new(list, copy);
			}
}

static json_t *irreversible_json(const struct plan *p)
{
	json_t *list = json_array();

	add_irreversible(p, true, list);
	add_irreversible(p, false, list);
	return list;
}

/* What cannot be undone, one line for each; what survives a reboot comes first. */
static void plan_print_irreversible(const struct plan *p, FILE *out)
{
	json_t *list = irreversible_json(p), *one;
	size_t i;

	json_array_foreach (list, i, one)
		fprintf(out, "  %-16s %s: %s%s\n", json_string_value(json_object_get(one, "knob")),
			json_string_value(json_object_get(one, "object")),
			json_string_value(json_object_get(one, "reason")),
			json_is_true(json_object_get(one, "lasts")) ? "; it survives a reboot" : "");
	json_decref(list);
}

static size_t count_irreversible(const struct plan *p)
{
	json_t *list = irreversible_json(p);
	size_t n = json_array_size(list);

	json_decref(list);
	return n;
}

static void print_missing(const struct plan *p, FILE *out)
{
	for (size_t i = 0; i < p->missing_count; i++)
		fprintf(out, "  %-16s %s: %s\n", p->missing[i].knob, p->missing[i].object, p->missing[i].reason);
}

int plan_check_strict(const struct plan *p, FILE *list, struct err *e)
{
	const size_t lost = count_irreversible(p);

	if (list) {
		print_missing(p, list);
		plan_print_irreversible(p, list);
	}
	if (p->missing_count)
		return err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, p->profile, "apply all of it",
			       "%zu settings are not possible here, and %zu things cannot be undone (--strict), first "
			       "%s %s: %s",
			       p->missing_count, lost, p->missing[0].knob, p->missing[0].object, p->missing[0].reason);
	return lost ? err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, p->profile, "apply",
			      "%zu things cannot be undone (--strict)", lost)
		    : 0;
}

static void print_rest(const struct plan *p, FILE *out)
{
	if (p->missing_count)
		fprintf(out, "\nnot possible here:\n");
	print_missing(p, out);
	if (count_irreversible(p))
		fprintf(out, "\ncannot be undone (refused with --strict):\n");
	plan_print_irreversible(p, out);
	if (p->boot_count)
		fprintf(out, "\nonly a reboot can change these (kernel command line):\n");
	for (size_t i = 0; i < p->boot_count; i++) {
		const struct boot_argument *b = &p->boot[i];

		fprintf(out, "  %s=%s: %s%s%s\n", b->name, b->want,
			b->is_met ? "is so"
			: b->have ? "is "
				  : "is not there",
			b->have && !b->is_met ? b->have : "", b->is_met ? "" : "; add it and reboot");
	}
	if (p->warning_count)
		fprintf(out, "\nnote:\n");
	for (size_t i = 0; i < p->warning_count; i++)
		fprintf(out, "  %s\n", p->warnings[i]);
}

static json_t *refusal_of(json_t *list, const char *knob)
{
	json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (!strcmp(json_string_value(json_object_get(one, "knob")), knob))
			return one;
	return NULL;
}

json_t *plan_refusals(const struct plan *p, struct machine *m, int *rc)
{
	json_t *list = json_array(), *one;
	int first = 0;

	for (size_t i = 0; i < p->step_count; i++) {
		const struct step *s = &p->steps[i];
		char why[256] = "";
		/* What is as required already is not written. */
		int failed = step_is_change(s) ? s->op->probe(m, s, why, sizeof(why)) : 0;

		if (!failed)
			continue;
		first = first ? first : failed;
		one = refusal_of(list, s->knob);
		if (one)
			json_object_set_new(one, "changes",
					    json_integer(json_integer_value(json_object_get(one, "changes")) + 1));
		else
			json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:i}", "knob", s->knob, "object",
							      s->path, "reason", why, "right",
							      failed == -EACCES || failed == -EPERM ? s->op->right : "",
							      "changes", 1));
	}
	if (rc)
		*rc = first;
	return list;
}

void plan_print_refusals(const json_t *refusals, FILE *out)
{
	const json_t *one;
	size_t i;

	if (json_array_size(refusals))
		fprintf(out,
			"\nnot allowed to this process, so that apply will refuse all of it (--without leaves a knob "
			"out):\n");
	json_array_foreach (refusals, i, one) {
		const char *right = json_string_value(json_object_get(one, "right"));

		fprintf(out, "  --without %-16s %s: %s%s%s\n", json_string_value(json_object_get(one, "knob")),
			json_string_value(json_object_get(one, "object")),
			json_string_value(json_object_get(one, "reason")), *right ? ", it takes " : "", right);
	}
}

void plan_print(const struct plan *p, FILE *out)
{
	print_head(p, out);
	print_steps(p, out);
	print_rest(p, out);
}

static json_t *shields_json(const struct plan *p)
{
	char cpus[CPULIST_TEXT_MAX], memory[CPULIST_TEXT_MAX];
	json_t *list = json_array();

	for (size_t i = 0; i < p->shield_count; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name", p->shields[i].name, "cpus",
						      cpus_text(&p->shields[i].cpus, cpus), "memory_nodes",
						      cpus_text(&p->shields[i].memory, memory), "partition",
						      p->shields[i].partition));
	return list;
}

static json_t *missing_json(const struct plan *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->missing_count; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "knob", p->missing[i].knob, "object",
						      p->missing[i].object, "reason", p->missing[i].reason));
	return list;
}

static json_t *boot_json(const struct plan *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->boot_count; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s?, s:b}", "argument", p->boot[i].name, "want",
						p->boot[i].want, "have", p->boot[i].have, "met", p->boot[i].is_met));
	return list;
}

json_t *plan_to_json(const struct plan *p)
{
	char housekeeping[CPULIST_TEXT_MAX], online[CPULIST_TEXT_MAX];
	json_t *steps = json_array(), *warnings = json_array();

	for (size_t i = 0; i < p->step_count; i++)
		json_array_append_new(steps, step_to_show(&p->steps[i]));
	for (size_t i = 0; i < p->warning_count; i++)
		json_array_append_new(warnings, json_string(p->warnings[i]));
	return json_pack("{s:i, s:s, s:O, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:O}", "schema", 1, "profile",
			 p->profile, "without", p->without, "online_cpus", cpus_text(&p->online, online),
			 "housekeeping_cpus", cpus_text(&p->housekeeping, housekeeping), "shields", shields_json(p),
			 "steps", steps, "impossible", missing_json(p), "irreversible", irreversible_json(p), "reboot",
			 boot_json(p), "warnings", warnings, "gone", p->gone);
}
