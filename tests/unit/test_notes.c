/* Each reason appears once, with its points; for a reader, notes that differ only in numbers are one. */
#include "judge/analysis/notes.h"
#include "judge/analysis/summary_json.h"
#include "tests/unit/tap.h"

/* A summary with these points, which are taken. */
static struct summary *decoded(json_t *points)
{
	json_t *document = json_pack("{s:o}", "points", points);
	struct summary *s = summary_decode(document);

	json_decref(document);
	return s;
}

/* "3: 2 page faults" is a text of point 3; "4!: no device" one of a point that is impossible; "5" a point without texts. */
static struct summary *points_from(const char *lines)
{
	char *copy = strdup(lines), *at = copy, *line;
	json_t *points = json_array();

	while ((line = strsep(&at, "\n"))) {
		char *end;
		const long id = strtol(line, &end, 10);
		const bool impossible = *end == '!';
		json_t *point = json_array_get(points, json_array_size(points) - 1);

		if (json_integer_value(json_object_get(point, "id")) != id || !point) {
			point = json_pack("{s:I, s:s, s:[]}", "id", (json_int_t)id, "outcome",
					  impossible ? "impossible" : "completed", "reasons");
			json_array_append_new(points, point);
		}
		if (*end)
			json_array_append_new(json_object_get(point, "reasons"),
					      json_string(end + (impossible ? 3 : 2)));
	}
	free(copy);
	return decoded(points);
}

static char *notes_text(const char *lines, enum notes_kind kind, enum notes_group group)
{
	static char got[2048];
	struct summary *s = points_from(lines);
	json_t *notes = notes_of_points(s, kind, group), *note;
	size_t i;

	*got = '\0';
	json_array_foreach (notes, i, note) {
		strcat(strcat(got, i ? "\n" : ""), json_string_value(note));
	}
	json_decref(notes);
	summary_free(s);
	return got;
}

static void by_text(const char *lines, const char *want, const char *what)
{
	is_str(notes_text(lines, NOTES_REASONS, NOTES_BY_TEXT), want, "%s", what);
}

static void by_words(const char *lines, const char *want, const char *what)
{
	is_str(notes_text(lines, NOTES_REASONS, NOTES_BY_WORDS), want, "%s", what);
}

static void test_by_text(void)
{
	by_text("0\n1: a\n2", "point 1: a", "one point");
	by_text("0: a\n1: b\n2: a\n3", "points 0, 2: a\npoint 1: b", "several, in the order of the first");
	by_text("0: a\n1: a\n2: a\n4: a\n5: a\n7", "points 0-2, 4, 5: a", "three in a row are a range, two are not");
	by_text("0: a\n1: a\n1: b", "every point: a\npoint 1: b", "all of them");
	by_text("3: a", "point 3: a", "not of a run that has one only");
	by_text("1: 2 faults\n2: 3 faults", "point 1: 2 faults\npoint 2: 3 faults", "a number makes another text");
	by_text("1\n2!: no device", "", "what is impossible is not a reason");
	is_str(notes_text("1\n2!: no device", NOTES_WARNINGS, NOTES_BY_TEXT), "point 2: no device", "but a warning");
	by_text("1!: no device\n2!: no device", "no point is possible here", "unless nothing is possible");
}

static void test_by_words(void)
{
	by_words("1: 9 page faults (source)\n1: the clock stands\n3: 2 page faults (source)\n3: the clock stands\n"
		 "5: 9 page faults (source)\n5: the clock stands",
		 "points 1, 3, 5: 2 to 9 page faults (source)\nevery point: the clock stands",
		 "two counts of the same");
	by_words("1: 3 faults\n2: 3 faults\n3: 3 faults\n7", "points 1-3: 3 faults", "the same count");
	by_words("1: 4 moves (sink, 2 of 5 repetitions)\n2: 4 moves (sink, 1 of 5 repetitions)",
		 "points 1, 2: 4 moves (sink, 1 to 2 of 5 repetitions)", "in how many repetitions");
	by_words("1: 4 moves (sink, 2 of 5 repetitions)\n2: 4 moves (sink)",
		 "point 1: 4 moves (sink, 2 of 5 repetitions)\npoint 2: 4 moves (sink)",
		 "one and several repetitions are not alike");
	by_words("1: 4 moves (sink)\n2: 5 moves (source)", "point 1: 4 moves (sink)\npoint 2: 5 moves (source)",
		 "nor are the sides");
	by_words("0: 1 fault\n1: 2 fault\n2: 1 fault\n3: 1 fault\n4: 1 fault\n5: 1 fault\n6: 1 fault\n7: 1 fault\n8: "
		 "30 fault",
		 "9 points: 1 to 30 fault", "many points are counted");
	by_words("1: told 1 times (RNR NAK), rxe0 at 0.5 %\n4: told 12 times (RNR NAK), rxe0 at 0.5 %",
		 "points 1, 4: told 1 to 12 times (RNR NAK), rxe0 at 0.5 %", "the number may stand anywhere");
	by_words("1: rxe0 has it\n2: rxe1 has it", "point 1: rxe0 has it\npoint 2: rxe1 has it",
		 "a name's digits are no number");
	by_words("1: 1 fault\n1: 3 fault\n2", "point 1: 1 to 3 fault", "a point is named once");
}

static void test_nonsense(void)
{
	struct summary *s =
	    decoded(json_pack("[n, i, {s:[i, s], s:i}, {s:s}]", 3, "reasons", 4, "a", "id", 7, "reasons", "b"));
	json_t *notes = notes_of_points(s, NOTES_REASONS, NOTES_BY_WORDS);

	is_int((long long)json_array_size(notes), 2, "what is not a text does no harm");
	json_decref(notes);
	summary_free(s);
	s = decoded(json_array());
	notes = notes_of_points(s, NOTES_REASONS, NOTES_BY_TEXT);
	is_str(json_string_value(json_array_get(notes, 0)), "the run has no points", "no points at all are a reason");
	json_decref(notes);
	summary_free(s);
}

/* All that is made of points is recognised, in any of its forms. */
static void test_recognised(void)
{
	static const char *const of_points[] = {"every point: a", "point 3: a", "points 0-2, 5: a",
						"11 points: 1 to 30 a"};
	static const char *const others[] = {"the run was interrupted", "pointless", "11 runs: a", ""};

	for (size_t i = 0; i < 4; i++)
		ok(notes_are_of_points(of_points[i]) && !notes_are_of_points(others[i]),
		   "'%s' is about points, '%s' is not", of_points[i], others[i]);
}

int main(void)
{
	test_by_text();
	test_by_words();
	test_nonsense();
	test_recognised();
	return done_testing();
}
