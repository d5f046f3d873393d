#include "report/html_notes.h"

#include <string.h>

#include "analysis/notes.h"

#define FEW 10 /* maximum number of warnings that are not collapsed */

static bool is_about(const struct report_point *point, const char *list, const char *text)
{
	const json_t *s;
	size_t i;

	json_array_foreach (json_object_get(point->summary, list), i, s) {
		const char *other = json_string_value(s);

		if (other && !strcmp(other, text))
			return true;
	}
	return false;
}

static void write_note(const struct page *p, const char *list, const char *text, size_t first)
{
	const char *separator = "";

	for (size_t i = 0; i < first; i++)
		if (is_about(&p->report->points[i], list, text))
			return;
	html_printf(p, "<li>");
	html_text(p, text);
	html_printf(p, " <span class=\"soft\">(point ");
	for (size_t i = first; i < p->report->count; i++) {
		if (!is_about(&p->report->points[i], list, text))
			continue;
		html_printf(p, "%s", separator);
		html_point_link(p, &p->report->points[i]);
		separator = ", ";
	}
	html_printf(p, ")</span></li>\n");
}

static size_t count_notes(const struct page *p, const char *list)
{
	size_t count = 0;

	for (size_t i = 0; i < p->report->count; i++)
		count += json_array_size(json_object_get(p->report->points[i].summary, list));
	return count;
}

static void write_notes(const struct page *p, const char *list)
{
	for (size_t i = 0; i < p->report->count; i++) {
		const json_t *notes = json_object_get(p->report->points[i].summary, list);

		for (size_t k = 0; k < json_array_size(notes); k++)
			write_note(p, list, html_string_at(notes, k), i);
	}
}

/* Those about points are listed with these. */
static void write_run_notes(const struct page *p, const struct report_run *run, const char *list)
{
	const json_t *notes = json_object_get(run->run->run, list);

	for (size_t i = 0; i < json_array_size(notes); i++)
		if (!notes_are_of_points(html_string_at(notes, i)))
			html_item(p, html_string_at(notes, i));
}

static const struct {
	const char *list, *heading;
	bool always_open;
} notes[] = {
    {"reasons", "Why it is not valid", true},
    {"warnings", "What increases the error, without making the run invalid", false},
};

void html_notes(const struct page *p)
{
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		size_t count = count_notes(p, notes[i].list);

		for (size_t k = 0; k < p->report->run_count; k++)
			count += json_array_size(json_object_get(p->report->runs[k].run->run, notes[i].list));
		if (!count)
			continue;
		html_printf(p, "<details%s><summary><b>%s</b></summary>\n<ul>\n",
			    notes[i].always_open || count <= FEW ? " open" : "", notes[i].heading);
		for (size_t k = 0; k < p->report->run_count; k++)
			write_run_notes(p, &p->report->runs[k], notes[i].list);
		write_notes(p, notes[i].list);
		html_printf(p, "</ul>\n</details>\n");
	}
	html_printf(p, "</section>\n");
}
