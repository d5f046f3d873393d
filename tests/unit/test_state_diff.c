/* How two states differ: classes, order, meanings, and what is under test. */
#include <errno.h>
#include <jansson.h>

#include "common/err.h"
#include "common/fs.h"
#include "files/state/diff.h"
#include "files/state/load.h"
#include "files/state/sources.h"
#include "tap.h"

static const char *const none[] = {NULL};

static json_t *state(const char *keys)
{
	char *text = fs_path("{\"schema\": 1, \"cost_ns\": 1, \"keys\": {%s}}", keys);
	json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	free(text);
	return doc;
}

/* The differences of two sets of keys, written as JSON members. */
static json_t *diff(const char *a_keys, const char *b_keys, const char *const *varying)
{
	json_t *a = state(a_keys), *b = state(b_keys), *differences = NULL;
	struct err e = ERR_INIT;

	is_int(state_diff(a, b, varying, &differences, &e), 0, "compare %s and %s %s", a_keys, b_keys, e.text);
	json_decref(a);
	json_decref(b);
	return differences;
}

static const char *text(const json_t *differences, size_t i, const char *name)
{
	return json_string_value(json_object_get(json_array_get(differences, i), name));
}

static void test_order(void)
{
	json_t *d = diff("\"irq.24.affinity\": \"0\", \"identity.hostname\": \"a\", \"idle.governor\": \"menu\", "
			 "\"cpu.online\": \"0-3\", \"load.stat.ctxt\": 5, \"clock.source\": \"tsc\"",
			 "\"irq.24.affinity\": \"1\", \"identity.hostname\": \"b\", \"idle.governor\": \"teo\", "
			 "\"cpu.online\": \"0-1\", \"load.stat.ctxt\": 9, \"clock.source\": \"tsc\"",
			 none);

	is_int((long long)json_array_size(d), 4, "what is equal and what moves by itself is left out");
	is_str(text(d, 0, "key"), "cpu.online", "fatal ones first, by key");
	is_str(text(d, 1, "key"), "idle.governor", "then the next");
	is_str(text(d, 1, "a"), "menu", "from");
	is_str(text(d, 1, "b"), "teo", "to");
	is_str(text(d, 1, "group"), "idle", "its group");
	contains(text(d, 1, "meaning"), "wake-up", "what it means");
	is_str(text(d, 2, "class"), "warn", "then what may matter");
	is_str(text(d, 3, "class"), "informative", "then what is good to know");
	is_int((long long)state_diff_fatal(d), 2, "two forbid a comparison");
	json_decref(d);
}

static void test_one_sided(void)
{
	json_t *d = diff("\"idle.*.*.name\": \"!ENOENT\", \"idle.driver\": \"none\"",
			 "\"idle.cpu0.state0.name\": \"POLL\", \"idle.driver\": \"!EACCES\"", none);

	is_int((long long)json_array_size(d), 2, "a pattern that matched nothing is not told beside what did");
	is_str(text(d, 0, "key"), "idle.cpu0.state0.name", "a key of one side");
	ok(json_is_null(json_object_get(json_array_get(d, 0), "a")), "is null on the other");
	is_str(text(d, 1, "class"), "warn", "what one side could not see is a doubt, not fatal");
	json_decref(d);
}

static void test_varying(void)
{
	static const char *const kernel[] = {"kernel", NULL}, *const group[] = {"idle", NULL},
				 *const pattern[] = {"idle.cpu*.state*.disable", "clock.source", NULL};
	const char *a = "\"identity.kernel\": \"6.1\", \"boot.isolcpus\": \"1\", \"idle.governor\": \"menu\", "
			"\"idle.cpu0.state1.disable\": 0, \"mitigation.retbleed\": \"!ENOENT\"";
	const char *b = "\"identity.kernel\": \"6.12\", \"boot.isolcpus\": \"2\", \"idle.governor\": \"teo\", "
			"\"idle.cpu0.state1.disable\": 1, \"mitigation.retbleed\": \"Vulnerable\"";
	json_t *d = diff(a, b, none);

	is_int((long long)state_diff_fatal(d), 5, "all are fatal");
	json_decref(d);
	d = diff(a, b, kernel);
	is_int((long long)state_diff_fatal(d), 3, "the kernel's release and what only one knows belong to the kernel");
	is_str(text(d, 3, "key"), "identity.kernel", "what is under test comes last of its class");
	ok(json_is_true(json_object_get(json_array_get(d, 3), "varying")), "and is marked");
	json_decref(d);
	d = diff(a, b, group);
	is_int((long long)state_diff_fatal(d), 3, "a group");
	json_decref(d);
	d = diff(a, b, pattern);
	is_int((long long)state_diff_fatal(d), 4, "patterns, and a key that does not differ");
	json_decref(d);
	d = diff("\"mitigation.retbleed\": \"Mitigation: IBRS\"", "\"mitigation.retbleed\": \"Vulnerable\"", kernel);
	is_int((long long)state_diff_fatal(d), 1, "a mitigation that both know is a setting, not the kernel");
	json_decref(d);
}

