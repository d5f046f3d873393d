#include "tuning/profile/profile.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "common/datadir.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"

/* --- settings --- */

void setting_fault(const struct setting *s, const struct ynode *n, const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	diag_add(&s->file->diag, n ? n->line : s->line, n ? n->column : s->column, "%s", text);
}

void setting_must_be(const struct setting *s, const struct ynode *n, const char *key, const char *what)
{
	char quoted[TEXT_QUOTE_MAX];

	setting_fault(s, n, "'%s' must be %s, not %s", key, what,
		      n->kind == YNODE_SCALAR	 ? text_quote(n->scalar, quoted, sizeof(quoted))
		      : n->kind == YNODE_MAPPING ? "a mapping"
						 : "a list");
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcasecmp(word, *words))
			return true;
	return false;
}

bool setting_is_on(const struct setting *s, const struct ynode *n, const char *key)
{
	static const char *const on[] = {"on", "yes", "true", "1", NULL};
	static const char *const off[] = {"off", "no", "false", "0", NULL};

	if (n->kind == YNODE_SCALAR && is_one_of(n->scalar, on))
		return true;
	if (n->kind != YNODE_SCALAR || !is_one_of(n->scalar, off))
		setting_must_be(s, n, key, "on or off");
	return false;
}

bool setting_is_word(const struct ynode *n, const char *word)
{
	return n->kind == YNODE_SCALAR && !strcmp(n->scalar, word);
}

void setting_check_keys(const struct setting *s, const struct ynode *map, const char *const *names)
{
	char quoted[TEXT_QUOTE_MAX], hint[SUGGESTION_MAX];

	/* A list has no keys, and the caller says that it must be a mapping. */
	for (size_t i = 0; map->kind == YNODE_MAPPING && i < map->count; i++) {
		const struct ynode *key = map->keys[i];

		if (!text_is_among(key->scalar, names))
			setting_fault(s, key, "unknown key %s in '%s'%s",
				      text_quote(key->scalar, quoted, sizeof(quoted)), s->key,
				      suggestion(suggest(key->scalar, names), hint, sizeof(hint)));
	}
}

#define VERSION	 "1"
#define KEYS_MAX 128

char **profile_folders(void)
{
	char **near = datadir_places("kbtune", "profiles"), **folders;
	const char *asked = getenv("KBTUNE_PROFILES");
	size_t near_count = 0, count = 0;

	while (near[near_count])
		near_count++;
	folders = or_abort(calloc(near_count + 3, sizeof(*folders)));
	if (asked && *asked)
		folders[count++] = fs_path("%s", asked);
	folders[count++] = fs_path("/etc/kbtune/profiles");
	memcpy(folders + count, near, near_count * sizeof(*near)); /* they may have moved */
	free(near);
	return folders;
}

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISDIR(st.st_mode);
}

static char *find_by_name(const char *name)
{
	char **folders = profile_folders(), *path = NULL;

	for (char **f = folders; *f && !path; f++) {
		path = fs_path("%s/%s/profile.yaml", *f, name);
		if (!is_file(path)) {
			free(path);
			path = NULL;
		}
	}
	fs_files_free(folders);
	return path;
}

static char *find_profile(const char *name)
{
	if (!strchr(name, '/'))
		return *name && name[0] != '.' ? find_by_name(name) : NULL;
	return fs_is_directory(name) ? fs_path("%s/profile.yaml", name) : fs_path("%s", name);
}

/* All names of profiles in all folders, for "did you mean". */
static char **all_names(void)
{
	char **folders = profile_folders(), **names = or_abort(calloc(256, sizeof(*names)));
	size_t count = 0;

	for (char **f = folders; *f; f++) {
		DIR *d = opendir(*f);
		struct dirent *entry;

		while (d && count < 255 && (entry = readdir(d)))
			if (entry->d_name[0] != '.')
				names[count++] = fs_path("%s", entry->d_name);
		if (d)
			closedir(d);
	}
	fs_files_free(folders);
	return names;
}

