#include "report/html.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/sha256.h"
#include "common/units.h"
#include "report/escape.h"

#define TABLE_MAX (16 << 20)

/* The script and the style of a page: page.js and page.css. */
static const char script[] = {
#include "report/page.js.inc"
    0};
static const char style_sheet[] = {
#include "report/page.css.inc"
    0};

/* Write the <script> element. */
static void html_script_write(FILE *out)
{
	fprintf(out, "<script>%s</script>\n", script);
}

/* Write "'sha256-…'", the script's hash for the Content-Security-Policy, which keeps other scripts
 * from running. */
static void html_script_hash(FILE *out)
{
	unsigned char digest[SHA256_BYTES];
	struct sha256 *hash = sha256_begin();

	sha256_add(hash, script, strlen(script));
	sha256_end(hash, digest);
	fprintf(out, "'sha256-");
	escape_base64(out, digest, sizeof(digest));
	fprintf(out, "'");
}

void html_printf(const struct page *p, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vfprintf(p->out, format, ap);
	va_end(ap);
}

void html_text(const struct page *p, const char *text)
{
	escape_html(p->out, text);
}

void html_ns(const struct page *p, int64_t ns)
{
	char human[32];

	html_printf(p, "<span title=\"%" PRId64 " ns\">%s</span>", ns, unit_human_ns(ns, human, sizeof(human)));
}

void html_ns_near(const struct page *p, double ns)
{
	html_ns(p, ns >= 0x1p63 ? INT64_MAX : ns >= -0x1p63 ? (int64_t)ns : INT64_MIN);
}

const char *html_string(const json_t *object, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && *text ? text : otherwise;
}

const char *html_string_at(const json_t *strings, size_t i)
{
	const char *text = json_string_value(json_array_get(strings, i));

	return text ? text : "?";
}

void html_item(const struct page *p, const char *text)
{
	html_printf(p, "<li>");
	html_text(p, text);
	html_printf(p, "</li>\n");
}

void html_preformatted(const struct page *p, const char *heading, const char *text)
{
	html_printf(p, "<section>\n<h2>%s</h2>\n<pre>", heading);
	html_text(p, text);
	html_printf(p, "</pre>\n</section>\n");
}

void html_begin_foot(const struct page *p)
{
	html_printf(p, "<footer><p class=\"soft\">");
}

void html_end_foot(const struct page *p)
{
	html_printf(p, "</p></footer>\n</main>\n");
	html_script_write(p->out);
	html_printf(p, "</body>\n</html>\n");
}

void html_foot(const struct page *p, const char *text)
{
	html_begin_foot(p);
	html_printf(p, "%s", text);
	html_end_foot(p);
}

void html_no_figures(const struct page *p)
{
	if (!p->no_figures)
		return;
	html_printf(p, "<p class=\"soft\"><span class=\"bad\">No figures as files:</span> ");
	html_text(p, p->no_figures);
	html_printf(p, ".</p>\n");
}

void html_run_heading(const struct page *p, const struct report_run *run)
{
	if (p->report->run_count < 2)
		return;
	html_printf(p, "<h3>");
	html_text(p, run->label);
	html_printf(p, "</h3>\n");
}

void html_point_link(const struct page *p, const struct report_point *point)
{
	html_printf(p, "<a href=\"#%s\">", point->name);
	if (p->report->run_count > 1) {
		html_text(p, p->report->runs[point->run].label);
		html_printf(p, " ");
	}
	html_printf(p, "%u</a>", point->id);
}

/* --- head --- */

