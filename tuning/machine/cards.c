#include "tuning/machine/cards.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "tuning/machine/ethtool.h"
#include "tuning/machine/machine.h"

static bool has_card_file(const struct machine *m, const char *name, const char *file)
{
	char *path = fs_path(CARDS "/%s%s", name, file);
	bool has = sysroot_exists(&m->root, path);

	free(path);
	return has;
}

bool cards_has(const struct machine *m, const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') && has_card_file(m, name, "");
}

char **cards_list(const struct machine *m)
{
	char **names;
	int n = sysroot_list(&m->root, CARDS, NULL, &names), kept = 0;

	if (n < 0)
		return or_abort(calloc(1, sizeof(*names)));
	for (int i = 0; i < n; i++)
		if (has_card_file(m, names[i], "/device"))
			names[kept++] = names[i];
		else
			free(names[i]);
	names[kept] = NULL;
	return names;
}

static int read_recorded_card(const struct machine *m, const char *card, const struct ethtool_group *g, json_t *values)
{
	char *folder = fs_path(CARDS_RECORDED "/%s/%s", card, g->name), **names, line[64];
	int n = cards_has(m, card) ? sysroot_list(&m->root, folder, NULL, &names) : -ENODEV;

	for (int i = 0; i < n; i++) {
		char *path = fs_path("%s/%s", folder, names[i]);

		if (!sysroot_line(&m->root, path, line, sizeof(line)))
			json_object_set_new(values, names[i], json_string(line));
		free(path);
	}
	if (n >= 0)
		sysroot_names_free(names);
	free(folder);
	return n > 0 ? 0 : n == 0 || n == -ENOENT ? -EOPNOTSUPP : n;
}

int cards_read(const struct machine *m, const char *card, const struct ethtool_group *g, json_t **values, char *why,
	       size_t size)
{
	int rc;

	if (m->root.live)
		return ethtool_read(card, g, values, why, size);
	*values = json_object();
	rc = read_recorded_card(m, card, g, *values);
	if (!rc)
		return 0;
	err_cause(rc, why, size);
	json_decref(*values);
	*values = NULL;
	return rc;
}

static int write_recorded_card(struct machine *m, const char *card, const struct ethtool_group *g, const json_t *values)
{
	char *folder = fs_path(CARDS_RECORDED "/%s/%s", card, g->name);
	int rc = machine_refuses(m, folder);
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)values, name, value) {
		char *path = fs_path("%s/%s", folder, name),
		     *text = fs_path("%s\n", json_is_string(value) ? json_string_value(value) : "");

		if (!rc)
			rc = machine_write(m, path, text, strlen(text));
		free(text);
		free(path);
	}
	free(folder);
	return rc == -ENOENT ? -ENODEV : rc;
}

int cards_write(struct machine *m, const char *card, const struct ethtool_group *g, const json_t *values, char *why,
		size_t size)
{
	int rc;

	if (!m->root.live) {
		rc = write_recorded_card(m, card, g, values);
		if (rc)
			err_cause(rc, why, size);
		return rc;
	}
	rc = ethtool_write(card, g, values, why, size);
	if (!rc)
		machine_changed(m);
	return rc;
}
