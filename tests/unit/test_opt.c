#include "common/opt.h"

#include <errno.h>
#include <stdbool.h>

#include "common/err.h"
#include "tap.h"

struct settings {
	int64_t count, pause, size, rate, any, nice;
	bool inline_data;
	int qp;
	char cpu[OPT_STR_MAX], device[OPT_STR_MAX], lost[OPT_STR_MAX], few[OPT_STR_MAX];
	char guard;
};

static const char *const qps[] = {"rc", "uc", "ud", NULL};

#define AT(field) offsetof(struct settings, field)

static const struct opt table[] = {
    {"count", OPT_INT, AT(count), "1e3", 1, 4096, NULL, "messages"},
    {"pause", OPT_TIME, AT(pause), "10us", 0, INT64_C(60000000000), NULL, "pause between bursts"},
    {"size", OPT_BYTES, AT(size), "32B", 1, 1 << 30, NULL, "payload of a message"},
    {"rate", OPT_RATE, AT(rate), "25kHz", 1, INT64_MAX, NULL, "messages a second"},
    {"cpu", OPT_CPU, AT(cpu), "auto", 0, 0, NULL, "where it runs"},
    {"any", OPT_INT, AT(any), "0", 0, 0, NULL, "anything from zero up"},
    {"inline", OPT_BOOL, AT(inline_data), "yes", 0, 0, NULL, "payload in the request"},
    {"qp", OPT_ENUM, AT(qp), "ud", 0, 0, qps, "kind of queue pair"},
    {"device", OPT_STR, AT(device), "", 0, 0, NULL, "name of the device"},
    {"lost", OPT_LIST, AT(lost), "", 0, 0, NULL, "messages that are lost"},
    {"few", OPT_LIST, AT(few), "3", 2, 20, NULL, "a list within bounds"},
    {"nice", OPT_INT, AT(nice), "-5", -20, 0, NULL, "may be negative"},
    {NULL, OPT_INT, 0, NULL, 0, 0, NULL, NULL},
};

static const struct opt *row(const char *name)
{
	return opt_find(table, name);
}

static void test_find_and_key(void)
{
	static const char *const keys[] = {"count",  "pause_ns", "size_bytes", "rate_hz", "cpu", "any",
					   "inline", "qp",	 "device",     "lost",	  "few", "nice"};
	char buf[64];

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		is_str(opt_key(&table[i], buf, sizeof(buf)), keys[i], "key of '%s'", table[i].name);
	ok(row("size") == &table[2], "a row is found by its name");
	ok(!row("siz") && !row("size_bytes") && !row(""), "and only by its whole name");
}

static void test_parse(void)
{
	static const struct {
		const char *name, *text, *json, *again;
	} rows[] = {
	    {"count", "32", "32", "32"},
	    {"count", "4e3", "4000", "4000"},
	    {"pause", "1.5us", "1500", "1500ns"},
	    {"pause", "0", "0", "0ns"},
	    {"size", "64KiB", "65536", "64KiB"},
	    {"rate", "1MHz", "1000000", "1MHz"},
	    {"cpu", "3", "3", "3"},
	    {"cpu", "AUTO", "\"auto\"", "auto"},
	    {"any", "9223372036854775807", "9223372036854775807", "9223372036854775807"},
	    {"inline", "yes", "true", "yes"},
	    {"inline", "True", "true", "yes"},
	    {"inline", "no", "false", "no"},
	    {"inline", "false", "false", "no"},
	    {"qp", "uc", "\"uc\"", "uc"},
	    {"device", "rxe0", "\"rxe0\"", "rxe0"},
	    {"device", "", "\"\"", ""},
	    {"lost", "5,10-20", "\"5,10-20\"", "5,10-20"},
	    {"lost", "1000000-9000000", "\"1000000-9000000\"", "1000000-9000000"},
	    {"lost", "", "\"\"", ""},
	    {"lost", "0-0,7-7", "\"0-0,7-7\"", "0-0,7-7"},
	    {"few", "2,10-20", "\"2,10-20\"", "2,10-20"},
	    {"nice", "-20", "-20", "-20"},
	    {"cpu", "0", "0", "0"},
	    {"cpu", "8191", "8191", "8191"},
	    {"cpu", "2-5,8", "\"2-5,8\"", "2-5,8"},
	    {"cpu", "near", "\"near\"", "near"},
	    {"cpu", "near:mlx5_1", "\"near:mlx5_1\"", "near:mlx5_1"},
	    {"cpu", "cpuset:lab/real-time-0", "\"cpuset:lab/real-time-0\"", "cpuset:lab/real-time-0"},
	    {"qp", "rc", "\"rc\"", "rc"},
	    {"device", "with a blank", "\"with a blank\"", "with a blank"},
	};
	char why[200] = "", buf[OPT_STR_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct opt *o = row(rows[i].name);
		json_t *v = opt_parse(o, rows[i].text, why, sizeof(why));
		char *json = v ? json_dumps(v, JSON_ENCODE_ANY) : NULL;

		is_str(json, rows[i].json, "%s=%s", rows[i].name, rows[i].text);
		is_str(v ? opt_text(o, v, buf, sizeof(buf)) : why, rows[i].again, "%s=%s as a user would write it",
		       rows[i].name, rows[i].text);
		free(json);
		json_decref(v);
	}
}

