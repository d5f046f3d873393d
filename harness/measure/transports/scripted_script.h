/*
 * What the settings of the scripted transport say about each message and each step of a pacer: read
 * once, when the transport is opened.
 */
#ifndef KBLAT_TRANSPORTS_SCRIPTED_SCRIPT_H
#define KBLAT_TRANSPORTS_SCRIPTED_SCRIPT_H

#include "common/cpulist.h"
#include "common/opt.h"
#include "measure/transports/transport.h"

enum scripted_fault {
	FAULT_NONE,
	FAULT_PAGE_FAULT,
	FAULT_SWITCH,
	FAULT_OVERFLOW,
	FAULT_BAD_COMPLETION,
	FAULT_BAD_PAYLOAD,
	FAULT_DIE,
	FAULT_EXIT,
	FAULT_HANG,
	FAULT_OPEN,
};

struct scripted_settings {
	int64_t interval, delay, jitter, noise, comp_delay, poll_delay, read_delay, delayed_by, fault_at;
	int fault, fault_side;
	bool reliable;
	char lose[OPT_STR_MAX], duplicate[OPT_STR_MAX], delayed[OPT_STR_MAX], overwrite[OPT_STR_MAX];
	char stall[OPT_STR_MAX], pattern[OPT_STR_MAX];
	int64_t stall_by;
};

/* A latency that repeats with the index of the message: "32:31-32:4us". */
struct scripted_pattern {
	unsigned period;
	struct cpulist phases; /* from 1 on */
	int64_t longer;	       /* ns */
};

/* Lists of messages have the format of CPU lists, and are limited by CPULIST_MAX. */
struct scripted_script {
	struct scripted_settings settings;
	struct schedule schedule; /* the kernel's, on which the expected results depend */
	uint32_t repetition;	  /* each has different noise */
	struct cpulist lose, duplicate, delayed, overwrite, stall;
	struct scripted_pattern *patterns;
	size_t pattern_count;
};

/* Settings of which scripted_patterns_check() says that they are right. */
void scripted_script_read(struct scripted_script *s, const struct scripted_settings *settings,
			  const struct schedule *schedule);
void scripted_script_free(struct scripted_script *s);

/* Patterns with blanks between them. 0, or -EINVAL and the error in `why`. */
int scripted_patterns_check(const char *text, char *why, size_t why_size);

bool scripted_is_listed(const struct cpulist *list, int64_t seq);

/* When message seq is submitted without a pacer, and its latency. */
int64_t scripted_submission(const struct scripted_script *s, uint32_t seq);
int64_t scripted_delay(const struct scripted_script *s, uint32_t seq);

/* When step i of a kernel with a pacer is due; and when each step must be submitted, NEVER if it is
 * missed or outside of the window: `submission` has room for all steps. */
int64_t scripted_due(const struct scripted_script *s, int64_t step);
void scripted_pace(const struct scripted_script *s, int64_t *submission);

#endif
