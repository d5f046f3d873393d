#include "common/cpulist.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

#define GROUPS (CPULIST_MAX / 32)

/* Numbers stop counting here, so that no length of digits overflows. */
#define NUMBER_MAX 1000000000u

void cpulist_clear(struct cpulist *set)
{
	memset(set, 0, sizeof(*set));
}

void cpulist_add(struct cpulist *set, unsigned cpu)
{
	if (cpu < CPULIST_MAX)
		set->bits[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

void cpulist_remove(struct cpulist *set, unsigned cpu)
{
	if (cpu < CPULIST_MAX)
		set->bits[cpu / 64] &= ~(UINT64_C(1) << cpu % 64);
}

bool cpulist_has(const struct cpulist *set, unsigned cpu)
{
	return cpu < CPULIST_MAX && set->bits[cpu / 64] >> cpu % 64 & 1;
}

unsigned cpulist_count(const struct cpulist *set)
{
	unsigned count = 0;

	for (size_t i = 0; i < CPULIST_MAX / 64; i++)
		count += (unsigned)__builtin_popcountll(set->bits[i]);
	return count;
}

int cpulist_next(const struct cpulist *set, int after)
{
	unsigned cpu = after < 0 ? 0 : (unsigned)after + 1;

	while (cpu < CPULIST_MAX) {
		uint64_t rest = set->bits[cpu / 64] >> cpu % 64;

		if (rest)
			return (int)cpu + __builtin_ctzll(rest);
		cpu = (cpu / 64 + 1) * 64;
	}
	return -1;
}

int cpulist_first(const struct cpulist *set)
{
	return cpulist_next(set, -1);
}

bool cpulist_is_subset(const struct cpulist *inner, const struct cpulist *outer)
{
	for (size_t i = 0; i < CPULIST_MAX / 64; i++)
		if (inner->bits[i] & ~outer->bits[i])
			return false;
	return true;
}

bool cpulist_intersects(const struct cpulist *a, const struct cpulist *b)
{
	for (size_t i = 0; i < CPULIST_MAX / 64; i++)
		if (a->bits[i] & b->bits[i])
			return true;
	return false;
}

void cpulist_unite(struct cpulist *a, const struct cpulist *b)
{
	for (size_t i = 0; i < CPULIST_MAX / 64; i++)
		a->bits[i] |= b->bits[i];
}

void cpulist_subtract(struct cpulist *a, const struct cpulist *b)
{
	for (size_t i = 0; i < CPULIST_MAX / 64; i++)
		a->bits[i] &= ~b->bits[i];
}

void cpulist_intersect(struct cpulist *a, const struct cpulist *b)
{
	for (size_t i = 0; i < CPULIST_MAX / 64; i++)
		a->bits[i] &= b->bits[i];
}

static int refuse_list(int rc, char *why, size_t why_size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int refuse_list(int rc, char *why, size_t why_size, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	if (why)
		vsnprintf(why, why_size, format, ap);
	va_end(ap);
	return rc;
}

static const char *skip_spaces(const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

/* Read a decimal number at `p`; returns its end, or NULL. */
static const char *take_cpu(const char *p, unsigned *value)
{
	if (!p || !isdigit((unsigned char)*p))
		return NULL;
	for (*value = 0; isdigit((unsigned char)*p); p++)
		*value = *value < NUMBER_MAX / 10 ? *value * 10 + (unsigned)(*p - '0') : NUMBER_MAX;
	return p;
}

/* first[-last[:used[/group]]]: the first `used` of every `group` CPUs in the range. */
struct range {
	unsigned first, last, used, group;
};

static const char *take_range(const char *p, struct range *r)
{
	p = take_cpu(p, &r->first);
	r->last = r->first;
	r->used = r->group = 1;
	if (p && *p == '-')
		p = take_cpu(p + 1, &r->last);
	else
		return p;
	if (!p || *p != ':')
		return p;
	p = take_cpu(p + 1, &r->group);
	if (p && *p == '/') {
		r->used = r->group;
		p = take_cpu(p + 1, &r->group);
	}
	return p;
}

static void add_range(struct cpulist *set, const struct range *r)
{
	for (unsigned at = 0; at <= r->last - r->first; at++)
		if (at % r->group < r->used)
			cpulist_add(set, r->first + at);
}

static int check_cpu_range(const struct range *r, char *why, size_t why_size)
{
	if (r->last < r->first)
		return refuse_list(-EINVAL, why, why_size, "the range %u-%u runs backwards", r->first, r->last);
	if (r->last >= CPULIST_MAX)
		return refuse_list(-ERANGE, why, why_size, "CPUs are numbered 0 to %d", CPULIST_MAX - 1);
	if (!r->group || !r->used || r->used > r->group)
		return refuse_list(-EINVAL, why, why_size,
				   "the step after ':' makes no sense; write it as 0-8:2 or 0-7:1/4");
	return 0;
}

int cpulist_parse(const char *text, struct cpulist *out, char *why, size_t why_size)
{
	struct cpulist set = {{0}};
	char quoted[TEXT_QUOTE_MAX];
	const char *p = skip_spaces(text);
	struct range r = {0};
	int rc;

	/* %*pbl of a mask that is not there */
	if (!strncmp(p, "(null)", 6) && !*skip_spaces(p + 6))
		p += strlen(p);
	while (*p) {
		const char *end = take_range(p, &r);

		end = end ? skip_spaces(end) : NULL;
		if (!end || (*end && *end != ',') || (*end == ',' && !*skip_spaces(end + 1)))
			return refuse_list(-EINVAL, why, why_size, "%s is not a CPU list; write it as 0-3,8",
					   text_quote(text, quoted, sizeof(quoted)));
		rc = check_cpu_range(&r, why, why_size);
		if (rc)
			return rc;
		add_range(&set, &r);
		p = *end ? skip_spaces(end + 1) : end;
	}
	*out = set;
	return 0;
}

/* Only append complete items, because a truncated number would be another CPU. */
static bool append_text(char *buf, size_t size, size_t *used, const char *item)
{
	size_t n = strlen(item);

	if (*used + n >= size)
		return false;
	memcpy(buf + *used, item, n + 1);
	*used += n;
	return true;
}

static int last_of_run(const struct cpulist *set, int cpu)
{
	while (cpulist_has(set, (unsigned)cpu + 1))
		cpu++;
	return cpu;
}

char *cpulist_format(const struct cpulist *set, char *buf, size_t size)
{
	char item[32];
	size_t used = 0;

	if (size)
		buf[0] = '\0';
	for (int cpu = cpulist_first(set), last; cpu >= 0; cpu = cpulist_next(set, last)) {
		last = last_of_run(set, cpu);
		if (last > cpu)
			snprintf(item, sizeof(item), "%s%d-%d", used ? "," : "", cpu, last);
		else
			snprintf(item, sizeof(item), "%s%d", used ? "," : "", cpu);
		if (!append_text(buf, size, &used, item))
			break;
	}
	return buf;
}

/* Read a group of up to eight hexadecimal digits at `p`; returns its end, or NULL. */
static const char *take_group(const char *p, uint32_t *value)
{
	const char *start = p;

	for (*value = 0; isxdigit((unsigned char)*p) && p - start < 8; p++)
		*value = *value << 4 |
			 (uint32_t)(isdigit((unsigned char)*p) ? *p - '0' : tolower((unsigned char)*p) - 'a' + 10);
	return p == start ? NULL : p;
}

/* Shift up by 32 CPUs; false if one does not fit any more. */
static bool shift_group(struct cpulist *set, uint32_t low)
{
	const size_t top = CPULIST_MAX / 64 - 1;

	if (set->bits[top] >> 32)
		return false;
	for (size_t i = top; i; i--)
		set->bits[i] = set->bits[i] << 32 | set->bits[i - 1] >> 32;
	set->bits[0] = set->bits[0] << 32 | low;
	return true;
}

int cpulist_parse_mask(const char *text, struct cpulist *out, char *why, size_t why_size)
{
	struct cpulist set = {{0}};
	char quoted[TEXT_QUOTE_MAX];
	const char *p = skip_spaces(text);
	uint32_t group;

	for (;; p++) {
		p = take_group(p, &group);
		if (!p)
			break;
		if (!shift_group(&set, group))
			return refuse_list(-ERANGE, why, why_size, "CPUs are numbered 0 to %d", CPULIST_MAX - 1);
		if (*p != ',')
			break;
	}
	if (!p || *skip_spaces(p))
		return refuse_list(-EINVAL, why, why_size, "%s is not a CPU mask; write it as ff or f,00000003",
				   text_quote(text, quoted, sizeof(quoted)));
	*out = set;
	return 0;
}

char *cpulist_format_mask(const struct cpulist *set, char *buf, size_t size)
{
	char item[16];
	size_t used = 0;
	int group = GROUPS - 1;

	while (group && !(uint32_t)(set->bits[group / 2] >> group % 2 * 32))
		group--;
	for (; group >= 0; group--) {
		snprintf(item, sizeof(item), used ? ",%08x" : "%x",
			 (unsigned)(uint32_t)(set->bits[group / 2] >> group % 2 * 32));
		/* Without its low groups, a mask would mean other CPUs. */
		if (!append_text(buf, size, &used, item)) {
			if (size)
				buf[0] = '\0';
			break;
		}
	}
	return buf;
}

int cpulist_of_thread(pid_t tid, struct cpulist *out)
{
	unsigned long mask[CPULIST_MAX / (8 * sizeof(unsigned long))] = {0};

	if (sched_getaffinity(tid, sizeof(mask), (cpu_set_t *)mask))
		return -errno;
	cpulist_clear(out);
	for (unsigned cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (CPU_ISSET_S(cpu, sizeof(mask), (cpu_set_t *)mask))
			cpulist_add(out, cpu);
	return 0;
}

int cpulist_allowed(struct cpulist *out)
{
	return cpulist_of_thread(0, out);
}
