/* Settings of a point as a resolved.json or an order has them: decoded for every kernel and transport, and checked. */
#include <jansson.h>

#include "common/err.h"
#include "fuzz.h"
#include "measure/point/point.h"
#include "measure/run/forecast.h"

static void ignore(void *arg, const struct flow *f, const char *why)
{
	(void)arg, (void)f, (void)why;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *params = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL), *again;
	struct err e = ERR_INIT;
	struct point p;

	if (!json_is_object(params)) {
		json_decref(params);
		return 0;
	}
	if (!point_load(&p, 0, params, &e)) {
		for (size_t i = 0; i < p.flow_count; i++) {
			flow_check(&p.flow[i], ignore, NULL);
			flow_columns(&p.flow[i]);
		}
		forecast_point(&p);
		again = point_json(&p);
		fuzz_require(json_equal(json_object_get(again, "params"), params));
		json_decref(again);
	} else {
		fuzz_require(*e.text);
	}
	point_free(&p);
	json_decref(params);
	return 0;
}

static const char *const words[] = {
    "oneway",	"pingpong",	"rate",	    "scripted",	   "shmem",	"tcp",	    "udp",	 "zeromq",
    "nanomsg",	"verbs",	"rc",	    "ud",	   "uc",	"kernel",   "transport", "flows",
    "a b",	"a.size_bytes", "a.kernel", "a.transport", "busy",	"event",    "adaptive",	 "size_bytes",
    "messages", "repetitions",	"0-3",	    "near:mlx5_0", "cpuset:rt", "limit_ns", NULL};

FUZZ_MUTATOR(mutate_json, words)
