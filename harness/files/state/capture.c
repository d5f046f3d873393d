#include "files/state/capture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "common/text.h"
#include "files/state/mask.h"
#include "files/state/piece.h"
#include "files/state/raw_file.h"
#include "files/state/readable.h"
#include "files/state/sources.h"

/* Far above any real machine; a recorded machine may be malicious. */
enum {
	FILE_MAX = 16 << 20,
	TOTAL_MAX = 256 << 20,
	FILES_MAX = 200000,
	VALUE_MAX = 4096,
};

struct entry {
	char *key;
	json_t *value;
	size_t order;
};

struct capture {
	const struct sysroot *root;
	char *path; /* path of the directory, for messages */
	int dir;
	struct entry *entries;
	size_t count, room;

	/* The file read last: rows of the same file follow each other in the table. */
	char *last_path, *text;
	size_t length;
	int rc;

	struct mask mask;
	bool is_masked;
	struct readable readable;
	bool is_private; /* it contains something that not everybody may read */
	int64_t started, cpu_started;
	size_t files, bytes, skipped;
	int failure; /* write error; ends the capture */
	struct err *e;
};

const struct sysroot *capture_root(const struct capture *c)
{
	return c->root;
}

static void fail_capture(struct capture *c, int rc, const char *object)
{
	if (!c->failure)
		c->failure = err_sys(c->e, rc, object, "write the capture");
}

/* The key for `name`: "a.*.b" and "x" make "a.x.b". NULL: the pattern itself. A star inside the name would be mistaken
 * for one of the pattern. */
static void capture_key(const char *pattern, const char *name, char *out, size_t size)
{
	const char *star = name ? strchr(pattern, '*') : NULL;
	char plain[CAPTURE_KEY_MAX / 2];

	if (!star) {
		snprintf(out, size, "%s", pattern);
		return;
	}
	snprintf(plain, sizeof(plain), "%s", name);
	for (char *p = plain; (p = strchr(p, '*'));)
		*p = '?';
	snprintf(out, size, "%.*s%s%s", (int)(star - pattern), pattern, plain, star + 1);
}

/* Takes `value`. */
static void add_value(struct capture *c, const char *key, const char *name, json_t *value)
{
	char full[CAPTURE_KEY_MAX], clean[CAPTURE_KEY_MAX];

	if (c->count == c->room) {
		c->room = c->room ? c->room * 2 : 1024;
		c->entries = or_abort(reallocarray(c->entries, c->room, sizeof(*c->entries)));
	}
	capture_key(key, name, full, sizeof(full));
	text_clean(full, strlen(full), clean, sizeof(clean));
	if (c->is_masked)
		mask_text(&c->mask, clean, strlen(clean));
	c->entries[c->count] = (struct entry){or_abort(strdup(clean)), value, c->count};
	if (value)
		c->count++;
	else
		fail_capture(c, -ENOMEM, c->path);
}

void capture_text(struct capture *c, const char *key, const char *name, const char *text, size_t length)
{
	char clean[VALUE_MAX];

	text_clean(text, length, clean, sizeof(clean));
	if (c->is_masked)
		mask_text(&c->mask, clean, strlen(clean));
	add_value(c, key, name, json_string(clean));
}

void capture_int(struct capture *c, const char *key, const char *name, int64_t value)
{
	add_value(c, key, name, json_integer(value));
}

void capture_value(struct capture *c, const char *key, const char *name, struct piece value)
{
	int64_t number;

	if (piece_int(value, &number))
		capture_int(c, key, name, number);
	else
		capture_text(c, key, name, value.p, value.n);
}

void capture_errno(struct capture *c, const char *key, int rc)
{
	const char *name = strerrorname_np(-rc);
	char text[32];

	snprintf(text, sizeof(text), "!%s", name ? name : "EIO");
	capture_text(c, key, NULL, text, strlen(text));
}

