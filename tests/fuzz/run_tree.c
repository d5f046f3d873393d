#include "run_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "files/rundir/manifest.h"
#include "fuzz.h"

const char *const run_tree_words[] = {"lat_ns",
				      "comp_lat_ns",
				      "send_lat_ns",
				      "rtt_ns",
				      "t_subm",
				      "t_recv",
				      "t_comp",
				      "t_send",
				      "pacing",
				      "sink",
				      "columns",
				      "series",
				      "points",
				      "params",
				      "flows",
				      "a b",
				      "a.lat_ns",
				      "a.kernel",
				      "kernel",
				      "transport",
				      "scripted",
				      "verbs",
				      "oneway",
				      "rate",
				      "pingpong",
				      "p50",
				      "p99_9",
				      "n",
				      "lost",
				      "over_limit",
				      "COMPLETED",
				      "RUNNING",
				      "INTERRUPTED",
				      "completed",
				      "failed",
				      "impossible",
				      "boot_id",
				      "roles",
				      "source",
				      "valid",
				      "reasons",
				      "metric",
				      "lat_ns.p50",
				      "ratio",
				      "order",
				      "rising",
				      "value",
				      "difference",
				      "along",
				      "by",
				      "against",
				      "pool",
				      "needs",
				      "hca",
				      "counters",
				      "posted",
				      "missed",
				      "histograms",
				      "metrics",
				      "../x",
				      "bookkeeping",
				      "traits",
				      "among",
				      "minus",
				      "divide",
				      "sparse",
				      "with",
				      "limit_ns",
				      "size_bytes",
				      "rate_hz",
				      "claims",
				      "schema",
				      "2026-11-22T09:30:00Z",
				      "1000us",
				      NULL};

static bool wants(const char *path)
{
	return strncmp(path, "state/", 6) != 0 || strstr(path, "/state.json");
}

static bool is_document(const char *path)
{
	return strstr(path, "/before/state.json") || (!strchr(path, '/') && strstr(path, ".json"));
}

static void add(struct file_tree *t, const char *name, const char *below, bool (*which)(const char *path))
{
	char *dir = fs_path(RUN_TREE_RUNS "%s", name);

	file_tree_add(t, dir, below, which);
	free(dir);
}

void run_tree_add(struct file_tree *t, const char *name, const char *below)
{
	add(t, name, below, wants);
}

void run_tree_add_documents(struct file_tree *t, const char *name, const char *below)
{
	add(t, name, below, is_document);
}

void run_tree_seal(const struct file_tree *t, const char *below)
{
	char *dir = fs_path("%s/%s", t->path, below);

	manifest_write(dir, NULL);
	free(dir);
}
