/*
 * Structs as JSON by tables (common/codec.h): what is written is read again, what is wrong is said and read as if it were not
 * there, and all of it is freed (with sanitizers).
 */
#include "common/codec.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

struct item {
	char *name; /* the key, in a map */
	double value;
};

struct all {
	char *text, *clean, *needed, *freed;
	const char *borrowed;
	char chars[4];
	bool flag;
	double number;
	int small, none;
	unsigned word;
	uint64_t large;
	json_t *list;
	struct item one, fixed[2], *pointed, *items, *map;
	size_t item_count, map_count;
	char **texts;
	size_t text_count;
	double *reals;
	size_t real_count;
	bool flag_of_group;
};

static const char *const words[] = {"zero", "one"};

static const char *check(const char *text)
{
	return strcmp(text, "bad") != 0 ? NULL : "is bad";
}

static const struct codec item_rows[] = {CODEC(item, name), CODEC(item, value, .most = 10), {0}};
static const struct codec map_rows[] = {CODEC(item, value), {0}};
static const struct codec group_rows[] = {CODEC_AS("flag", all, flag_of_group), {0}};

static const struct codec rows[] = {
    CODEC_SCHEMA,
    CODEC(all, text, .check = check),
    CODEC(all, clean, .flags = CODEC_CLEAN),
    CODEC(all, needed, .flags = CODEC_NEEDED),
    CODEC_FREED(all, freed),
    CODEC(all, borrowed, .flags = CODEC_OPTIONAL | CODEC_UNREAD),
    CODEC(all, chars),
    CODEC(all, flag),
    CODEC(all, number),
    CODEC(all, small, .least = -2, .most = 9),
    CODEC(all, none, .flags = CODEC_LESS_IS_NULL, .otherwise = -1),
    CODEC(all, word, CODEC_WORDS(words), .otherwise = 1),
    CODEC(all, large),
    CODEC(all, list, .flags = CODEC_ARRAY | CODEC_NEVER_NULL),
    CODEC_NESTED("one", all, one, item_rows),
    CODEC_FIXED("fixed", all, fixed, item_rows),
    CODEC_POINTED("pointed", all, pointed, item_rows),
    CODEC_LISTED("items", all, items, item_count, item_rows, .flags = CODEC_OPTIONAL),
    CODEC_MAPPED("map", all, map, map_count, map_rows),
    CODEC_LISTED("texts", all, texts, text_count, codec_texts),
    CODEC_LISTED("reals", all, reals, real_count, codec_reals),
    CODEC_GROUPED("group", group_rows),
    {0},
};

static const char whole[] =
    "{\"schema\":1,\"text\":null,\"clean\":\"c\",\"needed\":\"n\",\"chars\":\"abc\",\"flag\":true,\"number\":null,"
    "\"small\":-2,"
    "\"none\":null,\"word\":\"zero\",\"large\":4503599627370496,\"list\":[1],\"one\":{\"name\":\"o\",\"value\":1.0},"
    "\"fixed\":"
    "[{\"name\":null,\"value\":0.5},{\"name\":\"f\",\"value\":null}],\"pointed\":{\"name\":\"p\",\"value\":2.0},"
    "\"items\":"
    "[{\"name\":\"a\",\"value\":1.5},{\"name\":\"b\",\"value\":2.5}],\"map\":{\"x\":{\"value\":3.5}},\"texts\":[\"t\"],"
    "\"reals\":[0.25,null],\"group\":{\"flag\":true}}";

static void what_is_written_is_read(void)
{
	json_t *j = json_loads(whole, 0, NULL), *again;
	struct all a = {.text = NULL};
	char *text;

	ok(!codec_decode(rows, &a, j, NULL), "nothing is wrong");
	ok(isnan(a.number) && a.none == -1 && a.small == -2 && !a.word && a.large == 1ULL << 52, "numbers");
	ok(a.item_count == 2 && a.items[1].value == 2.5 && !a.items[2].name, "a list has zeroes after its last item");
	ok(a.map_count == 1 && !strcmp(a.map->name, "x") && a.flag_of_group, "a map, a group");
	again = codec_encode(rows, &a, NULL);
	text = json_dumps(again, JSON_COMPACT);
	is_str(text, whole, "the same text again");
	free(text);
	json_decref(again);
	json_decref(j);
	codec_free(rows, &a);
}

static void what_is_wrong_is_said(const char *key, const char *value, const char *complaint)
{
	json_t *j = json_loads(whole, 0, NULL);
	struct all a = {.text = NULL};
	const char *why;

	if (value)
		json_object_set_new(j, key, json_loads(value, JSON_DECODE_ANY, NULL));
	else
		json_object_del(j, key);
	why = codec_decode(rows, &a, j, NULL);
	is_str(why ? why : "", complaint, "%s: %s", key, value ? value : "missing");
	json_decref(codec_encode(rows, &a, NULL));
	json_decref(j);
	codec_free(rows, &a);
}

static void what_is_missing_has_a_value(void)
{
	json_t *none = json_object();
	struct all a = {.text = NULL};

	is_str(codec_decode(rows, &a, none, NULL), "'schema' is not 1", "what is missing first");
	ok(!a.text && !*a.clean && !*a.needed && a.word == 1 && a.none == -1 && !a.items[0].name &&
	       json_is_array(a.list),
	   "what is not there");
	codec_free(rows, &a);
	json_decref(none);
}

int main(void)
{
	what_is_written_is_read();
	what_is_wrong_is_said("text", "7", "'text' is not a text");
	what_is_wrong_is_said("text", "\"bad\"", "'text' is bad");
	what_is_wrong_is_said("needed", "\"\"", "'needed' is missing");
	what_is_wrong_is_said("needed", NULL, "'needed' is missing");
	what_is_wrong_is_said("chars", "\"abcd\"", "'chars' is not a text of its length");
	what_is_wrong_is_said("flag", "1", "'flag' is neither true nor false");
	what_is_wrong_is_said("small", "10", "'small' is not an integer in its range");
	what_is_wrong_is_said("small", "1.5", "'small' is not an integer in its range");
	what_is_wrong_is_said("none", "2147483648", "'none' is not an integer in its range");
	what_is_wrong_is_said("large", "-1", "'large' is not an integer in its range");
	what_is_wrong_is_said("word", "\"two\"", "'word' is none of the words that it can be");
	what_is_wrong_is_said("list", "{}", "'list' is not a list");
	what_is_wrong_is_said("one", "[]", "'one' is not an object");
	what_is_wrong_is_said("fixed", "[{}]", "'fixed' does not have as many entries as it must");
	what_is_wrong_is_said("fixed", "[{},{},{}]", "'fixed' does not have as many entries as it must");
	what_is_wrong_is_said("pointed", "[]", "'pointed' is not an object");
	what_is_wrong_is_said("pointed", NULL, "");
	what_is_wrong_is_said("items", "[{\"value\": 11}]", "'value' is not a number in its range");
	what_is_wrong_is_said("items", "[7, null, []]", "");
	what_is_wrong_is_said("map", "[]", "'map' is not an object");
	what_is_wrong_is_said("texts", "[\"a\", 1]", "'texts' is not a list of texts");
	what_is_wrong_is_said("group", "[]", "'group' is not an object");
	what_is_missing_has_a_value();
	return done_testing();
}
