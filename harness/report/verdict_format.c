#include "report/verdict_format.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "report/escape.h"

/* --- words --- */

#define OVERALL "overall"

static const char *const result_words[VERDICT_RESULTS] = {[VERDICT_PASS] = "pass",
							  [VERDICT_FAIL] = "fail",
							  [VERDICT_UNDECIDED] = "undecided",
							  [VERDICT_IMPOSSIBLE] = "not possible here",
							  [VERDICT_ERROR] = "error"};

static bool is_open(enum verdict_result result)
{
	return result == VERDICT_UNDECIDED || result == VERDICT_IMPOSSIBLE;
}

/* A text on one line, in which nothing has a meaning for TAP. Readers take also U+0085, U+2028 and U+2029 for ends of lines. */
static void put_line(FILE *out, const char *text)
{
	for (const char *c = text_shown(text); *c; c++)
		fputc(*c == '#' ? '=' : *c, out);
}

/* A name of letters, digits, '-', '_' and `also`; all else becomes one '-'. */
static void put_word(FILE *out, const char *text, const char *also)
{
	bool gap = false, any = false;

	for (; *text; text++) {
		bool plain = isalnum((unsigned char)*text) || *text == '-' || *text == '_' || strchr(also, *text);

		if (plain && gap && any)
			fputc('-', out);
		if (plain)
			fputc(*text, out);
		any |= plain;
		gap = !plain;
	}
	if (!any)
		fputc('-', out);
}

/* The verdicts of a group, from `first` on. */
static size_t group_end(const struct verdict_list *l, size_t first)
{
	size_t i = first + 1;

	while (i < l->count && !strcmp(l->all[i].group, l->all[first].group))
		i++;
	return i;
}

static size_t count_groups(const struct verdict_list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->count; i = group_end(l, i))
		n++;
	return n;
}

/* Of a group: a failure is one of the whole, then an error; it is open only if all that counts is. */
static enum verdict_result group_result(const struct verdict_list *l, size_t first)
{
	enum verdict_result result = VERDICT_UNDECIDED;

	for (size_t i = first; i < group_end(l, first); i++) {
		enum verdict_result one = l->all[i].result;

		if (one == VERDICT_FAIL)
			return one;
		if (one == VERDICT_ERROR || (one == VERDICT_PASS && result != VERDICT_ERROR))
			result = one;
	}
	return result;
}

/* --- TAP and KTAP --- */

/* "ok 2 - p50", "ok 3 - p99.9 # SKIP undecided: …": an open verdict is skipped, which is neither a pass nor a failure. */
static void put_tap(FILE *out, const char *indent, size_t number, const char *dash, const char *group, const char *name,
		    enum verdict_result result, const char *why)
{
	fprintf(out, "%s%s %zu %s", indent, result == VERDICT_FAIL || result == VERDICT_ERROR ? "not ok" : "ok", number,
		dash);
	put_line(out, group);
	fputs(*group ? " " : "", out);
	put_line(out, name);
	if (is_open(result)) {
		fprintf(out, " # SKIP %s%s", result_words[result], *why ? ": " : "");
		put_line(out, why);
	}
	fputc('\n', out);
}

static void put_diagnostics(FILE *out, const char *indent, const char *name, const char *text)
{
	if (!*text)
		return;
	fprintf(out, "%s# ", indent);
	put_line(out, name);
	fputs(": ", out);
	put_line(out, text);
	fputc('\n', out);
}

static void put_numbers_of(FILE *out, const char *indent, const struct verdict *v)
{
	put_diagnostics(out, indent, v->name, v->numbers);
	if (!is_open(v->result))
		put_diagnostics(out, indent, v->name, v->why);
}

