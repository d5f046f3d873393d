#include "common/diag.h"

#include "fixture_diag.h"
#include "tap.h"

static void set_text(struct diag *d, const char *text)
{
	d->text = text;
	d->length = strlen(text);
}

static void check(const struct diag *d, const char *want, const char *what)
{
	char *text = fixture_diag_text(d);

	is_str(text, want, "%s", what);
	free(text);
}

static void test_places(void)
{
	struct diag d;

	diag_init(&d, "spec.yaml");
	check(&d, "", "nothing wrong, nothing said");
	diag_add(&d, 0, 0, "%s", "the whole file");
	check(&d, "spec.yaml: the whole file\n", "a file that could not be read");
	set_text(&d, "kernel: oneway\n  sise: 3\nlast");
	diag_add(&d, 3, 1, "third");
	diag_add(&d, 2, 3, "unknown setting '%s'; did you mean '%s'?", "sise", "size");
	diag_add(&d, 2, 9, "later in the line");
	diag_add(&d, 2, 3, "second at the same place");
	check(&d,
	      "spec.yaml: the whole file\n"
	      "spec.yaml:2:3: unknown setting 'sise'; did you mean 'size'?\n"
	      "    sise: 3\n"
	      "    ^\n"
	      "spec.yaml:2:3: second at the same place\n"
	      "    sise: 3\n"
	      "    ^\n"
	      "spec.yaml:2:9: later in the line\n"
	      "    sise: 3\n"
	      "          ^\n"
	      "spec.yaml:3:1: third\n"
	      "  last\n"
	      "  ^\n",
	      "in order of place, then as they came");
	diag_free(&d);
	is_int((long long)d.count, 0, "freed");
}

static void test_once(void)
{
	struct diag d;

	diag_init(&d, "f");
	diag_add(&d, 1, 1, "same");
	diag_add(&d, 1, 1, "same");
	is_int((long long)d.count, 1, "the same text at the same place is kept once");
	diag_add(&d, 1, 2, "same");
	diag_add(&d, 1, 1, "other");
	is_int((long long)d.count, 3, "another place or text is another item");
	is_int((long long)d.said, 4, "that it was said is counted each time");
	diag_free(&d);
}

static void test_many(void)
{
	struct diag d;
	char *text;

	diag_init(&d, "f");
	for (unsigned i = 0; i < 60; i++)
		diag_add(&d, i, 1, "wrong");
	is_int((long long)d.count, 50, "fifty are kept");
	is_int((long long)d.said, 60, "and all were said");
	text = fixture_diag_text(&d);
	contains(text, "f: and 10 more\n", "the rest are counted");
	free(text);
	diag_free(&d);
}

static void test_lines(void)
{
	struct diag d;

	diag_init(&d, "f");
	set_text(&d, "a\tb\x1b[31m\xc3\xa9\xff");
	diag_add(&d, 1, 9, "controls");
	check(&d, "f:1:9: controls\n  a b?[31m\xc3\xa9?\n          ^\n",
	      "controls are shown as '?', characters count once");
	diag_free(&d);

	diag_init(&d, "f");
	set_text(&d, "one\r\ntwo\rthree\xe2\x80\xa8"
		     "four\n\nsix");
	for (unsigned i = 1; i <= 7; i++)
		diag_add(&d, i, 1, "%u", i);
	check(&d,
	      "f:1:1: 1\n  one\n  ^\nf:2:1: 2\n  two\n  ^\nf:3:1: 3\n  three\n  ^\nf:4:1: 4\n  four\n  ^\n"
	      "f:5:1: 5\n  \n  ^\nf:6:1: 6\n  six\n  ^\nf:7:1: 7\n",
	      "every kind of line break, an empty line, no such line");
	diag_free(&d);

	diag_init(&d, "f");
	set_text(&d, "abc");
	diag_add(&d, 1, 4000000000u, "far");
	diag_add(&d, 4000000000u, 1, "below");
	diag_add(&d, 1, 0, "no column");
	check(&d, "f:1:0: no column\n  abc\n  ^\nf:1:4000000000: far\n  abc\n     ^\nf:4000000000:1: below\n",
	      "a place outside of the text does no harm");
	diag_free(&d);

	diag_init(&d, "f");
	set_text(&d, "\xef\xbb\xbfkey");
	diag_add(&d, 1, 1, "mark");
	check(&d, "f:1:1: mark\n  key\n  ^\n", "a byte order mark has no column");
	diag_free(&d);
}

