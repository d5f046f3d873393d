/* Two captured states, an array of both: checked, compared, and what differs is shown. */
#include <jansson.h>
#include <stdio.h>

#include "common/err.h"
#include "files/state/diff.h"
#include "files/state/load.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const varying[] = {"idle", "kernel", "irq.*.affinity", NULL};
	json_t *both = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL), *differences = NULL;
	const json_t *a = json_array_get(both, 0), *b = json_array_get(both, 1);
	struct err e = ERR_INIT;

	if (!state_check(a, "a", &e) && !state_check(b, "b", &e)) {
		fuzz_require(!state_diff_all(a, b, varying, &differences, &e));
		fuzz_require(state_diff_fatal(differences) <= json_array_size(differences));
		diff_print(differences);
		json_decref(differences);
		differences = NULL;
		fuzz_require(!state_diff(a, a, NULL, &differences, &e) && !json_array_size(differences));
		json_decref(differences);
	}
	json_decref(both);
	return 0;
}

static const char *const words[] = {"schema",
				    "keys",
				    "idle.cpu0.state1.name",
				    "irq.24.affinity",
				    "kernel.release",
				    "cmdline.isolcpus",
				    "sched.features",
				    "!ENOENT",
				    "a b c d e",
				    "b c d e f",
				    "0-3",
				    "!EACCES",
				    "software.kblat.sha256",
				    "rdma.mlx5_0.fw_ver",
				    "capture.skipped",
				    NULL};

FUZZ_MUTATOR(mutate_json, words)
