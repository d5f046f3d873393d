#include "file_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "fuzz.h"

#define FILE_MAX     ((size_t)1 << 20)
#define PATH_LONGEST 200

struct file_tree *file_tree_of_target;

/* Everything is made with this time, so that what is written later is found without reading all of it. */
static const struct timespec made[2];

static void mark_as_made(const struct file_tree *t, const struct tree_entry *f)
{
	if (utimensat(t->fd, f->path, made, AT_SYMLINK_NOFOLLOW))
		abort();
}

/* --- one entry --- */

static void remove_entry(const struct file_tree *t, const char *path)
{
	char *full;

	if (!unlinkat(t->fd, path, 0) || errno != EISDIR)
		return;
	full = fs_path("%s/%s", t->path, path);
	fs_remove_tree(full, NULL);
	free(full);
}

static void write_file(const struct file_tree *t, const struct tree_entry *f)
{
	int fd = openat(t->fd, f->path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return;
	if (fs_write_fd(fd, f->data, f->size))
		abort();
	if (f->mode)
		fchmod(fd, f->mode & 07777);
	close(fd);
}

/* Nothing happens where it cannot be: below what is a file now. */
static void put_entry(const struct file_tree *t, const struct tree_entry *f)
{
	if (f->kind == TREE_FOLDER)
		mkdirat(t->fd, f->path, 0755);
	else if (f->kind == TREE_LINK)
		symlinkat(f->data, t->fd, f->path);
	else
		write_file(t, f);
}

/* --- the sum of what there is --- */

/* Of nftw(), which has no room for an argument. */
static struct {
	uint64_t sum;
	size_t strip;
	bool (*ignored)(const char *path);
} summing;

/* FNV-1a. */
static uint64_t hash(uint64_t sum, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ ((const uint8_t *)data)[i]) * 0x100000001b3u;
	return sum;
}

/* In whatever order they are found. */
static int sum_entry(const char *full, const struct stat *st, int kind, struct FTW *at)
{
	const char *path = full + summing.strip;
	char target[PATH_MAX], *text;
	uint64_t sum = hash(0xcbf29ce484222325u, path, strlen(path));
	ssize_t n;
	size_t size;

	(void)st, (void)at;
	if (summing.ignored && summing.ignored(path))
		return 0;
	if (kind == FTW_SL && (n = readlink(full, target, sizeof(target))) > 0)
		sum = hash(sum, target, (size_t)n);
	if (kind == FTW_F && !fs_read(full, FILE_MAX, &text, &size, NULL)) {
		sum = hash(sum, text, size);
		free(text);
	}
	summing.sum += sum;
	return 0;
}

/* Of an entry and all below it; 0 if there is none. */
static uint64_t sum_below(const struct file_tree *t, const char *path)
{
	char *full = fs_path("%s/%s", t->path, path);

	summing.sum = 0;
	summing.strip = strlen(t->path) + 1;
	nftw(full, sum_entry, 16, FTW_PHYS);
	free(full);
	return summing.sum;
}

/* --- what is there without an input --- */

