/* A spec: its points and claims, what --dry-run shows of them, and resolved.json, which must be one that is read. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "files/rundir/layout.h"
#include "fuzz.h"
#include "measure/run/forecast.h"
#include "measure/run/run.h"
#include "measure/spec/spec.h"

#define POINTS_MOST 200 /* many are no other code, and take long */

static void check_points(const struct spec *s)
{
	json_t *resolved = describe_resolved(s);
	struct err e = ERR_INIT;
	struct layout l;

	fuzz_require(resolved);
	for (size_t i = 0; i < s->point_count && i < 4; i++) {
		forecast_point(&s->point[i]);
		fuzz_require(!layout_read("", resolved, i, &l, &e));
		layout_free(&l);
	}
	json_decref(resolved);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const only[] = {"transport=shmem"}, *const set[] = {"messages=100", "size=1B"};
	static char *path;
	static FILE *null;
	struct spec_overrides o = {.quick = false};
	struct spec s;
	struct diag d;

	if (!size)
		return 0;
	if (!path) {
		path = fs_path("%s/spec.yaml", fuzz_folder());
		null = fopen("/dev/null", "we");
	}
	o.quick = *data & 1;
	o.only_count = *data >> 1 & 1;
	o.only = only;
	o.set_count = *data >> 2 & 1 ? *data >> 3 & 1 ? 2 : 1 : 0;
	o.set = set;
	fuzz_write(path, data + 1, size - 1);
	if (spec_load(path, &o, &s, &d))
		fuzz_require(d.count);
	else if (s.point_count <= POINTS_MOST)
		check_points(&s);
	diag_print(&d, null);
	diag_free(&d);
	spec_free(&s);
	return 0;
}

static const char *const words[] = {
    "kblat",  "name",	     "title",	    "source",	  "description", "settings", "matrix",	"quick", "claims",
    "kernel", "transport",   "oneway",	    "pingpong",	  "rate",	 "shmem",    "tcp",	"udp",	 "scripted",
    "verbs",  "zeromq",	     "nanomsg",	    "messages",	  "repetitions", "warmup",   "size",	"burst", "pause",
    "gap",    "flows",	     "large small", "small.size", "large.rate",	 "until",    "first",	"poll",	 "busy",
    "event",  "adaptive",    "10us",	    "1ms",	  "64KiB",	 "32B",	     "10kHz",	"1%",	 "0-3",
    "near",   "environment", "thesis",	    "metric",	  "lat_ns.p50",	 "at",	     "between", "below", "above",
    "claim",  "ratio",	     "of",	    "to",	  "t_send",	 "qp",	     "yes",	"no",	 "rc",
    "ud",     "inline",	     "reps",	    "fault",	  "hold",	 "needs",    "trend",	"equal", "pairing",
    "select", "where",	     "1",	    "id",	  "text",	 "lose",     "delayed", NULL};

static size_t mutate_spec(uint8_t *data, size_t size, size_t max, const char *const *list)
{
	if (!size || !fuzz_below(16)) {
		*data = (uint8_t)fuzz_below(16);
		return size ? size : 1;
	}
	return 1 + mutate_yaml(data + 1, size - 1, max - 1, list);
}

FUZZ_MUTATOR(mutate_spec, words)
