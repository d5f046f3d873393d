#include "report/html_blocks.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "report/html.h"
#include "report/labels.h"

#define DISTINCT_MAX 4
#define VALUE_MAX    128

/* --- the state --- */

/* What readers ask first. A pattern may match many keys (such as one per CPU); different values are
 * shown once each. */
static const struct {
	const char *label, *key;
} facts[] = {
    {"operating system", "identity.os.PRETTY_NAME"},
    {"kernel", "identity.kernel"},
    {"kernel's build", "identity.build"},
    {"kernel command line", "identity.cmdline"},
    {"machine", "firmware.vendor"},
    {"model", "firmware.product"},
    {"CPU", "cpu.model"},
    {"microcode", "cpu.microcode"},
    {"virtual machine", "cpu.virtual_machine"},
    {"CPUs online", "cpu.online"},
    {"isolated CPUs", "cpu.isolated"},
    {"CPUs without tick (nohz_full)", "cpu.nohz_full"},
    {"SMT active (1: yes)", "cpu.smt"},
    {"NUMA nodes", "numa.online"},
    {"frequency driver", "frequency.*.driver"},
    {"frequency governor", "frequency.*.governor"},
    {"boost (1: on)", "frequency.boost"},
    {"turbo off (1: yes)", "frequency.no_turbo"},
    {"idle driver", "idle.driver"},
    {"idle governor", "idle.governor"},
    {"PM QoS: CPU latency, us (2000000000: no limit)", "pm_qos.cpu_dma_latency_us"},
    {"PM QoS: held by", "pm_qos.cpu_dma_latency_holders"},
    {"kernel's clocksource", "clock.source"},
    {"preemption", "scheduling.preemption"},
    {"real-time throttling, us", "scheduling.rt_runtime_us"},
    {"NUMA balancing (0: off)", "scheduling.numa_balancing"},
    {"transparent huge pages", "memory.transparent_hugepages"},
    {"tuned profile", "tuned.active_profile"},
    {"RDMA driver", "rdma.*.driver"},
    {"RDMA firmware", "rdma.*.firmware"},
    {"RDMA link", "rdma.*.link_layer"},
    {"RDMA rate", "rdma.*.rate"},
};

static char *scalar_text(const json_t *j)
{
	if (json_is_string(j))
		return fs_path("%s", json_string_value(j));
	if (json_is_integer(j))
		return fs_path("%" JSON_INTEGER_FORMAT, json_integer_value(j));
	if (json_is_real(j))
		return fs_path("%.4g", json_real_value(j));
	if (json_is_boolean(j))
		return fs_path("%s", json_is_true(j) ? "yes" : "no");
	return NULL;
}

/* The capture writes "!ENOENT" for a source that does not exist; the kernel writes "(null)" for an
 * empty list. */
static bool is_absent(const char *text)
{
	return !text || !*text || *text == '!' || !strcmp(text, "(null)");
}

struct distinct {
	char *text[DISTINCT_MAX];
	size_t count, more;
};

static void distinct_add(struct distinct *d, char *text)
{
	size_t i = 0;

	while (i < d->count && text && strcmp(d->text[i], text) != 0)
		i++;
	if (is_absent(text) || i < d->count || d->count == DISTINCT_MAX) {
		d->more += !is_absent(text) && i == d->count;
		free(text);
		return;
	}
	d->text[d->count++] = text;
}

/* As one text, which the caller frees. */
static char *distinct_join(struct distinct *d)
{
	char *all = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&all, &size));

	for (size_t i = 0; i < d->count; i++) {
		fprintf(out, "%s%s", i ? ", " : "", d->text[i]);
		free(d->text[i]);
	}
	if (d->more)
		fprintf(out, " and %zu others", d->more);
	fclose(out);
	return all;
}

/* Facts: a table without headings. */
enum { LABEL, VALUE, FACT_COLUMNS };

static struct table facts_table(void)
{
	static const struct table_column columns[FACT_COLUMNS] = {
	    [LABEL] = {.label = "", .heads_row = true}, [VALUE] = {.label = ""}};

	return table_of(columns, FACT_COLUMNS, 0);
}

static void put_fact(struct table *t, const char *label, const char *value, const char *unit)
{
	size_t row = table_row(t);

	table_text(t, LABEL, row, "%s", label);
	table_text(t, VALUE, row, "%s%s%s", value, *unit ? " " : "", unit);
}

