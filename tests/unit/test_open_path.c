/* Opening by steps comes to the same as openat2: for paths chosen by hand, for thousands at random, and while somebody
 * exchanges a folder for a link. */
#include "common/open_path.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common/fs.h"
#include "common/random.h"
#include "tap.h"

typedef int open_fn(int at, const char *path, int flags, enum path_links links);

/* What an opening leads to, or why it fails. */
struct found {
	int rc;
	dev_t device;
	ino_t inode;
};

static struct found find(open_fn *open_it, int at, const char *path, int flags, enum path_links links)
{
	int fd = open_it(at, path, flags, links);
	struct stat st = {0};

	if (fd < 0)
		return (struct found){.rc = fd};
	fstat(fd, &st);
	close(fd);
	return (struct found){.device = st.st_dev, .inode = st.st_ino};
}

static bool is_same(struct found a, struct found b)
{
	return a.rc == b.rc && a.device == b.device && a.inode == b.inode;
}

static void make_folder(int top, const char *path)
{
	if (mkdirat(top, path, 0755)) {
		printf("Bail out! no folder %s\n", path);
		exit(1);
	}
}

static void make_link(int top, const char *path, const char *text)
{
	if (symlinkat(text, top, path)) {
		printf("Bail out! no link %s\n", path);
		exit(1);
	}
}

static void make_file(int top, const char *path)
{
	int fd = openat(top, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0) {
		printf("Bail out! no file %s\n", path);
		exit(1);
	}
	close(fd);
}

/* root/ is what must not be left; secret is beside it. */
static int make_tree(const char *dir)
{
	int top = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), root;

	make_file(top, "secret");
	make_folder(top, "root");
	root = openat(top, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	close(top);
	make_folder(root, "a");
	make_folder(root, "a/b");
	make_folder(root, "a/b/c");
	make_file(root, "f");
	make_file(root, "a/f");
	make_file(root, "a/b/f");
	make_link(root, "up", "../secret");
	make_link(root, "a/b/up", "../../../../secret");
	make_link(root, "outside", dir);
	make_link(root, "absolute", "/a/b");
	make_link(root, "a/relative", "b/c/../f");
	make_link(root, "loop", "loop");
	make_link(root, "ring", "a/ring");
	make_link(root, "a/ring", "../ring");
	make_link(root, "dangling", "a/nothing");
	make_link(root, "file", "f");
	make_link(root, "slash", "a/");
	make_link(root, "file-slash", "f/");
	return root;
}

/* `rc` 0: it opens what is at `same`, which no link is on the way to. */
static const struct {
	const char *path;
	int flags;
	int refused; /* with LINKS_REFUSED */
	int inside;  /* with LINKS_INSIDE */
	const char *same;
} rows[] = {
    {"f", 0, 0, 0, "f"},
    {"a/b/f", 0, 0, 0, "a/b/f"},
    {"a//b/./f", 0, 0, 0, "a/b/f"},
    {"./a/b/", 0, 0, 0, "a/b"},
    {".", O_DIRECTORY, 0, 0, "."},
    {"", 0, -ENOENT, -ENOENT, NULL},
    {"nothing", 0, -ENOENT, -ENOENT, NULL},
    {"a/nothing/f", 0, -ENOENT, -ENOENT, NULL},
    {"f/", 0, -ENOTDIR, -ENOTDIR, NULL},
    {"f/.", 0, -ENOTDIR, -ENOTDIR, NULL},
    {"f/a", 0, -ENOTDIR, -ENOTDIR, NULL},
    {"f", O_DIRECTORY, -ENOTDIR, -ENOTDIR, NULL},
    {"f", O_PATH | O_DIRECTORY, -ENOTDIR, -ENOTDIR, NULL},
    {"a", O_PATH | O_DIRECTORY, 0, 0, "a"},
    {"a", O_WRONLY, -EISDIR, -EISDIR, NULL},
    {"file", 0, -ELOOP, 0, "f"},
    {"file", O_PATH, -ELOOP, 0, "f"},
    {"file", O_NOFOLLOW, -ELOOP, -ELOOP, NULL},
    {"file/", 0, -ELOOP, -ENOTDIR, NULL},
    {"file-slash", 0, -ELOOP, -ENOTDIR, NULL},
    {"slash", O_DIRECTORY, -ELOOP, 0, "a"},
    {"slash", O_PATH | O_DIRECTORY, -ELOOP, 0, "a"},
    {"slash/b/f", 0, -ELOOP, 0, "a/b/f"},
    {"absolute", O_DIRECTORY, -ELOOP, 0, "a/b"},
    {"absolute/f", 0, -ELOOP, 0, "a/b/f"},
    {"a/relative", 0, -ELOOP, 0, "a/b/f"},
    {"loop", 0, -ELOOP, -ELOOP, NULL},
    {"ring", O_PATH, -ELOOP, -ELOOP, NULL},
    {"ring/f", 0, -ELOOP, -ELOOP, NULL},
    {"dangling", 0, -ELOOP, -ENOENT, NULL},
    {"up", 0, -ELOOP, -ENOENT, NULL},
    {"a/b/up", O_PATH, -ELOOP, -ENOENT, NULL},
    {"outside/secret", 0, -ELOOP, -ENOENT, NULL},
    {"..", 0, -EXDEV, 0, "."},
    {"../secret", 0, -EXDEV, -ENOENT, NULL},
    {"../../f", 0, -EXDEV, 0, "f"},
    {"a/../f", 0, -EXDEV, 0, "f"},
    {"a/b/..", O_PATH, -EXDEV, 0, "a"},
    {"absolute/../f", 0, -EXDEV, 0, "a/f"},
    {"f/..", 0, -EXDEV, -ENOTDIR, NULL},
};

