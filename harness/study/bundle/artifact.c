#include "judge/claims/claim_verdict.h"
#include "judge/claims/claims.h"
#include "study/bundle/bundle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "common/text.h"
#include "files/rundir/writer.h"

/* In a cell of a table. */
static void artifact_cell(const char *text, FILE *out)
{
	char *clean = or_abort(malloc(4 * strlen(text) + 1));

	text_clean(text, strlen(text), clean, 4 * strlen(text) + 1);
	for (const char *p = clean; *p; p++)
		fprintf(out, *p == '|' ? "\\|" : "%c", *p);
	free(clean);
}

static bool is_plain_word(const char *word)
{
	return *word && !word[strcspn(word, " \t\n'\"\\$`&;|<>()*?[]{}!#~")];
}

/* As it can be typed into a shell. */
static void artifact_command(const json_t *argv, FILE *out)
{
	const json_t *word;
	size_t i;

	json_array_foreach (argv, i, word) {
		const char *text = text_shown(json_string_value(word) ?: ""), *quote = is_plain_word(text) ? "" : "'";

		fprintf(out, "%s%s", i ? " " : "    ", quote);
		for (const char *p = text; *p; p++)
			fprintf(out, *p == '\'' ? "'\\''" : "%c", *p);
		fputs(quote, out);
	}
	fprintf(out, "\n");
}

static double minutes_of(const struct bundle *b)
{
	double seconds = 0;

	for (size_t i = 0; i < b->runs; i++)
		seconds += fmax(0, (double)(utc_seconds(b->run[i].ended_utc) - utc_seconds(b->run[i].started_utc)));
	return ceil(seconds / 60);
}

static size_t count_quick(const struct bundle *b)
{
	size_t count = 0;

	for (size_t i = 0; i < b->runs; i++)
		count += !strcmp(b->run[i].variant, "quick");
	return count;
}

/* Of the runs: what is made of them, such as this file, is small. */
static double mib_of(const struct bundle *b)
{
	double all = 0;

	for (size_t i = 0; i < b->files; i++)
		all += strncmp(b->file[i].name, "runs/", 5) ? 0 : (double)b->file[i].size;
	return all / (1 << 20);
}

static void write_abstract(const struct bundle *b, const struct claim_verdicts *v, FILE *out)
{
	fprintf(out, "# Artifact: ");
	artifact_cell(b->title, out);
	fprintf(
	    out,
	    "\n\n## Abstract\n\n%zu run%s of kblat, each with the state of its machine%s. They make %zu claim%s, of "
	    "which %zu hold, %zu fail\nand %zu are not judged.\n\n",
	    b->runs, b->runs == 1 ? "" : "s",
	    b->has_columns ? " and the raw time stamps of every message" : "; the raw time stamps were left out",
	    v->count, v->count == 1 ? "" : "s", claim_verdicts_count(v, CLAIM_HOLDS),
	    claim_verdicts_count(v, CLAIM_FAILS), claim_verdicts_count(v, CLAIM_NOT_JUDGED));
}

static void write_list(const struct bundle *b, FILE *out)
{
	const char *package;
	json_t *version;

	fprintf(
	    out,
	    "## Check-list\n\n- Program: kblat %s (commit %s, %s)\n- Run-time environment: Linux; the machine's state "
	    "before and after each run is in `runs/*/state/`\n- Hardware: as the runs' states say; for other "
	    "machines see `kblat reproduce --state`\n- Metrics: latency quantiles, rates, shares, as the claims name "
	    "them\n- Output: claims with verdicts, tables, pages\n- Experiments: %zu, of which %zu in their quick "
	    "variant\n- Disk space: %.1f MiB unpacked\n- Time to check: minutes (`kblat reproduce`)\n- Time to "
	    "measure again: about %.0f min (what the runs took)\n- Publicly available: as its authors say\n",
	    b->version, b->commit, b->compiler, b->runs, count_quick(b), mib_of(b), minutes_of(b));
	if (json_object_size(b->packages)) {
		fprintf(out, "- Packages on the machine where the bundle was made:");
		json_object_foreach (b->packages, package, version)
			fprintf(out, " %s %s;", package, json_string_value(version) ?: "");
		fprintf(out, "\n");
	}
}

/* Each build of each program and library that measured, from the states of the machines. */
static void write_programs(const struct bundle *b, FILE *out)
{
	const char *name;
	const json_t *ids, *id;
	size_t i;

	if (!json_object_size(b->build_ids))
		return;
	fprintf(out, "\n## Programs and libraries that measured\n\n| file | build ID |\n| --- | --- |\n");
	json_object_foreach (b->build_ids, name, ids)
		json_array_foreach (ids, i, id) {
			fprintf(out, "| ");
			artifact_cell(name, out);
			fprintf(out, " | ");
			artifact_cell(json_string_value(id) ?: "", out);
			fprintf(out, " |\n");
		}
}

static void write_workflow(const struct bundle *b, FILE *out)
{
	fprintf(out,
		"\n## Installation\n\nInstall the package `kblat` (version %s or later), or build it from its "
		"source with `make deps all`. Checking\nneeds neither root nor special hardware.\n\n"
		"## Workflow\n\nThis checks that nothing was changed, %s, and judges every claim "
		"again:\n\n    kblat reproduce BUNDLE\n\nThis measures the same experiments here, and puts both "
		"results side by side:\n\n    kblat reproduce BUNDLE --run\n\nThe runs were made with:\n\n",
		b->version,
		b->has_columns ? "computes all numbers from the raw time stamps"
			       : "reads the numbers (the raw time stamps are not here)");
	if (json_array_size(b->argv))
		artifact_command(b->argv, out);
	for (size_t i = 0; i < b->runs && !json_array_size(b->argv); i++)
		artifact_command(b->run[i].argv, out);
}

static void write_runs(const struct bundle *b, FILE *out)
{
	fprintf(out, "\n## Runs\n\n| experiment | run | variant | begun | valid |\n| --- | --- | --- | --- | --- |\n");
	for (size_t i = 0; i < b->runs; i++) {
		const char *cells[] = {b->run[i].name, b->run[i].path, b->run[i].variant, b->run[i].started_utc,
				       b->run[i].valid ? "yes" : "no"};

		for (size_t c = 0; c < sizeof(cells) / sizeof(cells[0]); c++) {
			fprintf(out, "| ");
			artifact_cell(cells[c], out);
			fprintf(out, " ");
		}
		fprintf(out, "|\n");
	}
}

static void artifact_claims(const struct claim_verdicts *v, FILE *out)
{
	fprintf(out, "\n## Claims\n\n| experiment | claim | where the source says so | the source | measured | verdict "
		     "|\n| --- | --- | --- | --- | --- | --- |\n");
	for (size_t i = 0; i < v->count; i++) {
		const struct claim_verdict *c = &v->all[i];
		const char *cells[] = {c->experiment,	      c->claim,	   c->source,
				       c->measured_by_source, c->measured, claim_outcome_names[c->verdict]};

		for (size_t k = 0; k < sizeof(cells) / sizeof(cells[0]); k++) {
			fprintf(out, "| ");
			artifact_cell(cells[k], out);
			fprintf(out, " ");
		}
		fprintf(out, "|\n");
	}
	claims_counts(v, out);
	fprintf(out, "\n`kblat claims runs/*` prints this table, with the reasons of the verdicts.\n");
}

void artifact_write(const struct bundle *b, const struct claim_verdicts *v, FILE *out)
{
	write_abstract(b, v, out);
	write_list(b, out);
	write_workflow(b, out);
	write_runs(b, out);
	write_programs(b, out);
	artifact_claims(v, out);
}
