#include "report/html_blocks.h"

#include <string.h>

#include "judge/claims/claim_verdict.h"

#define OPEN_MAX 4 /* maximum number of cases that are not collapsed */

static const char *const styles[] = {[CLAIM_HOLDS] = "yes", [CLAIM_FAILS] = "bad", [CLAIM_NOT_JUDGED] = "unsaid"};

static void write_verdict(const struct page *p, enum claim_outcome verdict)
{
	html_printf(p, "<span class=\"%s\">", styles[verdict]);
	html_text(p, claim_outcome_names[verdict]);
	html_printf(p, "</span>");
}

/* If a claim could not be judged, all of its cases have the same reason. */
static bool adds_reason(const struct claim_verdict *claim, const struct claim_case *one)
{
	return *one->why && strcmp(one->why, claim->why) != 0;
}

static void write_case(const struct page *p, const struct claim_verdict *claim, const struct claim_case *one)
{
	html_printf(p, "<li><b>");
	html_text(p, one->label);
	html_printf(p, "</b> ");
	html_text(p, one->measured);
	html_printf(p, " ");
	write_verdict(p, one->verdict);
	if (adds_reason(claim, one)) {
		html_printf(p, ": ");
		html_text(p, one->why);
	}
	html_printf(p, "</li>\n");
}

static void write_cases(const struct page *p, const struct claim_verdict *claim)
{
	bool more = false;

	if (claim->case_count < 2)
		return;
	for (size_t i = 0; i < claim->case_count; i++)
		more |= adds_reason(claim, &claim->cases[i]);
	html_printf(p, "<details%s><summary>%zu cases</summary>\n<ul>\n",
		    more && claim->case_count <= OPEN_MAX ? " open" : "", claim->case_count);
	for (size_t i = 0; i < claim->case_count; i++)
		write_case(p, claim, &claim->cases[i]);
	html_printf(p, "</ul></details>");
}

static void write_claim(const struct page *p, const struct claim_verdict *claim, bool several)
{
	html_printf(p, "<tr><td>");
	write_verdict(p, claim->verdict);
	html_printf(p, "</td>");
	if (several) {
		html_printf(p, "<td>");
		html_text(p, claim->experiment);
		html_printf(p, "</td>");
	}
	html_printf(p, "<td>");
	html_text(p, claim->claim);
	html_printf(p, "<br><span class=\"soft\">");
	html_text(p, claim->id);
	if (*claim->source) {
		html_printf(p, "; ");
		html_text(p, claim->source);
	}
	html_printf(p, "</span></td><td>");
	html_text(p, claim->measured_by_source);
	html_printf(p, "</td><td>");
	html_text(p, claim->measured);
	html_printf(p, "<br><span class=\"soft\">");
	html_text(p, claim->metric);
	html_printf(p, ": ");
	html_text(p, claim->wanted);
	html_printf(p, "</span></td><td>");
	html_text(p, claim->why);
	write_cases(p, claim);
	html_printf(p, "</td></tr>\n");
}

void html_claims(const struct page *p)
{
	const struct claim_verdicts *all = p->claims;
	bool several = all && claim_verdicts_of_several(all);

	if (!all || !all->count)
		return;
	html_printf(
	    p,
	    "<section>\n<h2>Claims</h2>\n<p class=\"soft\">Statements of the source, judged by what was measured. A "
	    "claim is not judged if the machine lacks what it is about, if points are missing or not valid, or if the "
	    "bound lies within the uncertainty.</p>\n<div class=\"wide\" tabindex=\"0\">\n<table "
	    "class=\"claims\">\n<thead><tr>"
	    "<th>verdict</th>%s<th>claim</th><th>the source</th><th>measured</th><th>why</th></tr></thead>\n<tbody>\n",
	    several ? "<th>experiment</th>" : "");
	for (size_t i = 0; i < all->count; i++)
		write_claim(p, &all->all[i], several);
	html_printf(p, "</tbody>\n</table>\n</div>\n</section>\n");
}