static void check_row(open_fn *open_it, int root, size_t i, enum path_links links)
{
	int want = links == LINKS_REFUSED ? rows[i].refused : rows[i].inside;
	struct found found = find(open_it, root, rows[i].path, rows[i].flags, links);
	struct stat st = {0};

	is_int(found.rc, want, "'%s' (flags 0%o), links %s", rows[i].path, (unsigned)rows[i].flags,
	       links == LINKS_REFUSED ? "refused" : "inside");
	if (want || found.rc)
		return;
	fstatat(root, rows[i].same, &st, AT_SYMLINK_NOFOLLOW);
	ok(st.st_ino == found.inode && st.st_dev == found.device, "is %s", rows[i].same);
}

static void test_rows(open_fn *open_it, int root)
{
	char name[300], path[PATH_MAX + 10];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		check_row(open_it, root, i, LINKS_REFUSED);
		check_row(open_it, root, i, LINKS_INSIDE);
	}
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	is_int(open_it(root, name, 0, LINKS_INSIDE), -ENAMETOOLONG, "a name of %zu bytes", strlen(name));
	memset(path, '/', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	is_int(open_it(root, path, 0, LINKS_INSIDE), -ENAMETOOLONG, "a path of %zu bytes", strlen(path));
}

static void test_link_itself(open_fn *open_it, int root)
{
	int fd = open_it(root, "a/ring", O_PATH | O_NOFOLLOW, LINKS_INSIDE);
	char text[20] = "";

	if (!ok(fd >= 0, "the link itself can be opened"))
		return;
	is_int(readlinkat(fd, "", text, sizeof(text) - 1), 7, "and read");
	is_str(text, "../ring", "as it is");
	is_int(fcntl(fd, F_GETFD), FD_CLOEXEC, "and is closed on exec");
	close(fd);
}

/* From the current folder, or from "/". */
static void test_no_folder(open_fn *open_it, const char *dir)
{
	char *real = realpath(dir, NULL), *file = fs_path("%s/root/f", real),
	     *link = fs_path("%s/root/outside/secret", real);
	struct found found = find(open_it, AT_FDCWD, file, 0, LINKS_REFUSED);
	struct stat st = {0};

	stat(file, &st);
	ok(!found.rc && found.inode == st.st_ino, "an absolute path");
	is_int(open_it(AT_FDCWD, link, 0, LINKS_REFUSED), -ELOOP, "an absolute path with a link");
	found = find(open_it, AT_FDCWD, "/", O_DIRECTORY, LINKS_REFUSED);
	stat("/", &st);
	ok(!found.rc && found.inode == st.st_ino, "/");
	found = find(open_it, AT_FDCWD, ".", O_DIRECTORY, LINKS_REFUSED);
	stat(".", &st);
	ok(!found.rc && found.inode == st.st_ino, ".");
	free(real);
	free(file);
	free(link);
}

