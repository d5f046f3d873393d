/* Sentences may be reworded; every number must stay. */
#include "judge/analysis/verify.h"
#include "tests/unit/tap.h"

static const struct {
	const char *a, *b;
	bool equal;
	const char *what;
} cases[] = {
    {"{\"p50\": 1200, \"n\": [1, 2.5, null]}", "{\"n\": [1, 2.5, null], \"p50\": 1200}", true, "the same values"},
    {"{\"p50\": 1200}", "{\"p50\": 1201}", false, "another number"},
    {"{\"n\": [1, 2]}", "{\"n\": [1, 2, 3]}", false, "one more"},
    {"{\"n\": [{\"m\": 1}]}", "{\"n\": [{\"m\": 2}]}", false, "another number further inside"},
    {"{\"p50\": 1}", "{\"p90\": 1}", false, "another key"},
    {"{\"p50\": 1}", "{\"p50\": 1, \"p90\": 1}", false, "one more key"},
    {"{\"name\": \"eth0\"}", "{\"name\": \"eth0 \"}", false, "another text that is data"},
    {"{\"why\": \"3 page faults (source)\"}", "{\"why\": \"the source had 3 page faults\"}", true, "other words"},
    {"{\"why\": \"3 page faults\"}", "{\"why\": \"4 page faults\"}", false, "another number in a sentence"},
    {"{\"why\": \"3 of 5\"}", "{\"why\": \"5 of 3\"}", false, "another order of them"},
    {"{\"why\": \"lost 3\"}", "{\"why\": \"lost 3 of 5\"}", false, "one number more"},
    {"{\"why\": \"\"}", "{\"why\": \"failed\"}", true, "no number in either"},
    {"{\"why\": \"1.820 %\"}", "{\"why\": \"(1.82 %)\"}", true, "the same number, written otherwise"},
    {"{\"why\": \"by -2 %\"}", "{\"why\": \"by 2 %\"}", false, "another sign"},
    {"{\"why\": \"points 4-6\"}", "{\"why\": \"points 4 to 6\"}", true, "a hyphen is not a sign"},
    {"{\"why\": \"9007199254740993\"}", "{\"why\": \"9007199254740992\"}", false, "beyond 2^53"},
    {"{\"why\": \"a\"}", "{\"why\": null}", false, "none at all"},
    {"{\"reasons\": [\"1 a\", \"2 b\"]}", "{\"reasons\": [\"1 c\", \"2 d\"]}", true, "several sentences, reworded"},
    {"{\"reasons\": [\"1 a\", \"2 b\"]}", "{\"reasons\": [\"1 a\"]}", false, "one fewer"},
    {"{\"label\": \"file, 9\"}", "{\"label\": \"sink file, lose 9\"}", true, "a label with more names"},
    {"{\"measured\": \"file 8 %\"}", "{\"measured\": \"sink file 9 %\"}", false, "but another value"},
    {"{\"points\": [{\"warnings\": [\"1 a\"]}]}", "{\"points\": [{\"warnings\": [\"2 a\"]}]}", false,
     "a sentence further inside"},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *a = json_loads(cases[i].a, 0, NULL), *b = json_loads(cases[i].b, 0, NULL);

		ok(a && b && data_equal(a, b) == cases[i].equal && data_equal(b, a) == cases[i].equal, "%s",
		   cases[i].what);
		json_decref(b);
		json_decref(a);
	}
	return done_testing();
}
