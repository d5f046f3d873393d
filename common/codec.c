#include "common/codec.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"

const struct codec codec_texts[] = {{.kind = CODEC_TEXT, .flags = CODEC_NEVER_NULL}, {0}};
const struct codec codec_reals[] = {{.kind = CODEC_REAL}, {0}};
const struct codec codec_integers[] = {{.kind = CODEC_SIGNED, .size = sizeof(json_int_t)}, {0}};

static void *at_offset(const void *of, size_t offset)
{
	return (char *)(uintptr_t)of + offset;
}

static size_t item_count(const struct codec *c, const void *of)
{
	return c->fixed ? c->fixed : *(size_t *)at_offset(of, c->length);
}

static void *item_of(const struct codec *c, const void *of, size_t i)
{
	void *at = at_offset(of, c->offset);

	return at_offset(c->fixed ? at : *(void **)at, i * c->size);
}

/* Are items values, rather than structs? */
static bool are_values(const struct codec *rows)
{
	return !rows->key && (rows->kind < CODEC_STRUCT || rows->kind == CODEC_LIST);
}

/* --- to JSON --- */

static json_int_t integer_at(const struct codec *c, const void *at)
{
	if (c->size == sizeof(json_int_t))
		return *(const json_int_t *)at;
	return c->kind == CODEC_SIGNED ? *(const int *)at : (json_int_t) * (const unsigned *)at;
}

static bool is_left_out(const struct codec *c, const void *of)
{
	const void *at = at_offset(of, c->offset);

	if (c->flags & CODEC_UNWRITTEN || (c->given && !c->given(of)))
		return true;
	if (!(c->flags & CODEC_OPTIONAL))
		return false;
	switch (c->kind) {
	case CODEC_FLAG:
		return !*(const bool *)at;
	case CODEC_REAL:
		return !isfinite(*(const double *)at);
	case CODEC_SIGNED:
	case CODEC_UNSIGNED:
		return !integer_at(c, at);
	case CODEC_LIST:
	case CODEC_MAP:
		return !item_count(c, of);
	default:
		return !*(void *const *)at;
	}
}

static json_t *encode_value(const struct codec *c, const void *of, const void *outer);