static void print_tap(const struct verdict_list *l, FILE *out)
{
	fprintf(out, "TAP version 13\n1..%zu\n", l->count + 1);
	for (size_t i = 0; i < l->count; i++) {
		put_numbers_of(out, "", &l->all[i]);
		put_tap(out, "", i + 1, "- ", l->all[i].group, l->all[i].name, l->all[i].result, l->all[i].why);
	}
	put_diagnostics(out, "", l->suite, l->answer);
	put_tap(out, "", l->count + 1, "- ", "", OVERALL, l->result, "");
}

/* Nested by group: each is a subtest. */
static void print_ktap(const struct verdict_list *l, FILE *out)
{
	size_t group = 0;

	fprintf(out, "KTAP version 1\n1..%zu\n", count_groups(l) + 1);
	for (size_t first = 0; first < l->count; first = group_end(l, first)) {
		fputs("    KTAP version 1\n    # Subtest: ", out);
		put_line(out, l->all[first].group);
		fprintf(out, "\n    1..%zu\n", group_end(l, first) - first);
		for (size_t i = first; i < group_end(l, first); i++) {
			put_numbers_of(out, "    ", &l->all[i]);
			put_tap(out, "    ", i - first + 1, "", "", l->all[i].name, l->all[i].result, l->all[i].why);
		}
		put_tap(out, "", ++group, "", "", l->all[first].group, group_result(l, first), "");
	}
	put_diagnostics(out, "", l->suite, l->answer);
	put_tap(out, "", group + 1, "", "", OVERALL, l->result, "");
}

/* --- JUnit --- */

static size_t count_results(const struct verdict_list *l, enum verdict_result a, enum verdict_result b)
{
	size_t n = l->result == a || l->result == b;

	for (size_t i = 0; i < l->count; i++)
		n += l->all[i].result == a || l->all[i].result == b;
	return n;
}

static void put_junit_case(FILE *out, const char *class, const char *name, enum verdict_result result, const char *why,
			   const char *numbers)
{
	static const char *const elements[VERDICT_RESULTS] = {[VERDICT_FAIL] = "failure",
							      [VERDICT_UNDECIDED] = "skipped",
							      [VERDICT_IMPOSSIBLE] = "skipped",
							      [VERDICT_ERROR] = "error"};

	fputs("    <testcase classname=\"", out);
	escape_html(out, text_shown(class));
	fputs("\" name=\"", out);
	escape_html(out, text_shown(name));
	fputs("\">", out);
	if (elements[result]) {
		fprintf(out, "<%s message=\"%s%s", elements[result], result_words[result], *why ? ": " : "");
		escape_html(out, text_shown(why));
		fputs("\"/>", out);
	}
	if (*numbers) {
		fputs("<system-out>", out);
		escape_html(out, text_shown(numbers));
		fputs("</system-out>", out);
	}
	fputs("</testcase>\n", out);
}

static void print_junit(const struct verdict_list *l, FILE *out)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"", out);
	escape_html(out, text_shown(l->suite));
	fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", l->count + 1,
		count_results(l, VERDICT_FAIL, VERDICT_FAIL), count_results(l, VERDICT_ERROR, VERDICT_ERROR),
		count_results(l, VERDICT_UNDECIDED, VERDICT_IMPOSSIBLE));
	for (const struct verdict *v = l->all; v < l->all + l->count; v++)
		put_junit_case(out, v->group, v->name, v->result, v->why, v->numbers);
	put_junit_case(out, l->suite, OVERALL, l->result, "", l->answer);
	fputs("  </testsuite>\n</testsuites>\n", out);
}

/* --- LAVA --- */

static const char *const lava_results[VERDICT_RESULTS] = {[VERDICT_PASS] = "pass",
							  [VERDICT_FAIL] = "fail",
							  [VERDICT_UNDECIDED] = "skip",
							  [VERDICT_IMPOSSIBLE] = "skip",
							  [VERDICT_ERROR] = "fail"};

static void put_lava_case(FILE *out, const char *suite, const char *group, const char *name, enum verdict_result result)
{
	fputs("<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=", out);
	put_word(out, suite, ".");
	if (*group) {
		fputc('.', out);
		put_word(out, group, ".");
	}
	fputc('.', out);
	put_word(out, name, ".");
	fprintf(out, " RESULT=%s", lava_results[result]);
}