static void test_refused(void)
{
	static const struct {
		const char *name, *text, *why;
	} rows[] = {
	    {"count", "ten", "must be a whole number such as 32, not 'ten'"},
	    {"count", "", "must be a whole number such as 32, not ''"},
	    {"count", "1.5", "must be a whole number such as 32, not '1.5', which is not a whole number"},
	    {"count", "0", "is 0, below its minimum of 1"},
	    {"count", "5000", "is 5000, above its maximum of 4096"},
	    {"count", "1e30", "must be a whole number such as 32, not '1e30', which does not fit in 64 bits"},
	    {"pause", "ten", "must be a time such as 10us or 1ms, not 'ten'"},
	    {"pause", "10KiB", "must be a time such as 10us or 1ms, not '10KiB'"},
	    {"pause", "0.5ns",
	     "must be a time such as 10us or 1ms, not '0.5ns', which is not a whole number of nanoseconds"},
	    {"pause", "-1us", "is -1us, below its minimum of 0ns"},
	    {"pause", "2min", "is 2min, above its maximum of 1min"},
	    {"size", "64K", "which could mean powers of 1000 or of 1024; write"},
	    {"size", "2GiB", "is 2GiB, above its maximum of 1GiB"},
	    {"rate", "10us", "must be a rate such as 100Hz or 25kHz, not '10us'"},
	    {"cpu", "-1", "must be a CPU's number, a list of them, auto, near, near:DEVICE or cpuset:NAME, not '-1'"},
	    {"cpu", "3-0",
	     "must be a CPU's number, a list of them, auto, near, near:DEVICE or cpuset:NAME, not '3-0': "},
	    {"cpu", "0-9000",
	     "must be a CPU's number, a list of them, auto, near, near:DEVICE or cpuset:NAME, not '0-9000': "},
	    {"cpu", "", "must be a CPU's number, a list of them, auto, near, near:DEVICE or cpuset:NAME, not ''"},
	    {"cpu",
	     "near:", "must be a CPU's number, a list of them, auto, near, near:DEVICE or cpuset:NAME, not 'near:'"},
	    {"cpu", "nearby",
	     "must be a CPU's number, a list of them, auto, near, near:DEVICE or cpuset:NAME, not 'nearby'"},
	    {"cpu", "cpuset:",
	     "must be a CPU's number, a list of them, auto, near, near:DEVICE or cpuset:NAME, not 'cpuset:'"},
	    {"cpu", "cpuset:a\nb", "contains a control character"},
	    {"cpu", "8192", "is 8192, but CPUs are numbered 0 to 8191"},
	    {"any", "-1", "is -1, below its minimum of 0"},
	    {"inline", "maybe", "must be yes or no, not 'maybe'"},
	    {"inline", "1", "must be yes or no, not '1'"},
	    {"qp", "RC", "must be one of rc, uc, ud (did you mean 'rc'?)"},
	    {"qp", "xrc", "must be one of rc, uc, ud (did you mean 'rc'?)"},
	    {"qp", "dct", "must be one of rc, uc, ud, not 'dct'"},
	    {"qp", "", "must be one of rc, uc, ud, not ''"},
	    {"device", "a\nb", "contains a control character"},
	    {"device", "\xff\xfe", "is not UTF-8 text"},
	    {"lost", "5,", "must be a list such as 5,10-20, not '5,'"},
	    {"lost", ",5", "must be a list"},
	    {"lost", "a", "must be a list"},
	    {"lost", "1-", "must be a list"},
	    {"lost", "1-2-3", "must be a list"},
	    {"lost", "-1", "must be a list"},
	    {"lost", "99999999999999999999", "must be a list"},
	    {"few", "1", "is 1, below its minimum of 2"},
	    {"few", "5-21", "is 21, above its maximum of 20"},
	    {"nice", "1", "is 1, above its maximum of 0"},
	    {"nice", "-21", "is -21, below its minimum of -20"},
	    {"lost", "5-0", "runs backwards"},
	    {"lost", "20-10", "has the range 20-10, which runs backwards"},
	};
	char why[200], longer[OPT_STR_MAX + 1];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		why[0] = '\0';
		ok(!opt_parse(row(rows[i].name), rows[i].text, why, sizeof(why)), "%s: row %zu is refused",
		   rows[i].name, i);
		contains(why, rows[i].why, "%s: row %zu: why", rows[i].name, i);
	}
	memset(longer, 'x', OPT_STR_MAX);
	longer[OPT_STR_MAX] = '\0';
	ok(!opt_parse(row("device"), longer, why, sizeof(why)), "a text too long for the settings");
	is_str(why, "is 256 bytes long; the maximum is 255", "a text too long: why");
	ok(!opt_parse(row("count"), "x", NULL, 0), "nobody has to ask why");
}

