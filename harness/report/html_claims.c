/*
 * What the specs claim, and what became of it: a row for each claim, its cases below it.
 */
#include <string.h>

#include "claims/claims.h"
#include "report/html.h"

#define OPEN_MAX 4 /* cases that need not be folded away */

static const struct {
	const char *verdict, *style;
} styles[] = {{"holds", "yes"}, {"fails", "bad"}, {"not judged", "unsaid"}};

static void write_verdict(const struct page *p, const json_t *of)
{
	const char *verdict = html_string(of, "verdict", "not judged"), *style = "unsaid";

	for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		if (!strcmp(styles[i].verdict, verdict))
			style = styles[i].style;
	html_printf(p, "<span class=\"%s\">", style);
	html_text(p, verdict);
	html_printf(p, "</span>");
}

/* A claim that is not judged as a whole has one reason for all of its cases. */
static bool says_more(const json_t *claim, const json_t *one)
{
	const char *why = html_string(one, "why", "");

	return *why && strcmp(why, html_string(claim, "why", "")) != 0;
}

static void write_case(const struct page *p, const json_t *claim, const json_t *one)
{
	html_printf(p, "<li><b>");
	html_text(p, html_string(one, "label", ""));
	html_printf(p, "</b> ");
	html_text(p, html_string(one, "measured", ""));
	html_printf(p, " ");
	write_verdict(p, one);
	if (says_more(claim, one)) {
		html_printf(p, ": ");
		html_text(p, html_string(one, "why", ""));
	}
	html_printf(p, "</li>\n");
}

static void write_cases(const struct page *p, const json_t *claim)
{
	const json_t *cases = json_object_get(claim, "cases"), *one;
	bool more = false;
	size_t i;

	if (json_array_size(cases) < 2)
		return;
	json_array_foreach (cases, i, one)
		more |= says_more(claim, one);
	html_printf(p, "<details%s><summary>%zu cases</summary>\n<ul>\n",
		    more && json_array_size(cases) <= OPEN_MAX ? " open" : "", json_array_size(cases));
	json_array_foreach (cases, i, one)
		write_case(p, claim, one);
	html_printf(p, "</ul></details>");
}

static void write_claim(const struct page *p, const json_t *claim, bool several)
{
	html_printf(p, "<tr><td>");
	write_verdict(p, claim);
	html_printf(p, "</td>");
	if (several) {
		html_printf(p, "<td>");
		html_text(p, html_string(claim, "experiment", ""));
		html_printf(p, "</td>");
	}
	html_printf(p, "<td>");
	html_text(p, html_string(claim, "claim", ""));
	html_printf(p, "<br><span class=\"soft\">");
	html_text(p, html_string(claim, "id", ""));
	if (*html_string(claim, "source", "")) {
		html_printf(p, "; ");
		html_text(p, html_string(claim, "source", ""));
	}
	html_printf(p, "</span></td><td>");
	html_text(p, html_string(claim, "measured_by_source", ""));
	html_printf(p, "</td><td>");
	html_text(p, html_string(claim, "measured", ""));
	html_printf(p, "<br><span class=\"soft\">");
	html_text(p, html_string(claim, "metric", ""));
	html_printf(p, ": ");
	html_text(p, html_string(claim, "wanted", ""));
	html_printf(p, "</span></td><td>");
	html_text(p, html_string(claim, "why", ""));
	write_cases(p, claim);
	html_printf(p, "</td></tr>\n");
}

void html_claims(const struct page *p)
{
	const json_t *all = json_object_get(p->claims, "claims"), *claim;
	bool several = claims_of_several(all);
	size_t i;

	if (!json_array_size(all))
		return;
	html_printf(
	    p,
	    "<section>\n<h2>Claims</h2>\n<p class=\"soft\">Sentences of the source, judged by what was measured. Not "
	    "judged: the machine lacks what the claim is about, points are missing or not valid, or the bound lies "
	    "within the uncertainty.</p>\n<div class=\"wide\" tabindex=\"0\">\n<table class=\"claims\">\n<thead><tr>"
	    "<th>verdict</th>%s<th>claim</th><th>the source</th><th>measured</th><th>why</th></tr></thead>\n<tbody>\n",
	    several ? "<th>experiment</th>" : "");
	json_array_foreach (all, i, claim)
		write_claim(p, claim, several);
	html_printf(p, "</tbody>\n</table>\n</div>\n</section>\n");
}
