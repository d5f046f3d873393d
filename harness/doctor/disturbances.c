#include "doctor/disturbances.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "common/sysroot.h"
#include "files/state/piece.h"

enum {
	FILE_MAX = 16 << 20,
	SHOWN = 4,
	STEAL_COLUMN = 7, /* man 5 proc_stat */
};

/* The column of a CPU in the heading "CPU0 CPU2 …", or -1. */
static int column_of(struct piece head, int cpu)
{
	char want[16];
	struct piece word;

	snprintf(want, sizeof(want), "CPU%d", cpu);
	for (int i = 0; (word = piece_word(&head)).n; i++)
		if (piece_is(word, want))
			return i;
	return -1;
}

/* The last word of a line of /proc/interrupts is the name of the device or driver; interrupts named
 * by letters do not have one. */
static void disturbance_name(struct piece label, struct piece rest, const char *prefix, char *out, size_t size)
{
	struct piece word, last = {"", 0};
	int64_t number;

	if (piece_int(label, &number))
		while ((word = piece_word(&rest)).n)
			last = word;
	snprintf(out, size, "%s%.*s%s%.*s", prefix, (int)label.n, label.p, last.n ? " " : "",
		 (int)(last.n < 32 ? last.n : 32), last.p);
}

static void add_line(json_t *counts, struct piece line, int column, const char *prefix)
{
	struct piece label = piece_trim(piece_cut(&line, ':'));
	int64_t count, mine = -1;
	char name[80];

	for (int i = 0; i <= column; i++)
		if (!piece_int(piece_word(&line), &mine))
			return;
	for (struct piece next = line; piece_int(piece_word(&next), &count);)
		line = next;
	if (mine <= 0 || label.n > 32)
		return;
	disturbance_name(label, line, prefix, name, sizeof(name));
	json_object_set_new(counts, name, json_integer(mine));
}

static void read_counts(const struct sysroot *root, const char *path, int cpu, const char *prefix, json_t *counts)
{
	struct piece rest, line;
	size_t length;
	char *text;
	int column;

	if (sysroot_read(root, path, FILE_MAX, &text, &length))
		return;
	rest = (struct piece){text, length};
	column = piece_line(&rest, &line) ? column_of(line, cpu) : -1;
	while (column >= 0 && piece_line(&rest, &line))
		add_line(counts, line, column, prefix);
	free(text);
}

static void read_steal(const struct sysroot *root, int cpu, json_t *counts)
{
	struct piece rest, line;
	int64_t ticks = 0;
	char want[16], *text;
	size_t length;

	if (sysroot_read(root, "/proc/stat", FILE_MAX, &text, &length))
		return;
	snprintf(want, sizeof(want), "cpu%d", cpu);
	rest = (struct piece){text, length};
	while (piece_line(&rest, &line)) {
		if (!piece_is(piece_word(&line), want))
			continue;
		for (int i = 0; i <= STEAL_COLUMN; i++)
			if (!piece_int(piece_word(&line), &ticks))
				ticks = 0;
		json_object_set_new(counts, "steal ticks", json_integer(ticks));
	}
	free(text);
}

json_t *disturbances_read(const struct sysroot *root, int cpu)
{
	json_t *counts = json_object();

	read_counts(root, "/proc/interrupts", cpu, "", counts);
	read_counts(root, "/proc/softirqs", cpu, "softirq ", counts);
	read_steal(root, cpu, counts);
	return counts;
}

struct grown {
	const char *name;
	json_int_t by;
};

static int compare_grown(const void *a, const void *b)
{
	const struct grown *x = a, *y = b;

	return x->by != y->by ? (x->by < y->by) - (x->by > y->by) : strcmp(x->name, y->name);
}

json_t *disturbances_between(const json_t *before, const json_t *after)
{
	struct grown *all = or_abort(calloc(json_object_size(after) + 1, sizeof(*all)));
	json_t *result = json_object(), *value;
	const char *name;
	size_t count = 0;

	json_object_foreach ((json_t *)after, name, value) {
		json_int_t by = json_integer_value(value) - json_integer_value(json_object_get(before, name));

		if (all && by > 0)
			all[count++] = (struct grown){name, by};
	}
	if (count)
		qsort(all, count, sizeof(*all), compare_grown);
	for (size_t i = 0; i < count; i++)
		json_object_set_new(result, all[i].name, json_integer(all[i].by));
	free(all);
	return result;
}

char *disturbances_text(const json_t *grown, char *buf, size_t size)
{
	size_t used = 0, shown = 0;
	const char *name;
	json_t *by;

	snprintf(buf, size, "nothing that the kernel counts");
	json_object_foreach ((json_t *)grown, name, by)
		if (shown++ < SHOWN && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%lld %s", used ? ", " : "",
						 (long long)json_integer_value(by), name);
	return buf;
}
