#include "analysis/data_equal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Words for people, or arrays of them. */
static bool is_prose(const char *key)
{
	static const char *const keys[] = {"why", "reasons", "warnings", "label", "measured"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

/* "4-6" has a hyphen, " -6" a sign. */
static bool is_negative(const char *text, const char *at)
{
	return at > text && at[-1] == '-' && (at - 1 == text || !isalnum((unsigned char)at[-2]));
}

/* The next number of `text` from `*at` on; false: there is none. */
static bool next_number(const char *text, const char **at, long double *number)
{
	const char *from = *at + strcspn(*at, "0123456789");
	char *end;

	if (!*from)
		return false;
	*number = strtold(from, &end);
	if (is_negative(text, from))
		*number = -*number;
	*at = end;
	return true;
}

static bool have_same_numbers(const char *a, const char *b)
{
	const char *at_a = a, *at_b = b;
	long double of_a = 0, of_b = 0;
	bool more;

	do {
		more = next_number(a, &at_a, &of_a);
		if (more != next_number(b, &at_b, &of_b) || of_a != of_b)
			return false;
	} while (more);
	return true;
}

static bool prose_equal(const json_t *a, const json_t *b)
{
	if (json_is_string(a) && json_is_string(b))
		return have_same_numbers(json_string_value(a), json_string_value(b));
	if (!json_is_array(a) || !json_is_array(b) || json_array_size(a) != json_array_size(b))
		return json_equal(a, b);
	for (size_t i = 0; i < json_array_size(a); i++)
		if (!prose_equal(json_array_get(a, i), json_array_get(b, i)))
			return false;
	return true;
}

static bool arrays_equal(const json_t *a, const json_t *b)
{
	if (json_array_size(a) != json_array_size(b))
		return false;
	for (size_t i = 0; i < json_array_size(a); i++)
		if (!data_equal(json_array_get(a, i), json_array_get(b, i)))
			return false;
	return true;
}

static bool objects_equal(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *value;

	if (json_object_size(a) != json_object_size(b))
		return false;
	json_object_foreach ((json_t *)a, key, value)
		if (!(is_prose(key) ? prose_equal : data_equal)(value, json_object_get(b, key)))
			return false;
	return true;
}

bool data_equal(const json_t *a, const json_t *b)
{
	if (json_is_array(a) && json_is_array(b))
		return arrays_equal(a, b);
	if (json_is_object(a) && json_is_object(b))
		return objects_equal(a, b);
	return json_equal(a, b);
}
