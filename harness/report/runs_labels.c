#include "report/runs_labels.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/varying.h"
#include "common/or_abort.h"
#include "report/labels.h"

#define KEYS_MAX 6 /* maximum number of settings in a label */

static char *label_from_keys(const json_t *settings, json_t *keys)
{
	char *label = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&label, &size));
	const char *key, *separator = "";
	size_t number = 0;
	json_t *is_key;

	json_object_foreach (keys, key, is_key) {
		const json_t *value = json_object_get(settings, key);

		if (number++ == KEYS_MAX)
			break;
		if (!value)
			continue;
		fputs(separator, out);
		label_setting(out, key, value);
		separator = ", ";
	}
	fclose(out);
	return or_abort(label);
}

void runs_labels(json_t *const *settings, size_t count, char **labels)
{
	json_t *keys = varying_keys((const json_t *const *)settings, count);

	for (size_t i = 0; i < count; i++)
		labels[i] = label_from_keys(settings[i], keys);
	json_decref(keys);
}
