#include "report/html.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "report/escape.h"
#include "report/html_script.h"
#include "report/html_style.h"
#include "report/svg_url.h"

#define SVG_MAX (16 << 20)

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

void html_printed(const struct page *p, const char *heading, void (*print)(const json_t *json, FILE *out),
		  const json_t *json)
{
	char *text = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&text, &size));

	print(json, out);
	fclose(out);
	html_printf(p, "<section>\n<h2>%s</h2>\n<pre>", heading);
	html_text(p, text);
	html_printf(p, "</pre>\n</section>\n");
	free(text);
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
	html_printf(p, "<p class=\"soft\"><span class=\"bad\">No figures:</span> ");
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
		       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
		       "style-src 'unsafe-inline'; script-src ");
	html_script_hash(p->out);
	html_printf(p, "\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		       "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
	html_text(p, title);
	html_printf(p, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>", html_style);
	html_text(p, title);
	html_printf(p, "</h1>\n");
}

/* --- figures --- */

static void write_image(const struct page *p, const struct figure *f)
{
	char *path = fs_path("%s/%s.svg", p->figures->dir, f->name), *svg = NULL;
	struct err ignored = ERR_INIT;
	size_t size;

	if (fs_read(path, SVG_MAX, &svg, &size, &ignored)) {
		html_printf(p, "<p class=\"bad\">This figure could not be read.</p>\n");
	} else {
		html_printf(p, "<div class=\"wide\" tabindex=\"0\"><img alt=\"");
		html_text(p, f->text);
		html_printf(p, "\" src=\"");
		svg_url_write(p->out, svg, size);
		html_printf(p, "\"></div>\n");
	}
	free(svg);
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
	if (!p->no_figures)
		write_image(p, f);
	html_printf(p, "<figcaption>");
	html_text(p, caption);
	write_links(p, f);
	html_printf(p, "</figcaption>\n</figure>\n");
}
