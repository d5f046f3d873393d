#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/sha256.h"
#include "common/text.h"
#include "files/rundir/manifest.h"

#define MANIFEST "manifest-sha256.txt"
#define DERIVED	 "derived/"
#define HEX	 SHA256_HEX
#define TEXT_MAX (64 << 20)

/* The manifest does not list itself, nor what may change after sealing. */
static bool manifest_lists(const char *name)
{
	return strcmp(name, MANIFEST) && strncmp(name, DERIVED, strlen(DERIVED));
}

/* --- hashing --- */

static int hash_file(const char *path, char hex[HEX + 1], struct err *e)
{
	int fd = fs_open(path, 0);
	struct stat st;
	int rc;

	if (fd < 0)
		return err_sys(e, fd, path, "read");
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		rc = err_set(e, -EINVAL, STATUS_FAILED, path, "read", "it is not a regular file");
	else if ((rc = sha256_fd(fd, hex, NULL)))
		err_sys(e, rc, path, "read");
	close(fd);
	return rc;
}

/* --- writing --- */

static int write_line(const char *run_path, const char *name, FILE *out, struct err *e)
{
	char hex[HEX + 1], *path;
	int rc;

	if (strpbrk(name, "\n\r\\"))
		return err_set(e, -EINVAL, STATUS_FAILED, name, "list in the manifest",
			       "its name contains a line break or a backslash");
	path = fs_path("%s/%s", run_path, name);
	rc = hash_file(path, hex, e);
	free(path);
	if (!rc)
		fprintf(out, "%s  %s\n", hex, name);
	return rc;
}

int manifest_write(const char *run_path, struct err *e)
{
	char **files, *text = NULL, *path;
	size_t count, size = 0;
	FILE *out;
	int rc = fs_files(run_path, &files, &count, e);

	if (rc)
		return rc;
	path = fs_path("%s/" MANIFEST, run_path);
	out = or_abort(open_memstream(&text, &size));
	for (size_t i = 0; !rc && i < count; i++)
		if (manifest_lists(files[i]))
			rc = write_line(run_path, files[i], out, e);
	if (fclose(out) && !rc)
		rc = err_sys(e, -ENOMEM, path, "write");
	if (!rc)
		rc = fs_write(path, text, size, e);
	free(text);
	free(path);
	fs_files_free(files);
	return rc;
}

/* --- checking --- */

struct check {
	const char *run_path;
	struct complaints complaints;
	const char *last; /* the previous name, to check the order and find duplicates */
};

/* The name must be relative, and inside of the run directory. */
static bool is_safe(const char *name)
{
	const char *p = name;

	if (!*name || strchr(name, '\\'))
		return false;
	while (p) {
		size_t length = strcspn(p, "/");

		if (!length || (length == 1 && *p == '.') || (length == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p = p[length] ? p + length + 1 : NULL;
	}
	return true;
}

static void manifest_check_file(struct check *c, const char *hex, const char *name)
{
	char *path = fs_path("%s/%s", c->run_path, name), found[HEX + 1];
	struct err e = ERR_INIT;
	int rc = hash_file(path, found, &e);

	if (rc == -ENOENT)
		complain(&c->complaints, "%s: missing", name);
	else if (rc)
		complain(&c->complaints, "%s: %s", name,
			 rc == -ELOOP ? "a symbolic link, where only files belong" : e.text);
	else if (strcmp(hex, found))
		complain(&c->complaints, "%s: changed", name);
	free(path);
}

/* "<64 hexadecimal digits>  <name>", as sha256sum writes it. */
static void check_line(struct check *c, char *line, size_t number)
{
	char *name = line + HEX + 2;

	if (strspn(line, "0123456789abcdef") != HEX || strncmp(line + HEX, "  ", 2)) {
		complain(&c->complaints, MANIFEST ": line %zu is not a SHA-256 and a name", number);
		return;
	}
	line[HEX] = '\0';
	if (!is_safe(name) || !manifest_lists(name)) {
		complain(&c->complaints, MANIFEST ": line %zu names '%s', which does not belong there", number, name);
		return;
	}
	if (c->last && strcmp(c->last, name) >= 0)
		complain(&c->complaints, MANIFEST ": line %zu: '%s' is %s", number, name,
			 strcmp(c->last, name) ? "out of order" : "listed twice");
	c->last = name;
	manifest_check_file(c, line, name);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Find files that are not in `names`, which is sorted. */
static void check_extra(struct check *c, char **names, size_t count)
{
	struct err e = ERR_INIT;
	char **files;
	size_t n;

	/* Symbolic links and special files are errors. */
	if (fs_files(c->run_path, &files, &n, &e)) {
		complain(&c->complaints, "%s", e.text);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (manifest_lists(files[i]) && !bsearch(&files[i], names, count, sizeof(*names), compare_names))
			complain(&c->complaints, "%s: not in the manifest", files[i]);
	fs_files_free(files);
}

static size_t count_lines(const char *text)
{
	size_t n = 1;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void check_text(struct check *c, char *text)
{
	char **names = or_abort(calloc(count_lines(text), sizeof(*names))), *line = text;
	size_t count = 0, number = 0;

	while (*line) {
		size_t length = strcspn(line, "\n");
		bool ended = line[length];

		line[length] = '\0';
		number++;
		if (length > HEX + 2)
			names[count++] = line + HEX + 2;
		check_line(c, line, number);
		line += length + ended;
	}
	qsort(names, count, sizeof(*names), compare_names);
	check_extra(c, names, count);
	free(names);
}

int manifest_check(const char *run_path, void (*tell)(void *arg, const char *text), void *arg, struct err *e)
{
	struct check c = {.run_path = run_path, .complaints = {tell, arg, 0}};
	char *path = fs_path("%s/" MANIFEST, run_path), *text;
	size_t size;
	int rc = fs_read(path, TEXT_MAX, &text, &size, e);

	if (rc)
		goto out;
	if (strlen(text) != size)
		complain(&c.complaints, MANIFEST ": it contains a NUL byte");
	check_text(&c, text);
	free(text);
out:
	free(path);
	return rc ? rc : c.complaints.count;
}

/* --- files that are read --- */

int manifest_check_files(const char *run_path, bool (*is_wanted)(const char *name, void *arg), void *arg, struct err *e)
{
	char *path = fs_path("%s/" MANIFEST, run_path), *text, *rest, *line;
	size_t size;
	int rc = fs_read(path, TEXT_MAX, &text, &size, e);

	free(path);
	if (rc)
		return rc;
	for (rest = text; !rc && (line = strsep(&rest, "\n"));) {
		const char *name = strlen(line) > HEX + 2 ? line + HEX + 2 : "";
		char found[HEX + 1] = "";
		struct err why = ERR_INIT;

		if (!is_safe(name) || !is_wanted(name, arg))
			continue;
		path = fs_path("%s/%s", run_path, name);
		rc = hash_file(path, found, &why);
		if (rc)
			err_set(e, rc, STATUS_USAGE, path, NULL, "it was there when the run was sealed, but now: %s",
				why.text);
		else if (strncmp(line, found, HEX) != 0)
			rc = err_set(e, -EBADMSG, STATUS_USAGE, path, NULL,
				     "it was changed since the run was sealed; kblat verify shows all changes");
		free(path);
	}
	free(text);
	return rc;
}