static void find_fact(struct table *t, const json_t *keys, const char *label, const char *pattern)
{
	struct distinct d = {.count = 0};
	const char *key;
	json_t *value;
	char *text;

	json_object_foreach ((json_t *)keys, key, value) {
		if (!fnmatch(pattern, key, 0))
			distinct_add(&d, scalar_text(value));
	}
	if (!d.count)
		return;
	text = distinct_join(&d);
	put_fact(t, label, text, "");
	free(text);
}

static json_t *read_state(const struct report_run *run, const char *host, const char *file)
{
	char *path = fs_path("%s/state/%s/%s", run->run->path, host, file);
	struct err ignored = ERR_INIT;
	json_t *state = json_read(path, &ignored);

	free(path);
	return state;
}

/* Call a function for every host whose state is in the run. */
static void each_host(const struct page *p, const struct report_run *run,
		      void (*show)(const struct page *, const struct report_run *, const char *host))
{
	char *dir = fs_path("%s/state", run->run->path);
	struct dirent **hosts = NULL;
	int n = fs_scandir(dir, &hosts, fs_is_visible, versionsort);

	for (int i = 0; i < n; i++) {
		show(p, run, hosts[i]->d_name);
		free(hosts[i]);
	}
	free(hosts);
	free(dir);
}

/* " (source, sink)" */
static void write_roles(const struct page *p, const struct run_record *record, const char *host)
{
	const json_t *roles = NULL, *role;
	size_t i;

	for (i = 0; i < record->hosts; i++)
		if (!strcmp(record->host[i].name, host))
			roles = record->host[i].roles;
	json_array_foreach (roles, i, role) {
		html_printf(p, i ? ", " : " (");
		html_text(p, json_is_string(role) ? json_string_value(role) : "?");
	}
	html_printf(p, json_array_size(roles) ? ")" : "");
}

static void write_host(const struct page *p, const struct report_run *run, const char *host)
{
	json_t *state = read_state(run, host, "before/state.json");
	const json_t *keys = json_object_get(state, "keys");
	struct table t = facts_table();

	html_printf(p, "<div>\n<p class=\"caption\">Host <b>");
	html_text(p, host);
	html_printf(p, "</b>");
	write_roles(p, run->record, host);
	html_printf(p, keys ? ", before the run</p>\n" : ": its state was not captured, or could not be read</p>\n");
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		find_fact(&t, keys, facts[i].label, facts[i].key);
	if (t.rows)
		html_table(p, &t, "facts", false);
	html_printf(p, "</div>\n");
	table_free(&t);
	json_decref(state);
}

/* --- the clock --- */

static const struct {
	const char *key, *label, *unit;
} clock_facts[] = {
    {"source", "time stamps from", ""},
    {"invariant", "invariant (CPUID)", ""},
    {"hz", "fitted frequency", "Hz"},
    {"residual_ns", "residual of the fit", "ns"},
    {"drift_ppm", "uncertainty of the rate", "ppm"},
    {"cost_ns", "cost of reading it, start", "ns"},
    {"cost_end_ns", "cost of reading it, end", "ns"},
    {"stamp_ns", "cost of a stamp and its store", "ns"},
    {"skew_ns", "difference between the CPUs, at most", "ns"},
    {"monotonic", "never stepped back", ""},
    {"common", "one clock for both endpoints", ""},
    {"kernel_clocksource", "kernel's clocksource", ""},
    {"good", "passed its checks", ""},
    {"why", "why not", ""},
};

static void put_clock_fact(struct table *t, const json_t *clock, size_t i)
{
	const json_t *j = json_object_get(clock, clock_facts[i].key);
	char *text = json_is_real(j) && json_real_value(j) > 1e6 ? fs_path("%.0f", json_real_value(j)) : scalar_text(j);

	if (json_is_integer(j) && json_integer_value(j) < 0)
		put_fact(t, clock_facts[i].label, "not measured", "");
	else if (!is_absent(text))
		put_fact(t, clock_facts[i].label, text, clock_facts[i].unit);
	free(text);
}

static void write_clock(const struct page *p, const struct report_run *run)
{
	const json_t *clock = run->record->clock;
	struct table t;

	if (!json_is_object(clock))
		return;
	t = facts_table();
	for (size_t i = 0; i < sizeof(clock_facts) / sizeof(clock_facts[0]); i++)
		put_clock_fact(&t, clock, i);
	html_printf(p, "<div>\n<p class=\"caption\">The clock of all stamps</p>\n");
	html_table(p, &t, "facts", false);
	html_printf(p, "</div>\n");
	table_free(&t);
}

