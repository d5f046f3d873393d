#include "measure/transports/scripted_script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/npy.h"
#include "common/or_abort.h"
#include "common/random.h"
#include "common/units.h"

#define SECOND	    1000000000
#define PERIOD_MOST 8191 /* phases are listed in the format of CPU lists */
#define LONGER_MOST 1000000000
#define PART_MAX    128 /* bytes of one pattern */

/* --- patterns --- */

static int pattern_complain(char *why, size_t why_size, const char *part, const char *what)
{
	if (why)
		snprintf(why, why_size, "pattern '%s': %s", part, what);
	return -EINVAL;
}

/* "32:31-32:4us", which is split in place at the colons. */
static int read_parts(char *part, const char *whole, struct scripted_pattern *out, char *why, size_t why_size)
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
static int next_pattern(const char **text, struct scripted_pattern *out, char *why, size_t why_size)
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

int scripted_patterns_check(const char *text, char *why, size_t why_size)
{
	struct scripted_pattern pattern;
	int rc;

	while ((rc = next_pattern(&text, &pattern, why, why_size)) > 0)
		;
	return rc;
}

static void read_patterns(struct scripted_script *s, const char *text)
{
	struct scripted_pattern pattern;

	while (next_pattern(&text, &pattern, NULL, 0) > 0) {
		s->patterns =
		    or_abort(reallocarray(s->patterns, s->pattern_count + 1, sizeof(struct scripted_pattern)));
		s->patterns[s->pattern_count++] = pattern;
	}
}

static int64_t pattern_delay(const struct scripted_script *s, uint32_t seq)
{
	int64_t delay = 0;

	for (size_t i = 0; i < s->pattern_count; i++)
		if (cpulist_has(&s->patterns[i].phases, seq % s->patterns[i].period + 1))
			delay += s->patterns[i].longer;
	return delay;
}

/* --- the script --- */

void scripted_script_read(struct scripted_script *s, const struct scripted_settings *settings,
			  const struct schedule *schedule)
{
	const struct {
		const char *text;
		struct cpulist *list;
	} lists[] = {{settings->lose, &s->lose},
		     {settings->duplicate, &s->duplicate},
		     {settings->delayed, &s->delayed},
		     {settings->overwrite, &s->overwrite},
		     {settings->stall, &s->stall}};

	*s = (struct scripted_script){.settings = *settings, .schedule = *schedule};
	if (!s->schedule.burst)
		s->schedule.burst = INT64_MAX;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		cpulist_parse(lists[i].text, lists[i].list, NULL, 0);
	read_patterns(s, settings->pattern);
}

void scripted_script_free(struct scripted_script *s)
{
	free(s->patterns);
	s->patterns = NULL;
}

bool scripted_is_listed(const struct cpulist *list, int64_t seq)
{
	return seq < CPULIST_MAX && cpulist_has(list, (unsigned)seq);
}

int64_t scripted_submission(const struct scripted_script *s, uint32_t seq)
{
	return seq * s->settings.interval + seq / s->schedule.burst * s->schedule.pause_ns;
}

/* From -noise to +noise: different for each message of each repetition, but the same in every run. */
static int64_t noise_of(const struct scripted_script *s, uint32_t seq)
{
	uint64_t state = (uint64_t)s->repetition << 32 | seq;

	return s->settings.noise
		   ? (int64_t)random_below(&state, 2 * (uint64_t)s->settings.noise + 1) - s->settings.noise
		   : 0;
}

int64_t scripted_delay(const struct scripted_script *s, uint32_t seq)
{
	const struct scripted_settings *set = &s->settings;

	return set->delay + (seq % 2 ? -set->jitter : set->jitter) + noise_of(s, seq) +
	       (scripted_is_listed(&s->delayed, seq) ? set->delayed_by : 0) + pattern_delay(s, seq);
}

/* --- the expected outcome of a pacer's steps, computed independently of the kernel under test --- */

int64_t scripted_due(const struct scripted_script *s, int64_t step)
{
	__int128 time = (__int128)(step + 1) * SECOND * (1000000 + s->schedule.tick_error_ppm);

	return (int64_t)(time / ((__int128)s->schedule.rate_hz * 1000000));
}

/* If the pacer is late and the next step is due as well, a step is missed; of the steps that are
 * due, the last or the first is submitted. */
void scripted_pace(const struct scripted_script *s, int64_t *submission)
{
	const struct schedule *c = &s->schedule;
	int64_t now = 0, end = INT64_MAX;

	if (c->window_ns)
		end = (int64_t)((__int128)c->messages * SECOND / c->rate_hz) + c->window_ns;
	for (int64_t i = 0; i < c->messages; i++)
		submission[i] = NEVER;
	for (int64_t i = 0; i < c->messages; i++) {
		if (scripted_due(s, i) > now)
			now = scripted_due(s, i) + (scripted_is_listed(&s->stall, i) ? s->settings.stall_by : 0);
		const int64_t first = i;

		while (i < c->messages && scripted_due(s, i + 1) <= now)
			i++;
		if ((i == c->messages && !c->keeps_first) || now > end)
			return;
		submission[c->keeps_first ? first : i] = now;
	}
}
