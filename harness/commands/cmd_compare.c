#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/shared_options.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "judge/compare/compare_aa.h"
#include "judge/compare/compare_causes.h"
#include "judge/compare/compare_runs.h"
#include "judge/compare/comparison.h"
#include "report/compare_page.h"

#define SPLITS	   400
#define ALPHA_MOST 20 /* per cent */

#define GIT_BISECT "git-bisect"

const struct cli_command cmd_compare_cli = {
    .name = "compare",
    .synopsis = "BASE… --with NEW… [--json]",
    .summary = "did it become slower, by how much, and how sure is that?",
    .details = "Compares two arms of runs of the same experiment. BASE and NEW are run directories, or folders that "
	       "contain some.\n\nPoints are matched by their settings. For each point and each of p50, p90, p99, p99.9 "
	       "and the share over the limit, the table shows the effect (NEW - BASE), its interval, p, and a verdict. "
	       "Equivalent: the interval, or if it contains 0 the 90 % interval of the quantity alone, is within the "
	       "margin, and noise is smaller than the margin. Otherwise regression if the interval is above 0, "
	       "improvement if it is below 0, or undecided. The margin is the largest change that does not matter "
	       "(--margin). Noise is the smallest change that can be detected. p and intervals hold for all points and "
	       "quantities together (exact permutation test, max-T).\n\nA regression of any quantity is one of the "
	       "whole. For no regression, all that decide must be resolved (--judge); of the others it is said how "
	       "large a change they could hide.\n\nThe unit is the boot, because boots differ at "
	       "least as much as runs. With fewer than 4 boots in an arm there is no verdict, only the number of boots "
	       "needed. If all runs are of one boot (to compare settings, not kernels), the unit is the run; it is "
	       "best to alternate: one run of each arm in random order, then the next two.\n\ndocs/compare.md has the "
	       "rules and their error rates.\n\nExit status: 0 no regression; 3 a regression; 4 undecided; 2 bad "
	       "input: not run directories, not sealed or changed since, different experiments, no common points.",
    .min_args = 1,
    .max_args = 4096,
};

struct asked {
	struct cli_list ignore, quantities, margins, judge;
	/* the metric if it is a summary block and one of its quantities was asked for */
	char *block;
	const char *unit, *metric, *experiment, *effect, *varying, *alpha, *out;
	long seed, planned;
	struct verdict_options verdicts;
	bool json, aa, git_bisect;
};

/* --- options --- */

static int read_unit(const char *text, enum compare_unit_kind *kind, struct err *e)
{
	for (*kind = UNIT_AUTO; *kind <= UNIT_RUN; (*kind)++)
		if (!text || !strcmp(text, compare_unit_name[*kind]))
			return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, "--unit", NULL, "must be one of auto, boot, run, not '%s'", text);
}

static void ask_for_quantity(struct cli_list *list, const char *name)
{
	list->items = or_abort(reallocarray(list->items, list->count + 1, sizeof(*list->items)));
	list->items[list->count++] = name;
}

/* Quantities may also be given as people write them (p99.9), and those of a block after the metric
 * and a dot. */
static int read_quantities(struct asked *asked, struct err *e)
{
	const char *behind;
	int rc = 0;

	asked->block = compare_quantity_split(asked->metric, &behind);
	if (asked->block) {
		asked->metric = asked->block;
		ask_for_quantity(&asked->quantities, behind);
	}
	for (size_t i = 0; !rc && i < asked->quantities.count; i++)
		rc = compare_quantity_find("--quantity", asked->metric, asked->quantities.items[i],
					   &asked->quantities.items[i], e);
	return rc;
}

/* --- comparing --- */

static int add_runs_of_arm(struct compare_runs *runs, const struct cli_list *paths, enum compare_arm arm,
			   const struct asked *asked, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < paths->count; i++)
		rc = compare_runs_add(runs, paths->items[i], arm, asked->experiment, e);
	return rc;
}

/* The verdict, and what else may have caused the difference. */
static int cmd_compare_judge(const struct compare_join *j, const struct compare_rule *rule, const struct asked *asked,
			     struct comparison *c, struct err *e)
{
	char *copy;
	const char **varying = cli_names(asked->varying, &copy);
	int rc = compare_judge_causes(j, rule, *varying ? varying : NULL, c, e);

	free(varying);
	free(copy);
	return rc;
}

/* Make the page in a directory chosen by the user; its path is the last line of standard output. */
static void make_page(const struct compare_join *j, const struct comparison *c, const struct asked *asked,
		      struct err *e)
{
	char *html = NULL;

	compare_page_make(asked->out, j, c, &html, e);
	if (html && !asked->json && !asked->verdicts.format)
		printf("%s\n", html);
	free(html);
}

static void print_and_drop(json_t *json)
{
	json_print(json, stdout);
	json_decref(json);
}

