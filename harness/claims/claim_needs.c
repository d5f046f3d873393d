#include "claims/claim_needs.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/cpulist.h"

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

static bool has_state(const struct claim_machine *m, char *why, size_t size)
{
	if (m->state[0] && m->state[1])
		return true;
	return lacks(why, size, "nothing is known about the machine");
}

/* Each need
 * ---------------------------------------------------------------------------------------------- */

/* Software devices are not on a bus: /sys/class/infiniband/rxe0/device does not exist. */
static bool is_on_a_bus(const json_t *keys, const char *device)
{
	char key[128];

	snprintf(key, sizeof(key), "rdma.%s.pci_slot", device);
	return state_text(keys, key) != NULL;
}

static bool has_hca(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	const json_t *device;
	size_t i;

	(void)count;
	if (!json_array_size(m->devices))
		return lacks(why, size, "it needs a real RDMA adapter, and no RDMA device was used");
	json_array_foreach (m->devices, i, device) {
		const char *name = json_string_value(device);

		if (!name || !strncmp(name, "rxe", 3) || !strncmp(name, "siw", 3) ||
		    (!is_on_a_bus(m->state[0], name) && !is_on_a_bus(m->state[1], name)))
			return lacks(why, size, "it needs a real RDMA adapter; %s is software",
				     name ? name : "this device");
	}
	return true;
}

static bool is_bare_metal(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	(void)count;
	if (!has_state(m, why, size))
		return false;
	for (int i = 0; i < 2; i++) {
		const char *flag = state_text(m->state[i], "cpu.virtual_machine");

		if (flag && !strcmp(flag, "yes"))
			return lacks(why, size, "it needs a physical machine; this is a virtual one");
	}
	return true;
}

static bool has_one_clock(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	const json_t *clock = json_object_get(m->run, "clock");

	(void)count;
	if (!json_is_true(json_object_get(clock, "common")))
		return lacks(why, size, "it needs one clock for both endpoints");
	if (!json_is_true(json_object_get(clock, "good")))
		return lacks(why, size, "it needs a clock that passed its checks");
	return true;
}

static bool has_cpuidle(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	if (!is_bare_metal(m, count, why, size))
		return lacks(why, size, "it needs idle states of the CPU; %s",
			     has_state(m, why, size) ? "a virtual machine has none of its own"
						     : "nothing is known about the machine");
	for (int i = 0; i < 2; i++)
		if (!any_key(m->state[i], "idle.*.latency_us", state_is_positive))
			return lacks(why, size,
				     "it needs idle states of the CPU that take time to leave; there are none");
	return true;
}

static bool has_key(const struct claim_machine *m, const char *pattern, const char *what, char *why, size_t size)
{
	if (!has_state(m, why, size))
		return false;
	for (int i = 0; i < 2; i++)
		if (!any_key(m->state[i], pattern, state_is_known))
			return lacks(why, size, "it needs %s, which this machine does not have", what);
	return true;
}

static bool has_cpufreq(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	(void)count;
	return has_key(m, "frequency.*.driver", "frequency scaling", why, size);
}

static bool has_aspm(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	(void)count;
	return has_key(m, "pci.aspm_policy", "active-state power management of PCIe (ASPM)", why, size);
}

static bool has_dma_latency(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	(void)count;
	return has_key(m, "pm_qos.cpu_dma_latency_us", "/dev/cpu_dma_latency", why, size);
}

static bool has_many(const struct claim_machine *m, const char *key, const char *what, json_int_t count, char *why,
		     size_t size)
{
	struct cpulist list;

	if (!has_state(m, why, size))
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

static bool has_cpus(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	return has_many(m, "cpu.online", "CPUs", count, why, size);
}

static bool has_isolated(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	return has_many(m, "cpu.isolated", "isolated CPUs", count, why, size);
}

static bool has_nodes(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	return has_many(m, "numa.online", "NUMA nodes", count, why, size);
}

static bool is_full_variant(const struct claim_machine *m, json_int_t count, char *why, size_t size)
{
	const char *variant = json_string_value(json_object_get(m->run, "variant"));

	(void)count;
	if (variant && !strcmp(variant, "full"))
		return true;
	return lacks(why, size, "it needs the full variant; this is the quick one");
}

const struct claim_need_kind claim_need_kinds[] = {
    {"hca", false, has_hca},
    {"bare_metal", false, is_bare_metal},
    {"one_clock", false, has_one_clock},
    {"cpuidle", false, has_cpuidle},
    {"cpufreq", false, has_cpufreq},
    {"aspm", false, has_aspm},
    {"dma_latency", false, has_dma_latency},
    {"cpus", true, has_cpus},
    {"isolated", true, has_isolated},
    {"nodes", true, has_nodes},
    {"full", false, is_full_variant},
    {NULL, false, NULL},
};

const struct claim_need_kind *claim_need_find(const char *name)
{
	for (const struct claim_need_kind *n = claim_need_kinds; n->name; n++)
		if (!strcmp(n->name, name))
			return n;
	return NULL;
}

bool claim_needs_met(const struct claim *c, const struct claim_machine *m, char *why, size_t why_size)
{
	for (size_t i = 0; i < c->need_count; i++) {
		const struct claim_need_kind *kind = claim_need_find(c->needs[i].name);

		if (!kind)
			return lacks(why, why_size, "it needs '%s', which this version of kblat does not know",
				     c->needs[i].name);
		if (!kind->is_met(m, c->needs[i].count, why, why_size))
			return false;
	}
	return true;
}
