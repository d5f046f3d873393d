#include "report/html_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "report/escape.h"

#define SPEC_MAX   (1 << 20)
#define SPEC_SHOWN (256 << 10)

static void write_word(const struct page *p, const char *word)
{
	char *quoted = escape_shell(word);

	html_text(p, quoted);
	free(quoted);
}

/* "size=32B": is there a filter of that setting? */
static bool is_replaced(const char *filter, const json_t *filters)
{
	char *key = fs_path("%.*s", (int)strcspn(filter, "="), filter);
	bool known = json_object_get(filters, key);

	free(key);
	return known;
}

/* The number of words of a --only that begins at `at` and is to be replaced; otherwise 0. */
static size_t replaced_words(const json_t *argv, size_t at, const json_t *filters)
{
	const char *word = html_string_at(argv, at);

	if (!strcmp(word, "--only"))
		return is_replaced(html_string_at(argv, at + 1), filters) ? 2 : 0;
	return !strncmp(word, "--only=", 7) && is_replaced(word + 7, filters);
}

/* The command that made a run, with these filters replacing its own for the same settings. */
static void write_argv(const struct page *p, const struct report_run *run, const json_t *filters)
{
	const json_t *argv = run->record->argv;

	for (size_t i = 0; i < json_array_size(argv); i++) {
		size_t replaced = replaced_words(argv, i, filters);

		if (replaced) {
			i += replaced - 1;
			continue;
		}
		html_printf(p, i ? " " : "");
		write_word(p, html_string_at(argv, i));
	}
}

void html_repeat_point(const struct page *p, const struct report_run *run, const json_t *filters)
{
	const char *key;
	json_t *value;

	write_argv(p, run, filters);
	json_object_foreach ((json_t *)filters, key, value) {
		char *filter = fs_path("%s=%s", key, json_string_value(value));

		html_printf(p, " --only ");
		write_word(p, filter);
		free(filter);
	}
}

void html_repeat(const struct page *p)
{
	html_printf(p, "<section>\n<h2>Verify and repeat</h2>\n");
	for (size_t i = 0; i < p->report->run_count; i++) {
		const struct report_run *run = &p->report->runs[i];

		html_run_heading(p, run);
		html_printf(
		    p, "<p>Check that every file is unchanged and that the summary follows from the raw stamps. "
		       "(Without kblat: <code>sha256sum -c manifest-sha256.txt</code> there.)</p>\n<pre>kblat verify ");
		write_word(p, run->run->path);
		html_printf(p, "</pre>\n<p>Repeat the measurement with the same command%s:</p>\n<pre>",
			    run->run->sealed ? "" : " (this run is not sealed)");
		write_argv(p, run, NULL);
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
	html_printf(
	    p, "<section>\n<h2>Specification</h2>\n<details><summary>The spec, byte for byte (spec.yaml)</summary>\n");
	for (size_t i = 0; i < p->report->run_count; i++)
		write_spec(p, &p->report->runs[i]);
	html_printf(p, "</details>\n</section>\n");
}