static mode_t mode_for(bool by_all)
{
	return by_all ? 0666 : 0600;
}

static void keep_raw(struct capture *c, const char *path, bool by_all, const char *text, size_t length)
{
	char *kept = or_abort(strdup(path));
	int rc;

	if (c->is_masked)
		mask_text(&c->mask, kept, strlen(kept));
	rc = raw_file_write(c->dir, kept, mode_for(by_all), text, length);
	if (rc)
		fail_capture(c, rc, path);
	c->is_private |= !by_all;
	c->files++;
	c->bytes += length;
	free(kept);
}

void capture_made(struct capture *c, const char *name, bool by_all, char *text, size_t length)
{
	char *path = fs_path("/made/%s", name);

	if (c->is_masked)
		mask_text(&c->mask, text, length);
	keep_raw(c, path, by_all, text, length);
	free(path);
}

static void capture_load(struct capture *c, const char *path)
{
	int mode = 0;

	free(c->text);
	free(c->last_path);
	c->text = NULL;
	c->last_path = or_abort(strdup(path));
	c->rc = raw_file_is_path(path) ? 0 : -EINVAL;
	if (!c->rc && (c->files >= FILES_MAX || c->bytes >= TOTAL_MAX))
		c->rc = -EDQUOT;
	if (!c->rc)
		c->rc = sysroot_read_mode(c->root, path, FILE_MAX, &c->text, &c->length, &mode);
	else
		c->skipped++;
	if (c->rc)
		return;
	if (c->is_masked)
		mask_file(&c->mask, path, c->text, c->length);
	keep_raw(c, path, readable_by_all(&c->readable, c->root, path, mode), c->text, c->length);
}

int capture_file(struct capture *c, const char *path, const char **text, size_t *length)
{
	if (!c->last_path || strcmp(c->last_path, path))
		capture_load(c, path);
	*text = c->text;
	*length = c->length;
	return c->rc;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int rc = strcmp(x->key, y->key);

	return rc ? rc : (x->order > y->order) - (x->order < y->order);
}

/* Sorted; of equal keys, the first one added. */
static json_t *keys_json(struct capture *c)
{
	json_t *keys = json_object();

	qsort(c->entries, c->count, sizeof(*c->entries), compare_entries);
	for (size_t i = 0; i < c->count; i++)
		if (!i || strcmp(c->entries[i].key, c->entries[i - 1].key))
			json_object_set(keys, c->entries[i].key, c->entries[i].value);
	return keys;
}

static int64_t read_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int write_state(struct capture *c)
{
	char *path = fs_path("%s/state.json", c->path);
	json_t *keys = keys_json(c);
	json_t *state = json_pack("{s:i, s:I, s:o}", "schema", 1, "cost_ns",
				  (json_int_t)(read_clock_ns(CLOCK_MONOTONIC) - c->started), "keys", keys);
	int rc = json_write_mode(path, state, mode_for(!c->is_private), c->e);

	json_decref(state);
	free(path);
	return rc;
}

static bool is_empty_folder(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int count = 0;

	while (dir && (entry = readdir(dir)))
		count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	if (dir)
		closedir(dir);
	return !count;
}

/* The directory must be empty, because existing files would appear to belong to this machine. */
static int open_empty(const char *path, struct err *e)
{
	int fd, rc = fs_mkdirs(path, e);

	if (rc)
		return rc;
	if (!is_empty_folder(path))
		return err_set(e, -ENOTEMPTY, STATUS_USAGE, path, "capture into it",
			       "it is not empty; name a new directory");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_sys(e, -errno, path, "open the directory") : fd;
}

