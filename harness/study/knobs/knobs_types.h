/*
 * What a study of knobs is about: the knobs of a profile, the arms that are measured, the comparisons between them; and
 * what was found. knobs_json.h has its form in files. Arms and knobs are named by their indexes.
 */
#ifndef KBLAT_KNOBS_TYPES_H
#define KBLAT_KNOBS_TYPES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cli.h"
#include "judge/compare/comparison.h"
#include "study/study.h"

#define KNOBS_NONE	"none"	    /* the arm without a profile */
#define KNOBS_WHOLE	"whole"	    /* that with the whole one */
#define KNOBS_STAGE	"blocks"    /* of cells that measure all arms; the other stages are named by a candidate */
#define KNOBS_CANDIDATE "smallest-" /* followed by a number: an arm for the smallest profile, in blocks of its own */

/* Options of this kind: `own` of struct study_request. */
struct knobs_options {
	const char *profile, *metric;
	struct cli_list quantities, margins;
	long blocks, seed; /* blocks 0: as many as the budget allows, or KNOBS_BLOCKS */
};

#define KNOBS_BLOCKS	 12
#define KNOBS_BLOCKS_MAX 128

struct knob {
	char *id;	 /* for names of files */
	char *name;	 /* for people */
	char *key;	 /* of the profile: "sysctl" */
	char *cost;	 /* what it takes from others, or "" */
	char *folder;	 /* of the profile that it is from */
	char *why;	 /* it is not tested, or "" */
	json_t *setting; /* as in the profile */
	bool in_shields; /* it has no effect without the shields */
	bool tested;	 /* it changes something on this machine */
};

struct knobs_arm {
	char *name;
	bool has_profile;
	bool *has; /* each of the knobs */
};

enum knobs_what { KNOBS_OF_WHOLE, KNOBS_ALONE, KNOBS_WITHOUT, KNOBS_WHATS };

extern const char *const knobs_whats[KNOBS_WHATS];

/* A comparison of two arms. */
struct knobs_pair {
	enum knobs_what what;
	size_t knob; /* of the whole: 0 */
	size_t base, with;
};

/* What was found about a knob. */
enum knob_verdict {
	KNOB_NEEDED, /* the profile is slower without it */
	KNOB_HELPS,  /* it is faster alone, but the profile is not shown to be slower without it: others do the same */
	KNOB_WORSE,  /* it is slower alone, or the profile is faster without it */
	KNOB_MIXED,  /* some quantities are faster, others slower */
	KNOB_NO_EFFECT,
	KNOB_UNDECIDED,
	KNOB_UNTESTED,
	KNOB_VERDICTS
};

extern const char *const knob_verdicts[KNOB_VERDICTS];

/* Of the same index as the pairs and the knobs of the plan. With fewer than COMPARE_PAIRS blocks there are no
 * quantities, and everything is undecided. */
struct knobs_result {
	size_t blocks, relabellings;
	bool exact;
	double least_margin; /* a share */
	uint64_t seed;
	struct comparison *compared; /* points only */
	enum compare_verdict *verdict;
	enum knob_verdict *knob;
};

/* The smallest profile that has the effect. */
enum smallest_verdict {
	SMALLEST_FOUND,	  /* a candidate is not slower than the whole profile */
	SMALLEST_WHOLE,	  /* all knobs are needed */
	SMALLEST_NOTHING, /* no knob has an effect */
	SMALLEST_WORSE,	  /* no knob helps, and some make it slower */
	SMALLEST_UNDECIDED,
	SMALLEST_VERDICTS
};

extern const char *const smallest_verdicts[SMALLEST_VERDICTS];

struct smallest_step {
	size_t arm;
	enum compare_outcome verdict;
	char *answer;
};

struct knobs_smallest {
	enum smallest_verdict verdict;
	char *answer; /* a sentence; NULL: it was not looked for */
	bool *has;    /* the knobs of the profile; NULL: there is none */
	struct smallest_step *step;
	size_t steps;
};

struct knobs {
	char *profile;
	char *boot; /* in which it is measured; "": not known */
	json_t *points;
	double expected_none_s, expected_whole_s; /* of a run */
	char *metric;				  /* NULL: each point's first */
	struct words quantities, margins;
	size_t blocks; /* asked for */
	uint64_t seed;
	struct knob *knob;
	size_t knobs;
	struct knobs_arm *arm;
	size_t arms;
	struct knobs_pair *pair;
	size_t pairs;
	/* found since this process was started */
	struct knobs_result *result; /* NULL: there are no blocks */
	struct knobs_smallest smallest;
};

const struct knobs *knobs_of(const struct study *s);
struct knobs *knobs_plan_of(struct study *s);
void knobs_clear_result(struct knobs *k);

struct knob *knobs_add_knob(struct knobs *k);

/* Does a knob make the shields? */
bool knob_is_shields(const struct knob *knob);

/* Add an arm with the knobs `has`, which is taken; NULL: it has no profile. Its index. */
size_t knobs_add_arm(struct knobs *k, const char *name, bool *has);
bool knobs_is_candidate(const struct knobs_arm *arm);

/* The index of the arm of that name; k->arms if there is none. */
size_t knobs_find_arm(const struct knobs *k, const char *name);

/* Of the plan's pairs, the index of the one about a knob, or about the whole; k->pairs if there is none. */
size_t knobs_find_pair(const struct knobs *k, enum knobs_what what, size_t knob);

/* A comparison that was judged; NULL: there is none. */
const struct comparison *knobs_compared(const struct knobs *k, enum knobs_what what, size_t knob);

#endif
