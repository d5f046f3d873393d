#include "judge/claims/claim_needs.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpulist.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "files/rundir/layout.h"
#include "files/rundir/schema.h"
#include "judge/analysis/summary_build.h"
#include "judge/analysis/summary_json.h"

/* --- a run --- */

static char *copy_or_null(const char *text)
{
	return text ? fs_path("%s", text) : NULL;
}

/* In a rehearsal of experiments a model stands for the adapter. */
static bool is_rehearsal(void)
{
	const char *said = getenv("KBLAT_REHEARSAL");

	return said && !strcmp(said, "yes");
}

static void add_granted_side(struct claim_run *r, json_int_t point, bool is_sink, const json_t *granted)
{
	const char *device = json_string_value(json_object_get(granted, "device"));

	r->sides = grow_or_abort(r->sides, r->side_count, sizeof(*r->sides));
	r->sides[r->side_count++] = (struct claim_side_granted){
	    .point = point,
	    .is_sink = is_sink,
	    .device = copy_or_null(device),
	    .is_software = device && (run_software(granted) || (run_is_of_model(granted) && !is_rehearsal())),
	    .is_loop = json_is_true(json_object_get(granted, "loop")),
	    .link = copy_or_null(run_link(granted)),
	};
}

/* "granted" has an object for each side; with several flows, it has one for each flow, which contains those. */
static void collect_sides(struct claim_run *r, json_int_t point, const json_t *granted)
{
	static const char *const roles[] = {"source", "sink"};
	const char *name;
	json_t *of;

	json_object_foreach ((json_t *)granted, name, of) {
		if (json_is_object(json_object_get(of, roles[0])) || json_is_object(json_object_get(of, roles[1])))
			collect_sides(r, point, of);
		else if (!strcmp(name, roles[0]) || !strcmp(name, roles[1]))
			add_granted_side(r, point, !strcmp(name, roles[1]), of);
	}
}

/* What a point was granted: nothing, if it was never begun. */
static void read_granted(struct claim_run *r, const char *run_path, json_int_t id)
{
	char *dir = layout_point_dir(run_path, (unsigned)id), *path = fs_path("%s/point.json", dir);
	struct err ignored = ERR_INIT;
	json_t *point = fs_is_missing(path) ? NULL : schema_read(DOC_POINT, path, &ignored);

	collect_sides(r, id, json_object_get(point, "granted"));
	json_decref(point);
	free(path);
	free(dir);
}

static void read_all_granted(struct claim_run *r, const char *run_path)
{
	const json_t *point;
	size_t i;

	json_array_foreach (json_object_get(r->resolved, "points"), i, point) {
		json_int_t id = json_integer_value(json_object_get(point, "id"));

		if (id >= 0 && id <= LAYOUT_ID_MAX)
			read_granted(r, run_path, id);
	}
}

int claim_run_read(const struct run *run, struct claim_run *out, struct err *e)
{
	*out = (struct claim_run){.record = &run->record, .resolved = run->resolved};
	if (!run->summary)
		return err_set(e, -ENOENT, STATUS_USAGE, run->path, "judge its claims", "the run has no summary yet");
	out->summary = summary_decode(run->summary);
	summary_doubt(out->summary, run);
	out->state[0] = run_state(run->path, &run->record, "source");
	out->state[1] = run_state(run->path, &run->record, "sink");
	read_all_granted(out, run->path);
	return 0;
}

void claim_run_free(struct claim_run *r)
{
	summary_free(r->summary);
	json_decref(r->state[0]);
	json_decref(r->state[1]);
	for (size_t i = 0; i < r->side_count; i++) {
		free(r->sides[i].device);
		free(r->sides[i].link);
	}
	free(r->sides);
}

/* --- what is known about its machine --- */

/* Always false, so that one can `return lacks(...)`. */
__attribute__((format(printf, 3, 4))) static bool lacks(char *why, size_t size, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, size, format, ap);
	va_end(ap);
	return false;
}

/* The value of a key of state.json; NULL if it is missing or could not be read ("!ENOENT"). */
static const char *state_text(const json_t *keys, const char *key)
{
	const char *text = json_string_value(json_object_get(keys, key));

	return text && *text != '!' ? text : NULL;
}

/* Does any matching key have a value for which `is_it` is true? Values are texts or integers. */
static bool any_key(const json_t *keys, const char *pattern, bool (*is_it)(const json_t *value))
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)keys, key, value)
		if (!fnmatch(pattern, key, 0) && is_it(value))
			return true;
	return false;
}

static bool state_is_known(const json_t *value)
{
	return json_is_integer(value) || (json_is_string(value) && *json_string_value(value) != '!');
}

static json_int_t state_number(const json_t *value)
{
	return json_is_string(value) ? strtoll(json_string_value(value), NULL, 10) : json_integer_value(value);
}

static bool state_is_positive(const json_t *value)
{
	return state_is_known(value) && state_number(value) > 0;
}

static bool is_captured(const struct claim_machine *m, char *why, size_t size)
{
	if (m->state[0] && m->state[1])
		return true;
	return lacks(why, size, "nothing is known about the machine");
}

/* --- each need --- */