int capture_open(struct capture **capture, const struct sysroot *root, const char *dir, bool mask, struct err *e)
{
	struct capture *c = or_abort(calloc(1, sizeof(*c)));
	int fd = open_empty(dir, e);

	if (fd < 0) {
		free(c);
		return fd;
	}
	*c = (struct capture){.root = root,
			      .path = fs_path("%s", dir),
			      .dir = fd,
			      .is_masked = mask,
			      .started = read_clock_ns(CLOCK_MONOTONIC),
			      .cpu_started = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
			      .e = e};
	if (mask)
		mask_init(&c->mask, root);
	*capture = c;
	return 0;
}

void capture_be_private(struct capture *c)
{
	c->is_private = true;
}

/* Has writing failed? Then it is useless to go on. */
static bool capture_has_failed(const struct capture *c)
{
	return c->failure != 0;
}

static void capture_free(struct capture *c)
{
	for (size_t i = 0; i < c->count; i++) {
		json_decref(c->entries[i].value);
		free(c->entries[i].key);
	}
	free(c->entries);
	free(c->last_path);
	free(c->text);
	free(c->path);
	close(c->dir);
	free(c);
}

/* Record the capture's own cost, so that it is not attributed to the machine. */
static void add_cost(struct capture *c)
{
	capture_int(c, "capture.cpu_ns", NULL, read_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - c->cpu_started);
	capture_int(c, "capture.files", NULL, (int64_t)c->files);
	capture_int(c, "capture.bytes", NULL, (int64_t)c->bytes);
	capture_int(c, "capture.skipped", NULL, (int64_t)c->skipped);
}

/* A single call for all files: a thousand calls of fsync would take a thousand times as long. */
static void sync_raw(struct capture *c)
{
	if (syncfs(c->dir))
		fail_capture(c, -errno, c->path);
}

int capture_close(struct capture *c, bool sync)
{
	int rc;

	add_cost(c);
	if (sync && !c->failure)
		sync_raw(c);
	rc = c->failure ? c->failure : write_state(c);
	capture_free(c);
	return rc;
}

/* --- a whole capture --- */

/* Replaces each star of `key` by what a component with wildcards has matched: "idle.*.*.name"
 * becomes "idle.cpu0.state1.name" for .../cpu0/cpuidle/state1/name. */
static void key_for(const char *pattern, const char *path, const char *key, char *out, size_t size)
{
	char copy[PATH_MAX], next[CAPTURE_KEY_MAX];
	char *rest = copy;

	snprintf(out, size, "%s", key);
	snprintf(copy, sizeof(copy), "%s", path);
	for (const char *p = pattern; *p && rest;) {
		size_t n = strcspn(p, "/");
		char *component = strsep(&rest, "/");

		if (strcspn(p, "*?[") < n) {
			capture_key(out, component, next, sizeof(next));
			snprintf(out, size, "%s", next);
		}
		p += n + (p[n] == '/');
	}
}

static void read_source(struct capture *c, const struct state_source *s)
{
	char pattern[CAPTURE_KEY_MAX], key[CAPTURE_KEY_MAX];
	char **paths;
	int n;

	snprintf(pattern, sizeof(pattern), "%s.%s", s->group, s->key);
	if (!s->path)
		return;
	if (!strpbrk(s->path, "*?[")) {
		s->read(c, s, s->path, pattern);
		return;
	}
	n = sysroot_glob(capture_root(c), s->path, &paths);
	if (n <= 0) {
		capture_errno(c, pattern, n ? n : -ENOENT);
		if (n < 0)
			return;
	}
	for (int i = 0; i < n && !capture_has_failed(c); i++) {
		key_for(s->path, paths[i], pattern, key, sizeof(key));
		s->read(c, s, paths[i], key);
	}
	sysroot_names_free(paths);
}

int state_capture(const struct sysroot *root, const char *dir, const struct state_options *o, struct err *e)
{
	struct capture *c;
	int rc = capture_open(&c, root, dir, o && o->mask, e);

	if (rc)
		return rc;
	for (const struct state_source *s = state_sources; s->group && !capture_has_failed(c); s++)
		read_source(c, s);
	return capture_close(c, o && o->sync);
}
