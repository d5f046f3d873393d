#include "machine_tree.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static uint64_t sum;
static size_t strip;

/* FNV-1a. */
static void add_bytes(const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ ((const uint8_t *)data)[i]) * 0x100000001b3u;
}

static int add_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	char *text;
	size_t size;
	uint64_t before = sum;

	(void)st, (void)at;
	/* kbtune's own; a recorded machine may come without /run. */
	if (strlen(path) <= strip || strstr(path + strip, "/kbtune") || !strcmp(path + strip, "/run"))
		return 0;
	/* In whatever order they are found. */
	sum = 0xcbf29ce484222325u;
	add_bytes(path + strip, strlen(path + strip));
	if (kind == FTW_F && !fs_read(path, (size_t)1 << 20, &text, &size, NULL)) {
		add_bytes(text, size);
		free(text);
	}
	sum += before;
	return 0;
}

uint64_t machine_tree_sum(const struct file_tree *t)
{
	sum = 0;
	strip = strlen(t->path);
	nftw(t->path, add_entry, 16, FTW_PHYS);
	return sum;
}