static json_t *defaults(void)
{
	json_t *params = json_object();
	char key[64];

	for (const struct opt *o = table; o->name; o++)
		json_object_set_new(params, opt_key(o, key, sizeof(key)), opt_default(o));
	return params;
}

static void test_load(void)
{
	struct settings s;
	struct err e = ERR_INIT;
	json_t *params = defaults();

	memset(&s, 0x55, sizeof(s));
	json_object_set_new(params, "of_another_table", json_integer(1));
	is_int(opt_load(table, params, &s, &e), 0, "the defaults load");
	ok(s.count == 1000 && s.pause == 10000 && s.size == 32 && s.rate == 25000 && s.any == 0, "numbers");
	is_str(s.cpu, "auto", "a word");
	ok(s.inline_data, "a truth");
	is_int(s.qp, 2, "a choice is its index");
	is_str(s.device, "", "a text");
	is_int(s.guard, 0x55, "and nothing else is written");

	json_object_set_new(params, "cpu", json_integer(5));
	json_object_set_new(params, "lost", json_string("1-3"));
	opt_load(table, params, &s, &e);
	is_str(s.cpu, "5", "a CPU");
	is_str(s.lost, "1-3", "a list");
	json_decref(params);
}

static void test_load_hostile(void)
{
	char longer[OPT_STR_MAX + 1];
	struct {
		const char *key;
		json_t *value;
		const char *why;
	} rows[] = {
	    {"count", NULL, "the parameter 'count' is missing"},
	    {"count", json_integer(0), "'count' is 0, below its minimum of 1"},
	    {"count", json_integer(4097), "above its maximum"},
	    {"count", json_string("5"), "'count' is of the wrong JSON type"},
	    {"count", json_real(5), "wrong JSON type"},
	    {"count", json_null(), "wrong JSON type"},
	    {"pause_ns", json_integer(-1), "'pause_ns' is -1ns, below"},
	    {"size_bytes", json_array(), "'size_bytes' is of the wrong JSON type"},
	    {"any", json_integer(INT64_MIN), "below its minimum of 0"},
	    {"cpu", json_integer(-1), "CPUs are numbered"},
	    {"cpu", json_integer(INT64_MAX), "CPUs are numbered"},
	    {"cpu", json_string("far"), "'cpu' must be a CPU's number, a list of them"},
	    {"inline", json_integer(1), "wrong JSON type"},
	    {"qp", json_string("xx"), "must be one of"},
	    {"qp", json_stringn("rc\0x", 4), "'qp' holds a NUL"},
	    {"device", json_stringn("a\0b", 3), "holds a NUL"},
	    {"device", json_string("a\x1b"), "contains a control character"},
	    {"device", json_true(), "wrong JSON type"},
	    {"lost", json_string("5-"), "must be a list"},
	    {"lost", NULL, "'lost' is missing"},
	};
	struct settings s, before;
	struct err e = ERR_INIT;
	json_t *params;

	memset(&s, 0x55, sizeof(s));
	before = s;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		params = defaults();
		if (rows[i].value)
			json_object_set_new(params, rows[i].key, rows[i].value);
		else
			json_object_del(params, rows[i].key);
		err_clear(&e);
		is_int(opt_load(table, params, &s, &e), -EINVAL, "row %zu is refused", i);
		contains(e.text, rows[i].why, "row %zu: why", i);
		is_int(e.status, STATUS_USAGE, "row %zu: status", i);
		json_decref(params);
	}
	params = defaults();
	memset(longer, 'x', OPT_STR_MAX);
	longer[OPT_STR_MAX] = '\0';
	json_object_set_new(params, "device", json_string(longer));
	is_int(opt_load(table, params, &s, NULL), -EINVAL, "a text too long for its field");
	json_decref(params);
	is_int(opt_load(table, NULL, &s, NULL), -EINVAL, "no parameters at all");
	ok(!memcmp(&s, &before, sizeof(s)), "and nothing was ever written");
}

static void test_help(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	opt_help(table, out);
	fclose(out);
	contains(text, "  size=BYTES      payload of a message (default 32B, 1B..1GiB)\n", "a size");
	contains(text, "  pause=TIME      pause between bursts (default 10us, 0ns..1min)\n", "a time");
	contains(text, "  rate=RATE       messages a second (default 25kHz, at least 1Hz)\n", "no upper end");
	contains(text, "  qp=rc|uc|ud     kind of queue pair (default ud)\n", "choices");
	contains(text, "  cpu=CPUS        where it runs (default auto)\n", "the longest sets the width");
	contains(text, "  few=LIST        a list within bounds (default 3)\n", "a list shows no range");
	contains(text, "  device=TEXT     name of the device (default none)\n", "an empty default");
	free(text);
}

int main(void)
{
	test_find_and_key();
	test_parse();
	test_refused();
	test_load();
	test_load_hostile();
	test_help();
	return done_testing();
}
