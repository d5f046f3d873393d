#include "common/text.h"

#include "tap.h"

static void test_utf8(void)
{
	static const struct {
		const char *bytes;
		size_t n, length;
		uint32_t cp;
		const char *what;
	} rows[] = {
	    {"A", 1, 1, 'A', "ASCII"},
	    {"\xc3\xa9", 2, 2, 0xe9, "two bytes"},
	    {"\xe2\x80\xa6", 3, 3, 0x2026, "three bytes"},
	    {"\xf0\x9f\x90\x8c", 4, 4, 0x1f40c, "four bytes"},
	    {"\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff, "the last of all"},
	    {"\xc2\x80", 2, 2, 0x80, "the first of two bytes"},
	    {"\xdf\xbf", 2, 2, 0x7ff, "the last of two"},
	    {"\xe0\xa0\x80", 3, 3, 0x800, "the first of three"},
	    {"\xef\xbf\xbf", 3, 3, 0xffff, "the last of three"},
	    {"\xf0\x90\x80\x80", 4, 4, 0x10000, "the first of four"},
	    {"\xed\x9f\xbf", 3, 3, 0xd7ff, "just below the surrogates"},
	    {"\xed\xbf\xbf", 3, 0, 0, "the last surrogate"},
	    {"\xf8\x88\x80\x80\x80", 5, 0, 0, "five bytes"},
	    {"", 0, 0, 0, "nothing"},
	    {"\xe2\x80\xa6", 2, 0, 0, "cut short"},
	    {"\xc3(", 2, 0, 0, "no continuation"},
	    {"\x80", 1, 0, 0, "a continuation alone"},
	    {"\xc0\xaf", 2, 0, 0, "overlong, two bytes"},
	    {"\xe0\x80\xaf", 3, 0, 0, "overlong, three bytes"},
	    {"\xf0\x80\x80\xaf", 4, 0, 0, "overlong, four bytes"},
	    {"\xed\xa0\x80", 3, 0, 0, "a surrogate"},
	    {"\xf4\x90\x80\x80", 4, 0, 0, "beyond Unicode"},
	    {"\xff", 1, 0, 0, "a byte that no character has"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t cp = 0;

		is_int(text_utf8(rows[i].bytes, rows[i].n, &cp), rows[i].length, "length: %s", rows[i].what);
		is_int(cp, rows[i].cp, "character: %s", rows[i].what);
	}
}

static void test_clean(void)
{
	char buf[64], small[6];

	is_str(text_clean("a\x1b[0m\xff\xc3\xa9\n", 9, buf, sizeof(buf)), "a?[0m?\xc3\xa9?",
	       "controls and stray bytes");
	is_str(text_clean("\xe2\x80\xae"
			  "abc\xc2\x9b",
			  8, buf, sizeof(buf)),
	       "?abc?", "what turns the line around, and a C1 control");
	is_str(text_clean("1234\xc3\xa9", 6, small, sizeof(small)), "1234", "cut at a whole character");
	is_str(text_clean("abc", 3, small, 1), "", "no room but for the NUL");
}

static void test_list(void)
{
	char *list = NULL;

	text_list_add(&list, ", ", "%s", "a");
	is_str(list, "a", "the first has no separator");
	text_list_add(&list, ", ", "%d %s", 2, "b");
	text_list_add(&list, "+", "%s", "");
	is_str(list, "a, 2 b+", "each has its own separator, an empty one, too");
	free(list);
}

static void test_quote(void)
{
	char buf[TEXT_QUOTE_MAX], many[200];

	is_str(text_quote("", buf, sizeof(buf)), "''", "nothing");
	is_str(text_quote("ten", buf, sizeof(buf)), "'ten'", "a word");
	memset(many, 'a', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	many[48] = '\0';
	is_int(strlen(text_quote(many, buf, sizeof(buf))), 50, "48 bytes are shown whole");
	many[48] = 'a';
	like(text_quote(many, buf, sizeof(buf)), "^'a{48}\\.\\.\\.'$", "a long one is cut");
	memcpy(many + 46, "\xe2\x80\xa6", 3);
	like(text_quote(many, buf, sizeof(buf)), "^'a{46}\\.\\.\\.'$", "not inside a character");
}

static void test_printable(void)
{
	static const uint32_t shown[] = {' ', '~', 0xa0, 0xe9, 0x200a, 0x2010, 0x2026, 0x1f40c};
	static const uint32_t hidden[] = {0,	  '\n',	  0x1b,	  0x7f,	  0x80,	  0x9f,	 0x061c,
					  0x200b, 0x200f, 0x2028, 0x202e, 0x2066, 0xfeff};

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		ok(text_is_printable(shown[i]), "U+%04X is shown", shown[i]);
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		ok(!text_is_printable(hidden[i]), "U+%04X is not", hidden[i]);
}

static void test_named(void)
{
	is_str(text_named("6.1.0-56-amd64"), "6.1.0-56-amd64", "a word names something as it is");
	is_str(text_named("1.0.0; signed by alice, who is trusted"), "'1.0.0; signed by alice, who is trusted'",
	       "a sentence stays in quotes");
	is_str(text_named("1'; signed by 'alice"), "'1\"; signed by \"alice'", "and does not end them");
	is_str(text_named(""), "''", "nothing");
	is_str(text_shown("a\nok 1\xe2\x80\xa8\033[1m"), "a?ok 1??[1m", "a line stays a line");
}

int main(void)
{
	test_named();
	test_utf8();
	test_printable();
	test_clean();
	test_list();
	test_quote();
	return done_testing();
}