static json_t *encode_items(const struct codec *c, const void *of)
{
	json_t *all = c->kind == CODEC_MAP ? json_object() : json_array();

	for (size_t i = 0; i < item_count(c, of); i++) {
		const void *item = item_of(c, of, i);
		json_t *one = are_values(c->rows) ? encode_value(c->rows, item, of) : codec_encode(c->rows, item, of);

		if (c->kind == CODEC_MAP ? json_object_set_new(all, *(char *const *)item, one)
					 : json_array_append_new(all, one)) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

static json_t *encode_integer(const struct codec *c, json_int_t number)
{
	if (c->words)
		return json_string(c->words[number]);
	return c->flags & CODEC_LESS_IS_NULL && number < 0 ? json_null() : json_integer(number);
}

static json_t *encode_value(const struct codec *c, const void *of, const void *outer)
{
	const void *at = at_offset(of, c->offset);
	const char *text;

	switch (c->kind) {
	case CODEC_TEXT:
	case CODEC_BORROWED:
		text = *(const char *const *)at;
		return c->key && text ? json_string(text) : json_outside(text);
	case CODEC_CHARS:
		return json_string(at);
	case CODEC_FLAG:
		return json_boolean(*(const bool *)at);
	case CODEC_REAL:
		return isfinite(*(const double *)at) ? json_real(*(const double *)at) : json_null();
	case CODEC_SIGNED:
	case CODEC_UNSIGNED:
		return encode_integer(c, integer_at(c, at));
	case CODEC_JSON:
		return *(json_t *const *)at ? json_incref(*(json_t *const *)at) : json_null();
	case CODEC_STRUCT:
		return codec_encode(c->rows, at, of);
	case CODEC_POINTER:
		return *(void *const *)at ? codec_encode(c->rows, *(void *const *)at, of) : json_null();
	case CODEC_GROUP:
		return codec_encode(c->rows, of, outer);
	case CODEC_CONSTANT:
		return encode_integer(c, c->otherwise);
	case CODEC_OWN:
		return c->encode(at, outer);
	default:
		return encode_items(c, of);
	}
}

json_t *codec_encode(const struct codec *rows, const void *of, const void *outer)
{
	json_t *object = json_object();

	for (const struct codec *c = rows; c->kind && object; c++) {
		const bool left_out = is_left_out(c, of);
		json_t *value = left_out ? NULL : encode_value(c, of, outer);

		if (value && c->key) {
			json_object_set_new(object, c->key, value);
		} else if (value) {
			json_object_update(object, value);
			json_decref(value);
		} else if (!left_out && c->kind != CODEC_OWN) {
			json_decref(object);
			object = NULL;
		}
	}
	return object;
}

/* --- from JSON: each returns what is wrong with a value --- */

static const char *needs(const struct codec *c, const json_t *value, bool fits, const char *why)
{
	return fits || (!value && !(c->flags & CODEC_NEEDED)) ? NULL : why;
}

static const char *decode_text(const struct codec *c, char **to, const json_t *value)
{
	const char *text = json_string_value(value), *given = text ? text : "";

	if (text || c->flags & (CODEC_NEVER_NULL | CODEC_CLEAN | CODEC_NEEDED))
		*to = or_abort(strdup(given));
	if (c->flags & CODEC_CLEAN)
		text_clean(given, strlen(given), *to, strlen(given) + 1);
	if (value && !text)
		return c->key ? "is not a text" : "is not a list of texts";
	if (c->flags & CODEC_NEEDED && !*given)
		return "is missing";
	return text && c->check ? c->check(text) : NULL;
}

/* What is for people may be cut. */
static const char *decode_chars(const struct codec *c, char *to, const json_t *value)
{
	const char *text = json_string_value(value);
	const bool fits = text && strlen(text) < c->size;

	if (text && c->flags & CODEC_CLEAN)
		text_clean(text, strlen(text), to, c->size);
	else if (fits)
		strcpy(to, text);
	return needs(c, value, fits, "is not a text of its length");
}

static void set_integer(const struct codec *c, void *to, json_int_t number)
{
	if (c->size == sizeof(number))
		*(json_int_t *)to = number;
	else
		*(unsigned *)to = (unsigned)number;
}

static const char *decode_word(const struct codec *c, void *to, const json_t *value)
{
	const char *text = json_string_value(value);
	size_t i = 0;

	while (i < c->word_count && (!text || strcmp(c->words[i], text) != 0))
		i++;
	set_integer(c, to, i < c->word_count ? (json_int_t)i : c->otherwise);
	return needs(c, value, i < c->word_count, "is none of the words that it can be");
}

static bool is_in_range(const struct codec *c, double number, double least, double most)
{
	return c->least < c->most ? number >= c->least && number <= c->most : number >= least && number <= most;
}

static const char *decode_integer(const struct codec *c, void *to, const json_t *value)
{
	const bool is_signed = c->kind == CODEC_SIGNED;
	const double most = c->size == sizeof(json_int_t) ? 0x1p63 : is_signed ? INT32_MAX : UINT32_MAX;
	const bool fits =
	    json_is_integer(value) && is_in_range(c, (double)json_integer_value(value), is_signed ? -most : 0, most);

	set_integer(c, to, fits ? json_integer_value(value) : c->otherwise);
	return needs(c, value, fits, "is not an integer in its range");
}

static const char *decode_json(const struct codec *c, json_t **to, const json_t *value)
{
	const bool fits =
	    value && (!(c->flags & (CODEC_ARRAY | CODEC_OBJECT)) || (c->flags & CODEC_ARRAY && json_is_array(value)) ||
		      (c->flags & CODEC_OBJECT && json_is_object(value)));

	if (fits)
		*to = json_incref((json_t *)(uintptr_t)value);
	else if (c->flags & CODEC_NEVER_NULL)
		*to = c->flags & CODEC_ARRAY ? json_array() : json_object();
	return needs(c, value, fits, c->flags & CODEC_ARRAY ? "is not a list" : "is not an object");
}

static thread_local char wrong[160]; /* the first thing */

static const char *decode_value(const struct codec *c, void *of, const json_t *value, void *outer);

/* null is what is not there; only decode() sees it. */
static void decode_row(const struct codec *c, void *of, const json_t *value, void *outer)
{
	const bool is_there = !json_is_null(value) || c->kind == CODEC_OWN;
	const char *why = decode_value(c, of, is_there ? value : NULL, outer);

	if (why && !*wrong && c->key)
		snprintf(wrong, sizeof(wrong), "'%s' %s", c->key, why);
	else if (why && !*wrong)
		snprintf(wrong, sizeof(wrong), "%s", why);
}

static void decode_rows(const struct codec *rows, void *of, const json_t *object, void *outer)
{
	for (const struct codec *c = rows; c->kind; c++)
		if (!(c->flags & CODEC_UNREAD))
			decode_row(c, of, c->key ? json_object_get(object, c->key) : object, outer);
}

/* With the capacity that grow_or_abort() expects, and one more. */
static void make_room(const struct codec *c, void *of, size_t items)
{
	size_t room = 1;

	while (room <= items)
		room *= 2;
	*(void **)at_offset(of, c->offset) = or_abort(calloc(room, c->size));
	*(size_t *)at_offset(of, c->length) = items;
}

static bool is_no_number(const struct codec *c, const json_t *value)
{
	return c->kind == CODEC_REAL && json_is_null(value);
}

static const char *decode_list(const struct codec *c, void *of, const json_t *value)
{
	const size_t items = json_array_size(value);
	const char *why = NULL, *more = NULL;
	json_t *one;
	size_t i;

	if (!c->fixed)
		make_room(c, of, items);
	json_array_foreach (value, i, one) {
		if (i == item_count(c, of))
			break;
		if (are_values(c->rows))
			more = decode_value(c->rows, item_of(c, of, i), is_no_number(c->rows, one) ? NULL : one, of);
		else
			decode_rows(c->rows, item_of(c, of, i), one, of);
		why = why ?: more;
	}
	if (c->fixed && items != c->fixed)
		return "does not have as many entries as it must";
	return why
		   ?: needs(c, value, json_is_array(value),
			    are_values(c->rows) ? "is not a list of texts" : "is not a list");
}

static const char *decode_map(const struct codec *c, void *of, const json_t *value)
{
	const char *key;
	json_t *one;
	size_t i = 0;

	make_room(c, of, json_object_size(value));
	json_object_foreach ((json_t *)(uintptr_t)value, key, one) {
		char **item = item_of(c, of, i++);

		decode_rows(c->rows, item, one, of);
		*item = or_abort(strdup(key));
	}
	return needs(c, value, json_is_object(value), "is not an object");
}

static const char *decode_object(const struct codec *c, void *to, const json_t *value, void *outer)
{
	decode_rows(c->rows, to, value, outer);
	return needs(c, value, json_is_object(value), "is not an object");
}

static const char *decode_pointed(const struct codec *c, void **to, const json_t *value, void *outer)
{
	if (!json_is_object(value))
		return needs(c, value, false, "is not an object");
	*to = or_abort(calloc(1, c->size));
	return decode_object(c, *to, value, outer);
}

static const char *decode_value(const struct codec *c, void *of, const json_t *value, void *outer)
{
	void *to = at_offset(of, c->offset);

	switch (c->kind) {
	case CODEC_TEXT:
		return decode_text(c, to, value);
	case CODEC_CHARS:
		return decode_chars(c, to, value);
	case CODEC_FLAG:
		*(bool *)to = json_is_true(value);
		return needs(c, value, json_is_boolean(value), "is neither true nor false");
	case CODEC_REAL:
		*(double *)to = json_is_number(value) ? json_number_value(value) : NAN;
		return needs(c, value, is_in_range(c, *(double *)to, -HUGE_VAL, HUGE_VAL),
			     "is not a number in its range");
	case CODEC_SIGNED:
	case CODEC_UNSIGNED:
		return c->words ? decode_word(c, to, value) : decode_integer(c, to, value);
	case CODEC_JSON:
		return decode_json(c, to, value);
	case CODEC_STRUCT:
		return decode_object(c, to, value, of);
	case CODEC_POINTER:
		return decode_pointed(c, to, value, of);
	case CODEC_LIST:
		return decode_list(c, of, value);
	case CODEC_MAP:
		return decode_map(c, of, value);
	case CODEC_GROUP:
		return decode_object(c, of, value, outer);
	case CODEC_CONSTANT:
		return json_is_integer(value) && json_integer_value(value) == c->otherwise ? NULL : "is not 1";
	default:
		return c->decode ? c->decode(to, value, outer) : NULL;
	}
}

const char *codec_decode(const struct codec *rows, void *of, const json_t *object, void *outer)
{
	*wrong = '\0';
	decode_rows(rows, of, object, outer);
	return *wrong ? wrong : NULL;
}

/* --- memory --- */

static void free_items(const struct codec *c, void *of)
{
	void *list = c->fixed ? NULL : *(void **)at_offset(of, c->offset);
	const size_t items = list || c->fixed ? item_count(c, of) : 0;

	for (size_t i = 0; i < items; i++) {
		if (c->kind == CODEC_MAP)
			free(*(char **)item_of(c, of, i));
		codec_free(c->rows, item_of(c, of, i));
	}
	free(list);
}

static void free_row(const struct codec *c, void *of)
{
	void *at = at_offset(of, c->offset);

	if (c->kind == CODEC_TEXT)
		free(*(char **)at);
	else if (c->kind == CODEC_JSON)
		json_decref(*(json_t **)at);
	else if (c->kind == CODEC_LIST || c->kind == CODEC_MAP)
		free_items(c, of);
	else if (c->kind == CODEC_STRUCT || c->kind == CODEC_GROUP)
		codec_free(c->rows, at);
	else if (c->kind == CODEC_POINTER && *(void **)at)
		codec_free(c->rows, *(void **)at);
	if (c->kind == CODEC_POINTER)
		free(*(void **)at);
	if (c->release)
		c->release(at);
}

void codec_free(const struct codec *rows, void *of)
{
	for (const struct codec *c = rows; c->kind; c++)
		free_row(c, of);
}
