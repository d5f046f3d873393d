#include "knobs/knobs_record.h"

#include <stdlib.h>
#include <string.h>

#include "campaign/campaign_directory.h"
#include "common/fs.h"
#include "common/json.h"

int knobs_save(const struct knobs *k, struct err *e)
{
	char *path = fs_path("%s/knobs.json", k->path);
	int rc = json_write_mode(path, k->j, DIRECTORY_FILE_MODE, e);

	free(path);
	return rc;
}

const json_t *knobs_options(const struct knobs *k)
{
	return json_object_get(k->j, "options");
}

uint64_t knobs_seed(const struct knobs *k)
{
	return (uint64_t)json_integer_value(json_object_get(knobs_options(k), "seed"));
}

static const json_t *find_by(const json_t *list, const char *key, const char *text)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (!strcmp(json_text(one, key), text))
			return one;
	return NULL;
}

const json_t *knobs_find(const struct knobs *k, const char *id)
{
	return find_by(json_object_get(k->j, "knobs"), "id", id);
}

const json_t *knobs_arm(const struct knobs *k, const char *name)
{
	return find_by(json_object_get(k->j, "arms"), "name", name);
}

void knobs_add_arm(struct knobs *k, const char *name, json_t *ids)
{
	json_array_append_new(json_object_get(k->j, "arms"), json_pack("{s:s, s:s, s:o*}", "name", name, "environment",
								       ids ? name : "none", "knobs", ids));
}

bool knobs_is_of(const json_t *run, const char *stage, json_int_t block)
{
	return !strcmp(json_text(run, "stage"), stage) && json_integer_value(json_object_get(run, "block")) == block;
}

bool knobs_is_block_done(const struct knobs *k, const char *stage, json_int_t block)
{
	const json_t *run;
	size_t i, runs = 0;

	json_array_foreach (json_object_get(k->j, "runs"), i, run) {
		if (!knobs_is_of(run, stage, block))
			continue;
		runs++;
		if (strcmp(json_text(run, "state"), "completed") != 0)
			return false;
	}
	return runs > 0;
}

size_t knobs_blocks_done(const struct knobs *k, const char *stage)
{
	size_t n = 0;

	while (knobs_is_block_done(k, stage, (json_int_t)n))
		n++;
	return n;
}
