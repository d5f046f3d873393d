/*
 * Orders that a coordinator sends, taken by an endpoint in this process. What an endpoint may do by order, and a fuzzer must
 * not (priorities, files elsewhere, much memory, addresses of other machines), is taken out of the orders before.
 */
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/json.h"
#include "fuzz.h"
#include "measure/endpoint/endpoint.h"

#define MESSAGES_MOST 64
#define ORDERS_MOST   16

static void limit(json_t *params, const char *key, json_int_t most)
{
	json_t *value = json_object_get(params, key);

	if (json_is_integer(value) && json_integer_value(value) > most)
		json_object_set_new(params, key, json_integer(most));
}

static void tame_params(json_t *params)
{
	static const char *const small[] = {"messages", "size_bytes", "burst", "depth", "values", "rate_hz", NULL};

	for (size_t i = 0; small[i]; i++)
		limit(params, small[i], MESSAGES_MOST);
	for (const char *const *key =
		 (const char *const[]){"drain_ns", "pause_ns", "gap_ns", "window_ns", "stall_by_ns", NULL};
	     *key; key++)
		limit(params, *key, 1000000);
	if (json_object_get(params, "touch"))
		json_object_set_new(params, "touch", json_false());
	if (json_object_get(params, "priority"))
		json_object_set_new(params, "priority", json_integer(0));
	for (const char *const *key = (const char *const[]){"fault", "sink", "source_file", NULL}; *key; key++)
		if (json_object_get(params, *key))
			json_object_set_new(params, *key, json_string("none"));
}

/* Does it stay here? */
static bool is_harmless(json_t *order)
{
	json_t *params = json_object_get(order, "params");
	const char *transport = json_text(params, "transport");

	/* A capture of this machine, or a tenth of a second of calibration: of nothing that an order says. */
	for (const char *const *type = (const char *const[]){"run", "capture", "calibrate", NULL}; *type; type++)
		if (!json_is_object(order) || !strcmp(json_text(order, "type"), *type))
			return false;
	if (params && strcmp(transport, "scripted") && strcmp(transport, "shmem"))
		return false;
	tame_params(params);
	json_object_del(order, "dir");
	json_object_del(order, "keep_in");
	json_object_del(order, "cpu");
	json_object_del(order, "spare_cpu");
	return true;
}

/* The orders that remain; a line that is none stays as it is. */
static char *tame(const char *text, size_t *size)
{
	char *copy = strdup(text), *rest = copy, *line, *out = NULL;
	FILE *f = open_memstream(&out, size);
	size_t count = 0;

	if (!f || !copy)
		abort();
	while ((line = strsep(&rest, "\n")) && count++ < ORDERS_MOST) {
		json_t *order = json_loads(line, 0, NULL);

		if (!order) {
			fprintf(f, "%s\n", line);
		} else if (is_harmless(order)) {
			json_dumpf(order, f, JSON_COMPACT | JSON_ENCODE_ANY);
			fputc('\n', f);
		}
		json_decref(order);
	}
	fclose(f);
	free(copy);
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *orders = tame(text, &size);
	int in = fuzz_descriptor(orders, size), out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct err e = ERR_INIT;

	endpoint_serve(in, out, NULL, &e);
	close(in);
	close(out);
	free(orders);
	free(text);
	return 0;
}

static const char *const words[] = {
    "survey",	    "open",	 "connect", "arm",	   "finish",   "status",
    "stop",	    "source",	 "sink",    "source_cpu",  "sink_cpu", "0123456789abcdef",
    "scripted",	    "shmem",	 "oneway",  "pingpong",	   "rate",     "busy",
    "event",	    "0-3",	 "5,10-20", "near:mlx5_0", "cpuset:x", "auto",
    "conversion",   "numerator", "shift",   "origin",	   "peer",     "params",
    "/kblat-0-1-2", NULL};

FUZZ_MUTATOR(mutate_lines, words)
