#include "report/html_blocks.h"

#include <string.h>

#include "judge/analysis/notes.h"

#define FEW 10 /* maximum number of warnings that are not collapsed */

/* Of a point: the reasons why it is not valid, or the warnings. NULL: there are none. */
static const json_t *notes_of(const struct report_point *point, bool warnings)
{
	return !point->summary ? NULL : warnings ? point->summary->warnings : point->summary->reasons;
}

static const json_t *notes_of_run(const struct report_run *run, bool warnings)
{
	return warnings ? run->record->warnings : run->record->reasons;
}

static bool is_about(const struct report_point *point, bool warnings, const char *text)
{
	const json_t *s;
	size_t i;

	json_array_foreach (notes_of(point, warnings), i, s) {
		const char *other = json_string_value(s);

		if (other && !strcmp(other, text))
			return true;
	}
	return false;
}

static void write_note(const struct page *p, bool warnings, const char *text, size_t first)
{
	const char *separator = "";

	for (size_t i = 0; i < first; i++)
		if (is_about(&p->report->points[i], warnings, text))
			return;
	html_printf(p, "<li>");
	html_text(p, text);
	html_printf(p, " <span class=\"soft\">(point ");
	for (size_t i = first; i < p->report->count; i++) {
		if (!is_about(&p->report->points[i], warnings, text))
			continue;
		html_printf(p, "%s", separator);
		html_point_link(p, &p->report->points[i]);
		separator = ", ";
	}
	html_printf(p, ")</span></li>\n");
}

static size_t count_notes(const struct page *p, bool warnings)
{
	size_t count = 0;

	for (size_t i = 0; i < p->report->count; i++)
		count += json_array_size(notes_of(&p->report->points[i], warnings));
	return count;
}

static void write_notes(const struct page *p, bool warnings)
{
	for (size_t i = 0; i < p->report->count; i++) {
		const json_t *notes = notes_of(&p->report->points[i], warnings);

		for (size_t k = 0; k < json_array_size(notes); k++)
			write_note(p, warnings, html_string_at(notes, k), i);
	}
}

/* Those about points are listed with these. */
static void write_run_notes(const struct page *p, const struct report_run *run, bool warnings)
{
	const json_t *notes = notes_of_run(run, warnings);

	for (size_t i = 0; i < json_array_size(notes); i++)
		if (!notes_are_of_points(html_string_at(notes, i)))
			html_item(p, html_string_at(notes, i));
}

static const struct {
	bool warnings;
	const char *heading;
} notes[] = {
    {false, "Why it is not valid"},
    {true, "What increases the error, without making the run invalid"},
};

void html_notes(const struct page *p)
{
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		size_t count = count_notes(p, notes[i].warnings);

		for (size_t k = 0; k < p->report->run_count; k++)
			count += json_array_size(notes_of_run(&p->report->runs[k], notes[i].warnings));
		if (!count)
			continue;
		html_printf(p, "<details%s><summary><b>%s</b></summary>\n<ul>\n",
			    !notes[i].warnings || count <= FEW ? " open" : "", notes[i].heading);
		for (size_t k = 0; k < p->report->run_count; k++)
			write_run_notes(p, &p->report->runs[k], notes[i].warnings);
		write_notes(p, notes[i].warnings);
		html_printf(p, "</ul>\n</details>\n");
	}
	html_printf(p, "</section>\n");
}
