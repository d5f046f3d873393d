#include "files/state/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/sysroot.h"

static int refuse_state(const char *path, struct err *e, const char *cause)
{
	return err_set(e, -EINVAL, STATUS_USAGE, path, "read as a captured state", "%s", cause);
}

static int check_state_keys(const char *path, const json_t *keys, struct err *e)
{
	const char *key;
	json_t *value;

	if (!json_is_object(keys))
		return refuse_state(path, e, "it has no \"keys\"");
	json_object_foreach ((json_t *)keys, key, value)
		if (!json_is_string(value) && !json_is_integer(value))
			return err_set(e, -EINVAL, STATUS_USAGE, path, "read as a captured state",
				       "'%.100s' is neither a string nor an integer", key);
	return 0;
}

int state_check(const json_t *state, const char *name, struct err *e)
{
	const json_t *schema = json_object_get(state, "schema");

	if (!json_is_integer(schema))
		return refuse_state(name, e, "it has no \"schema\"");
	if (json_integer_value(schema) != STATE_SCHEMA)
		return err_set(e, -EINVAL, STATUS_USAGE, name, "read as a captured state",
			       "its schema is %lld, expected %d%s", (long long)json_integer_value(schema), STATE_SCHEMA,
			       json_integer_value(schema) > STATE_SCHEMA ? "; use the newer kblat that made it" : "");
	return check_state_keys(name, json_object_get(state, "keys"), e);
}

/* `path`/`below` if it exists; the caller frees. */
static char *existing(const char *path, const char *below)
{
	char *full = fs_path("%s/%s", path, below);

	if (!fs_is_missing(full))
		return full;
	free(full);
	return NULL;
}

/* For a run directory: the capture of its only host. NULL, and `e` if there are several. */
static char *only_host(const char *path, struct err *e)
{
	struct sysroot root;
	char *found = NULL, **states;
	int n;

	if (sysroot_open(&root, path, e))
		return NULL;
	n = sysroot_glob(&root, "/state/*/before/state.json", &states);
	if (n == 1)
		found = fs_path("%s%s", path, states[0]);
	else if (n > 1)
		err_set(e, -EINVAL, STATUS_USAGE, path, "read as a captured state",
			"the run has %d hosts; name one, as %s%.*s", n, path,
			(int)(strlen(states[0]) - strlen("/before/state.json")), states[0]);
	if (n >= 0)
		sysroot_names_free(states);
	sysroot_close(&root);
	return found;
}

/* Find the document below a directory. */
static char *find_below(const char *path, struct err *e)
{
	char *found = existing(path, "state.json");

	if (!found)
		found = existing(path, "before/state.json");
	if (!found)
		found = only_host(path, e);
	if (!found)
		refuse_state(path, e, "it has no state.json; `kblat state capture DIR` makes one");
	return found;
}

/* The path of the document, or NULL and `e`; the caller frees. The path given may be a symbolic
 * link; paths below it may not. */
static char *find_state_file(const char *path, struct err *e)
{
	char cause[64], *real = realpath(path, NULL), *found = NULL;
	struct stat st;

	if (!real || stat(real, &st))
		refuse_state(path, e, err_cause(-errno, cause, sizeof(cause)));
	else if (S_ISDIR(st.st_mode))
		found = find_below(real, e);
	else if (S_ISREG(st.st_mode))
		return real;
	else
		refuse_state(path, e, "it is neither a file nor a directory");
	free(real);
	return found;
}

json_t *state_load(const char *path, struct err *e)
{
	char *file = find_state_file(path, e);
	json_t *state = file ? json_read(file, e) : NULL;

	if (state && state_check(state, file, e)) {
		json_decref(state);
		state = NULL;
	}
	free(file);
	return state;
}
