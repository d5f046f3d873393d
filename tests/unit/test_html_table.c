/*
 * Tables on pages: what is numeric, what covers several rows or columns, explanations, links; and
 * that nothing from a run is taken for markup.
 */
#include <math.h>
#include <stdlib.h>

#include "report/html.h"
#include "tap.h"

static char *page_of(const struct table *t, const char *style, bool tall)
{
	char *text = NULL;
	size_t size;
	struct page page = {.out = open_memstream(&text, &size)};

	html_table(&page, t, style, tall);
	fclose(page.out);
	return text;
}

static void test_cells(void)
{
	static const struct table_column columns[] = {
	    {.label = "#", .heads_row = true},
	    {.label = "valid", .help = "may it be quoted"},
	    {.label = "p99", .align = TABLE_NUMBER},
	    {.label = "rate", .measure = MEASURE_SHARE, .align = TABLE_NUMBER},
	};
	struct table t = table_of(columns, 4, 3);
	char *page;

	table_count(&t, 0, 0, 3);
	table_link(&t, 0, 0, "#point-0003");
	table_cover(&t, 0, 0, 2, 1);
	table_verdict(&t, 1, 0, TONE_BAD, "NOT VALID");
	table_help(&t, 1, 0, "page faults");
	table_number(&t, 2, 0, 1234);
	table_number(&t, 3, 0, 0.25);
	table_number(&t, 2, 1, NAN);
	table_text(&t, 1, 2, "nothing");
	table_cover(&t, 1, 2, 1, 3);
	t.row[0].begins = t.row[2].begins = t.row[1].minor = true;
	page = page_of(&t, "facts", true);
	contains(page, "<div class=\"wide tall\" tabindex=\"0\">\n<table class=\"facts\">", "the table's class");
	contains(page, "<th scope=\"col\" title=\"may it be quoted\">valid</th><th scope=\"col\" class=\"n\">p99</th>",
		 "headings have their help, and those of numbers a class");
	contains(page,
		 "<tbody class=\"point\">\n<tr><th scope=\"row\" rowspan=\"2\"><a href=\"#point-0003\">3</a></th>"
		 "<td title=\"page faults\"><span class=\"bad\">NOT VALID</span></td>"
		 "<td class=\"n\"><span title=\"1234 ns\">1.23 us</span></td><td class=\"n\">25 %</td></tr>\n",
		 "a cell of each kind");
	contains(
	    page, "<tr class=\"second\"><td></td><td class=\"n\">&ndash;</td><td class=\"n\"></td></tr>\n</tbody>",
	    "a cell below one that covers it is left out, what is not known is a dash, and what cannot be is empty");
	contains(page, "<td colspan=\"3\">nothing</td></tr>\n</tbody>\n</table>",
		 "text across columns of numbers is not one");
	free(page);
	table_free(&t);
}

static void test_drawing(void)
{
	struct table t = table_of((struct table_column[]){{.label = "over time", .unsorted = true}}, 1, 1);
	char *page;

	table_drawing(&t, 0, 0, "<svg/>");
	page = page_of(&t, "", false);
	contains(page, "<th scope=\"col\" class=\"plain\">over time</th>", "a heading that does not sort");
	contains(page, "<td><svg/></td>", "a drawing is markup");
	free(page);
	table_free(&t);
}

static void test_hostile_cells(void)
{
	struct table t = table_of((struct table_column[]){{.label = "<b>x</b>", .help = "\"><script>"}}, 1, 1);
	char *page;

	table_text(&t, 0, 0, "<img src=x onerror=alert(1)>");
	table_help(&t, 0, 0, "' onmouseover='alert(1)\"");
	table_link(&t, 0, 0, "\"><script>");
	table_remark(&t, 0, 0, "</td><script>");
	page = page_of(&t, "", false);
	ok(!strstr(page, "<script>") && !strstr(page, "<img") && !strstr(page, "<b>"), "no markup comes from a cell");
	contains(page,
		 "<td title=\"&#39; onmouseover=&#39;alert(1)&quot;\"><a href=\"&quot;&gt;&lt;script&gt;\">"
		 "&lt;img src=x onerror=alert(1)&gt;</a> <span class=\"soft\">&lt;/td&gt;&lt;script&gt;</span></td>",
		 "attributes stay what they are");
	free(page);
	table_free(&t);
	t = table_of((struct table_column[]){{.label = "x"}}, 1, 0);
	page = page_of(&t, "", false);
	contains(page, "<table>\n<thead><tr><th scope=\"col\">x</th></tr></thead>\n</table>", "a table without rows");
	free(page);
	table_free(&t);
}

int main(void)
{
	test_cells();
	test_drawing();
	test_hostile_cells();
	return done_testing();
}