static int unknown_profile(const char *name, struct err *e)
{
	char **names = all_names(), quoted[TEXT_QUOTE_MAX];
	const char *near = names ? suggest(name, (const char *const *)names) : NULL;
	char hint[SUGGESTION_MAX];

	err_set(e, -ENOENT, STATUS_USAGE, NULL, NULL, "unknown profile %s%s; 'kbtune profiles' lists all profiles",
		text_quote(name, quoted, sizeof(quoted)), suggestion(near, hint, sizeof(hint)));
	fs_files_free(names);
	return -ENOENT;
}

static struct profile_file *load_file(struct profile *p, const char *path)
{
	struct profile_file *f = &p->files[p->file_count++];
	char *slash;
	size_t length;

	*f = (struct profile_file){.folder = fs_path("%s", path)};
	slash = strrchr(f->folder, '/');
	if (slash)
		*slash = '\0';
	else
		strcpy(f->folder, ".");
	diag_init(&f->diag, path);
	if (yaml_load_file(path, &f->diag, &f->root, &f->text, &length))
		return f;
	if (!f->root || f->root->kind != YNODE_MAPPING)
		diag_add(&f->diag, 1, 1, "a profile is a mapping of settings");
	return f;
}

const struct setting *profile_get(const struct profile *p, const char *key)
{
	for (size_t i = 0; i < p->setting_count; i++)
		if (!strcmp(p->settings[i].key, key))
			return &p->settings[i];
	return NULL;
}

static int fault_left_out(const struct profile *p, const char *name, struct err *e)
{
	const char **keys = or_abort(calloc(p->setting_count + 1, sizeof(*keys)));
	char quoted[TEXT_QUOTE_MAX], hint[SUGGESTION_MAX];

	for (size_t i = 0; i < p->setting_count; i++)
		keys[i] = p->settings[i].key;
	err_set(e, -EINVAL, STATUS_USAGE, "--without", NULL, "profile %s has no setting %s%s", p->name,
		text_quote(name, quoted, sizeof(quoted)), suggestion(suggest(name, keys), hint, sizeof(hint)));
	free(keys);
	return -EINVAL;
}

int profile_leave_out(struct profile *p, const char *const *names, size_t count, struct err *e)
{
	for (size_t i = 0; i < count; i++) {
		struct setting *s = (struct setting *)profile_get(p, names[i]);

		if (!s)
			return fault_left_out(p, names[i], e);
		s->left_out = true;
	}
	return 0;
}

static bool may_have(const char *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (!strcmp(key, *keys))
			return true;
	return false;
}

static void fault_unknown(const struct setting *s, const char *const *keys)
{
	const char *names[KEYS_MAX] = {"kbtune", "title", "description", "include"};
	char quoted[TEXT_QUOTE_MAX], hint[SUGGESTION_MAX];

	for (size_t count = 4; *keys && count < KEYS_MAX - 1; keys++)
		names[count++] = *keys;
	setting_fault(s, NULL, "unknown setting %s%s", text_quote(s->key, quoted, sizeof(quoted)),
		      suggestion(suggest(s->key, names), hint, sizeof(hint)));
}

static bool is_scalar(const struct setting *s)
{
	if (s->value->kind == YNODE_SCALAR)
		return true;
	setting_must_be(s, s->value, s->key, "a text");
	return false;
}

static void keep_setting(struct profile *p, const struct setting *s, const char *const *keys)
{
	if (!may_have(s->key, keys)) {
		fault_unknown(s, keys);
		return;
	}
	if (profile_get(p, s->key))
		return;
	p->settings = or_abort(reallocarray(p->settings, p->setting_count + 1, sizeof(*p->settings)));
	p->settings[p->setting_count++] = *s;
}

