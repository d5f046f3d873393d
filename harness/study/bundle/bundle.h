/*
 * A bundle: one file with runs, and all that is needed to check them (docs/reproduce.md). It is a tar archive,
 * compressed with gzip, whose first member says what the others are:
 *
 *     bundle.json        this type: which runs, which programs, every file with its size and SHA-256
 *     bundle.json.sig    its SSH signature, if it is signed
 *     ARTIFACT.md        the appendix that conferences ask for
 *     claims.json, claims.tsv   the claims of all runs, judged together
 *     study/             study.json and cells.jsonl, if it was made of a study
 *     pages/             reports that there were
 *     runs/<run>/        run directories, each listed in bundle.json
 *
 * The members have one order and one form of header, so the same runs give the same bytes, and a reader can refuse
 * everything else. There is no other place: what a reader makes beside them (pages, runs measured here) is its own.
 */
#ifndef KBLAT_STUDY_BUNDLE_H
#define KBLAT_STUDY_BUNDLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/sha256.h"

struct err;
struct claim_verdicts;
struct run;

#define BUNDLE_SCHEMA	 1
#define BUNDLE_INDEX	 "bundle.json"
#define BUNDLE_SIGNATURE "bundle.json.sig"
#define BUNDLE_UTC	 32	      /* bytes of a time as text */
#define BUNDLE_INDEX_MAX (64 << 20)   /* bytes */
#define BUNDLE_SIZE_MAX	 (1ULL << 50) /* bytes of all files */

struct bundle_file {
	char *name; /* in the bundle: relative, without ".", ".." or controls */
	char *from; /* where its content is; NULL when the bundle is read */
	uint64_t size;
	char sha256[SHA256_HEX + 1];
};

/* As in its run.json. */
struct bundle_run {
	char *path; /* below runs/ */
	char *name, *title, *variant, *status, *version, *commit, *started_utc, *ended_utc;
	bool valid;
	json_t *argv;
};

struct bundle {
	char *title;
	char *kind;   /* of the study that it was made of: "campaign"; "" if it is of single runs */
	json_t *argv; /* of the study; null */
	bool has_columns, has_states, masked;
	char *version, *commit, *compiler; /* of the kblat that made it */
	char *signed_utc;		   /* "" if it is not signed */
	json_t *packages;		   /* {Debian's package: version} on the machine where it was made */
	json_t *build_ids;		   /* {program or library that measured: [build ID]}, from the states */
	struct bundle_run *run;
	size_t runs;
	struct bundle_file *file; /* in the order of the archive */
	size_t files;
};

/* Copies its arguments; `from` may be NULL. */
struct bundle_file *bundle_add_file(struct bundle *b, const char *name, const char *from);
void bundle_free(struct bundle *b);

/* Raw time stamps, or a file that a state was read from, judging by its name? Bundles may leave them out. */
bool bundle_is_column(const char *name);
bool bundle_is_state(const char *name);

/* The bytes of all files: at most BUNDLE_SIZE_MAX of a bundle that was read. */
uint64_t bundle_size(const struct bundle *b);

/* Does each file have one of the places above, and each run directory only what belongs to one? -EINVAL and `e`, which names
 * it. bundle_from_json() checks the same. */
int bundle_check_places(const struct bundle *b, struct err *e);

/* As its run.json says, and as JSON: a new reference. */
struct bundle_run bundle_run_of(const char *path, const json_t *run);
void bundle_run_free(struct bundle_run *r);
json_t *bundle_run_to_json(const struct bundle_run *r);

/* Add what measured on both sides of a run to {program or library: [build ID]}: each build once. */
void bundle_add_build_ids(json_t *ids, const struct run *run);

/* The title of a bundle that is of no study; the caller frees. */
char *bundle_title_of_runs(const struct bundle *b);

/* bundle.json: a new reference; and from it. -EINVAL and `e` (STATUS_USAGE; `path` is the bundle's, for messages) if it
 * is not one, is of a later version, or names a file that a bundle cannot have. */
json_t *bundle_to_json(const struct bundle *b);
int bundle_from_json(const json_t *j, const char *path, struct bundle *out, struct err *e);

/* ARTIFACT.md: the appendix that describes an artifact in the form that systems conferences ask for. */
void artifact_write(const struct bundle *b, const struct claim_verdicts *v, FILE *out);

#endif
