#include "report/html.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "report/escape.h"

#define SVG_MAX (16 << 20)

/* If a table has several bodies, these are sorted, so that the rows of a point stay together. What
 * is not a number, or has no cell, comes last in either order. */
/* clang-format off */
static const char script[] =
	"'use strict';\n"
	"function key(unit,i){const cell=(unit.rows?unit.rows[0]:unit).cells[i];if(!cell)return null;\n"
	"if(cell.dataset.sort)return +cell.dataset.sort;const ns=cell.querySelector('[title$=\" ns\"]');\n"
	"if(ns)return parseFloat(ns.title);const text=cell.textContent.trim();if(!text||text==='\\u2013')return null;\n"
	"const number=parseFloat(text);return cell.className==='n'||String(number)===text?number:text}\n"
	"function order(a,b){if(a===null||b===null)return 0;\n"
	"return typeof a==='number'&&typeof b==='number'?a-b:String(a).localeCompare(String(b),'en',{numeric:true})}\n"
	"function sort(table,head,i){const up=head.getAttribute('aria-sort')!=='ascending';\n"
	"for(const h of head.parentNode.cells)h.removeAttribute('aria-sort');\n"
	"head.setAttribute('aria-sort',up?'ascending':'descending');\n"
	"const many=table.tBodies.length>1,units=[...(many?table.tBodies:table.tBodies[0].rows)];\n"
	"const keyed=units.map(u=>[key(u,i),u]);\n"
	"keyed.sort((a,b)=>(a[0]===null)-(b[0]===null)||(up?1:-1)*order(a[0],b[0]));\n"
	"const into=many?table:table.tBodies[0];for(const[,u]of keyed)into.append(u)}\n"
	"for(const table of document.querySelectorAll('table'))if(table.tHead&&table.tBodies.length)\n"
	"for(const head of table.tHead.rows[0].cells){\n"
	"if(!head.textContent.trim()||head.classList.contains('plain'))continue;\n"
	"const button=document.createElement('button');button.type='button';button.append(...head.childNodes);\n"
	"head.append(button);button.addEventListener('click',()=>sort(table,head,head.cellIndex))}\n"
	"function unfold(){const at=location.hash&&document.getElementById(location.hash.slice(1));\n"
	"for(let e=at;e;e=e.parentElement)if(e.tagName==='DETAILS')e.open=true;if(at)at.scrollIntoView()}\n"
	"addEventListener('hashchange',unfold);unfold();\n";
/* clang-format on */

/* Write the <script> element. */
static void html_script_write(FILE *out)
{
	fprintf(out, "<script>%s</script>\n", script);
}

/* Write "'sha256-…'", the script's hash for the Content-Security-Policy, which keeps other scripts
 * from running. */
static void html_script_hash(FILE *out)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int size = 0;

	EVP_Digest(script, strlen(script), digest, &size, EVP_sha256(), NULL);
	fprintf(out, "'sha256-");
	escape_base64(out, digest, size);
	fprintf(out, "'");
}

