#include "report/verdict_format.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/clean_stream.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sha256.h"
#include "common/text.h"
#include "files/rundir/sealed.h"
#include "judge/analysis/summary.h"
#include "judge/claims/claim_verdict.h"
#include "judge/compare/compare_point.h"
#include "judge/compare/compare_verdict.h"
#include "judge/compare/comparison.h"
#include "report/escape.h"

/* --- verdicts of any kind as one list --- */

enum verdict_result verdict_of_status(enum status status)
{
	switch (status) {
	case STATUS_OK:
		return VERDICT_PASS;
	case STATUS_NO:
		return VERDICT_FAIL;
	case STATUS_UNDECIDED:
		return VERDICT_UNDECIDED;
	case STATUS_IMPOSSIBLE:
		return VERDICT_IMPOSSIBLE;
	default:
		return VERDICT_ERROR;
	}
}

void verdict_text(char **text, const char *to)
{
	char *copy = fs_path("%s", to ? to : "");

	free(*text);
	*text = copy;
}

struct verdict_list verdict_list_make(const char *suite, enum status status, const char *answer)
{
	struct verdict_list l = {.result = verdict_of_status(status)};

	verdict_text(&l.suite, suite && *suite ? suite : "kblat");
	verdict_text(&l.kernel, "");
	verdict_text(&l.of, "");
	verdict_text(&l.answer, answer);
	return l;
}

static void verdict_list_free(struct verdict_list *l)
{
	for (struct verdict *v = l->all; v < l->all + l->count; v++) {
		free(v->group);
		free(v->name);
		free(v->why);
		free(v->numbers);
	}
	free(l->all);
	free(l->suite);
	free(l->kernel);
	free(l->of);
	free(l->answer);
	*l = (struct verdict_list){.all = NULL};
}

void verdict_list_is_of(struct verdict_list *l, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *of = fs_path("%s %s", l->of, slash ? slash + 1 : path);

	free(l->of);
	l->of = of;
}

/* A kernel about which all runs agree. */
static void list_add_run(struct verdict_list *l, const struct run *run, bool first)
{
	struct err ignored = ERR_INIT;
	struct sealed_hosts h;
	bool known = !sealed_hosts_read(run, &h, &ignored) && strcmp(h.kernel, SEALED_UNKNOWN);

	verdict_list_is_of(l, run->path);
	if (first && known)
		verdict_text(&l->kernel, h.kernel);
	else if (!known || strcmp(l->kernel, h.kernel))
		verdict_text(&l->kernel, "");
	sealed_hosts_free(&h);
}

struct verdict *verdict_list_add(struct verdict_list *l, const char *group, const char *name,
				 enum verdict_result result)
{
	struct verdict *v;

	l->all = grow_or_abort(l->all, l->count, sizeof(*l->all));
	v = &l->all[l->count++];
	*v = (struct verdict){.result = result, .value = NAN, .unit = ""};
	verdict_text(&v->group, group);
	verdict_text(&v->name, name);
	verdict_text(&v->why, "");
	verdict_text(&v->numbers, "");
	return v;
}

/* --- of a comparison --- */

static enum verdict_result result_of_quantity(enum compare_verdict verdict)
{
	static const enum verdict_result results[COMPARE_VERDICTS] = {[COMPARE_REGRESSION] = VERDICT_FAIL,
								      [COMPARE_IMPROVEMENT] = VERDICT_PASS,
								      [COMPARE_EQUIVALENT] = VERDICT_PASS,
								      [COMPARE_UNDECIDED] = VERDICT_UNDECIDED};

	return results[verdict];
}

/* An end of an interval that nothing bounds is no number. */
static const char *end_text(double end, char *buf, size_t size)
{
	snprintf(buf, size, "%+.3g", end);
	return isnan(end) ? "unbounded" : buf;
}

static char *quantity_numbers(const struct comparison *c, const struct comparison_quantity *q)
{
	const char *unit = comparison_is_share(q) ? "percentage points" : "%";
	char effect[32], low[32], high[32];

	return fs_path("NEW %.6g, BASE %.6g %s; %s %s (%.3g %% interval %s to %s); margin %.3g %s", q->level[ARM_WITH],
		       q->level[ARM_BASE], q->unit, end_text(comparison_shown(q, &q->effect), effect, sizeof(effect)),
		       unit, comparison_confidence(c), end_text(comparison_shown(q, &q->low), low, sizeof(low)),
		       end_text(comparison_shown(q, &q->high), high, sizeof(high)), comparison_shown(q, &q->margin),
		       unit);
}