/* --- what the points were granted --- */

/* Numbers of a particular connection, in which all points differ. */
static bool is_passing(const char *key)
{
	return !strcmp(key, "qp_num") || !strcmp(key, "peer_qp_num");
}

/* "device rxe0, port 1, ..." */
static void print_given(FILE *out, const json_t *given, bool first)
{
	char name[VALUE_MAX], text[VALUE_MAX];
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)given, key, value) {
		if (is_passing(key))
			continue;
		fprintf(out, "%s%s %s", first ? "" : ", ", label_key(key, name, sizeof(name)),
			label_value(key, value, text, sizeof(text)));
		first = false;
	}
}

static void print_side(FILE *out, const struct report_point *point, const struct layout_flow *flow, const char *side)
{
	const json_t *here = model_side(point, flow, "placement", side);
	const json_t *given = model_side(point, flow, "granted", side);

	if (!json_object_size(here) && !json_object_size(given))
		return;
	fprintf(out, "%s%s%s%s: ", ftell(out) ? "\n" : "", flow->name, *flow->name ? " " : "", side);
	print_given(out, here, true);
	print_given(out, given, !json_object_size(here));
}

/* A line for each side of each flow: what the transport was granted, and where it ran. */
static char *granted_text(const struct report_point *point)
{
	char *text = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&text, &size));

	for (size_t i = 0; i < point->layout.flow_count; i++) {
		print_side(out, point, &point->layout.flows[i], "source");
		print_side(out, point, &point->layout.flows[i], "sink");
	}
	fclose(out);
	return text;
}

/* Points with the same values share a row: {"text": [indexes of points]}, in order of appearance. */
static json_t *group_granted(const struct report *r)
{
	json_t *groups = json_object(), *group;

	for (size_t i = 0; i < r->count; i++) {
		char *text = granted_text(&r->points[i]);

		group = json_object_get(groups, text);
		if (*text && !group) {
			group = json_array();
			json_object_set_new_nocheck(groups, text, group);
		}
		if (*text)
			json_array_append_new(group, json_integer((json_int_t)i));
		free(text);
	}
	return groups;
}

/* Links to points. The caller frees. */
static char *point_links(const struct page *p, const json_t *points)
{
	struct page part = *p;
	char *markup = NULL;
	const json_t *index;
	size_t size, i;

	part.out = or_abort(open_memstream(&markup, &size));
	json_array_foreach (points, i, index) {
		html_printf(&part, "%s", i ? ", " : "");
		html_point_link(&part, &p->report->points[json_integer_value(index)]);
	}
	fclose(part.out);
	return markup;
}

static void write_granted(const struct page *p)
{
	json_t *groups = group_granted(p->report), *points;
	struct table t = facts_table();
	const char *text;

	json_object_foreach (groups, text, points) {
		const size_t row = table_row(&t);
		char *links = point_links(p, points);

		table_drawing(&t, LABEL, row, links);
		table_text(&t, VALUE, row, "%s", text);
		free(links);
	}
	html_printf(p, "<details><summary>What each point was granted: device, limits, CPUs</summary>\n");
	html_table(p, &t, "facts granted", false);
	html_printf(p, "</details>\n");
	table_free(&t);
	json_decref(groups);
}

/* The hosts of a run, as HTML; the caller frees. */
static char *hosts_text(const struct page *p, const struct report_run *run)
{
	struct page part = *p;
	char *text = NULL;
	size_t size;

	part.out = or_abort(open_memstream(&text, &size));
	each_host(&part, run, write_host);
	fclose(part.out);
	return or_abort(text);
}

/* Runs that were measured one after the other have the same hosts, which are shown once. */
void html_machines(const struct page *p)
{
	char *last = NULL;

	html_printf(p, "<section>\n<h2>Machine</h2>\n");
	for (size_t i = 0; i < p->report->run_count; i++) {
		const struct report_run *run = &p->report->runs[i];
		char *hosts;

		html_run_heading(p, run);
		html_printf(p, "<div class=\"beside\">\n");
		hosts = hosts_text(p, run);
		html_printf(p, "%s", last && !strcmp(last, hosts) ? "<p>The hosts are as above.</p>\n" : hosts);
		free(last);
		last = hosts;
		write_clock(p, run);
		html_printf(p, "</div>\n");
	}
	free(last);
	write_granted(p);
	html_printf(p, "</section>\n");
}

/* --- what changed --- */

