#include "files/state/readers.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/sha256.h"
#include "common/sysroot.h"
#include "common/version.h"
#include "files/state/capture.h"

enum {
	SUMS_KEPT = 64,
	NOTE_ALIGN = 4,
	PROFILES_DEEP = 8,
	TOKEN_LENGTH = 24, /* from this length on, letters and digits alone look like a key */
};

static char *hex(const unsigned char *bytes, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++)
		sprintf(out + 2 * i, "%02x", bytes[i]);
	return out;
}

/* The linker's build ID of an object, from its notes in memory, which costs nothing. "" if it has none. */
static void build_id(const struct dl_phdr_info *object, char *out, size_t size)
{
	*out = '\0';
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];
		const char *note = (const char *)(object->dlpi_addr + p->p_vaddr), *end = note + p->p_memsz;

		while (p->p_type == PT_NOTE && (size_t)(end - note) >= sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *n = (const void *)note;
			const char *name = note + sizeof(*n);
			size_t name_size = (n->n_namesz + NOTE_ALIGN - 1) & ~(size_t)(NOTE_ALIGN - 1);
			size_t data_size = (n->n_descsz + NOTE_ALIGN - 1) & ~(size_t)(NOTE_ALIGN - 1);

			if (name_size + data_size > (size_t)(end - name))
				break;
			if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(name, "GNU", 4) &&
			    n->n_descsz * 2 < size)
				hex((const unsigned char *)name + name_size, n->n_descsz, out);
			note = name + name_size + data_size;
		}
	}
}

/* The hashes of files from the capture before a run; computing them again would be most of the cost
 * of the capture after it. */
struct summed {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed, modified;
	char text[SHA256_HEX + 1];
};

static struct summed known[SUMS_KEPT];
static size_t known_count;

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static const struct summed *find_sum(const struct stat *st)
{
	for (const struct summed *k = known; k < known + known_count; k++)
		if (k->device == st->st_dev && k->inode == st->st_ino && k->size == st->st_size &&
		    same_time(&k->changed, &st->st_ctim) && same_time(&k->modified, &st->st_mtim))
			return k;
	return NULL;
}

/* The hash of an object that this process has mapped, which is a file of the live machine. */
static int hash_of(const char *path, char out[SHA256_HEX + 1])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	const struct summed *before;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		rc = -errno;
	before = rc ? NULL : find_sum(&st);
	if (!rc && !before)
		rc = sha256_fd(fd, out, NULL);
	close(fd);
	if (rc)
		return rc;
	if (before)
		memcpy(out, before->text, sizeof(before->text));
	if (!before && known_count < SUMS_KEPT) {
		known[known_count] = (struct summed){st.st_dev, st.st_ino, st.st_size, st.st_ctim, st.st_mtim, ""};
		snprintf(known[known_count++].text, sizeof(known->text), "%s", out);
	}
	return 0;
}

struct objects {
	struct capture *c;
	const char *key;
};

/* Adds "software.libc.so.6.sha256" and ".build_id". The first object is the program itself; the
 * kernel's vDSO has no file. */
static int add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct objects *o = arg;
	const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	const char *base = *info->dlpi_name ? strrchr(path, '/') : "/kblat";
	char name[256], text[SHA256_HEX + 1];
	int rc;

	(void)size;
	if (*path != '/')
		return 0;
	snprintf(name, sizeof(name), "%.200s.build_id", base + 1);
	build_id(info, text, sizeof(text));
	capture_text(o->c, o->key, name, text, strlen(text));
	snprintf(name, sizeof(name), "%.200s.sha256", base + 1);
	rc = hash_of(path, text);
	if (!rc)
		capture_text(o->c, o->key, name, text, strlen(text));
	return 0;
}

void read_program(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	struct objects o = {c, key};

	(void)s;
	(void)path;
	if (!capture_root(c)->live)
		return;
	capture_text(c, key, "version", kblat_version, strlen(kblat_version));
	capture_text(c, key, "commit", kblat_commit, strlen(kblat_commit));
	capture_text(c, key, "compiler", __VERSION__, strlen(__VERSION__));
	dl_iterate_phdr(add_object, &o);
}