static void print_lava(const struct verdict_list *l, FILE *out)
{
	for (const struct verdict *v = l->all; v < l->all + l->count; v++) {
		put_lava_case(out, l->suite, v->group, v->name, v->result);
		if (!isnan(v->value)) {
			fputs(" UNITS=", out);
			put_word(out, *v->unit ? v->unit : "1", "/");
			fprintf(out, " MEASUREMENT=%.9g", v->value);
		}
		fputs(">\n", out);
	}
	put_lava_case(out, l->suite, "", OVERALL, l->result);
	fputs(">\n", out);
}

/* --- KCIDB --- */

/* DONE: it has measured, but does not say whether the kernel is good. */
static const char *const kcidb_statuses[VERDICT_RESULTS] = {[VERDICT_PASS] = "PASS",
							    [VERDICT_FAIL] = "FAIL",
							    [VERDICT_UNDECIDED] = "DONE",
							    [VERDICT_IMPOSSIBLE] = "SKIP",
							    [VERDICT_ERROR] = "ERROR"};

/* Units without a prefix, to which whoever shows it adds one. */
static json_t *kcidb_number(const struct verdict *v)
{
	static const struct {
		const char *unit, *symbol;
		double factor;
	} units[] = {{"ns", "s", 1e-9}, {"hz", "Hz", 1}, {"bytes", "B", 1}, {"bytes/s", "B/s", 1}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(v->unit, units[i].unit))
			return json_pack("{s:f, s:s, s:s}", "value", v->value * units[i].factor, "unit",
					 units[i].symbol, "prefix", "metric");
	return json_pack("{s:f}", "value", v->value);
}

/* "experiment.point-0.p50": dots separate the parts. */
static char *kcidb_path(const char *suite, const char *group, const char *name)
{
	char *path, *part;
	size_t size;
	FILE *out = or_abort(open_memstream(&path, &size));

	fputs("kblat.", out);
	put_word(out, suite, "");
	if (*group) {
		fputc('.', out);
		put_word(out, group, "");
	}
	fputc('.', out);
	part = fs_path("%s", name);
	for (char *c = part; *c; c++)
		if (*c == '.')
			*c = '_';
	put_word(out, part, "");
	fclose(out);
	free(part);
	return or_abort(path);
}

static void add_kcidb_test(json_t *tests, const struct verdict_list *l, const char *group, const struct verdict *v)
{
	char *path = kcidb_path(l->suite, group, v->name), *id = fs_path("kblat:%s:%s", path, l->started);
	char *build = fs_path("kblat:%s", *l->kernel ? l->kernel : "unknown");
	json_t *test = json_pack("{s:s, s:s, s:s, s:s, s:s}", "build_id", build, "id", id, "origin", "kblat", "path",
				 path, "status", kcidb_statuses[v->result]);

	if (!isnan(v->value) && v->result != VERDICT_IMPOSSIBLE)
		json_object_set_new(test, "number", kcidb_number(v));
	json_object_set_new(test, "misc", json_pack("{s:s, s:s}", "why", v->why, "numbers", v->numbers));
	json_array_append_new(tests, test);
	free(path);
	free(id);
	free(build);
}

static void print_kcidb(const struct verdict_list *l, FILE *out)
{
	struct verdict overall = {
	    .name = (char *)OVERALL, .result = l->result, .why = l->answer, .numbers = (char *)"", .value = NAN};
	json_t *tests = json_array(), *document;

	for (const struct verdict *v = l->all; v < l->all + l->count; v++)
		add_kcidb_test(tests, l, v->group, v);
	add_kcidb_test(tests, l, "", &overall);
	document = json_pack("{s:{s:i, s:i}, s:o}", "version", "major", 5, "minor", 3, "tests", tests);
	json_print(document, out);
	json_decref(document);
}

/* --- tmt --- */