static const char *quantity_why(const struct comparison_quantity *q)
{
	if (q->verdict != COMPARE_UNDECIDED)
		return compare_verdicts[q->verdict];
	return q->decides ? "it may have changed by more than the margin"
			  : "it may have changed by more than the margin, but does not decide";
}

static void add_quantity_verdict(struct verdict_list *l, const char *group, const struct comparison *c,
				 const struct comparison_quantity *q)
{
	struct verdict *v = verdict_list_add(l, group, compare_quantity_label(q->key), result_of_quantity(q->verdict));

	free(v->numbers);
	v->numbers = quantity_numbers(c, q);
	verdict_text(&v->why, quantity_why(q));
	v->value = q->level[ARM_WITH];
	v->unit = q->unit;
	v->shown_only = !q->decides;
}

static void add_point_verdicts(struct verdict_list *l, const struct comparison *c, const struct comparison_point *p)
{
	char *group = fs_path("point %" JSON_INTEGER_FORMAT "%s%s", p->id, *p->label ? ": " : "", p->label);

	for (size_t i = 0; i < p->quantity_count; i++)
		add_quantity_verdict(l, group, c, &p->quantities[i]);
	for (size_t i = 0; i < p->missing_count; i++) {
		struct verdict *v =
		    verdict_list_add(l, group, compare_quantity_label(p->missing[i].key), VERDICT_UNDECIDED);

		verdict_text(&v->why, p->missing[i].why);
		v->shown_only = !p->missing[i].decides;
	}
	free(group);
}

struct verdict_list verdict_list_of_comparison(const struct comparison *c)
{
	struct verdict_list l = verdict_list_make(c->experiment, compare_verdict_status(c->verdict), c->answer);
	const json_t *boot;
	size_t k;

	verdict_text(&l.kernel, comparison_kernel(c, ARM_WITH));
	for (int arm = 0; arm < ARMS; arm++)
		json_array_foreach (c->arm[arm].boots, k, boot)
			verdict_list_is_of(&l, json_string_value(boot));
	for (size_t i = 0; i < c->point_count; i++)
		add_point_verdicts(&l, c, &c->points[i]);
	return l;
}

/* --- of claims --- */

static enum verdict_result result_of_claim(enum claim_outcome outcome)
{
	static const enum verdict_result results[CLAIM_OUTCOMES] = {
	    [CLAIM_HOLDS] = VERDICT_PASS, [CLAIM_FAILS] = VERDICT_FAIL, [CLAIM_NOT_JUDGED] = VERDICT_UNDECIDED};

	return results[outcome];
}

static void add_claims(struct verdict_list *l, const struct claim_verdicts *verdicts)
{
	for (const struct claim_verdict *c = verdicts->all; c < verdicts->all + verdicts->count; c++) {
		struct verdict *v = verdict_list_add(l, c->experiment, c->id, result_of_claim(c->verdict));

		verdict_text(&v->why, c->why);
		free(v->numbers);
		v->numbers =
		    fs_path("%s: %s; measured: %s", c->claim, c->wanted, *c->measured ? c->measured : "nothing");
		/* Other claims do not wait for one that cannot be judged here. */
		v->shown_only = true;
		v->unit = claim_verdict_unit(c);
		if (c->case_count == 1)
			v->value = c->cases[0].value;
	}
}

struct verdict_list verdict_list_of_claims(const struct claim_verdicts *v, const struct run *runs, size_t count)
{
	struct verdict_list l = verdict_list_make(v->count ? v->all[0].experiment : "", claim_verdicts_status(v), "");
	char *answer = fs_path("claims: %zu hold, %zu fail, %zu are not judged", claim_verdicts_count(v, CLAIM_HOLDS),
			       claim_verdicts_count(v, CLAIM_FAILS), claim_verdicts_count(v, CLAIM_NOT_JUDGED));