static enum status show_comparison(const struct compare_join *j, const struct compare_rule *rule,
				   const struct asked *asked, struct err *e)
{
	struct comparison c;
	enum status status;

	if (cmd_compare_judge(j, rule, asked, &c, e))
		return e->status;
	if (asked->json)
		print_and_drop(compare_json(&c));
	else if (asked->verdicts.format)
		verdict_format_print(asked->verdicts.format, verdict_list_of_comparison(&c));
	else
		compare_table(&c, stdout);
	if (asked->out)
		make_page(j, &c, asked, e);
	status = compare_verdict_status(c.verdict);
	comparison_free(&c);
	return status;
}

static enum status show_aa(const struct compare_join *j, const struct compare_rule *rule, const struct asked *asked,
			   struct err *e)
{
	struct compare_aa a;
	enum status status;

	if (compare_aa(j, rule, SPLITS, &a, e))
		return e->status;
	if (asked->json)
		print_and_drop(compare_aa_json(&a));
	else
		compare_aa_table(&a, stdout);
	status = compare_verdict_status(a.verdict);
	compare_aa_free(&a);
	return status;
}

static enum status compare_arms(const struct cli_list *base, const struct cli_list *with, const struct asked *asked,
				struct err *e)
{
	struct compare_rule rule = {
	    .effect = 0.02, .seed = (uint64_t)asked->seed, .alpha = COMPARE_ALPHA, .planned = (size_t)asked->planned};
	struct compare_choice choice = {asked->metric, asked->ignore.items, asked->ignore.count,
					asked->quantities.items, asked->quantities.count};
	struct compare_runs runs = {.count = 0};
	struct compare_join join = {.count = 0};
	enum compare_unit_kind kind;
	enum status status = STATUS_FAILED;
	struct compare_margin *margins = or_abort(calloc(asked->margins.count + 1, sizeof(*margins)));
	const char *judge[COMPARE_JUDGE_MOST];
	int rc = read_unit(asked->unit, &kind, e) ?: compare_read_margins(asked->margins.items, asked->margins.count, asked->metric, &rule, margins, e)
					  ?: compare_read_judge(asked->judge.items, asked->judge.count, &choice, &rule, judge, e) ?: compare_read_percent("--effect", asked->effect, 100, &rule.effect, e)
					  ?: compare_read_percent("--alpha", asked->alpha, ALPHA_MOST, &rule.alpha, e);

	rc = rc ?: add_runs_of_arm(&runs, base, ARM_BASE, asked, e) ?: add_runs_of_arm(&runs, with, ARM_WITH, asked, e)
		?: compare_units(&runs, kind, e) ?: compare_join(&join, &runs, &choice, e);
	compare_runs_say_passed(&runs);
	if (!rc)
		compare_judge_of_runs(&runs, &rule, judge, join.notes);
	if (!rc)
		status = asked->aa ? show_aa(&join, &rule, asked, e) : show_comparison(&join, &rule, asked, e);
	compare_join_free(&join);
	compare_runs_free(&runs);
	free(margins);
	return e->status ? e->status : status;
}

static enum status check_and_compare(const struct cli_list *base, const struct cli_list *with, struct asked *asked,
				     struct err *e)
{
	if (!with->count && !asked->aa)
		err_set(e, -EINVAL, STATUS_USAGE, "compare", NULL,
			"expected the other runs after --with, or --aa, found neither");
	else if (with->count && asked->aa)
		err_set(e, -EINVAL, STATUS_USAGE, "compare", NULL, "--aa compares one arm with itself; omit --with");
	else if (asked->out && asked->aa)
		err_set(e, -EINVAL, STATUS_USAGE, "compare", NULL, "--aa writes no page; omit --out");
	else if (asked->verdicts.name && asked->aa)
		err_set(e, -EINVAL, STATUS_USAGE, "compare", NULL, "--aa has no verdicts for --format; use --json");
	else if (!verdict_options_read(&asked->verdicts, asked->json, e) && !read_quantities(asked, e))
		return compare_arms(base, with, asked, e);
	return e->status;
}

/* The index of --with, or argc. Everything after it belongs to the other arm, so that shell
 * wildcards can be used. */
static int find_with(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--with") != 0 && strcmp(argv[i], "--") != 0)
		i++;
	return i < argc && !strcmp(argv[i], "--with") ? i : argc;
}

/* Parse the arguments from --with on like a separate command line; a second --with has no further meaning. */
static int parse_with(const struct cli_flag *flags, int argc, char **argv, struct cli_list *with, bool *help,
		      struct err *e)
{
	char **rest = or_abort(calloc((size_t)argc + 1, sizeof(*rest)));
	int n = 1, rc;

	rest[0] = argv[0];
	for (int i = find_with(argc, argv) + 1; i < argc; i++)
		if (strcmp(argv[i], "--with") != 0)
			rest[n++] = argv[i];
	rc = cli_parse(&cmd_compare_cli, flags, n, rest, with, help, e);
	free(rest);
	return rc;
}

static int parse(const struct cli_flag *flags, int argc, char **argv, struct cli_list *base, struct cli_list *with,
		 bool *help, struct err *e)
{
	int at = find_with(argc, argv);
	int rc = cli_parse(&cmd_compare_cli, flags, at, argv, base, help, e);

	if (!rc && !*help && at < argc)
		rc = parse_with(flags, argc, argv, with, help, e);
	return rc;
}