/* Read keys that are not knobs. `*include` is set to the setting with the key `include`. */
static bool take_head(struct profile *p, const struct setting *s, struct setting *include)
{
	if (!strcmp(s->key, "kbtune")) {
		if (is_scalar(s) && strcmp(s->value->scalar, VERSION))
			setting_fault(s, s->value, "expected a profile of version " VERSION);
	} else if (!strcmp(s->key, "title")) {
		if (is_scalar(s) && !p->title)
			p->title = fs_path("%s", s->value->scalar);
	} else if (!strcmp(s->key, "include")) {
		if (is_scalar(s))
			*include = *s;
	} else if (!strcmp(s->key, "description")) {
		is_scalar(s);
	} else {
		return false;
	}
	return true;
}

static void take_settings(struct profile *p, struct profile_file *f, const char *const *keys, struct setting *include)
{
	if (!yaml_get(f->root, "kbtune"))
		diag_add(&f->diag, 1, 1, "'kbtune: " VERSION "' is missing: the version of the format");
	for (size_t i = 0; i < f->root->count; i++) {
		struct setting s = {.key = f->root->keys[i]->scalar,
				    .value = f->root->items[i],
				    .line = f->root->keys[i]->line,
				    .column = f->root->keys[i]->column,
				    .file = f};

		if (!take_head(p, &s, include))
			keep_setting(p, &s, keys);
	}
}

static bool is_loaded(const struct profile *p, const char *path)
{
	for (size_t i = 0; i < p->file_count; i++)
		if (!strcmp(p->files[i].diag.file, path))
			return true;
	return false;
}

/* The path of an included file, or NULL and an error. The caller frees. */
static char *find_include(const struct profile *p, const struct setting *include)
{
	const char *name = include->value->scalar;
	char *path = strchr(name, '/') ? NULL : fs_path("%s/../%s/profile.yaml", include->file->folder, name);

	if (!path || !is_file(path)) {
		free(path);
		path = strchr(name, '/') ? NULL : find_profile(name);
	}
	if (!path)
		setting_fault(include, include->value, "unknown profile '%s'", name);
	else if (is_loaded(p, path) || p->file_count == PROFILE_INCLUDES_MAX) {
		setting_fault(include, include->value,
			      "profiles include each other, or are nested too deeply (at most %d)",
			      PROFILE_INCLUDES_MAX);
		free(path);
		path = NULL;
	}
	return path;
}

static void load_chain(struct profile *p, const char *const *keys, char *path)
{
	while (path) {
		struct setting include = {0};
		struct profile_file *f = load_file(p, path);

		free(path);
		path = NULL;
		if (f->diag.count)
			return;
		take_settings(p, f, keys, &include);
		if (include.key)
			path = find_include(p, &include);
	}
}

static char *profile_name(const struct profile *p, const char *asked)
{
	const char *folder = p->files[0].folder, *slash = strrchr(folder, '/');

	return fs_path("%s", strchr(asked, '/') ? (slash ? slash + 1 : folder) : asked);
}

int profile_load(const char *name, const char *const *keys, struct profile *p, struct err *e)
{
	char *path = find_profile(name);

	*p = (struct profile){0};
	if (!path)
		return unknown_profile(name, e);
	load_chain(p, keys, path);
	p->name = profile_name(p, name);
	if (!p->title)
		p->title = fs_path("%s", "");
	return profile_has_faults(p) ? -EINVAL : 0;
}

void profile_free(struct profile *p)
{
	for (size_t i = 0; i < p->file_count; i++) {
		diag_free(&p->files[i].diag);
		ynode_free(p->files[i].root);
		free(p->files[i].text);
		free(p->files[i].folder);
	}
	free(p->settings);
	free(p->name);
	free(p->title);
	*p = (struct profile){0};
}

bool profile_has_faults(const struct profile *p)
{
	for (size_t i = 0; i < p->file_count; i++)
		if (p->files[i].diag.count)
			return true;
	return false;
}

void profile_print_faults(const struct profile *p, FILE *out)
{
	for (size_t i = 0; i < p->file_count; i++)
		diag_print(&p->files[i].diag, out);
}