/* What is open is an error, as tmt has no other word for it that is not a pass; what the whole does not depend on, "info".
 */
static const char *tmt_result(const struct verdict *v)
{
	static const char *const results[VERDICT_RESULTS] = {[VERDICT_PASS] = "pass",
							     [VERDICT_FAIL] = "fail",
							     [VERDICT_UNDECIDED] = "error",
							     [VERDICT_IMPOSSIBLE] = "skip",
							     [VERDICT_ERROR] = "error"};

	return v->shown_only && is_open(v->result) ? "info" : results[v->result];
}

/* In double quotes, as YAML and JSON both have them. */
static void put_yaml_text(FILE *out, const char *before, const char *text)
{
	json_t *word = json_stringn_nocheck(text, strlen(text));
	char *quoted = word ? json_dumps(word, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;

	fprintf(out, "%s%s", before, quoted ? quoted : "\"\"");
	free(quoted);
	json_decref(word);
}

static void put_tmt(FILE *out, const char *group, const struct verdict *v)
{
	const char *word = is_open(v->result) ? result_words[v->result] : "", *colon = *word && *v->why ? ": " : "";
	char *note = fs_path("%s%s%s%s%s", word, colon, v->why, *v->numbers ? "; " : "", v->numbers);

	fputs("- name: /", out);
	if (*group) {
		put_word(out, group, ".");
		fputc('/', out);
	}
	put_word(out, v->name, ".");
	fprintf(out, "\n  result: %s\n", tmt_result(v));
	put_yaml_text(out, "  note: ", note);
	fputs("\n  log: []\n", out);
	free(note);
}

static void print_tmt(const struct verdict_list *l, FILE *out)
{
	struct verdict overall = {
	    .name = (char *)OVERALL, .result = l->result, .why = l->answer, .numbers = (char *)""};

	for (const struct verdict *v = l->all; v < l->all + l->count; v++)
		put_tmt(out, v->group, v);
	put_tmt(out, "", &overall);
}

/* --- tables --- */

const struct verdict_format verdict_formats[] = {
    {"ktap", print_ktap}, {"junit", print_junit}, {"lava", print_lava}, {"kcidb", print_kcidb},
    {"tmt", print_tmt},	  {"tap", print_tap},	  {.name = NULL},
};

int verdict_format_find(const char *name, const struct verdict_format **format, struct err *e)
{
	*format = NULL;
	for (const struct verdict_format *f = verdict_formats; name && f->name; f++)
		if (!strcmp(f->name, name))
			*format = f;
	if (!name || *format)
		return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, "--format", NULL, "must be " VERDICT_FORMAT_NAMES ", not '%s'", name);
}

void verdict_format_print(const struct verdict_format *f, struct verdict_list list)
{
	f->print(&list, stdout);
	verdict_list_free(&list);
}

/* What others take our statuses for. */
static const struct exits {
	const char *name;
	int no, undecided, impossible, other;
} exits[] = {
    {"kselftest", 1, 4, 4, 1},
    {"tmt", 1, 2, 2, 2},
    {"automake", 1, 77, 77, 99},
    {"git-bisect", 1, 125, 128, 128},
};

static const struct exits *exits_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(exits) / sizeof(exits[0]); i++)
		if (!strcmp(exits[i].name, name))
			return &exits[i];
	return NULL;
}

int verdict_exit_find(const char *name, struct err *e)
{
	if (!name || !strcmp(name, "default") || exits_of(name))
		return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, "--exit", NULL, "must be " VERDICT_EXIT_NAMES ", not '%s'", name);
}

int verdict_exit_status(const char *whose, enum status status)
{
	const struct exits *x = exits_of(whose);

	if (!x || status == STATUS_OK)
		return (int)status;
	return status == STATUS_NO	     ? x->no
	       : status == STATUS_UNDECIDED  ? x->undecided
	       : status == STATUS_IMPOSSIBLE ? x->impossible
					     : x->other;
}