/* Checked before parsing, because wrong usage must not look like a bad commit, either. */
static bool is_git_bisect(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--" GIT_BISECT))
			return true;
	return false;
}

static char *help_on_quantities(void)
{
	char *names = compare_quantity_names(NULL, " or ");
	char *text =
	    fs_path("compare only %s; may be repeated. With fewer quantities smaller changes are found", names);

	free(names);
	return text;
}

static void asked_free(struct asked *a)
{
	cli_list_free(&a->ignore);
	cli_list_free(&a->quantities);
	cli_list_free(&a->margins);
	cli_list_free(&a->judge);
	free(a->block);
}

/* What was asked for, or the help. */
static enum status parse_and_compare(const struct cli_flag *flags, int argc, char **argv, struct asked *asked,
				     struct err *e)
{
	struct cli_list base = {NULL, 0}, with = {NULL, 0};
	enum status status = STATUS_USAGE;
	bool help;

	if (parse(flags, argc, argv, &base, &with, &help, e))
		goto out;
	if (help)
		cli_help("kblat", &cmd_compare_cli, flags, stdout);
	status = help ? STATUS_OK : check_and_compare(&base, &with, asked, e);
out:
	cli_list_free(&base);
	cli_list_free(&with);
	return e->status ? e->status : status;
}

/* --git-bisect is --exit git-bisect. */
static enum status exit_of(int argc, char **argv, enum status status)
{
	return is_git_bisect(argc, argv) ? verdict_options_status(GIT_BISECT, status)
					 : verdict_options_exit(argc, argv, status);
}

enum status cmd_compare(int argc, char **argv, struct err *e)
{
	enum status status;
	struct asked asked = {.seed = 1};
	const char *unused;
	char *quantity_help = help_on_quantities();
	const struct cli_flag flags[] = {
	    {"with", CLI_STRING, &unused, "NEW…", "the runs to compare with BASE: all arguments that follow", 0, 0},
	    {"aa", CLI_FLAG, &asked.aa, NULL,
	     "compare BASE with itself: the noise floor and the rate of false alarms on this machine", 0, 0},
	    {"unit", CLI_STRING, &asked.unit, "UNIT",
	     "boot, run, or auto (the default): run if all runs are of one boot", 0, 0},
	    {"experiment", CLI_STRING, &asked.experiment, "NAME", "only runs of this experiment", 0, 0},
	    {"metric", CLI_STRING, &asked.metric, "NAME", "such as rtt_ns (the default is each point's first)", 0, 0},
	    {"quantity", CLI_LIST, &asked.quantities, "Q", quantity_help, 0, 0},
	    {"ignore", CLI_LIST, &asked.ignore, "KEY",
	     "match points even if they differ in this setting, such as one under test or a renamed device; may be "
	     "repeated",
	     0, 0},
	    {"margin", CLI_LIST, &asked.margins, "PCT",
	     "the largest change that does not matter, in percent (p50 and p90 2, p99 5, p99.9 and the share over the "
	     "limit 15, others 2); Q=PCT sets it for one quantity (p99.9=10); may be repeated",
	     0, 0},
	    {"judge", CLI_LIST, &asked.judge, "Q,…",
	     "what decides: quantities that must be resolved before the answer is no regression (those of --quantity; "
	     "of the spec's judge; p50, and each quantile with 100 messages of every run beyond it); may be repeated",
	     0, 0},
	    {"effect", CLI_STRING, &asked.effect, "PCT",
	     "the change that should be found, in percent, to estimate how many boots are needed (2)", 0, 0},
	    {"alpha", CLI_STRING, &asked.alpha, "PCT",
	     "rate of false alarms in percent (5): four fifths of it for slower, the rest for faster", 0, 0},
	    {"planned", CLI_INT, &asked.planned, "N",
	     "planned number of boots (or runs) in each arm: allows three looks at the results (with half of them, "
	     "three quarters, all) without more false alarms",
	     4, PERM_UNITS / 2},
	    {GIT_BISECT, CLI_FLAG, &asked.git_bisect, NULL,
	     "exit statuses for `git bisect run`: 0 no regression (good), 1 a regression (bad), 125 undecided (skip), "
	     "128 anything else, which ends the bisection",
	     0, 0},
	    {"varying", CLI_STRING, &asked.varying, "NAMES",
	     "what is under test and may therefore differ in the machine's state, as for kblat state diff (kernel, if "
	     "the kernels differ)",
	     0, 0},
	    {"seed", CLI_INT, &asked.seed, "N", "for random relabellings, if there are too many to try all (1)", 0,
	     1L << 52},
	    {"out", CLI_STRING, &asked.out, "DIR",
	     "also write report.html, compare.json and the figures of the shift functions there (a new directory)", 0,
	     0},
	    VERDICT_OPTIONS_FLAGS(asked.verdicts),
	    {"json", CLI_FLAG, &asked.json, NULL, "print JSON", 0, 0},
	    {.name = NULL},
	};

	status = parse_and_compare(flags, argc, argv, &asked, e);
	asked_free(&asked);
	free(quantity_help);
	return exit_of(argc, argv, status);
}
