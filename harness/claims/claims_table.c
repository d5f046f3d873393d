#include "claims/claims_table.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/text.h"

#define CELL_MAX 1100
#define INDENT	 12 /* indentation of reasons, which are below the claims */

/* A column's cells are wrapped at its width. */
struct column {
	const char *title;
	size_t offset; /* offset of a text in struct claim_verdict; VERDICT: the verdict itself */
	size_t width;
};

#define VERDICT	    SIZE_MAX
#define TEXT(field) offsetof(struct claim_verdict, field)

static const struct column columns[] = {
    {"verdict", VERDICT, 10},
    {"claim", TEXT(claim), 46},
    {"the source", TEXT(measured_by_source), 16},
    {"measured", TEXT(measured), 22},
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static const char *verdict_text(const struct claim_verdict *v, size_t offset)
{
	return offset == VERDICT ? claim_outcome_names[v->verdict] : *(char *const *)((const char *)v + offset);
}

/* Characters, not bytes. */
static size_t characters_in(const char *text, size_t length)
{
	size_t width = 0;

	for (size_t i = 0; i < length; i++)
		width += (text[i] & 0xc0) != 0x80;
	return width;
}

/* The length in bytes of the first line of `text` when it is wrapped: whole words, or a part of a
 * word that is too long. */
static size_t line_length(const char *text, size_t width)
{
	size_t length = 0, end = 0;

	for (;;) {
		length += strspn(text + length, " ");
		length += strcspn(text + length, " ");
		if (characters_in(text, length) > width)
			break;
		end = length;
		if (!text[length])
			return end;
	}
	if (end)
		return end;
	while (characters_in(text, end + 1) <= width || (text[end] & 0xc0) == 0x80)
		end++;
	return end;
}

/* Print the next line of a cell, padded, and advance to the following line. */
static void put_wrapped_line(const char **rest, size_t width, bool pad, FILE *out)
{
	size_t length = line_length(*rest, width), used = characters_in(*rest, length);

	fwrite(*rest, 1, length, out);
	*rest += length;
	*rest += strspn(*rest, " ");
	if (pad)
		fprintf(out, "%*s", (int)(width - used + 2), "");
}

static bool any_left(const char *const *rest)
{
	for (size_t i = 0; i < COLUMNS; i++)
		if (*rest[i])
			return true;
	return false;
}

static void put_cells(const char *const *cells, FILE *out)
{
	char clean[COLUMNS][CELL_MAX];
	const char *rest[COLUMNS];

	for (size_t i = 0; i < COLUMNS; i++)
		rest[i] = text_clean(cells[i], strlen(cells[i]), clean[i], CELL_MAX);
	do {
		for (size_t i = 0; i < COLUMNS; i++) {
			bool more = false;

			for (size_t k = i + 1; k < COLUMNS; k++)
				more |= *rest[k] != '\0';
			if (*rest[i] || more)
				put_wrapped_line(&rest[i], columns[i].width, more, out);
		}
		fputc('\n', out);
	} while (any_left(rest));
}

static void put_note(const char *note, FILE *out)
{
	char clean[CELL_MAX];
	const char *rest = text_clean(note, strlen(note), clean, sizeof(clean));

	while (*rest) {
		fprintf(out, "%*s", INDENT, "");
		put_wrapped_line(&rest, 100 - INDENT, false, out);
		fputc('\n', out);
	}
}

static void put_claim(const struct claim_verdict *v, FILE *out)
{
	const char *cells[COLUMNS];
	char *note = fs_path("%s, wanted: %s of %s%s%s", v->id, v->wanted, v->metric, *v->why ? "; " : "", v->why);

	for (size_t i = 0; i < COLUMNS; i++)
		cells[i] = verdict_text(v, columns[i].offset);
	put_cells(cells, out);
	put_note(note, out);
	free(note);
}

static void put_titles(FILE *out)
{
	const char *titles[COLUMNS];

	for (size_t i = 0; i < COLUMNS; i++)
		titles[i] = columns[i].title;
	put_cells(titles, out);
}

static void put_counts(const struct claim_verdicts *v, FILE *out)
{
	size_t holding = claim_verdicts_count(v, CLAIM_HOLDS), failing = claim_verdicts_count(v, CLAIM_FAILS);

	fprintf(out, "\n%zu claim%s: %zu hold%s, %zu fail%s, %zu not judged\n", v->count, v->count == 1 ? "" : "s",
		holding, holding == 1 ? "s" : "", failing, failing == 1 ? "s" : "",
		claim_verdicts_count(v, CLAIM_NOT_JUDGED));
}

void claims_table(const struct claim_verdicts *v, FILE *out)
{
	bool several = claim_verdicts_of_several(v);
	const char *last = "";
	char clean[128];

	put_titles(out);
	for (size_t i = 0; i < v->count; i++) {
		const char *experiment = v->all[i].experiment;

		if (several && strcmp(experiment, last))
			fprintf(out, "\n%s\n", text_clean(experiment, strlen(experiment), clean, sizeof(clean)));
		last = experiment;
		put_claim(&v->all[i], out);
	}
	put_counts(v, out);
}

void claims_tsv(const struct claim_verdicts *v, FILE *out)
{
	static const struct {
		const char *name;
		size_t offset;
	} cells[] = {
	    {"experiment", TEXT(experiment)},
	    {"id", TEXT(id)},
	    {"claim", TEXT(claim)},
	    {"source", TEXT(source)},
	    {"measured_by_source", TEXT(measured_by_source)},
	    {"metric", TEXT(metric)},
	    {"wanted", TEXT(wanted)},
	    {"measured", TEXT(measured)},
	    {"verdict", VERDICT},
	    {"why", TEXT(why)},
	};
	size_t last = sizeof(cells) / sizeof(cells[0]) - 1;
	char clean[CELL_MAX];

	for (size_t k = 0; k <= last; k++)
		fprintf(out, "%s%c", cells[k].name, k < last ? '\t' : '\n');
	for (size_t i = 0; i < v->count; i++)
		for (size_t k = 0; k <= last; k++) {
			const char *text = verdict_text(&v->all[i], cells[k].offset);

			/* Tabs and newlines are control characters, which cleaning removes. */
			fprintf(out, "%s%c", text_clean(text, strlen(text), clean, sizeof(clean)),
				k < last ? '\t' : '\n');
		}
}