void html_head(const struct page *p, const char *title)
{
	html_printf(p, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		       "style-src 'unsafe-inline'; script-src ");
	html_script_hash(p->out);
	html_printf(p, "\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		       "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
	html_text(p, title);
	html_printf(p, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>", style_sheet);
	html_text(p, title);
	html_printf(
	    p, "</h1>\n<noscript><p class=\"soft\">Figures are drawn by this page's script, which does not run "
	       "here: the links below each lead to the same figure as a file, and to its numbers.</p></noscript>\n");
}

/* --- figures --- */

/* Text within <script>: nothing in it can end that. */
static void write_script_text(const struct page *p, const char *text)
{
	for (; *text; text++)
		if (*text == '<')
			html_printf(p, "\\u003c");
		else
			fputc(*text, p->out);
}

/* Of a histogram, bins without messages. */
static bool is_empty_row(const char *from, const char *end)
{
	const char *to = memchr(from, '\t', (size_t)(end - from));
	const char *counts = to ? memchr(to + 1, '\t', (size_t)(end - to - 1)) : NULL;

	return counts && strspn(counts, "\t0") == (size_t)(end - counts);
}

/* Of a histogram: does a bin begin where the one before it ends, whose columns are `before`? */
static bool follows(const char *before, const char *line)
{
	const char *to = strchr(before, '\t');
	size_t from = strcspn(line, "\t\n"), size = to ? strcspn(to + 1, "\t\n") : 0;

	return from && from == size && !memcmp(to + 1, line, from);
}

/* What a page needs of a table: without texts that say again which point a row is about, which are the last ones,
 * without empty rows, and without the beginning of a bin that follows another one. */
static void shorten_table(char *table, bool is_histogram)
{
	const char *heading = strchrnul(table, '\n'), *run = memmem(table, (size_t)(heading - table), "\trun\t", 5);
	size_t columns = run ? 0 : SIZE_MAX;
	char *to = table, *before = NULL;

	for (const char *at = table; run && at <= run; at++)
		columns += *at == '\t';
	for (char *line = table, *end; *line; line = *end ? end + 1 : end) {
		char *at = line;

		end = strchrnul(line, '\n');
		if (is_histogram && is_empty_row(line, end))
			continue;
		for (size_t tabs = 0; at < end && (tabs += *at == '\t') < columns; at++)
			;
		if (is_histogram && before && follows(before, line))
			line += strcspn(line, "\t");
		before = to;
		memmove(to, line, (size_t)(at - line));
		to += at - line;
		*to++ = '\n';
	}
	*(to > table ? to - 1 : to) = '\0';
}

static void write_variables(const struct page *p, const struct figure *f)
{
	char *text = escape_shown(f->text), *written;
	json_t *data = or_abort(json_pack("{s:s, s:s, s:O}", "kind", f->kind, "alt", text, "variables", f->variables));

	written = or_abort(json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(15)));
	html_printf(p, "<script type=\"application/json\">");
	write_script_text(p, written);
	html_printf(p, "</script>");
	free(written);
	free(text);
	json_decref(data);
}

static void write_chart(const struct page *p, const struct figure *f)
{
	char *path = fs_path("%s/%s.tsv", p->figures->dir, f->name), *table = NULL, *shown;
	struct err ignored = ERR_INIT;
	size_t size;

	if (fs_read(path, TABLE_MAX, &table, &size, &ignored)) {
		html_printf(p, "<p class=\"bad\">This figure could not be read.</p>\n");
	} else {
		html_printf(p, "<div class=\"chart\">");
		write_variables(p, f);
		html_printf(p, "<script type=\"text/tab-separated-values\">");
		shorten_table(table, !strcmp(f->kind, "histogram") || !strcmp(f->kind, "overlay"));
		shown = escape_shown(table);
		write_script_text(p, shown);
		html_printf(p, "</script></div>\n");
		free(shown);
	}
	free(table);
	free(path);
}

static bool is_there(const struct figures *f, const char *name, const char *format)
{
	char *path = fs_path("%s/%s.%s", f->dir, name, format);
	bool there = !access(path, R_OK);

	free(path);
	return there;
}

static void write_links(const struct page *p, const struct figure *f)
{
	static const char *const formats[] = {"svg", "pdf", "tsv"};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (is_there(p->figures, f->name, formats[i]))
			html_printf(p, " <a href=\"figures/%s.%s\">%s</a>", f->name, formats[i], formats[i]);
}

void html_figure(const struct page *p, const struct figure *f, const char *caption, const char *style)
{
	html_printf(p, "<figure%s>\n", style);
	write_chart(p, f);
	html_printf(p, "<figcaption>");
	if (f->shows_text) {
		html_text(p, f->text);
		html_printf(p, "<br>");
	}
	html_text(p, caption);
	write_links(p, f);
	html_printf(p, "</figcaption>\n</figure>\n");
}
