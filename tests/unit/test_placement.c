/*
 * Which CPU each side gets, on machines of several kinds.
 */
#include "common/err.h"
#include "measure/placement/placement.h"
#include "tap.h"

/* What an endpoint reports of a machine: JSON. */
static struct survey survey(const char *text)
{
	json_t *j = json_loads(text, 0, NULL);
	struct survey s;
	struct err e = ERR_INIT;

	ok(!survey_from_json(j, &s, &e), "a survey%s%s", *e.text ? ": " : "", e.text);
	json_decref(j);
	return s;
}

static const struct {
	const char *what, *survey;
	int sink, source, spare; /* of the sink */
	bool sink_is_slow, source_is_slow;
} rows[] = {
    {"four alike: the last", "{\"cpus\": \"0-3\", \"allowed\": \"0-3\", \"told\": false, \"cores\": []}", 3, 2, 1,
     false, false},
    {"cores of two threads: one core each",
     "{\"cpus\": \"0-3\", \"allowed\": \"0-3\", \"told\": false, \"cores\": [\"0,1\", \"2,3\"]}", 3, 1, 2, false,
     false},
    {"the last ones are slow: fast ones",
     "{\"cpus\": \"0-7\", \"allowed\": \"0-7\", \"told\": false, \"slow\": \"4-7\", \"cores\": [\"0,1\", \"2,3\"]}", 3,
     1, 2, false, false},
    {"only one fast core: a slow one rather than a shared one",
     "{\"cpus\": \"0-3\", \"allowed\": \"0-3\", \"told\": false, \"slow\": \"2-3\", \"cores\": [\"0,1\"]}", 1, 3, 0,
     false, true},
    {"slow ones are asked for",
     "{\"cpus\": \"4-7\", \"allowed\": \"0-7\", \"told\": true, \"slow\": \"4-7\", \"cores\": []}", 7, 6, 5, true,
     true},
    {"of an earlier version's endpoint", "{\"cpus\": \"1-2\", \"allowed\": \"0-3\", \"told\": true, \"cores\": []}", 2,
     1, 3, false, false},
    {"a container's CPUs, which do not begin at 0",
     "{\"cpus\": \"9,11\", \"allowed\": \"9,11\", \"told\": false, \"cores\": []}", 11, 9, -1, false, false},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct survey s = survey(rows[i].survey);
		struct placement side[2] = {{.survey = &s, .host = "a", .is_busy = true, .wants_spare = false},
					    {.survey = &s, .host = "a", .is_busy = true, .wants_spare = true}};

		placement_deal(side, 2);
		ok(side[0].cpu == rows[i].source && side[1].cpu == rows[i].sink, "%s: source %d, sink %d", rows[i].what,
		   side[0].cpu, side[1].cpu);
		is_int(side[1].spare_cpu, rows[i].spare, "and another thread's");
		ok(side[0].is_slow == rows[i].source_is_slow && side[1].is_slow == rows[i].sink_is_slow,
		   "and whether they are slow is noted");
	}
	return done_testing();
}