void file_tree_init(struct file_tree *t, const char *name)
{
	*t = (struct file_tree){.path = fs_path("%s/%s", fuzz_folder(), name)};
	if (mkdir(t->path, 0755))
		abort();
	t->fd = open(t->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (t->fd < 0)
		abort();
	t->entries = grow_or_abort(t->entries, 0, sizeof(*t->entries));
	t->entries[t->count++] = (struct tree_entry){.path = fs_path("."), .kind = TREE_FOLDER, .mode = S_IFDIR | 0755};
	file_tree_of_target = t;
}

static struct tree_entry *find_entry(const struct file_tree *t, const char *path)
{
	for (size_t i = 0; i < t->count; i++)
		if (!strcmp(t->entries[i].path, path))
			return &t->entries[i];
	return NULL;
}

/* Folders come before what is in them. Returns the index. */
static size_t keep_entry(struct file_tree *t, struct tree_entry f)
{
	const struct tree_entry *there = find_entry(t, f.path);
	const char *slash = strrchr(f.path, '/');
	struct stat st;

	if (there) {
		free(f.path);
		free(f.data);
		return (size_t)(there - t->entries);
	}
	if (slash)
		f.parent = keep_entry(t, (struct tree_entry){.path = fs_path("%.*s", (int)(slash - f.path), f.path),
							     .kind = TREE_FOLDER});
	put_entry(t, &f);
	if (fstatat(t->fd, f.path, &st, AT_SYMLINK_NOFOLLOW))
		abort();
	f.mode = st.st_mode;
	f.sum = sum_below(t, f.path); /* a folder is still empty */
	mark_as_made(t, &f);
	t->entries = grow_or_abort(t->entries, t->count, sizeof(*t->entries));
	t->entries[t->count] = f;
	return t->count++;
}

void file_tree_add_file(struct file_tree *t, const char *path, const char *data, size_t size)
{
	char *copy = or_abort(malloc(size + 1));

	memcpy(copy, data, size);
	keep_entry(t, (struct tree_entry){.path = fs_path("%s", path), .data = copy, .size = size});
}

/* Of nftw(), which has no room for an argument. */
static struct {
	struct file_tree *tree;
	const char *below;
	size_t strip;
	bool (*wants)(const char *path);
} adding;

static int add_entry(const char *full, const struct stat *st, int kind, struct FTW *at)
{
	const char *name = full + adding.strip;
	struct tree_entry f = {.kind = kind == FTW_F ? TREE_FILE : kind == FTW_SL ? TREE_LINK : TREE_FOLDER};
	char target[PATH_MAX] = "";

	(void)at;
	if (strlen(full) < adding.strip || (kind != FTW_D && adding.wants && !adding.wants(name)) ||
	    (kind == FTW_D && adding.wants))
		return 0;
	if (kind == FTW_F && fs_read(full, FILE_MAX, &f.data, &f.size, NULL))
		abort();
	if (kind == FTW_SL && readlink(full, target, sizeof(target) - 1) < 0)
		abort();
	f.data = f.data ? f.data : fs_path("%s", target);
	f.mode = kind == FTW_F ? st->st_mode & 0777 : 0;
	f.path = fs_path("%s%s", adding.below, name);
	keep_entry(adding.tree, f);
	return 0;
}

void file_tree_add(struct file_tree *t, const char *dir, const char *below, bool (*wants)(const char *path))
{
	char *real = realpath(dir, NULL);

	adding.tree = t;
	adding.below = below;
	adding.strip = real ? strlen(real) + 1 : 0;
	adding.wants = wants;
	if (!real || nftw(real, add_entry, 16, FTW_PHYS))
		abort();
	free(real);
}

/* --- what an input changes --- */

static bool is_inside(const char *path)
{
	size_t length = strlen(path);

	if (!length || length > PATH_LONGEST || *path == '/' || path[length - 1] == '/')
		return false;
	for (const char *p = path; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL)
		if (*p == '/' || !strncmp(p, "../", 3) || !strcmp(p, "..") || !strncmp(p, "./", 2) || !strcmp(p, "."))
			return false;
	return true;
}

static void make_parents(const struct file_tree *t, const char *path)
{
	char *copy = fs_path("%s", path);

	for (char *slash = copy; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		/* Where an input made a file of a folder, it fails, and so will what follows. */
		mkdirat(t->fd, copy, 0755);
		*slash = '/';
	}
	free(copy);
}

/* `head`: "PATH", "PATH -", "PATH > TARGET". */
static void apply_one(const struct file_tree *t, char *head, const char *data, size_t size)
{
	char *link = strstr(head, " > "), *gone = strstr(head, " -");
	struct tree_entry f = {.path = head, .data = (char *)data, .size = size, .kind = link ? TREE_LINK : TREE_FILE};

	if (link) {
		*link = '\0';
		f.data = link + 3;
	} else if (gone && !gone[2]) {
		*gone = '\0';
	}
	if (!is_inside(head))
		return;
	remove_entry(t, head);
	if (link || !gone || gone[2]) {
		make_parents(t, head);
		put_entry(t, &f);
	}
}

void file_tree_apply(const struct file_tree *t, const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *end = text + size, *at = text, *next;
	const size_t mark = strlen(FILE_TREE_MARK);

	for (; at < end && !strncmp(at, FILE_TREE_MARK, mark); at = next) {
		char *head = at + mark, *body = memchr(head, '\n', (size_t)(end - head));

		next = end;
		if (body)
			*body++ = '\0';
		else
			body = end;
		if ((size_t)(end - body) >= mark && !strncmp(body, FILE_TREE_MARK, mark))
			next = body;
		else if (memmem(body, (size_t)(end - body), "\n" FILE_TREE_MARK, mark + 1))
			next = (char *)memmem(body, (size_t)(end - body), "\n" FILE_TREE_MARK, mark + 1) + 1;
		apply_one(t, head, body, (size_t)(next - body) - (next < end && next > body));
	}
	free(text);
}

/* --- what an input or a program has changed --- */

static enum tree_change change_of(const struct file_tree *t, const struct tree_entry *f)
{
	const bool root = f == t->entries;
	struct stat st;

	if (!root && t->entries[f->parent].change == TREE_GONE)
		return TREE_GONE;
	if (fstatat(t->fd, f->path, &st, AT_SYMLINK_NOFOLLOW) || (st.st_mode & S_IFMT) != (f->mode & S_IFMT))
		return TREE_GONE;
	return st.st_mode == f->mode && !st.st_mtim.tv_sec ? TREE_SAME : TREE_CHANGED;
}

static void find_changes(struct file_tree *t)
{
	for (size_t i = 0; i < t->count; i++)
		t->entries[i].change = change_of(t, &t->entries[i]);
}

static bool is_known(const struct file_tree *t, size_t folder, const char *name)
{
	for (size_t i = folder + 1; i < t->count; i++) {
		const struct tree_entry *f = &t->entries[i];
		const char *slash = strrchr(f->path, '/');

		if (f->parent == folder && !strcmp(slash ? slash + 1 : f->path, name))
			return true;
	}
	return false;
}

/* The sum of what is in a folder and was not made there; with `gone`, it is removed instead. */
static uint64_t unknown_in(const struct file_tree *t, size_t folder, bool gone)
{
	const char *below = folder ? t->entries[folder].path : "";
	int fd = openat(t->fd, t->entries[folder].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	uint64_t sum = 0;

	if (!dir)
		abort();
	while ((entry = readdir(dir))) {
		char *path;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || is_known(t, folder, entry->d_name))
			continue;
		path = fs_path("%s%s%s", below, folder ? "/" : "", entry->d_name);
		if (gone)
			remove_entry(t, path);
		else
			sum += sum_below(t, path);
		free(path);
	}
	closedir(dir);
	return sum;
}

uint64_t file_tree_difference(struct file_tree *t, bool (*ignored)(const char *path))
{
	uint64_t sum = 0;

	find_changes(t);
	summing.ignored = ignored;
	for (size_t i = 0; i < t->count; i++) {
		const struct tree_entry *f = &t->entries[i];
		const bool above = !i || t->entries[f->parent].change != TREE_GONE;

		if (f->change == TREE_SAME || (ignored && ignored(f->path)))
			continue;
		if (f->kind == TREE_FOLDER && f->change == TREE_CHANGED)
			sum += unknown_in(t, i, false);
		else
			sum += (above ? sum_below(t, f->path) : 0) - f->sum;
	}
	summing.ignored = NULL;
	return sum;
}

static void restore_entry(const struct file_tree *t, const struct tree_entry *f)
{
	if (f->kind == TREE_FOLDER && f->change == TREE_CHANGED) {
		unknown_in(t, (size_t)(f - t->entries), true);
		fchmodat(t->fd, f->path, f->mode & 07777, 0);
		return;
	}
	remove_entry(t, f->path);
	put_entry(t, f);
	mark_as_made(t, f);
}

void file_tree_restore(struct file_tree *t)
{
	bool changed = false;

	find_changes(t);
	for (size_t i = 0; i < t->count; i++) {
		if (t->entries[i].change == TREE_SAME)
			continue;
		restore_entry(t, &t->entries[i]);
		changed = true;
	}
	/* Last, as what is put into a folder changes its time. */
	for (size_t i = 0; changed && i < t->count; i++)
		if (t->entries[i].kind == TREE_FOLDER)
			mark_as_made(t, &t->entries[i]);
}
