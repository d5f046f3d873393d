#include "machine_tree.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "fuzz.h"

const char *const machine_tree_words[] = {"0",
					  "1",
					  "0-3",
					  "0,2",
					  "0-8191",
					  "f",
					  "ffffffff,ffffffff",
					  "[always] madvise never",
					  "performance powersave",
					  "cpuset memory pids",
					  "-1",
					  "max",
					  "always",
					  "none",
					  "4294967295",
					  "99999999999999999999",
					  "cgroup2",
					  "cgroup",
					  "cpuset",
					  "irqbalance",
					  "kbtune",
					  "balanced",
					  "isolated",
					  "root",
					  "member",
					  NULL};

static char *machine_folder(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		abort();
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	return fs_path("%s/machine", self);
}

void machine_tree_init(struct file_tree *t)
{
	char *dir = machine_folder();

	file_tree_init(t, "machine");
	file_tree_add(t, dir, "", NULL);
	free(dir);
}

/* kbtune's own; a recorded machine may come without /run. */
static bool is_of_kbtune(const char *path)
{
	return strstr(path, "/kbtune") || !strcmp(path, "run");
}

uint64_t machine_tree_difference(struct file_tree *t)
{
	return file_tree_difference(t, is_of_kbtune);
}
