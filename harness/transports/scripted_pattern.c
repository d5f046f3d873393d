#include "transports/scripted_pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpulist.h"
#include "common/units.h"

#define PERIOD_MOST 8191 /* phases are listed in the format of CPU lists */
#define LONGER_MOST 1000000000
#define PART_MAX    128 /* bytes of one pattern */

struct pattern {
	unsigned period;
	struct cpulist phases; /* from 1 on */
	int64_t longer;	       /* ns */
};

static int pattern_complain(char *why, size_t why_size, const char *part, const char *what)
{
	if (why)
		snprintf(why, why_size, "pattern '%s': %s", part, what);
	return -EINVAL;
}

/* "32:31-32:4us", which is split in place at the colons. */
static int read_parts(char *part, const char *whole, struct pattern *out, char *why, size_t why_size)
{
	char *phases = strchr(part, ':'), *longer = phases ? strchr(phases + 1, ':') : NULL, *end;
	unsigned long period;

	if (!longer)
		return pattern_complain(why, why_size, whole, "it must be PERIOD:PHASES:TIME, such as 32:31-32:4us");
	*phases++ = *longer++ = '\0';
	period = strtoul(part, &end, 10);
	if (end == part || *end || period < 2 || period > PERIOD_MOST)
		return pattern_complain(why, why_size, whole, "the period must be a number from 2 to 8191");
	out->period = (unsigned)period;
	if (cpulist_parse(phases, &out->phases, NULL, 0) || cpulist_first(&out->phases) < 1 ||
	    cpulist_next(&out->phases, (int)period) >= 0)
		return pattern_complain(why, why_size, whole,
					"the phases must be a list of numbers from 1 to the period");
	if (unit_parse(UNIT_TIME_NS, longer, &out->longer, NULL, 0) || out->longer < 0 || out->longer > LONGER_MOST)
		return pattern_complain(why, why_size, whole, "the time must be from 0 to 1s, such as 4us");
	return 0;
}

/* The next pattern of a list; advances `*text` past it. 1, 0: there are no more, or -EINVAL. */
static int next_pattern(const char **text, struct pattern *out, char *why, size_t why_size)
{
	char part[PART_MAX], whole[PART_MAX];
	size_t length;
	int rc;

	*text += strspn(*text, " ");
	length = strcspn(*text, " ");
	if (!length)
		return 0;
	snprintf(part, sizeof(part), "%.*s", (int)length, *text);
	snprintf(whole, sizeof(whole), "%s", part);
	if (length >= sizeof(part))
		return pattern_complain(why, why_size, whole, "it is too long");
	*text += length;
	rc = read_parts(part, whole, out, why, why_size);
	return rc ? rc : 1;
}

int scripted_pattern_check(const char *text, char *why, size_t why_size)
{
	struct pattern pattern;
	int rc;

	while ((rc = next_pattern(&text, &pattern, why, why_size)) > 0)
		;
	return rc;
}

int64_t scripted_pattern_delay(const char *text, uint32_t seq)
{
	struct pattern pattern;
	int64_t delay = 0;

	while (*text && next_pattern(&text, &pattern, NULL, 0) > 0)
		delay += cpulist_has(&pattern.phases, seq % pattern.period + 1) ? pattern.longer : 0;
	return delay;
}
