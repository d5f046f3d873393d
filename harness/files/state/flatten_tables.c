#include "files/state/readers.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/boot_arguments.h"
#include "common/cpulist.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "files/state/capture.h"
#include "files/state/piece.h"

#define VALUES_MAX  4096 /* per field */
#define COLUMNS_MAX CPULIST_MAX

/* "MemTotal:  123 kB": the unit belongs to the name. */
static void flatten_pair(struct capture *c, const char *key, struct piece name, struct piece value)
{
	bool has_unit = value.n > 3 && !memcmp(value.p + value.n - 3, " kB", 3);
	char full[256];

	snprintf(full, sizeof(full), "%.*s%s", (int)(name.n < 200 ? name.n : 200), name.p, has_unit ? "_kB" : "");
	if (has_unit)
		value = piece_trim((struct piece){value.p, value.n - 3});
	if (value.n > 1 && value.p[0] == '"' && value.p[value.n - 1] == '"')
		capture_text(c, key, full, value.p + 1, value.n - 2);
	else
		capture_value(c, key, full, value);
}

void flatten_pairs(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	struct piece rest = {text, length}, line;

	while (piece_line(&rest, &line)) {
		struct piece name = piece_trim(piece_cut(&line, *s->arg));

		if (name.n && *name.p != '#')
			flatten_pair(c, key, name, piece_trim(line));
	}
}

/* If a field has different values, such as those of different CPUs, all of them are kept. */
void flatten_field(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	struct piece rest = {text, length}, line;
	char all[VALUES_MAX] = "", last[VALUES_MAX] = "", value[VALUES_MAX];
	size_t used = 0;

	while (piece_line(&rest, &line)) {
		struct piece name = piece_trim(piece_cut(&line, ':'));

		if (!piece_is(name, s->arg))
			continue;
		line = piece_trim(line);
		snprintf(value, sizeof(value), "%.*s", (int)line.n, line.p);
		/* Only compared with the previous value: searching would mistake a model for a
		 * longer one that begins with it. */
		if (used && !strcmp(value, last))
			continue;
		snprintf(last, sizeof(last), "%s", value);
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", used ? " | " : "", value);
		if (used >= sizeof(all))
			break;
	}
	if (all[0])
		capture_text(c, key, NULL, all, strlen(all));
	else
		capture_errno(c, key, -ENODATA);
}

void flatten_flag(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	struct piece rest = {text, length}, line, word;
	bool found = false;

	while (!found && piece_line(&rest, &line)) {
		struct piece name = piece_trim(piece_cut(&line, ':'));

		if (!piece_is(name, "flags") && !piece_is(name, "Features"))
			continue;
		while (!found && (word = piece_word(&line)).n)
			found = piece_is(word, s->arg);
		break;
	}
	capture_text(c, key, NULL, found ? "yes" : "no", found ? 3 : 2);
}

/* " 8: 1 0 IO-APIC 8-edge rtc0" below " CPU0 CPU3": "8.cpu0" is 1, "8.cpu3" is left out. */
static void add_counts(struct capture *c, const char *key, struct piece line, const unsigned short *cpu, size_t cpus)
{
	struct piece name = piece_trim(piece_cut(&line, ':'));
	char full[128];
	int64_t count;

	for (size_t i = 0; i < cpus; i++) {
		if (!piece_int(piece_word(&line), &count))
			return;
		snprintf(full, sizeof(full), "%.*s.cpu%hu", (int)(name.n < 64 ? name.n : 64), name.p, cpu[i]);
		if (count)
			capture_int(c, key, full, count);
	}
}

void flatten_columns(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	struct piece rest = {text, length}, line = {text, 0}, word;
	unsigned short cpu[COLUMNS_MAX];
	size_t count = 0;
	int64_t number;

	(void)s;
	piece_line(&rest, &line);
	while (count < COLUMNS_MAX && (word = piece_word(&line)).n > 3) {
		if (!piece_begins(word, "CPU") || !piece_int((struct piece){word.p + 3, word.n - 3}, &number) ||
		    number < 0 || number >= CPULIST_MAX)
			break;
		cpu[count++] = (unsigned short)number;
	}
	while (piece_line(&rest, &line))
		add_counts(c, key, line, cpu, count);
}

/* Columns of a "cpuN" line: man 5 proc. */
static const char *const stat_columns[] = {"user", "nice",    "system", "idle",	 "iowait",
					   "irq",  "softirq", "steal",	"guest", "guest_nice"};

static void add_cpu_times(struct capture *c, const char *key, struct piece cpu, struct piece line)
{
	char name[64];
	int64_t ticks;

	for (size_t i = 0; i < sizeof(stat_columns) / sizeof(*stat_columns); i++) {
		if (!piece_int(piece_word(&line), &ticks))
			return;
		snprintf(name, sizeof(name), "%.*s.%s_ticks", (int)(cpu.n < 32 ? cpu.n : 32), cpu.p, stat_columns[i]);
		capture_int(c, key, name, ticks);
	}
}

