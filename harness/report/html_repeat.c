#include "report/html_repeat.h"

#include <stdlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "report/escape.h"

#define SPEC_MAX   (1 << 20)
#define SPEC_SHOWN (256 << 10)

void html_repeat_word(const struct page *p, const char *word)
{
	char *quoted = escape_shell(word);

	html_text(p, quoted);
	free(quoted);
}

void html_repeat_argv(const struct page *p, const json_t *run)
{
	const json_t *arg;
	size_t i;

	json_array_foreach (json_object_get(run, "argv"), i, arg) {
		html_printf(p, i ? " " : "");
		html_repeat_word(p, json_is_string(arg) ? json_string_value(arg) : "");
	}
}

void html_repeat(const struct page *p)
{
	html_printf(p, "<section>\n<h2>Verify and repeat</h2>\n");
	for (size_t i = 0; i < p->report->run_count; i++) {
		const struct report_run *run = &p->report->runs[i];

		html_run_heading(p, run);
		html_printf(p, "<p>Is every file as it was sealed, and does the summary follow from the raw stamps? "
			       "(Without kblat: "
			       "<code>sha256sum -c manifest-sha256.txt</code> there.)</p>\n<pre>kblat verify ");
		html_repeat_word(p, run->run->path);
		html_printf(p, "</pre>\n<p>The same measurement again, as it was started%s:</p>\n<pre>",
			    run->run->sealed ? "" : " (this run is not sealed)");
		html_repeat_argv(p, run->run->run);
		html_printf(p, "</pre>\n");
	}
	html_printf(p, "</section>\n");
}

static void write_spec(const struct page *p, const struct report_run *run)
{
	char *path = fs_path("%s/spec.yaml", run->run->path), *text = NULL;
	struct err ignored = ERR_INIT;
	size_t size = 0;

	html_run_heading(p, run);
	if (fs_read(path, SPEC_MAX, &text, &size, &ignored)) {
		html_printf(p, "<p class=\"soft\">spec.yaml could not be read, or is too large to show.</p>\n");
	} else {
		html_printf(p, "<pre>");
		escape_html_bytes(p->out, text, size < SPEC_SHOWN ? size : SPEC_SHOWN);
		html_printf(p, size < SPEC_SHOWN ? "</pre>\n" : "\n...</pre>\n");
	}
	free(text);
	free(path);
}

void html_specs(const struct page *p)
{
	html_printf(p, "<section>\n<h2>What was asked</h2>\n<details><summary>The specification, byte for byte "
		       "(spec.yaml)</summary>\n");
	for (size_t i = 0; i < p->report->run_count; i++)
		write_spec(p, &p->report->runs[i]);
	html_printf(p, "</details>\n</section>\n");
}
