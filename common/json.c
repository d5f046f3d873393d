#include "common/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clean_stream.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"

#define READ_MAX ((size_t)64 << 20)
#define STYLE	 (JSON_INDENT(1) | JSON_ENCODE_ANY)

json_t *json_read(const char *path, struct err *e)
{
	return json_read_opened(fs_open(path, 0), path, e);
}

json_t *json_read_opened(int fd, const char *path, struct err *e)
{
	json_error_t why;
	char *text, *place;
	size_t size;
	json_t *value;

	if (fs_read_opened(fd, path, READ_MAX, &text, &size, e))
		return NULL;
	value = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
	if (!value) {
		place = fs_path("%s:%d:%d", path, why.line, why.column);
		err_set(e, -EINVAL, STATUS_USAGE, place, NULL, "not valid JSON: %s", why.text);
		free(place);
	}
	free(text);
	return value;
}

/* What must not reach a terminal as it is, as an escape sequence of JSON: U+2028 as "\u2028". */
static void put_escaped(uint32_t cp, FILE *out)
{
	if (cp >= 0x10000)
		fprintf(out, "\\u%04x", 0xd800 + (unsigned)((cp - 0x10000) >> 10));
	fprintf(out, "\\u%04x", cp >= 0x10000 ? 0xdc00 + (unsigned)((cp - 0x10000) & 0x3ff) : (unsigned)cp);
}

/* Is there nothing to be escaped? */
static bool is_shown(const char *text)
{
	while (*text == '\n' || ((unsigned char)*text >= ' ' && (unsigned char)*text < 0x7f))
		text++;
	return !*text;
}

/* Outside of strings, Jansson writes nothing that is escaped. */
static void put_shown(const char *text, FILE *out)
{
	const char *end = text + strlen(text);
	uint32_t cp = 0;

	for (size_t n; text < end; text += n) {
		n = text_utf8(text, (size_t)(end - text), &cp);
		if (n && !text_is_printable(cp) && cp != '\n')
			put_escaped(cp, out);
		else
			fwrite(text, 1, n ? n : (n = 1), out);
	}
}

char *json_shown(const json_t *value, size_t flags)
{
	char *text = json_dumps(value, flags), *shown = NULL;
	size_t size;
	FILE *out;

	if (!text || is_shown(text))
		return text;
	out = or_abort(open_memstream(&shown, &size));
	put_shown(text, out);
	fclose(out);
	free(text);
	return or_abort(shown);
}

/* The text with a newline, or NULL if the value contains something that JSON cannot represent. */
static char *dump(const json_t *value, size_t *size)
{
	char *text = json_shown(value, STYLE);

	if (!text)
		return NULL;
	*size = strlen(text) + 1;
	text = or_abort(realloc(text, *size + 1));
	strcpy(text + *size - 1, "\n");
	return text;
}

int json_write_mode(const char *path, const json_t *value, mode_t mode, struct err *e)
{
	size_t size;
	char *text = dump(value, &size);
	int rc;

	if (!text)
		return err_set(e, -EINVAL, STATUS_FAILED, path, "write", "its content cannot be represented in JSON");
	rc = fs_write_mode(path, text, size, mode, e);
	free(text);
	return rc;
}

int json_write(const char *path, const json_t *value, struct err *e)
{
	return json_write_mode(path, value, 0666, e);
}

int json_print(const json_t *value, FILE *out)
{
	size_t size;
	char *text = dump(value, &size);
	int rc = 0;

	if (!text)
		return -EINVAL;
	clean_stream_document(out, true);
	if (fwrite(text, 1, size, out) != size)
		rc = errno ? -errno : -EIO;
	clean_stream_document(out, false);
	free(text);
	return rc;
}

char *json_outside_text(const char *text)
{
	size_t left = strlen(text), size, n;
	char *all = NULL;
	FILE *out = or_abort(open_memstream(&all, &size));
	uint32_t cp;

	for (; left; text += n, left -= n) {
		const bool escapes = text[0] == '\\' && text[1] == 'x';

		n = text_utf8(text, left, &cp);
		if (n && !escapes)
			fwrite(text, 1, n, out);
		else
			fprintf(out, "\\x%02x", (unsigned char)text[0]);
		n = n ? n : 1;
	}
	fclose(out);
	return or_abort(all);
}

static int hex_digit(char c)
{
	const char *at = c ? strchr("0123456789abcdef", c) : NULL;

	return at ? (int)(at - "0123456789abcdef") : -1;
}

char *json_inside_bytes(const json_t *value)
{
	const char *text = json_string_value(value);
	char *bytes = text ? or_abort(malloc(strlen(text) + 1)) : NULL, *out = bytes;

	while (text && *text) {
		const int high = text[0] == '\\' && text[1] == 'x' ? hex_digit(text[2]) : -1;
		const int low = high >= 0 ? hex_digit(text[3]) : -1;

		*out++ = low >= 0 && (high || low) ? (char)(high << 4 | low) : *text;
		text += low >= 0 && (high || low) ? 4 : 1;
	}
	if (out)
		*out = '\0';
	return bytes;
}

json_t *json_outside(const char *text)
{
	char *written = text ? json_outside_text(text) : NULL;
	json_t *value = written ? json_string(written) : json_null();

	free(written);
	return value;
}

json_t *json_texts(const char *const *texts, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_outside(texts[i]));
	return array;
}

bool json_has_string(const json_t *array, const char *text)
{
	const json_t *one;
	size_t i;

	json_array_foreach (array, i, one) {
		if (json_is_string(one) && !strcmp(json_string_value(one), text))
			return true;
	}
	return false;
}

const char *json_text_or(const json_t *object, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : otherwise;
}

const char *json_text(const json_t *object, const char *key)
{
	return json_text_or(object, key, "");
}

double json_number_or_nan(const json_t *object, const char *key)
{
	const json_t *number = json_object_get(object, key);

	return json_is_number(number) ? json_number_value(number) : NAN;
}
