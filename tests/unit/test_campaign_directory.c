/* What is checked before a campaign is continued is also what is read, whatever happens to its path meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "campaign/campaign_directory.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "tap.h"

static char *dir, *file;
static bool swaps; /* when a file has been looked at, another one takes its place */

static void swap_file(const struct stat *st)
{
	if (!swaps || !S_ISREG(st->st_mode))
		return;
	swaps = false;
	if (unlink(file))
		note("%s stays", file);
	tap_file(file, "{\"is\": \"theirs\"}", 16);
	chmod(file, 0644);
}

/* In place of the C library's. */
int fstat(int fd, struct stat *st)
{
	int rc = fstatat(fd, "", st, AT_EMPTY_PATH);

	if (!rc)
		swap_file(st);
	return rc;
}

int lstat(const char *path, struct stat *st)
{
	int rc = fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);

	if (!rc)
		swap_file(st);
	return rc;
}

static const char *resumed(struct err *e)
{
	static char is[64];
	json_t *content = NULL;
	int lock = -1;

	err_clear(e);
	is[0] = '\0';
	if (!directory_resume(dir, "campaign.json", &lock, &content, e))
		snprintf(is, sizeof(is), "%s", json_text(content, "is"));
	json_decref(content);
	if (lock >= 0)
		close(lock);
	return is;
}

static void put_ours(void)
{
	unlink(file);
	tap_file(file, "{\"is\": \"ours\"}", 14);
	chmod(file, 0644);
}

int main(void)
{
	struct err e = ERR_INIT;
	json_t *content;
	int one = -1, other = -1;

	dir = tap_dir();
	file = fs_path("%s/campaign.json", dir);
	put_ours();
	is_str(resumed(&e), "ours", "a directory of one's own is continued %s", e.text);
	swaps = true;
	is_str(resumed(&e), "ours", "what is read is what was checked");
	is_str(resumed(&e), "theirs", "although its path leads elsewhere by then");

	put_ours();
	chmod(file, 0664);
	is_str(resumed(&e), "", "a file that others may write is refused");
	contains(e.text, "campaign.json: cannot continue it: other users may write to it", "and why");
	unlink(file);
	ok(!symlink("/etc/hostname", file), "a link");
	is_str(resumed(&e), "", "is refused");
	contains(e.text, "campaign.json", "and named");

	put_ours();
	err_clear(&e);
	is_int(directory_resume(dir, "campaign.json", &one, &content, &e), 0, "one continues it");
	json_decref(content);
	is_int(directory_resume(dir, "campaign.json", &other, &content, &e), -EBUSY, "another cannot");
	like(e.text, "another kblat \\(process [0-9]+\\) is running this campaign", "and is told who does");
	close(one);
	close(other);
	free(file);
	tap_dir_remove(dir);
	return done_testing();
}
