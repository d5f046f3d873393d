#include "index/index_stamp.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/fs.h"

#define FNV_BASIS 14695981039346656037U
#define FNV_PRIME 1099511628211U

static void add_bytes(uint64_t *sum, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		*sum = (*sum ^ ((const unsigned char *)data)[i]) * FNV_PRIME;
}

/* A missing file counts, too. */
static void add_file(uint64_t *sum, char *path)
{
	struct stat st = {0};

	if (lstat(path, &st))
		st = (struct stat){0};
	add_bytes(sum, &st.st_ino, sizeof(st.st_ino));
	add_bytes(sum, &st.st_mode, sizeof(st.st_mode));
	add_bytes(sum, &st.st_size, sizeof(st.st_size));
	add_bytes(sum, &st.st_mtim, sizeof(st.st_mtim));
	add_bytes(sum, &st.st_ctim, sizeof(st.st_ctim));
	free(path);
}

static void add_captures(uint64_t *sum, const char *run_path)
{
	char *state = fs_path("%s/state", run_path);
	struct dirent **names;
	int n = fs_scandir(state, &names, fs_is_visible, alphasort);

	for (int i = 0; i < n; i++) {
		add_file(sum, fs_path("%s/%s/before/state.json", state, names[i]->d_name));
		free(names[i]);
	}
	free(names);
	free(state);
}

char *index_stamp(const char *run_path, char buf[INDEX_STAMP_MAX])
{
	static const char *const names[] = {"run.json", "resolved.json", "summary.json", "manifest-sha256.txt"};
	uint64_t sum = FNV_BASIS;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_file(&sum, fs_path("%s/%s", run_path, names[i]));
	add_captures(&sum, run_path);
	snprintf(buf, INDEX_STAMP_MAX, "%016llx", (unsigned long long)sum);
	return buf;
}
