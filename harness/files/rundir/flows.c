#include "files/rundir/flows.h"

#include <stdio.h>
#include <string.h>

#define BLANKS " "

json_t *flows_names(const json_t *params)
{
	const char *text = json_string_value(json_object_get(params, "flows"));
	json_t *names = json_array();

	for (size_t length; text && *(text += strspn(text, BLANKS)) && json_array_size(names) <= FLOWS_MOST;
	     text += length) {
		length = strcspn(text, BLANKS);
		json_array_append_new(names, json_stringn(text, length));
	}
	if (!json_array_size(names))
		json_array_append_new(names, json_string(""));
	return names;
}

char *flows_key(const char *flow, const char *key, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", flow, *flow ? "." : "", key);
	return buf;
}

const char *flows_bare_key(const char *key)
{
	const char *dot = strrchr(key, '.');

	return dot ? dot + 1 : key;
}

bool flows_owns(const char *flow, const char *key)
{
	size_t length = (size_t)(flows_bare_key(key) - key);

	return length ? strlen(flow) + 1 == length && !strncmp(flow, key, length - 1) : !*flow;
}

json_t *flows_params(const json_t *params, const char *flow)
{
	json_t *view, *value;
	const char *key;

	if (!*flow)
		return json_incref((json_t *)params);
	view = json_object();
	json_object_foreach ((json_t *)params, key, value) {
		if (flows_owns("", key) || flows_owns(flow, key))
			json_object_set(view, flows_bare_key(key), value);
	}
	return view;
}

json_t *flows_get(const json_t *object, const char *flow, const char *key)
{
	char full[FLOWS_KEY_MAX];

	return json_object_get(object, flows_key(flow, key, full, sizeof(full)));
}
