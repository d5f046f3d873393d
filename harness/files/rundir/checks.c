#include "files/rundir/checks.h"

#include "common/json.h"

json_t *checks_json(const struct counter_check *rows, bool posts)
{
	json_t *list = json_array();

	for (const struct counter_check *c = rows; c && c->counter; c++)
		if (posts || !c->least)
			json_array_append_new(list, json_pack("{s:s, s:s*, s:s*, s:o*, s:s, s:s*}", "counter",
							      c->counter, "instead", c->instead, "least", c->least,
							      "invalidates", c->invalidates ? json_true() : NULL,
							      "text", c->text, "unknown", c->unknown));
	return list;
}

struct counter_check check_read(const json_t *row)
{
	return (struct counter_check){
	    .counter = json_text(row, "counter"),
	    .instead = json_string_value(json_object_get(row, "instead")),
	    .least = json_string_value(json_object_get(row, "least")),
	    .invalidates = json_is_true(json_object_get(row, "invalidates")),
	    .text = json_text(row, "text"),
	    .unknown = json_string_value(json_object_get(row, "unknown")),
	};
}
