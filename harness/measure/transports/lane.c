#include "measure/transports/lane.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "common/text.h"

extern char **environ;

json_t *lane_environment(const char *prefix)
{
	json_t *list = json_array();
	char clean[256];

	for (char **at = environ; *at; at++)
		if (!strncmp(*at, prefix, strlen(prefix)))
			json_array_append_new(list, json_string(text_clean(*at, strlen(*at), clean, sizeof(clean))));
	return list;
}

int lane_setting(const struct lane_variable *v, struct err *e)
{
	const char *set = getenv(v->name);

	if (!strcmp(v->value, v->usual))
		return 0;
	if (set && strcmp(set, v->value) != 0)
		return err_set(e, -EINVAL, STATUS_FAILED, v->name, NULL,
			       "%.80s contradicts the setting %s: %s; unset one of them", set, v->key, v->value);
	return 1;
}

void lane_grant(json_t *granted, const char *lane, const char *expected)
{
	json_object_set_new(granted, "lane", json_string(lane));
	if (*expected)
		json_object_set_new(granted, "expected_lane", json_string(expected));
}

json_t *lane_address(const void *bytes, size_t size)
{
	char *text = or_abort(calloc(1, 2 * size + 1));
	json_t *address;

	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)bytes)[i]);
	address = json_string(text);
	free(text);
	return address;
}

int lane_read_address(const json_t *address, unsigned char *bytes, size_t most)
{
	const char *text = json_string_value(address);
	const size_t size = text ? strlen(text) : 0;
	unsigned byte;

	if (!size || size % 2 || size / 2 > most || strspn(text, "0123456789abcdef") != size)
		return -EPROTO;
	for (size_t i = 0; i < size / 2; i++) {
		sscanf(text + 2 * i, "%2x", &byte);
		bytes[i] = (unsigned char)byte;
	}
	return 0;
}
