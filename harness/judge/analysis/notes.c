#include "judge/analysis/notes.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "common/text.h"
#include "judge/analysis/summary.h"

#define NUMBERS_MAX 8
#define IDS_SHOWN   8
#define HOLE	    '\1' /* replaces a number */

/* A text and its points; of several texts that differ only in numbers, the first one. */
struct note {
	const char *text;
	bool differs; /* the texts of its points are not the same */
	json_t *ids;
	size_t count;
	struct {
		uint64_t least, most;
	} numbers[NUMBERS_MAX];
};

struct notes {
	struct note *note;
	size_t count;
	json_t *index; /* of each text, or of its words */
};

/* --- texts that differ only in numbers --- */

/* The number of digits at `at` if they are a separate integer, rather than part of a name or a fraction. */
static size_t digits_at(const char *text, const char *at)
{
	const size_t digits = strspn(at, "0123456789");
	const bool separate = (at == text || strchr(" (", at[-1])) && strchr(" ,)", at[digits]);

	return separate && digits < 19 ? digits : 0;
}

/* Returns the text with a hole for each of its numbers, which are stored. The caller frees. */
static char *note_take_numbers(struct note *n)
{
	char *words = or_abort(malloc(strlen(n->text) + 1)), *to = words;

	for (const char *at = n->text; *at;) {
		const size_t digits = n->count < NUMBERS_MAX ? digits_at(n->text, at) : 0;

		if (digits) {
			n->numbers[n->count].least = n->numbers[n->count].most = strtoull(at, NULL, 10);
			n->count++;
		}
		*to++ = digits ? HOLE : *at;
		at += digits ? digits : 1;
	}
	*to = '\0';
	return words;
}

static void note_join(struct note *to, const struct note *from)
{
	to->differs |= strcmp(to->text, from->text) != 0;
	for (size_t i = 0; i < to->count; i++) {
		if (from->numbers[i].least < to->numbers[i].least)
			to->numbers[i].least = from->numbers[i].least;
		if (from->numbers[i].most > to->numbers[i].most)
			to->numbers[i].most = from->numbers[i].most;
	}
}

/* --- the notes of all points --- */

/* If it is not the last one already. */
static void note_add_point(struct note *n, json_int_t id)
{
	const size_t count = json_array_size(n->ids);

	if (!count || json_integer_value(json_array_get(n->ids, count - 1)) != id)
		json_array_append_new(n->ids, json_integer(id));
}

static void notes_add(struct notes *all, json_int_t id, const char *text, enum notes_group group)
{
	struct note n = {.text = text};
	char *words = group == NOTES_BY_WORDS ? note_take_numbers(&n) : NULL;
	const char *key = words ? words : text;
	const json_t *known = json_object_get(all->index, key);
	const size_t i = known ? (size_t)json_integer_value(known) : all->count;

	if (known) {
		note_join(&all->note[i], &n);
	} else {
		n.ids = json_array();
		json_object_set_new(all->index, key, json_integer((json_int_t)i));
		all->note = grow_or_abort(all->note, all->count, sizeof(*all->note));
		all->note[all->count++] = n;
	}
	note_add_point(&all->note[i], id);
	free(words);
}

static const json_t *notes_of_kind(const struct summary_point *p, enum notes_kind kind)
{
	return kind == NOTES_REASONS ? p->reasons : p->warnings;
}

/* Only of points that are impossible on this machine, or only of the others. */
static void notes_add_points(struct notes *all, const struct summary *s, enum notes_kind kind, bool impossible,
			     enum notes_group group)
{
	const json_t *text;
	size_t k;

	for (size_t i = 0; i < s->point_count; i++) {
		const struct summary_point *p = &s->points[i];

		if ((p->outcome == POINT_IMPOSSIBLE) != impossible)
			continue;
		json_array_foreach (notes_of_kind(p, kind), k, text)
			notes_add(all, p->id, json_string_value(text) ?: "?", group);
	}
}

/* --- as text --- */

/* "3", "0-2, 5": three or more consecutive ids become a range. */
static void put_ids(const json_t *ids, bool ranges, FILE *out)
{
	const size_t n = json_array_size(ids);
	size_t last;

	for (size_t i = 0; i < n; i = last + 1) {
		json_int_t from = json_integer_value(json_array_get(ids, i));

		for (last = i; ranges && last + 1 < n &&
			       json_integer_value(json_array_get(ids, last + 1)) == from + (json_int_t)(last + 1 - i);
		     last++)
			;
		if (last - i < 2)
			last = i;
		fprintf(out, "%s%" JSON_INTEGER_FORMAT, i ? ", " : "", from);
		if (last > i)
			fprintf(out, "-%" JSON_INTEGER_FORMAT, json_integer_value(json_array_get(ids, last)));
	}
}