/* clang-format off */
static const char html_style[] =
	":root{color-scheme:light dark;"
	"--ink:#1c2126;--soft:#5a636c;--paper:#fff;--line:#d5dade;--shade:#f4f6f8;"
	"--blue:#00549f;--red:#b3121d;--green:#2c7a1f;--amber:#8a5a00}\n"
	"@media(prefers-color-scheme:dark){:root{"
	"--ink:#e4e8ec;--soft:#9aa5b0;--paper:#14181c;--line:#353d45;--shade:#1d2329;"
	"--blue:#7db8ee;--red:#ff7b80;--green:#7fce6f;--amber:#e9b44c}}\n"

	"*{box-sizing:border-box}\n"
	"body{margin:0;background:var(--paper);color:var(--ink);"
	"font:1rem/1.5 system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}\n"
	"main{max-width:80rem;margin:0 auto;padding:1.5rem clamp(.8rem,3vw,2rem) 3rem}\n"
	"h1{font-size:1.7rem;line-height:1.2;margin:0 0 .2rem;overflow-wrap:anywhere}\n"
	"h2{font-size:1.2rem;margin:2.4rem 0 .6rem;padding-bottom:.25rem;border-bottom:1px solid var(--line)}\n"
	"h3{font-size:1rem;margin:1.2rem 0 .4rem}\n"
	"p{margin:.4rem 0;max-width:60rem}\n"
	"a{color:var(--blue)}\n"
	"time{white-space:nowrap}\n"
	"details{margin:.6rem 0}\n"
	"summary{cursor:pointer}\n"
	"summary h3{display:inline}\n"
	"code{font:.9em ui-monospace,'DejaVu Sans Mono',monospace;overflow-wrap:anywhere}\n"
	"pre{font:.85rem/1.45 ui-monospace,'DejaVu Sans Mono',monospace;background:var(--shade);"
	"border:1px solid var(--line);border-radius:.3rem;padding:.7rem .9rem;margin:.5rem 0;overflow-x:auto}\n"
	".soft,caption,figcaption{color:var(--soft);font-size:.88rem}\n"
	".yes,.bad{font-weight:600;white-space:nowrap}\n"
	".yes,.answer.ok strong{color:var(--green)}\n"
	".bad,.answer.no strong{color:var(--red)}\n"
	".unsaid{color:var(--soft);font-weight:600;white-space:nowrap}\n"
	"table.claims td{min-width:5.5rem;overflow-wrap:break-word}\n"
	"table.claims td>.soft{display:block}\n"
	"table.claims ul{margin:.2rem 0;padding-left:1.1rem}\n"
	"table.claims details{margin:.2rem 0}\n"
	".answer.part strong{color:var(--amber)}\n"

	".answer{border-left:.35rem solid var(--green);border-radius:0 .3rem .3rem 0;background:var(--shade);"
	"padding:.7rem 1rem;margin:1rem 0;overflow-wrap:anywhere}\n"
	".answer.no{border-color:var(--red)}\n"
	".answer.part{border-color:var(--amber)}\n"
	".answer p{margin:0}\n"
	".answer ul{margin:.5rem 0 0;padding-left:1.2rem}\n"

	".wide{overflow-x:auto}\n"
	".tall{max-height:40rem;overflow-y:auto}\n"
	".tall thead th{position:sticky;top:0;background:var(--paper)}\n"
	"table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}\n"
	".caption{margin:0;padding-bottom:.4rem;font-size:.88rem}\n"
	"th,td{padding:.28rem .38rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}\n"
	"thead th{border-bottom:2px solid var(--soft);white-space:nowrap;vertical-align:bottom}\n"
	"th.n,td.n{text-align:right;white-space:nowrap}\n"
	"thead th.n{white-space:normal}\n"
	"th[scope=row]{font-weight:600}\n"
	"tbody.point{border-bottom:1px solid var(--line)}\n"
	"tbody.point:nth-of-type(even){background:var(--shade)}\n"
	"tbody.point td,tbody.point th{border-bottom:0}\n"
	"tbody.point td:not([rowspan]):not([colspan]){white-space:nowrap}\n"
	"th button{all:unset;cursor:pointer}\n"
	"th button:hover,th button:focus-visible{text-decoration:underline}\n"
	"th button:focus-visible{outline:2px solid var(--blue);outline-offset:2px}\n"
	"th[aria-sort=ascending] button::after{content:\" \\25b2\"}\n"
	"th[aria-sort=descending] button::after{content:\" \\25bc\"}\n"
	".spark{display:block;color:var(--blue)}\n"
	"tr.second td{color:var(--soft)}\n"
	".facts th{font-weight:400;color:var(--soft);white-space:nowrap}\n"
	".facts td{overflow-wrap:anywhere}\n"
	".granted th{white-space:normal;min-width:6rem;max-width:14rem}\n"
	".granted td{white-space:pre-line}\n"
	".beside{display:flex;flex-wrap:wrap;gap:.5rem 2.5rem;align-items:flex-start}\n"
	".beside>*{max-width:min(100%,46rem)}\n"

	"figure{margin:0;break-inside:avoid}\n"
	"figure .wide{background:#fff;border:1px solid var(--line);border-radius:.3rem}\n"
	"figure img{display:block;width:100%;min-width:34rem;height:auto}\n"
	"figure.overview{max-width:56rem}\n"
	"figure.broad{max-width:none}\n"
	"figure.broad img{min-width:60rem}\n"
	"figcaption{padding:.25rem .1rem}\n"
	".grid{display:grid;gap:1.2rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,34rem),1fr))}\n"

	"@media(max-width:40rem){.facts th{white-space:normal}.facts td{min-width:11rem}}\n"
	"@media print{\n"
	":root{--ink:#000;--soft:#444;--paper:#fff;--line:#bbb;--shade:#f5f5f5;"
	"--blue:#00549f;--red:#b3121d;--green:#2c7a1f;--amber:#8a5a00}\n"
	"@page{margin:1.4cm}\n"
	"body{font-size:9.5pt}\n"
	"main{max-width:none;padding:0}\n"
	"h2{break-after:avoid}\n"
	"a{color:inherit;text-decoration:none}\n"
	"pre{white-space:pre-wrap}\n"
	".wide,.tall{overflow:visible;max-height:none}\n"
	"table{font-size:7.5pt}\n"
	"th,td{padding:.15rem .3rem}\n"
	"figure img,figure.broad img{min-width:0}\n"
	".grid{grid-template-columns:1fr 1fr;gap:.6rem}}\n";
/* clang-format on */

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
		escape_svg_url(p->out, svg, size);
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
	if (f->shows_text) {
		html_text(p, f->text);
		html_printf(p, "<br>");
	}
	html_text(p, caption);
	write_links(p, f);
	html_printf(p, "</figcaption>\n</figure>\n");
}