	verdict_text(&l.answer, answer);
	free(answer);
	for (size_t i = 0; i < count; i++)
		list_add_run(&l, &runs[i], !i);
	add_claims(&l, v);
	return l;
}

/* --- of a run --- */

static enum verdict_result result_of_point(const struct summary_point *p)
{
	if (p->outcome == POINT_IMPOSSIBLE)
		return VERDICT_IMPOSSIBLE;
	if (p->outcome != POINT_COMPLETED)
		return VERDICT_ERROR;
	return p->valid ? VERDICT_PASS : VERDICT_FAIL;
}

static void add_run_point(struct verdict_list *l, const struct summary_point *p)
{
	char *name = fs_path("point %" JSON_INTEGER_FORMAT, p->id);
	struct verdict *v = verdict_list_add(l, "points", name, result_of_point(p));
	const json_t *reason = json_array_get(p->reasons, 0);

	verdict_text(&v->why, *p->why ? p->why : json_string_value(reason));
	if (p->results.metric_count) {
		const struct summary_metric *m = &p->results.metrics[0];
		const char *unit = strrchr(m->name, '_');

		v->value = number_value(m->values[STATISTIC_P50]);
		v->unit = unit ? unit + 1 : "";
		if (!isnan(v->value)) {
			free(v->numbers);
			v->numbers = fs_path("%s: p50 %.6g", m->name, v->value);
		}
	}
	free(name);
}

struct verdict_list verdict_list_of_run(const struct summary *s, const struct claim_verdicts *v, const struct run *run,
					enum status status)
{
	struct verdict_list l = verdict_list_make(s->name, status, run->path);

	list_add_run(&l, run, true);
	for (size_t i = 0; i < s->point_count; i++)
		add_run_point(&l, &s->points[i]);
	add_claims(&l, v);
	return l;
}

/* libyaml's calls fail only for want of memory. */
static int or_abort_if_0(int made)
{
	or_abort(made ? "" : NULL);
	return made;
}

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

/* Of a group: a failure is one of the whole, then an error. Otherwise those count on which the whole depends, if there are any:
 * what is undecided among them is nowhere a pass. */
static enum verdict_result group_result(const struct verdict_list *l, size_t first)
{
	size_t n[VERDICT_RESULTS] = {0}, depends[VERDICT_RESULTS] = {0}, all = 0;