/* "every point: ", "11 points: ", "point 3: ", "points 0-2, 5: "; notes_are_of_points() recognises these. */
static void put_points(const struct note *n, size_t all, FILE *out)
{
	const size_t count = json_array_size(n->ids);

	if (!n->differs && count == all && all > 1) {
		fputs("every point: ", out);
	} else if (n->differs && count > IDS_SHOWN) {
		fprintf(out, "%zu points: ", count);
	} else {
		fputs(count == 1 ? "point " : "points ", out);
		put_ids(n->ids, !n->differs, out);
		fputs(": ", out);
	}
}

/* "3 to 7 page faults" */
static void put_numbers(const struct note *n, FILE *out)
{
	size_t next = 0;

	for (const char *at = n->text; *at;) {
		const size_t digits = next < n->count ? digits_at(n->text, at) : 0;

		if (!digits) {
			fputc(*at++, out);
			continue;
		}
		fprintf(out, "%" PRIu64, n->numbers[next].least);
		if (n->numbers[next].most > n->numbers[next].least)
			fprintf(out, " to %" PRIu64, n->numbers[next].most);
		next++;
		at += digits;
	}
}

static json_t *note_text(const struct note *n, size_t all)
{
	char *text = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&text, &size));
	json_t *string;

	put_points(n, all, out);
	put_numbers(n, out);
	fclose(out);
	string = json_string(text);
	free(text);
	return string;
}

/* Of the run as a whole. */
static void add_reason_of_run(json_t *texts, const struct summary *s)
{
	size_t possible = 0;

	for (size_t i = 0; i < s->point_count; i++)
		possible += s->points[i].outcome != POINT_IMPOSSIBLE;
	if (!s->point_count)
		json_array_append_new(texts, json_string("the run has no points"));
	else if (!possible)
		json_array_append_new(texts, json_string("no point is possible here"));
}

json_t *notes_of_points(const struct summary *s, enum notes_kind kind, enum notes_group group)
{
	struct notes all = {.index = json_object()};
	json_t *texts = json_array();

	notes_add_points(&all, s, kind, false, group);
	/* Points that are impossible on a machine do not make the rest of a run invalid. */
	if (kind == NOTES_WARNINGS)
		notes_add_points(&all, s, NOTES_REASONS, true, group);
	for (size_t i = 0; i < all.count; i++) {
		json_array_append_new(texts, note_text(&all.note[i], s->point_count));
		json_decref(all.note[i].ids);
	}
	if (kind == NOTES_REASONS)
		add_reason_of_run(texts, s);
	json_decref(all.index);
	free(all.note);
	return texts;
}

bool notes_are_of_points(const char *text)
{
	static const char *const beginnings[] = {"every point: ", "point ", "points "};
	const size_t digits = strspn(text, "0123456789");

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (!strncmp(text, beginnings[i], strlen(beginnings[i])))
			return true;
	return digits && !strncmp(text + digits, " points: ", strlen(" points: "));
}

#define LINES_MAX 20 /* for reasons, and likewise for warnings */

/* Print the words of `text` on lines of at most `width`, the first one after `head`, the others
 * indented by its width. */
static void put_wrapped(const char *head, const char *text, size_t width, FILE *out)
{
	size_t indent = strlen(head), at = indent;

	fputs(head, out);
	while (*text) {
		size_t word = strcspn(text, " "), blanks = strspn(text + word, " ");

		if (at > indent && at + word > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		}
		fwrite(text, 1, word, out);
		text += word + blanks;
		at += word + 1;
		if (*text && at + strcspn(text, " ") <= width)
			fputc(' ', out);
	}
	fputc('\n', out);
}

static void put_reasons(const struct summary *summary, enum notes_kind kind, const char *mark, size_t run, size_t runs,
			size_t width, FILE *out)
{
	json_t *list = notes_of_points(summary, kind, NOTES_BY_WORDS), *text;
	size_t i;

	json_array_foreach (list, i, text) {
		char head[64], clean[2048];
		const char *raw = json_is_string(text) ? json_string_value(text) : "?";

		if (i == LINES_MAX) {
			fprintf(out, "%sand %zu more; --json shows all\n", mark, json_array_size(list) - i);
			break;
		}
		if (runs > 1)
			snprintf(head, sizeof(head), "%srun %zu, ", mark, run + 1);
		else
			snprintf(head, sizeof(head), "%s", mark);
		put_wrapped(head, text_clean(raw, strlen(raw), clean, sizeof(clean)), width, out);
	}
	json_decref(list);
}

void reasons_print(const struct summary *const *summaries, size_t count, size_t width, FILE *out)
{
	size_t lines = 0;

	for (size_t i = 0; i < count; i++)
		lines += json_array_size(summaries[i]->reasons) + json_array_size(summaries[i]->warnings);
	if (lines)
		fputc('\n', out);
	for (size_t i = 0; i < count; i++)
		put_reasons(summaries[i], NOTES_REASONS, "! ", i, count, width, out);
	for (size_t i = 0; i < count; i++)
		put_reasons(summaries[i], NOTES_WARNINGS, "warning: ", i, count, width, out);
}