static void test_bad(void)
{
	static const char *const wrong[] = {"kernl", NULL};
	json_t *good = state("\"idle.driver\": \"none\""), *old = json_pack("{s:i, s:{}}", "schema", 2, "keys"),
	       *d = NULL;
	struct err e = ERR_INIT;

	is_int(state_diff(good, good, wrong, &d, &e), -EINVAL, "a name that means nothing");
	contains(e.text, "did you mean 'kernel'", "is told with what is near");
	is_int(e.status, STATUS_USAGE, "as bad input");
	err_clear(&e);
	is_int(state_diff(good, old, none, &d, &e), -EINVAL, "another schema");
	contains(e.text, "newer kblat", "is told");
	err_clear(&e);
	is_int(state_diff(good, NULL, none, &d, &e), -EINVAL, "no state at all");
	ok(!d, "no result");
	json_decref(good);
	json_decref(old);
}

/* Volatile keys come only when asked for. */
static void test_all(void)
{
	json_t *a = state("\"load.stat.ctxt\": 5"), *b = state("\"load.stat.ctxt\": 9"), *d = NULL;
	struct err e = ERR_INIT;

	is_int(state_diff_all(a, b, NULL, &d, &e), 0, "compare with what moves by itself");
	is_str(text(d, 0, "class"), "volatile", "its class");
	is_int((long long)state_diff_fatal(d), 0, "which is never fatal");
	json_decref(a);
	json_decref(b);
	json_decref(d);
}

/* Whoever adds a row that can forbid a comparison says what it means. */
static void test_meanings(void)
{
	int mute = 0;

	for (const struct state_source *s = state_sources; s->group; s++) {
		char *key = fs_path("%s.%s", s->group, s->key);

		if (s->class <= STATE_WARN && !*latency_effect(key) && ++mute)
			note("%s", key);
		free(key);
	}
	is_int(mute, 0, "every fatal key and every key that may matter has a meaning");
	is_str(latency_effect("no.such"), "", "an unknown key has none");
}

static void put(const char *base, const char *path, const char *content)
{
	char *full = fs_path("%s%s", base, path), *slash = strrchr(full, '/');
	struct err e = ERR_INIT;

	*slash = '\0';
	fs_mkdirs(full, &e);
	*slash = '/';
	tap_file(full, content, strlen(content));
	free(full);
}

static void loads(const char *base, const char *path, const char *want)
{
	char *full = fs_path("%s%s", base, path);
	struct err e = ERR_INIT;
	json_t *doc = state_load(full, &e);

	if (*want == '!')
		contains(e.text, want + 1, "%s is refused", path);
	else
		is_str(json_string_value(json_object_get(json_object_get(doc, "keys"), "x.y")), want, "%s is found",
		       path);
	json_decref(doc);
	free(full);
}

static void test_load(void)
{
	char *base = tap_dir();
	const char *one = "{\"schema\": 1, \"keys\": {\"x.y\": \"1\"}}",
		   *two = "{\"schema\": 1, \"keys\": {\"x.y\": \"2\"}}";

	put(base, "/run/state/h1/before/state.json", one);
	put(base, "/run/state/h1/after/state.json", two);
	put(base, "/runs/state/h1/before/state.json", one);
	put(base, "/runs/state/h2/before/state.json", two);
	put(base, "/empty/file", "");
	put(base, "/floating/state.json", "{\"schema\": 1, \"keys\": {\"x.y\": 1.5}}");
	loads(base, "/run", "1");
	loads(base, "/run/state/h1", "1");
	loads(base, "/run/state/h1/after", "2");
	loads(base, "/run/state/h1/after/state.json", "2");
	loads(base, "/runs", "!2 hosts; name one");
	loads(base, "/runs/state/h2", "2");
	loads(base, "/empty", "!no state.json");
	loads(base, "/empty/file", "!JSON");
	loads(base, "/none", "!no such file");
	loads(base, "/floating", "!neither a string nor an integer");
	tap_dir_remove(base);
}

int main(void)
{
	test_order();
	test_one_sided();
	test_varying();
	test_bad();
	test_all();
	test_meanings();
	test_load();
	return done_testing();
}
