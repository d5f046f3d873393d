/* In place of probes.c, in a build without libtracefs: no program is probed. */
#include "common/feature.h"
#include "measure/program/probes.h"

const char *const probe_events[PROBE_ENDS] = {[PROBE_FROM] = "from", [PROBE_TO] = "to"};

int probe_place_find(const char *text, const pid_t *tasks, size_t count, struct probe_place *out, struct err *e)
{
	(void)tasks, (void)count;
	*out = (struct probe_place){.name = NULL};
	return feature_missing("libtracefs", text, e);
}

void probe_place_free(struct probe_place *p)
{
	(void)p;
}

int probes_add(const struct probe_place places[PROBE_ENDS], const char *id, struct probes *out, struct err *e)
{
	(void)places, (void)id;
	*out = (struct probes){.system = ""};
	return feature_missing("libtracefs", "the program", e);
}

bool probes_share_frames(const struct probe_place places[PROBE_ENDS])
{
	(void)places;
	return false;
}

bool probe_hit_read(const struct probe_place *place, const struct trace_probe_hit *hit, struct request_stamp *out)
{
	(void)place, (void)hit, (void)out;
	return false;
}

void probes_remove(const struct probes *p)
{
	(void)p;
}

int64_t probe_cost_ns(const struct probe_place places[PROBE_ENDS], const struct clock_conversion *c)
{
	(void)places, (void)c;
	return 0;
}
