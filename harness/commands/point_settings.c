#include "commands/point_settings.h"

#include <stdlib.h>

#include "analysis/param.h"
#include "common/json.h"

void point_settings_print(const struct spec *spec, size_t point, bool shared, FILE *out)
{
	const char *key;
	json_t *value;

	json_object_foreach (spec->point[point].params, key, value) {
		if ((json_object_get(spec->differing, key) == NULL) != shared)
			continue;
		char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

		fprintf(out, " %s=%s", key, text);
		free(text);
	}
}

void point_settings_print_named(const struct spec *spec, size_t point, FILE *out)
{
	const char *key;
	json_t *value;

	json_object_foreach (spec->point[point].params, key, value) {
		char name[64], text[64];
		enum unit unit = param_name_unit(key, name, sizeof(name));

		if (json_object_get(spec->named_keys, key) && json_object_get(spec->differing, key))
			fprintf(out, " %s=%s", name, param_value_text(value, unit, text, sizeof(text)));
	}
}