static void put_value(struct table *t, size_t column, size_t row, const json_t *value)
{
	char *text = scalar_text(value);

	table_text(t, column, row, "%s", text ? text : "(absent)");
	free(text);
}

static const char *class_of(const json_t *change)
{
	return json_text_or(change, "class", "informative");
}

/* Changes are counters; settings that make runs incomparable; or others. */
static bool is_of(const json_t *change, const char *class)
{
	const char *own = class_of(change);

	return !strcmp(own, class) ||
	       (!strcmp(class, "informative") && strcmp(own, "fatal") && strcmp(own, "volatile"));
}

static size_t count_changes(const json_t *changed, const char *class)
{
	const json_t *change;
	size_t i, count = 0;

	json_array_foreach (changed, i, change)
		count += is_of(change, class);
	return count;
}

enum { WHAT, BEFORE, AFTER, CONSEQUENCE, COLUMNS };

static void put_change(struct table *t, const json_t *change, bool is_volatile)
{
	size_t row = table_row(t);

	table_text(t, WHAT, row, "%s", json_text_or(change, "key", "?"));
	put_value(t, BEFORE, row, json_object_get(change, "before"));
	put_value(t, AFTER, row, json_object_get(change, "after"));
	if (is_volatile)
		put_value(t, CONSEQUENCE, row, json_object_get(change, "delta"));
	else if (strcmp(class_of(change), "fatal") != 0)
		table_text(t, CONSEQUENCE, row, "%s", class_of(change));
	else
		table_verdict(t, CONSEQUENCE, row, TONE_BAD, class_of(change));
}

static void write_change_table(const struct page *p, const json_t *changed, const char *class)
{
	const bool is_volatile = !strcmp(class, "volatile");
	const struct table_column columns[COLUMNS] = {
	    [WHAT] = {.label = "what", .heads_row = true},
	    [BEFORE] = {.label = "before"},
	    [AFTER] = {.label = "after"},
	    [CONSEQUENCE] = {.label = is_volatile ? "by" : "for a comparison"},
	};
	struct table t = table_of(columns, COLUMNS, 0);
	const json_t *change;
	size_t i;

	json_array_foreach (changed, i, change) {
		if (is_of(change, class))
			put_change(&t, change, is_volatile);
	}
	html_table(p, &t, "", false);
	table_free(&t);
}

/* A table of one class of changes, folded; not on the page of several runs, where it would have thousands of rows. */
static void write_folded(const struct page *p, const json_t *changed, const char *class, const char *text)
{
	const size_t count = count_changes(changed, class);

	if (!count || p->report->run_count > 1)
		return;
	html_printf(p, "<details><summary>%zu %s%s %s</summary>\n", count, class[0] == 'v' ? "counter" : "setting",
		    count > 1 ? "s" : "", text);
	write_change_table(p, changed, class);
	html_printf(p, "</details>\n");
}

static void write_host_changes(const struct page *p, const struct report_run *run, const char *host)
{
	json_t *changes = read_state(run, host, "changes.json");
	const json_t *changed = json_object_get(changes, "changed");
	const size_t fatal = count_changes(changed, "fatal");

	html_printf(p, "<p>Host <b>");
	html_text(p, host);
	if (!changes)
		html_printf(p, "</b>: not known; it was not captured both before and after.</p>\n");
	else if (!fatal)
		html_printf(p, "</b>: no setting that matters for a comparison changed during the run.</p>\n");
	else
		html_printf(
		    p,
		    "</b>: <span class=\"bad\">%zu setting%s changed</span> during the run, which matter%s for a "
		    "comparison.</p>\n",
		    fatal, fatal > 1 ? "s" : "", fatal > 1 ? "" : "s");
	if (fatal)
		write_change_table(p, changed, "fatal");
	write_folded(p, changed, "informative", "changed that do not matter for a comparison");
	write_folded(p, changed, "volatile", "changed, as expected");
	json_decref(changes);
}

void html_changes(const struct page *p)
{
	html_printf(p, "<section>\n<h2>What changed during the run</h2>\n");
	if (p->report->run_count > 1)
		html_printf(p, "<p class=\"soft\">Settings that matter for a comparison; the page of each run has the "
			       "others, and the counters.</p>\n");
	for (size_t i = 0; i < p->report->run_count; i++) {
		html_run_heading(p, &p->report->runs[i]);
		each_host(p, &p->report->runs[i], write_host_changes);
	}
	html_printf(p, "</section>\n");
}
