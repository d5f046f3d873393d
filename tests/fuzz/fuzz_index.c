/* An index of runs that somebody has changed, and journals that he has put beside it: it is made again or brought up to
 * date, whatever is in it, and what reads it ends. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/commands.h"
#include "common/err.h"
#include "common/fs.h"
#include "fuzz.h"
#include "judge/index/index_file.h"
#include "judge/index/index_update.h"
#include "run_tree.h"

#define INDEX_MAX ((size_t)1 << 22)

/* How the first byte is read: what the rest of the input is, and which index it is put beside or into. */
enum { WHOLE, PATCHES, JOURNAL, WAL, KINDS };
enum { OUTDATED = 4, ANOTHER_COMMAND = 8 };

static struct file_tree tree;
static char *file, *beside[2], *page;
static struct {
	char *data;
	size_t size;
} now, outdated;

static void read_index(char **data, size_t *size)
{
	struct index_changes changes;
	struct err e = ERR_INIT;

	fuzz_require(!index_update(tree.path, false, &changes, &e) && changes.runs == 2 && !changes.unreadable);
	fuzz_require(!fs_read_followed(file, INDEX_MAX, data, size, &e));
}

static void set_up(void)
{
	char *touched;

	file_tree_init(&tree, "runs");
	run_tree_add_documents(&tree, "scripted", "a/");
	run_tree_add_documents(&tree, "scripted", "b/");
	file = fs_path("%s/" INDEX_FILE, tree.path);
	beside[0] = fs_path("%s-journal", file);
	beside[1] = fs_path("%s-wal", file);
	page = fs_path("%s/kblat-runs.html", tree.path);
	read_index(&outdated.data, &outdated.size);
	touched = fs_path("%s/a/run.json", tree.path);
	if (chmod(touched, 0600))
		abort();
	free(touched);
	read_index(&now.data, &now.size);
	setenv("PATH", "", 1);
}

/* Each is a place (3 bytes), a length (one), and as many bytes. */
static void write_patched(const char *base, size_t length, const uint8_t *data, size_t size)
{
	char *bytes = fuzz_text((const uint8_t *)base, length);

	while (size > 4) {
		size_t at = ((size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) % length, n = data[3];

		data += 4, size -= 4;
		n = n > size ? size : n;
		memcpy(bytes + at, data, n > length - at ? length - at : n);
		data += n, size -= n;
	}
	fuzz_write(file, bytes, length);
	free(bytes);
}

static void write_input(uint8_t how, const uint8_t *data, size_t size)
{
	const char *base = how & OUTDATED ? outdated.data : now.data;
	size_t length = how & OUTDATED ? outdated.size : now.size;

	switch (how % KINDS) {
	case WHOLE:
		fuzz_write(file, data, size);
		break;
	case PATCHES:
		write_patched(base, length, data, size);
		break;
	default:
		fuzz_write(file, base, length);
		fuzz_write(beside[how % KINDS == WAL], data, size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct index_changes changes;
	struct err e = ERR_INIT;
	struct index ix;
	char *index[] = {(char *)"index", NULL, NULL}, *history[] = {(char *)"history", NULL, NULL};
	enum status status;

	if (!tree.path)
		set_up();
	if (!size)
		return 0;
	write_input(data[0], data + 1, size - 1);
	fuzz_require(!index_update(tree.path, false, &changes, &e));
	/* What is up to date can only be told by what somebody has written there. */
	fuzz_require(data[0] & OUTDATED || data[0] % KINDS == WHOLE || changes.runs + changes.unreadable == 2);
	if (!index_open_current(&ix, tree.path))
		index_file_close(&ix);
	index[1] = history[1] = tree.path;
	status = data[0] & ANOTHER_COMMAND ? cmd_history(2, history, &e) : cmd_report(2, index, &e);
	fuzz_require(*e.text || status == STATUS_OK || status == STATUS_NO || status == STATUS_UNDECIDED);
	unlink(file), unlink(beside[0]), unlink(beside[1]), unlink(page);
	return 0;
}
