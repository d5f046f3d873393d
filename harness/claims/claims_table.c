/*
 * Verdicts for people and for papers.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "claims/claims.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/text.h"

#define CELL_MAX 1100
#define INDENT	 12 /* of reasons: below the claims */

/* A column's cells are wrapped at its width. */
struct column {
	const char *title, *key;
	size_t width;
};

static const struct column columns[] = {
    {"verdict", "verdict", 10},
    {"claim", "claim", 46},
    {"the source", "measured_by_source", 16},
    {"measured", "measured", 22},
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* Characters, not bytes. */
static size_t width_of(const char *text, size_t length)
{
	size_t width = 0;

	for (size_t i = 0; i < length; i++)
		width += (text[i] & 0xc0) != 0x80;
	return width;
}

/* The bytes of the first line of `text` when it is wrapped: whole words, or a part of one that is too long. */
static size_t line_length(const char *text, size_t width)
{
	size_t length = 0, end = 0;

	for (;;) {
		length += strspn(text + length, " ");
		length += strcspn(text + length, " ");
		if (width_of(text, length) > width)
			break;
		end = length;
		if (!text[length])
			return end;
	}
	if (end)
		return end;
	while (width_of(text, end + 1) <= width || (text[end] & 0xc0) == 0x80)
		end++;
	return end;
}

/* Print the next line of a cell, padded, and step over it. */
static void put_line(const char **rest, size_t width, bool pad, FILE *out)
{
	size_t length = line_length(*rest, width), used = width_of(*rest, length);

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

static void put_row(const char *const *cells, FILE *out)
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
				put_line(&rest[i], columns[i].width, more, out);
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
		put_line(&rest, 100 - INDENT, false, out);
		fputc('\n', out);
	}
}

static void put_claim(const json_t *claim, FILE *out)
{
	const char *cells[COLUMNS];
	char *note = fs_path("%s, wanted: %s of %s%s%s", json_text(claim, "id"), json_text(claim, "wanted"),
			     json_text(claim, "metric"), *json_text(claim, "why") ? "; " : "", json_text(claim, "why"));

	for (size_t i = 0; i < COLUMNS; i++)
		cells[i] = json_text(claim, columns[i].key);
	put_row(cells, out);
	put_note(note, out);
	free(note);
}

bool claims_of_several(const json_t *all)
{
	const json_t *first = json_object_get(json_array_get(all, 0), "experiment"), *claim;
	size_t i;

	json_array_foreach (all, i, claim)
		if (!json_equal(first, json_object_get(claim, "experiment")))
			return true;
	return false;
}

void claims_table(const json_t *verdicts, FILE *out)
{
	const json_t *all = json_object_get(verdicts, "claims"), *claim;
	const char *titles[COLUMNS], *last = "";
	bool several = claims_of_several(all);
	char clean[128];
	size_t i;

	for (size_t c = 0; c < COLUMNS; c++)
		titles[c] = columns[c].title;
	put_row(titles, out);
	json_array_foreach (all, i, claim) {
		const char *experiment = json_text(claim, "experiment");

		if (several && strcmp(experiment, last))
			fprintf(out, "\n%s\n", text_clean(experiment, strlen(experiment), clean, sizeof(clean)));
		last = experiment;
		put_claim(claim, out);
	}
	fprintf(out, "\n%zu claim%s: %zu hold%s, %zu fail%s, %zu not judged\n", json_array_size(all),
		json_array_size(all) == 1 ? "" : "s", claims_count(verdicts, "holds"),
		claims_count(verdicts, "holds") == 1 ? "s" : "", claims_count(verdicts, "fails"),
		claims_count(verdicts, "fails") == 1 ? "s" : "", claims_count(verdicts, "not judged"));
}

void claims_tsv(const json_t *verdicts, FILE *out)
{
	static const char *const keys[] = {"experiment", "id",	   "claim",    "source",  "measured_by_source",
					   "metric",	 "wanted", "measured", "verdict", "why"};
	const json_t *claim;
	size_t i, count = sizeof(keys) / sizeof(keys[0]);
	char clean[CELL_MAX];

	for (size_t k = 0; k < count; k++)
		fprintf(out, "%s%c", keys[k], k + 1 < count ? '\t' : '\n');
	json_array_foreach (json_object_get(verdicts, "claims"), i, claim)
		for (size_t k = 0; k < count; k++) {
			const char *text = json_text(claim, keys[k]);

			/* Tabs and newlines are controls, and do not survive. */
			fprintf(out, "%s%c", text_clean(text, strlen(text), clean, sizeof(clean)),
				k + 1 < count ? '\t' : '\n');
		}
}
