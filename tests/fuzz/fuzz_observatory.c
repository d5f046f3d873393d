/* A configuration of Observatory: the spec that it means can be read as any other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "fuzz.h"
#include "measure/spec/observatory_spec.h"
#include "measure/spec/spec.h"

#define DEVICES 2

static void make_spec(const struct ynode *config, struct diag *d, const char *transport)
{
	static const char *const devices[DEVICES] = {"mlx5_0", "mlx5_1"};
	const struct observatory_request request = {transport, devices, DEVICES, strcmp(transport, "tcp") ? 1 : 4};
	struct diag warnings;
	struct ynode *made;

	diag_init(&warnings, "config.json");
	made = observatory_spec_make(config, &request, d, &warnings);
	fuzz_require(made || d->count);
	ynode_free(made);
	diag_free(&warnings);
}

static void check_config(const char *text, size_t size, FILE *null)
{
	struct diag d, warnings;
	struct ynode *root = NULL;

	diag_init(&d, "config.json");
	diag_init(&warnings, "config.json");
	if (!yaml_load_text(text, size, &d, &root) && root && observatory_config_is(root)) {
		observatory_config_check(root, text, size, &d, &warnings);
		if (!d.count)
			make_spec(root, &d, size % 2 ? "verbs" : "tcp");
	}
	diag_print(&d, null);
	diag_print(&warnings, null);
	ynode_free(root);
	diag_free(&d);
	diag_free(&warnings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *path;
	static FILE *null;
	char *text = fuzz_text(data, size);
	struct spec s;
	struct diag d;

	if (!path) {
		path = fs_path("%s/config.json", fuzz_folder());
		null = fopen("/dev/null", "we");
	}
	check_config(text, size, null);
	fuzz_write(path, data, size);
	if (spec_load(path, &(struct spec_overrides){.quick = size % 2}, &s, &d))
		fuzz_require(d.count);
	diag_print(&d, null);
	diag_free(&d);
	spec_free(&s);
	free(text);
	return 0;
}

static const char *const words[] = {"className",
				    "resultName",
				    "operations",
				    "name",
				    "modes",
				    "repetitions",
				    "iterations",
				    "size",
				    "count",
				    "warmUp",
				    "parameters",
				    "key",
				    "value",
				    "detector",
				    "enabled",
				    "unidirectional",
				    "bidirectional",
				    "MessagingThroughput",
				    "MessagingLatency",
				    "MessagingPingPong",
				    "RdmaThroughput",
				    "RdmaLatency",
				    "RdmaWriteThroughput",
				    "deviceNumber",
				    "portNumber",
				    "bufferSize",
				    "64",
				    "[1-8]",
				    NULL};

FUZZ_MUTATOR(mutate_json, words)