/* A name that suggests a secret, a URL that contains a password, a private key, or something that
 * looks like a token. */
static bool is_secret(const char *name, const char *value)
{
	static const char *const names[] = {"*KEY*",	 "*TOKEN*",   "*SECRET*",  "*PASS*", "*PWD*",	 "*CRED*",
					    "*LOGIN*",	 "*SESSION*", "*WEBHOOK*", "*AUTH*", "*COOKIE*", "*PRIV*",
					    "*SIGNATU*", "*DSN*",     "*BEARER*",  NULL};
	size_t digits = 0, letters = 0;
	const char *p;

	if (!strcmp(name, "PWD") || !strcmp(name, "OLDPWD"))
		return false;
	for (const char *const *n = names; *n; n++)
		if (!fnmatch(*n, name, FNM_CASEFOLD))
			return true;
	if (strstr(value, "-----BEGIN") || (strstr(value, "://") && strchr(strstr(value, "://"), '@')))
		return true;
	for (p = value; isalnum((unsigned char)*p) || (*p && strchr("_-+=.", *p)); p++) {
		digits += isdigit((unsigned char)*p) != 0;
		letters += isalpha((unsigned char)*p) != 0;
	}
	return !*p && p - value >= TOKEN_LENGTH && digits > 2 && letters > 2;
}

void read_environment(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	static const char hidden[] = "(hidden)";

	(void)s;
	(void)path;
	if (!capture_root(c)->live)
		return;
	for (char **e = environ; e && *e; e++) {
		const char *equal = strchr(*e, '='), *value = equal ? equal + 1 : "";
		char name[128];

		snprintf(name, sizeof(name), "%.*s", equal ? (int)(equal - *e) : 0, *e);
		if (is_secret(name, value))
			value = hidden;
		if (*name)
			capture_text(c, key, name, value, strlen(value));
	}
}

static void keep_profile(struct capture *c, const char *name, unsigned depth);

/* "include = a, b": the profiles on which this one is based. */
static void keep_included(struct capture *c, const char *text, unsigned depth)
{
	char *copy = or_abort(strdup(text)), *rest = copy, *line, *word;

	while ((line = strsep(&rest, "\n"))) {
		line += strspn(line, " \t");
		if (strncmp(line, "include", 7) || line[7 + strspn(line + 7, " \t")] != '=')
			continue;
		for (line = strchr(line, '=') + 1; (word = strsep(&line, ", \t"));)
			if (*word)
				keep_profile(c, word, depth + 1);
	}
	free(copy);
}

static void keep_profile(struct capture *c, const char *name, unsigned depth)
{
	static const char *const folders[] = {"/etc/tuned", "/etc/tuned/profiles", "/usr/lib/tuned",
					      "/usr/lib/tuned/profiles", NULL};
	const char *text;
	size_t length;
	int rc = -ENOENT;

	if (strchr(name, '/') || depth > PROFILES_DEEP)
		return;
	for (const char *const *f = folders; rc && *f; f++) {
		char *path = fs_path("%s/%s/tuned.conf", *f, name);

		rc = capture_file(c, path, &text, &length);
		free(path);
	}
	if (!rc) {
		char *copy = or_abort(strndup(text, length)); /* the capture's text is replaced by the next file */

		keep_included(c, copy, depth);
		free(copy);
	}
}

/* Store the raw text of the active profile and of those that it includes. */
void read_tuned(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	const char *text;
	size_t length;
	char *copy, *rest, *word;
	int rc = capture_file(c, path, &text, &length);

	(void)s;
	(void)key;
	if (rc)
		return;
	rest = copy = or_abort(strndup(text, length));
	while ((word = strsep(&rest, " \n")))
		if (*word)
			keep_profile(c, word, 0);
	free(copy);
}