static void test_long_line(void)
{
	struct diag d;
	char line[1001], *text, *shown, *caret;

	for (size_t i = 0; i < 1000; i++)
		line[i] = (char)('a' + i % 26);
	line[500] = '#';
	line[1000] = '\0';
	diag_init(&d, "f");
	set_text(&d, line);
	diag_add(&d, 1, 501, "here");
	text = fixture_diag_text(&d);
	shown = strchr(text, '\n') + 1;
	caret = strchr(shown, '\n') + 1;
	is_int(caret - shown - 1, 2 + 3 + 160 + 3, "160 characters of a long line, cut at both ends");
	is_int(shown[strcspn(caret, "^")], '#', "the caret stands below its place");
	ok(!strncmp(shown, "  ...", 5) && !strncmp(caret - 4, "...\n", 4), "and the cuts show");
	free(text);
	diag_free(&d);

	diag_init(&d, "f");
	set_text(&d, line);
	diag_add(&d, 1, 1000, "end");
	text = fixture_diag_text(&d);
	shown = strchr(text, '\n') + 1;
	caret = strchr(shown, '\n') + 1;
	is_int(shown[strcspn(caret, "^")], line[999], "at the end of the line");
	ok(caret[-2] == line[999], "which is not cut there");
	free(text);
	diag_free(&d);
}

static void test_hostile(void)
{
	struct diag d;
	char longer[3000];

	diag_init(&d, "f");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	diag_add(&d, 1, 1, "%s", longer);
	diag_add(&d, 1, 1, "key '%s'", "a\x1b[2Jb\n\xff");
	is_str(d.items[1].text,
	       "key 'a?[2Jb?"
	       "?'",
	       "what is quoted in a message is cleaned");
	ok(strlen(d.items[0].text) < 1100, "a message has an end");
	diag_free(&d);

	diag_init(&d, "f");
	d.text = "a\0b\nc";
	d.length = 5;
	diag_add(&d, 1, 3, "x");
	check(&d, "f:1:3: x\n  a?b\n    ^\n", "a NUL in the line");
	diag_free(&d);
}

static void test_suggest(void)
{
	static const char *const names[] = {"reps", "size", "burst",	  "pause", "transport",
					    "rc",   "uc",   "size_limit", NULL};
	static const struct {
		const char *word, *want;
	} rows[] = {
	    {"rpes", "reps"},  /* two swapped */
	    {"sise", "size"},  /* another letter */
	    {"siz", "size"},   /* one less */
	    {"sizze", "size"}, /* one more */
	    {"SIZE", "size"},  /* case */
	    {"tarnsprot", "transport"},
	    {"size_limti", "size_limit"},
	    {"size", "size"},
	    {"RC", "rc"},
	    {"rd", NULL}, /* half of it is wrong */
	    {"xyz", NULL},
	    {"", NULL},
	    {"completely-different", NULL},
	};
	char longer[5000];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_str(suggest(rows[i].word, names), rows[i].want, "'%s'", rows[i].word);
	is_str(suggest("pausee", (const char *const[]){"paused_", "pause", "paused_", NULL}), "pause",
	       "the nearest of all");
	is_str(suggest("pausex", (const char *const[]){"pauses", "paused", NULL}), "pauses",
	       "the first of the nearest");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[64] = '\0';
	is_str(suggest(longer, (const char *const[]){longer, NULL}), longer, "a word of 64 letters");
	longer[64] = 'x';
	longer[sizeof(longer) - 1] = '\0';
	ok(!suggest(longer, names), "a word of 5000 letters");
	ok(!suggest("a", (const char *const[]){NULL}), "no names");
	ok(!suggest("a", (const char *const[]){longer, NULL}), "a name of 5000 letters");
}

int main(void)
{
	test_places();
	test_once();
	test_many();
	test_lines();
	test_long_line();
	test_hostile();
	test_suggest();
	return done_testing();
}
