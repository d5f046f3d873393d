#include "judge/analysis/param.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/text.h"

static const struct {
	const char *suffix;
	enum unit unit;
} suffixes[] = {{"_ns", UNIT_TIME_NS}, {"_bytes", UNIT_BYTES}, {"_hz", UNIT_RATE_HZ}, {"_ppm", UNIT_SHARE_PPM}};

const json_t *param_value(const json_t *params, const char *key)
{
	return json_object_get(params, key);
}

const char *param_text(const json_t *params, const char *key)
{
	return json_text(params, key);
}

json_int_t param_integer(const json_t *params, const char *key)
{
	return json_integer_value(json_object_get(params, key));
}

bool param_is(const json_t *params, const char *key, const char *text)
{
	return !strcmp(json_text(params, key), text);
}

bool param_flag(const json_t *params, const char *key)
{
	return json_is_true(json_object_get(params, key));
}

enum unit param_name_unit(const char *key, char *name, size_t size)
{
	size_t length = strlen(key);
	enum unit unit = UNIT_ONE;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t tail = strlen(suffixes[i].suffix);

		if (strlen(key) > tail && !strcmp(key + strlen(key) - tail, suffixes[i].suffix)) {
			unit = suffixes[i].unit;
			length -= tail;
		}
	}
	text_clean(key, length, name, size);
	return unit;
}

json_t *param_named(const json_t *list)
{
	const json_t *name;
	json_t *named = json_is_array(list) ? json_object() : NULL;
	size_t i;

	json_array_foreach (list, i, name) {
		if (json_is_string(name))
			json_object_set_new(named, json_string_value(name), json_true());
	}
	return named;
}

bool param_is_named(const json_t *named, const char *key)
{
	return !named || json_object_get(named, key);
}

char *param_value_text(const json_t *value, enum unit unit, char *buf, size_t size)
{
	char *text;

	if (json_is_integer(value))
		return unit_format(unit, json_integer_value(value), buf, size);
	text = value && !json_is_string(value) ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	if (!value || json_is_null(value))
		snprintf(buf, size, "-");
	else if (json_is_boolean(value))
		snprintf(buf, size, "%s", json_is_true(value) ? "yes" : "no");
	else
		snprintf(buf, size, "%s", json_is_string(value) ? json_string_value(value) : text ? text : "?");
	if (!*buf)
		snprintf(buf, size, "none");
	free(text);
	return buf;
}

bool param_speaks(const json_t *value)
{
	static const char *const bare[] = {"auto", "yes", "no", "on", "off", "none", "default"};
	const char *text = json_string_value(value);

	if (!text || !*text || isdigit((unsigned char)*text) || strspn(text, ",.:-") == strlen(text))
		return false;
	for (size_t i = 0; i < sizeof(bare) / sizeof(bare[0]); i++)
		if (!strcmp(text, bare[i]))
			return false;
	return true;
}