	for (size_t i = first; i < group_end(l, first); i++) {
		n[l->all[i].result]++;
		depends[l->all[i].result] += !l->all[i].shown_only;
		all += !l->all[i].shown_only;
	}
	if (n[VERDICT_FAIL] || n[VERDICT_ERROR])
		return n[VERDICT_FAIL] ? VERDICT_FAIL : VERDICT_ERROR;
	if (depends[VERDICT_UNDECIDED])
		return VERDICT_UNDECIDED;
	if (all ? depends[VERDICT_PASS] : n[VERDICT_PASS])
		return VERDICT_PASS;
	return !all && n[VERDICT_UNDECIDED] ? VERDICT_UNDECIDED : VERDICT_IMPOSSIBLE;
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
		if (isfinite(v->value)) {
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

/* What tells these results from all others: what was judged, and what came of it. */
static void hash_results(const struct verdict_list *l, char text[SHA256_HEX + 1])
{
	unsigned char hash[SHA256_BYTES];
	struct sha256 *s = sha256_begin();

	sha256_add(s, l->of, strlen(l->of));
	sha256_add(s, l->answer, strlen(l->answer));
	for (const struct verdict *v = l->all; v < l->all + l->count; v++) {
		sha256_add(s, v->why, strlen(v->why) + 1);
		sha256_add(s, v->numbers, strlen(v->numbers) + 1);
	}
	sha256_end(s, hash);
	sha256_text(hash, text);
}

static void add_kcidb_test(json_t *tests, const struct verdict_list *l, const char *hash, const char *group,
			   const struct verdict *v)
{
	char *path = kcidb_path(l->suite, group, v->name), *id = fs_path("kblat:%s:%.16s", path, hash);
	char *build = fs_path("kblat:%s", *l->kernel ? text_shown(l->kernel) : "unknown");
	json_t *test = json_pack("{s:s, s:s, s:s, s:s, s:s}", "build_id", build, "id", id, "origin", "kblat", "path",
				 path, "status", kcidb_statuses[v->result]);

	if (isfinite(v->value) && v->result != VERDICT_IMPOSSIBLE)
		json_object_set_new(test, "number", kcidb_number(v));
	json_object_set_new(test, "misc",
			    json_pack("{s:s, s:s}", "why", text_shown(v->why), "numbers", text_shown(v->numbers)));
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
	char hash[SHA256_HEX + 1];

	hash_results(l, hash);
	for (const struct verdict *v = l->all; v < l->all + l->count; v++)
		add_kcidb_test(tests, l, hash, v->group, v);
	add_kcidb_test(tests, l, hash, "", &overall);
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

static int put_yaml(yaml_document_t *d, const char *text, yaml_scalar_style_t style)
{
	return or_abort_if_0(yaml_document_add_scalar(d, NULL, (const yaml_char_t *)text_shown(text), -1, style));
}

static void put_pair(yaml_document_t *d, int map, const char *key, int value)
{
	or_abort_if_0(yaml_document_append_mapping_pair(d, map, put_yaml(d, key, YAML_PLAIN_SCALAR_STYLE), value));
}

static int put_list(yaml_document_t *d, yaml_sequence_style_t style)
{
	return or_abort_if_0(yaml_document_add_sequence(d, NULL, style));
}

/* `note` is a list of texts, as tmt has it since 1.41. */
static int put_note_list(yaml_document_t *d, const struct verdict *v)
{
	const char *word = is_open(v->result) ? result_words[v->result] : "", *colon = *word && *v->why ? ": " : "";
	char *why = fs_path("%s%s%s", word, colon, v->why);
	const char *const texts[] = {why, v->numbers};
	int list = put_list(d, YAML_ANY_SEQUENCE_STYLE);

	for (size_t i = 0; i < 2; i++)
		if (*texts[i])
			or_abort_if_0(yaml_document_append_sequence_item(
			    d, list, put_yaml(d, texts[i], YAML_DOUBLE_QUOTED_SCALAR_STYLE)));
	free(why);
	return list;
}

static void put_tmt(yaml_document_t *d, int all, const char *group, const struct verdict *v)
{
	int map = or_abort_if_0(yaml_document_add_mapping(d, NULL, YAML_BLOCK_MAPPING_STYLE));
	char *name;
	size_t size;
	FILE *out = or_abort(open_memstream(&name, &size));

	fputc('/', out);
	if (*group) {
		put_word(out, group, ".");
		fputc('/', out);
	}
	put_word(out, v->name, ".");
	fclose(out);
	put_pair(d, map, "name", put_yaml(d, or_abort(name), YAML_ANY_SCALAR_STYLE));
	put_pair(d, map, "result", put_yaml(d, tmt_result(v), YAML_ANY_SCALAR_STYLE));
	put_pair(d, map, "note", put_note_list(d, v));
	put_pair(d, map, "log", put_list(d, YAML_FLOW_SEQUENCE_STYLE));
	or_abort_if_0(yaml_document_append_sequence_item(d, all, map));
	free(name);
}

static void print_tmt(const struct verdict_list *l, FILE *out)
{
	struct verdict overall = {
	    .name = (char *)OVERALL, .result = l->result, .why = l->answer, .numbers = (char *)""};
	yaml_document_t d;
	yaml_emitter_t emitter;
	int all;

	or_abort_if_0(yaml_document_initialize(&d, NULL, NULL, NULL, 1, 1));
	all = put_list(&d, YAML_BLOCK_SEQUENCE_STYLE);
	for (const struct verdict *v = l->all; v < l->all + l->count; v++)
		put_tmt(&d, all, v->group, v);
	put_tmt(&d, all, "", &overall);
	or_abort_if_0(yaml_emitter_initialize(&emitter));
	yaml_emitter_set_output_file(&emitter, out);
	yaml_emitter_set_width(&emitter, -1);
	/* If it cannot be written, whoever closes the stream says so. */
	yaml_emitter_dump(&emitter, &d);
	yaml_emitter_delete(&emitter);
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
	clean_stream_document(stdout, true);
	f->print(&list, stdout);
	clean_stream_document(stdout, false);
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
