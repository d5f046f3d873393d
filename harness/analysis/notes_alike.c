#include "analysis/notes_alike.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"

#define DIGITS	    "0123456789"
#define NUMBERS_MAX 8
#define IDS_SHOWN   8
#define HOLE	    '\1' /* replaces a number */

/* "points 1, 4-6: 3 page faults (source, 2 of 5 repetitions)" */
struct note {
	json_t *ids; /* of its points; NULL: the text is not about particular points */
	char *shape; /* the rest of the text, without numbers */
	size_t count;
	struct {
		uint64_t least, most;
	} numbers[NUMBERS_MAX];
};

static uint64_t take_number(const char **at)
{
	uint64_t number = strtoull(*at, NULL, 10);

	*at += strspn(*at, DIGITS);
	return number;
}

/* "1, 4-6: "; NULL if this is something else. */
static json_t *take_ids(const char **at)
{
	json_t *ids = json_array();

	while (strspn(*at, DIGITS)) {
		uint64_t first = take_number(at), last = first;

		if (**at == '-') {
			(*at)++;
			last = take_number(at);
		}
		for (; first <= last && json_array_size(ids) < UINT16_MAX; first++)
			json_array_append_new(ids, json_integer((json_int_t)first));
		if (!strncmp(*at, ": ", 2)) {
			*at += 2;
			return ids;
		}
		if (!strncmp(*at, ", ", 2))
			*at += 2;
	}
	json_decref(ids);
	return NULL;
}

/* Is this a separate integer, rather than part of a name or a fraction? */
static bool stands_alone(const char *text, const char *at)
{
	size_t digits = strspn(at, DIGITS);

	return digits && digits < 19 && (at == text || strchr(" (", at[-1])) && strchr(" ,)", at[digits]);
}

static void take_shape(struct note *n, const char *text)
{
	char *to = or_abort(malloc(strlen(text) + 1));

	n->shape = to;
	for (const char *at = text; *at;) {
		if (n->count < NUMBERS_MAX && stands_alone(text, at)) {
			n->numbers[n->count].least = n->numbers[n->count].most = take_number(&at);
			n->count++;
			*to++ = HOLE;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
}

static struct note note_read(const char *text)
{
	struct note n = {0};
	const char *at = text;

	if (!strncmp(at, "point ", 6) || !strncmp(at, "points ", 7)) {
		at = strchr(at, ' ') + 1;
		n.ids = take_ids(&at);
	}
	if (n.ids)
		take_shape(&n, at);
	return n;
}

static void note_join(struct note *to, const struct note *from)
{
	json_array_extend(to->ids, from->ids);
	for (size_t i = 0; i < to->count; i++) {
		if (from->numbers[i].least < to->numbers[i].least)
			to->numbers[i].least = from->numbers[i].least;
		if (from->numbers[i].most > to->numbers[i].most)
			to->numbers[i].most = from->numbers[i].most;
	}
}

static int by_number(const void *a, const void *b)
{
	const json_int_t x = *(const json_int_t *)a, y = *(const json_int_t *)b;

	return (x > y) - (x < y);
}

static void put_ids(const json_t *ids, FILE *out)
{
	const size_t n = json_array_size(ids);
	json_int_t shown[IDS_SHOWN];

	if (n > IDS_SHOWN) {
		fprintf(out, "%zu points: ", n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		shown[i] = json_integer_value(json_array_get(ids, i));
	qsort(shown, n, sizeof(shown[0]), by_number);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%" JSON_INTEGER_FORMAT, i ? ", " : "points ", shown[i]);
	fputs(": ", out);
}

static json_t *note_text(const struct note *n)
{
	size_t size, next = 0;
	char *text = NULL;
	FILE *out = or_abort(open_memstream(&text, &size));
	json_t *string;

	put_ids(n->ids, out);
	for (const char *at = n->shape; *at; at++) {
		if (*at != HOLE || next == n->count) {
			fputc(*at, out);
			continue;
		}
		fprintf(out, "%" PRIu64, n->numbers[next].least);
		if (n->numbers[next].most > n->numbers[next].least)
			fprintf(out, " to %" PRIu64, n->numbers[next].most);
		next++;
	}
	fclose(out);
	string = json_string(text);
	free(text);
	return string;
}

/* Merge later notes that are similar to notes[i] into it; they lose their points. Returns their number. */
static size_t join_later(struct note *notes, size_t i, size_t count)
{
	size_t joined = 0;

	for (size_t k = i + 1; notes[i].ids && k < count; k++) {
		if (!json_array_size(notes[k].ids) || strcmp(notes[i].shape, notes[k].shape))
			continue;
		note_join(&notes[i], &notes[k]);
		json_array_clear(notes[k].ids);
		joined++;
	}
	return joined;
}

json_t *notes_alike(const json_t *list)
{
	const size_t count = json_array_size(list);
	struct note *notes = or_abort(calloc(count + 1, sizeof(*notes)));
	json_t *texts = json_array();

	for (size_t i = 0; i < count; i++)
		notes[i] = note_read(json_string_value(json_array_get(list, i)) ?: "?");
	for (size_t i = 0; i < count; i++) {
		if (notes[i].ids && !json_array_size(notes[i].ids))
			continue;
		if (join_later(notes, i, count))
			json_array_append_new(texts, note_text(&notes[i]));
		else
			json_array_append(texts, json_array_get(list, i));
	}
	for (size_t i = 0; i < count; i++) {
		json_decref(notes[i].ids);
		free(notes[i].shape);
	}
	free(notes);
	return texts;
}
