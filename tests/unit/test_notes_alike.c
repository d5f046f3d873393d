/* Notes that differ in nothing but a count are one for a reader. */
#include "analysis/notes_alike.h"
#include "tests/unit/tap.h"

/* What becomes of the texts, a line each. */
static void joins(const char *texts, const char *want, const char *what)
{
	char *copy = strdup(texts), *at = copy, *line, got[2048] = "";
	json_t *list = json_array(), *joined, *text;
	size_t i;

	while ((line = strsep(&at, "\n")))
		json_array_append_new(list, json_string(line));
	joined = notes_alike(list);
	json_array_foreach (joined, i, text) {
		strcat(strcat(got, i ? "\n" : ""), json_string_value(text));
	}
	is_str(got, want, "%s", what);
	json_decref(joined);
	json_decref(list);
	free(copy);
}

int main(void)
{
	joins("point 3: 2 page faults (source)\nevery point: the clock stands\npoints 1, 5-7: 9 page faults (source)",
	      "points 1, 3, 5, 6, 7: 2 to 9 page faults (source)\nevery point: the clock stands",
	      "two counts of the same");
	joins("point 1: 4 moves (sink, 2 of 5 repetitions)\npoint 2: 4 moves (sink, 1 of 5 repetitions)",
	      "points 1, 2: 4 moves (sink, 1 to 2 of 5 repetitions)", "in how many repetitions");
	joins("point 1: 4 moves (sink, 2 of 5 repetitions)\npoint 2: 4 moves (sink)",
	      "point 1: 4 moves (sink, 2 of 5 repetitions)\npoint 2: 4 moves (sink)",
	      "one and several repetitions are not alike");
	joins("point 1: 4 moves (sink)\npoint 2: 5 moves (source)",
	      "point 1: 4 moves (sink)\npoint 2: 5 moves (source)", "nor are the sides");
	joins("points 0-7: 1 fault\npoints 8, 11: 30 fault\npoint 9: 2 fault", "11 points: 1 to 30 fault",
	      "many points are counted");
	joins("point 1: told 1 times (RNR NAK), rxe0 at 0.5 %\npoint 4: told 12 times (RNR NAK), rxe0 at 0.5 %",
	      "points 1, 4: told 1 to 12 times (RNR NAK), rxe0 at 0.5 %", "the number may stand anywhere");
	joins("point 1: rxe0 has it\npoint 2: rxe1 has it", "point 1: rxe0 has it\npoint 2: rxe1 has it",
	      "a name's digits are no number");
	joins("points : 3 faults\npoint 1\npoint 2: \npoints 3, x: 1 fault\npoint 99999999999999999999: 1 fault\n",
	      "points : 3 faults\npoint 1\npoint 2: \npoints 3, x: 1 fault\npoint 99999999999999999999: 1 fault\n",
	      "texts of another form stay as they are");
	joins("points 1-99999999999: 1 fault\npoint 2: 3 fault", "65536 points: 1 to 3 fault",
	      "a range without an end in sight ends");
	return done_testing();
}
