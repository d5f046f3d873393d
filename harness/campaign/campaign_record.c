#include "campaign/campaign_record.h"

#include <stdlib.h>
#include <string.h>

#include "campaign/campaign_directory.h"
#include "common/fs.h"
#include "common/json.h"

int record_save(const struct campaign *c, struct err *e)
{
	char *path = fs_path("%s/campaign.json", c->path);
	int rc = json_write_mode(path, c->j, DIRECTORY_FILE_MODE, e);

	free(path);
	return rc;
}

bool record_is_state(const json_t *x, const char *state)
{
	return !strcmp(json_text(x, "state"), state);
}

void record_set_state(json_t *x, const char *state, const char *why)
{
	json_object_set_new(x, "state", json_string(state));
	json_object_set_new(x, "why", json_string(why));
}

void record_put_away(json_t *x)
{
	if (json_is_string(json_object_get(x, "run")))
		json_array_append(json_object_get(x, "earlier"), json_object_get(x, "run"));
	json_object_set_new(x, "run", json_null());
}

size_t record_count(const struct campaign *c, const char *state)
{
	const json_t *x;
	size_t i, count = 0;

	json_array_foreach (json_object_get(c->j, "experiments"), i, x)
		count += record_is_state(x, state);
	return count;
}