static bool need_hca(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	bool any = false;

	(void)count;
	for (size_t i = 0; i < m->side_count; i++) {
		if (m->sides[i]->is_software)
			return lacks(why, size, "it needs a real RDMA adapter; %s is software", m->sides[i]->device);
		if (m->sides[i]->is_loop)
			return lacks(
			    why, size,
			    "it needs a link between two adapters; source and sink both use %s, so nothing leaves it",
			    m->sides[i]->device);
		any |= m->sides[i]->device != NULL;
	}
	return any || lacks(why, size, "it needs a real RDMA adapter, and no RDMA device was used");
}

/* The two sides of a point may have different ones, also if they are on one host. */
static bool need_same_link(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	const char *links[2] = {NULL, NULL};

	(void)count;
	for (size_t i = 0; i < m->side_count; i++) {
		const struct claim_side_granted *s = m->sides[i];
		const char **link = &links[s->is_sink];

		if (!s->link)
			return lacks(why, size,
				     "it needs one network interface for all that it compares; point "
				     "%" JSON_INTEGER_FORMAT " used none, or it is not known which",
				     s->point);
		if (*link && strcmp(*link, s->link))
			return lacks(why, size,
				     "it needs one network interface for all that it compares; %s and %s were used",
				     *link, s->link);
		*link = s->link;
	}
	return m->side_count || lacks(why, size,
				      "it needs one network interface for all that it compares; nothing is "
				      "known about them");
}

static bool need_bare_metal(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	(void)count;
	if (!is_captured(m, why, size))
		return false;
	for (int i = 0; i < 2; i++) {
		const char *flag = state_text(m->state[i], "cpu.virtual_machine");

		if (flag && !strcmp(flag, "yes"))
			return lacks(why, size, "it needs a physical machine; this is a virtual one");
	}
	return true;
}

static bool need_one_clock(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	const json_t *clock = m->record ? m->record->clock : NULL;

	(void)count;
	if (!json_is_true(json_object_get(clock, "common")))
		return lacks(why, size, "it needs one clock for both endpoints");
	if (!json_is_true(json_object_get(clock, "good")))
		return lacks(why, size, "it needs a clock that passed its checks");
	return true;
}

static bool need_cpuidle(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	if (!need_bare_metal(m, count, why, size))
		return lacks(why, size, "it needs idle states of the CPU; %s",
			     is_captured(m, why, size) ? "a virtual machine has none of its own"
						       : "nothing is known about the machine");
	for (int i = 0; i < 2; i++)
		if (!any_key(m->state[i], "idle.*.latency_us", state_is_positive))
			return lacks(why, size,
				     "it needs idle states of the CPU that take time to leave; there are none");
	return true;
}

static bool has_key(const struct claim_machine *m, const char *pattern, const char *what, char *why, size_t size)
{
	if (!is_captured(m, why, size))
		return false;
	for (int i = 0; i < 2; i++)
		if (!any_key(m->state[i], pattern, state_is_known))
			return lacks(why, size, "it needs %s, which this machine does not have", what);
	return true;
}

static bool need_cpufreq(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	(void)count;
	return has_key(m, "frequency.*.driver", "frequency scaling", why, size);
}

static bool need_aspm(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	(void)count;
	return has_key(m, "pci.aspm_policy", "active-state power management of PCIe (ASPM)", why, size);
}

static bool need_dma_latency(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	(void)count;
	return has_key(m, "pm_qos.cpu_dma_latency_us", "/dev/cpu_dma_latency", why, size);
}

static bool has_many(const struct claim_machine *m, const char *key, const char *what, json_int_t count, char *why,
		     size_t size)
{
	struct cpulist list;

	if (!is_captured(m, why, size))
		return false;
	for (int i = 0; i < 2; i++) {
		const char *text = state_text(m->state[i], key);

		if (!text || cpulist_parse(text, &list, NULL, 0))
			text = NULL;
		if (!text || cpulist_count(&list) < count)
			return lacks(why, size, "it needs %" JSON_INTEGER_FORMAT " %s; there %s %u", count, what,
				     text && cpulist_count(&list) == 1 ? "is" : "are", text ? cpulist_count(&list) : 0);
	}
	return true;
}

static bool need_cpus(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	return has_many(m, "cpu.online", "CPUs", count, why, size);
}

static bool need_isolated(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	return has_many(m, "cpu.isolated", "isolated CPUs", count, why, size);
}

static bool need_nodes(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	return has_many(m, "numa.online", "NUMA nodes", count, why, size);
}

static bool need_full(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	(void)count;
	if (m->record && !strcmp(m->record->variant, "full"))
		return true;
	return lacks(why, size, "it needs the full variant; this is the quick one");
}

/* False and a sentence in `why` if the machine lacks it; in the order of claim_need_kinds[]. */
static bool (*const need_is_met[])(const struct claim_machine *m, json_int_t count, char *why, size_t size) = {
#define NEED(name, counts) need_##name,
#include "files/claim/claim_needs.def"
#undef NEED
};

bool claim_needs_met(const struct claim *c, const struct claim_machine *m, char *why, size_t why_size)
{
	for (size_t i = 0; i < c->need_count; i++) {
		const struct claim_need_kind *kind = claim_need_find(c->needs[i].name);

		if (!kind)
			return lacks(why, why_size, "it needs '%s', which this version of kblat does not know",
				     c->needs[i].name);
		if (!need_is_met[kind - claim_need_kinds](m, c->needs[i].count, why, why_size))
			return false;
	}
	return true;
}
