#include "file_tree.h"

#include <errno.h>
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

void file_tree_init(struct file_tree *t, const char *name)
{
	*t = (struct file_tree){.path = fs_path("%s/%s", fuzz_folder(), name)};
	if (mkdir(t->path, 0755))
		abort();
	file_tree_of_target = t;
}

/* --- one file --- */

static void make_parents(const struct file_tree *t, const char *path)
{
	char *full = fs_path("%s/%s", t->path, path);

	for (char *slash = full + strlen(t->path) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		/* Where an input made a file of a folder. */
		if (mkdir(full, 0755) && errno == EEXIST)
			errno = 0;
		*slash = '/';
	}
	free(full);
}

static void remove_file(const struct file_tree *t, const char *path)
{
	char *full = fs_path("%s/%s", t->path, path);

	if (unlink(full) && errno == EISDIR)
		fs_remove_tree(full, NULL);
	free(full);
}

/* False where it cannot be: below what is a file now. */
static bool put_file(const struct file_tree *t, const struct tree_file *f)
{
	char *full = fs_path("%s/%s", t->path, f->path);
	FILE *out = NULL;
	bool done;

	make_parents(t, f->path);
	if (f->kind == TREE_FOLDER)
		done = !mkdir(full, 0755) || errno == EEXIST;
	else if (f->kind == TREE_LINK)
		done = !symlink(f->data, full);
	else
		done = (out = fopen(full, "we")) && fwrite(f->data, 1, f->size, out) == f->size;
	if (out && f->mode)
		fchmod(fileno(out), f->mode);
	if (out)
		fclose(out);
	free(full);
	return done;
}

static const struct tree_file *find_file(const struct file_tree *t, const char *path)
{
	for (size_t i = 0; i < t->count; i++)
		if (!strcmp(t->files[i].path, path))
			return &t->files[i];
	return NULL;
}

/* --- what is there without an input --- */

static void keep_file(struct file_tree *t, struct tree_file f)
{
	t->files = grow_or_abort(t->files, t->count, sizeof(*t->files));
	t->files[t->count++] = f;
	if (!put_file(t, &f))
		abort();
}

void file_tree_add_file(struct file_tree *t, const char *path, const char *data, size_t size)
{
	char *copy = or_abort(malloc(size + 1));

	memcpy(copy, data, size);
	keep_file(t, (struct tree_file){fs_path("%s", path), copy, size, TREE_FILE, 0});
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
	struct tree_file f = {.kind = kind == FTW_F ? TREE_FILE : kind == FTW_SL ? TREE_LINK : TREE_FOLDER};
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
	keep_file(adding.tree, f);
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

void file_tree_touch(struct file_tree *t, const char *path)
{
	t->touched = grow_or_abort(t->touched, t->touched_count, sizeof(*t->touched));
	t->touched[t->touched_count++] = fs_path("%s", path);
}

/* `head`: "PATH", "PATH -", "PATH > TARGET". */
static void apply_one(struct file_tree *t, char *head, const char *data, size_t size)
{
	char *link = strstr(head, " > "), *gone = strstr(head, " -");
	struct tree_file f = {head, (char *)data, size, link ? TREE_LINK : TREE_FILE, 0};

	if (link) {
		*link = '\0';
		f.data = link + 3;
	} else if (gone && !gone[2]) {
		*gone = '\0';
	}
	if (!is_inside(head))
		return;
	file_tree_touch(t, head);
	remove_file(t, head);
	if (link || !gone || gone[2])
		put_file(t, &f);
}

void file_tree_apply(struct file_tree *t, const uint8_t *data, size_t size)
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

static void forget_touched(struct file_tree *t)
{
	for (size_t i = 0; i < t->touched_count; i++)
		free(t->touched[i]);
	free(t->touched);
	t->touched = NULL;
	t->touched_count = 0;
}

void file_tree_restore(struct file_tree *t)
{
	bool whole = true;

	for (size_t i = 0; i < t->touched_count; i++)
		remove_file(t, t->touched[i]);
	for (size_t i = 0; whole && i < t->touched_count; i++) {
		const struct tree_file *f = find_file(t, t->touched[i]);

		/* A file in place of a folder took what was below it, and a new one may have made folders. */
		whole = f && put_file(t, f);
	}
	if (whole)
		forget_touched(t);
	else
		file_tree_renew(t);
}

void file_tree_renew(struct file_tree *t)
{
	forget_touched(t);
	fs_remove_tree(t->path, NULL);
	mkdir(t->path, 0755);
	for (size_t i = 0; i < t->count; i++)
		put_file(t, &t->files[i]);
}