/* From the other lines the first number: the total of "intr" and "softirq", "ctxt", "processes". */
void flatten_stat(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	struct piece rest = {text, length}, line;
	char name[64];

	(void)s;
	while (piece_line(&rest, &line)) {
		struct piece word = piece_word(&line);

		snprintf(name, sizeof(name), "%.*s", (int)(word.n < 32 ? word.n : 32), word.p);
		if (piece_begins(word, "cpu"))
			add_cpu_times(c, key, word, line);
		else if (word.n)
			capture_value(c, key, name, piece_word(&line));
	}
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=123". Only totals are kept, because averages follow
 * from them. */
void flatten_psi(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	struct piece rest = {text, length}, line, word;
	char name[64];

	(void)s;
	while (piece_line(&rest, &line)) {
		struct piece kind = piece_word(&line);

		snprintf(name, sizeof(name), "%.*s_us", (int)(kind.n < 32 ? kind.n : 32), kind.p);
		while ((word = piece_word(&line)).n)
			if (piece_begins(word, "total="))
				capture_value(c, key, name, (struct piece){word.p + 6, word.n - 6});
	}
}

void flatten_modules(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	struct piece rest = {text, length}, line;

	(void)s;
	while (piece_line(&rest, &line)) {
		struct piece name = piece_word(&line);

		if (name.n)
			flatten_pair(c, key, name, piece_word(&line));
	}
}

/* Add a value to the existing ones: console= may be given several times, and all values count. */
static void add_parameter(json_t *all, const struct boot_argument_text *a)
{
	char key[256], clean[VALUES_MAX], values[VALUES_MAX];
	const char *before;

	text_clean(a->name, a->name_length, key, sizeof(key));
	text_clean(a->value, a->value_length, clean, sizeof(clean));
	before = json_string_value(json_object_get(all, key));
	if (before && snprintf(values, sizeof(values), "%s %s", before, clean) < (int)sizeof(values))
		json_object_set_new(all, key, json_string(values));
	else if (!before)
		json_object_set_new(all, key, json_string(clean));
}

void flatten_parameters(struct capture *c, const struct state_source *s, const char *key, const char *text,
			size_t length)
{
	char *line = or_abort(strndup(text, length));
	const char *rest = line, *name;
	json_t *all = json_object(), *value;
	struct boot_argument_text a;

	(void)s;
	while (boot_arguments_next(&rest, &a))
		add_parameter(all, &a);
	json_object_foreach (all, name, value)
		capture_text(c, key, name, json_string_value(value), json_string_length(value));
	json_decref(all);
	free(line);
}

/* "Max locked memory 8388608 8388608 bytes": columns are found by position, because names contain blanks. */
void flatten_limits(struct capture *c, const struct state_source *s, const char *key, const char *text, size_t length)
{
	struct piece rest = {text, length}, line;

	(void)s;
	piece_line(&rest, &line);
	while (piece_line(&rest, &line)) {
		struct piece name, soft, hard;
		char full[64], value[64];

		if (line.n < 26 || !piece_begins(line, "Max "))
			continue;
		name = piece_trim((struct piece){line.p + 4, 22});
		line = (struct piece){line.p + 26, line.n - 26};
		soft = piece_word(&line);
		hard = piece_word(&line);
		snprintf(full, sizeof(full), "%.*s", (int)name.n, name.p);
		for (char *p = full; (p = strchr(p, ' '));)
			*p = '_';
		snprintf(value, sizeof(value), "%.*s %.*s", (int)soft.n, soft.p, (int)hard.n, hard.p);
		capture_text(c, key, full, value, strlen(value));
	}
}

/* "  eth0: 2412 19 0 0 0 0 0 0 1590 15 0 0 0 0 0 0": net/core/net-procfs.c */
void flatten_interfaces(struct capture *c, const struct state_source *s, const char *key, const char *text,
			size_t length)
{
	static const char *const columns[] = {"rx_bytes", "rx_packets",	   "rx_errors",	    "rx_dropped",
					      "rx_fifo",  "rx_frame",	   "rx_compressed", "rx_multicast",
					      "tx_bytes", "tx_packets",	   "tx_errors",	    "tx_dropped",
					      "tx_fifo",  "tx_collisions", "tx_carrier",    "tx_compressed"};
	struct piece rest = {text, length}, line;

	(void)s;
	while (piece_line(&rest, &line)) {
		struct piece name = piece_trim(piece_cut(&line, ':'));

		for (size_t i = 0; line.n && i < sizeof(columns) / sizeof(*columns); i++) {
			char full[128];

			snprintf(full, sizeof(full), "%.*s.counter.%s", (int)(name.n < 64 ? name.n : 64), name.p,
				 columns[i]);
			capture_value(c, key, full, piece_word(&line));
		}
	}
}