static void test_deep(int root)
{
	int at = dup(root), below;
	char path[500] = "deep";

	make_folder(root, "deep");
	for (unsigned depth = 1; depth < 150; depth++) {
		below = openat(at, depth == 1 ? "deep" : "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = below;
		make_folder(at, "d");
		strcat(path, "/d");
	}
	close(at);
	is_int(find(open_path_by_steps, root, path, O_PATH, LINKS_REFUSED).rc, 0, "150 folders deep");
	is_int(find(open_path_by_steps, root, path, O_PATH, LINKS_INSIDE).rc, -ENAMETOOLONG,
	       "too deep to follow links");
}

/* Each leads to the one before it. */
static void test_many_links(open_fn *open_it, int root)
{
	char name[20] = "f", next[20];

	for (unsigned i = 1; i <= 41; i++) {
		snprintf(next, sizeof(next), "link-%u", i);
		unlinkat(root, next, 0);
		make_link(root, next, name);
		strcpy(name, next);
	}
	is_int(find(open_it, root, "link-40", 0, LINKS_INSIDE).rc, 0, "40 links");
	is_int(find(open_it, root, "link-41", 0, LINKS_INSIDE).rc, -ELOOP, "one more");
}

/* -- at random ---------------------------------------------------------------------------------------------------- */

static const char *const words[] = {"a", "b", "c", "f", "d", "..", ".", "l0", "l1", "l2", "l3", "l4", "l5", ""};
static const int flag_sets[] = {O_NONBLOCK, O_PATH, O_DIRECTORY, O_PATH | O_DIRECTORY, O_PATH | O_NOFOLLOW};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Words with slashes between them, maybe one in front. */
static void random_path(uint64_t *chance, char path[100])
{
	size_t n = 1 + random_below(chance, 6);

	strcpy(path, random_below(chance, 6) ? "" : "/");
	for (size_t i = 0; i < n; i++) {
		strcat(path, i ? "/" : "");
		strcat(path, words[random_below(chance, COUNT(words))]);
	}
}

static void make_random_links(int root, uint64_t *chance)
{
	static const char *const folders[] = {".", "a", "a/b", "a/b/c"};
	char text[100], path[40];

	for (size_t i = 0; i < COUNT(folders); i++)
		for (unsigned k = 0; k < 6; k++) {
			do
				random_path(chance, text);
			while (!*text);
			snprintf(path, sizeof(path), "%s/l%u", folders[i], k);
			unlinkat(root, path, 0);
			make_link(root, path, text);
		}
}

static bool is_outside(struct found f, const char *dir)
{
	char *secret = fs_path("%s/secret", dir);
	struct stat top = {0}, beside = {0};

	stat(dir, &top);
	stat(secret, &beside);
	free(secret);
	return !f.rc && f.device == top.st_dev && (f.inode == top.st_ino || f.inode == beside.st_ino);
}

static unsigned try_path(const char *dir, int root, const char *path, bool compares)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < COUNT(flag_sets); i++)
		for (enum path_links links = LINKS_REFUSED; links <= LINKS_INSIDE; links++) {
			struct found steps = find(open_path_by_steps, root, path, flag_sets[i], links);
			struct found once = compares ? find(open_path, root, path, flag_sets[i], links) : steps;

			if (!is_same(steps, once) || is_outside(steps, dir)) {
				note("'%s' (flags 0%o, links %d): %d by steps, %d at once", path,
				     (unsigned)flag_sets[i], links, steps.rc, once.rc);
				wrong++;
			}
		}
	return wrong;
}

static void test_random(const char *dir, int root, bool has_openat2)
{
	uint64_t chance = 1;
	unsigned wrong = 0, paths = 0;
	char path[100];

	for (unsigned tree = 0; tree < 40; tree++) {
		make_random_links(root, &chance);
		for (unsigned i = 0; i < 100; i++, paths++) {
			random_path(&chance, path);
			wrong += try_path(dir, root, path, has_openat2);
		}
	}
	is_int(wrong, 0, "%u random paths through random links lead %s", paths,
	       has_openat2 ? "where openat2 says" : "nowhere outside");
}

/* -- while somebody changes it -------------------------------------------------------------------------------------- */

struct race {
	int top;
	atomic_bool ends;
};

static void *exchange(void *context)
{
	struct race *r = context;

	while (!atomic_load(&r->ends))
		syscall(SYS_renameat2, r->top, "inside/sub", r->top, "inside/other", 2 /* RENAME_EXCHANGE */);
	return NULL;
}

static void test_race(const char *dir)
{
	struct race r = {.top = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC)};
	unsigned opened = 0, refused = 0, wrong = 0;
	struct stat inside, outside;
	pthread_t thread;

	make_folder(r.top, "inside");
	make_folder(r.top, "inside/sub");
	make_file(r.top, "inside/sub/x");
	make_folder(r.top, "elsewhere");
	make_file(r.top, "elsewhere/x");
	make_link(r.top, "inside/other", "../elsewhere");
	fstatat(r.top, "inside/sub/x", &inside, 0);
	fstatat(r.top, "elsewhere/x", &outside, 0);
	pthread_create(&thread, NULL, exchange, &r);
	for (unsigned i = 0; i < 200000 && (i < 2000 || opened < 100 || refused < 100); i++) {
		struct found f = find(open_path_by_steps, r.top, "inside/sub/x", 0, LINKS_REFUSED);

		opened += !f.rc;
		refused += f.rc == -ELOOP || f.rc == -ENOTDIR;
		wrong += (!f.rc && f.inode != inside.st_ino) || (f.rc && f.rc != -ELOOP && f.rc != -ENOTDIR);
	}
	atomic_store(&r.ends, true);
	pthread_join(thread, NULL);
	close(r.top);
	is_int(wrong, 0, "a folder exchanged for a link all the time is entered, or refused: %u and %u times", opened,
	       refused);
}

int main(void)
{
	char *dir = tap_dir();
	int files = tap_open_files(), root = make_tree(dir);
	bool has_openat2 =
	    syscall(SYS_openat2, AT_FDCWD, ".", NULL, (size_t)0) < 0 && errno != ENOSYS && errno != EPERM;

	test_rows(open_path_by_steps, root);
	test_link_itself(open_path_by_steps, root);
	test_no_folder(open_path_by_steps, dir);
	test_rows(open_path, root);
	test_link_itself(open_path, root);
	test_no_folder(open_path, dir);
	test_many_links(open_path_by_steps, root);
	test_many_links(open_path, root);
	test_deep(root);
	test_random(dir, root, has_openat2);
	test_race(dir);
	close(root);
	is_int(tap_open_files(), files, "no file is left open");
	tap_dir_remove(dir);
	return done_testing();
}
