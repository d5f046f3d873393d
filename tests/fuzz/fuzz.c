#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/or_abort.h"

/* Read by AddressSanitizer: little is kept of what was freed, as an input is small and done with soon. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=4:malloc_context_size=6";
}

static uint64_t state = 1;

void fuzz_seed(unsigned seed)
{
	state = seed * 0x9e3779b97f4a7c15u + 1;
}

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016). */
unsigned fuzz_below(unsigned n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned)((state * 0x2545f4914f6cdd1du) >> 32) % n;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = or_abort(malloc(size + 1));

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static char folder[64];
static pid_t owner;

static void remove_folder(void)
{
	if (getpid() == owner)
		fs_remove_tree(folder, NULL);
}

const char *fuzz_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	if (*folder)
		return folder;
	snprintf(folder, sizeof(folder), "%.40s/kblat-fuzz.XXXXXX", tmp ? tmp : "/dev/shm");
	if (!mkdtemp(folder))
		abort();
	owner = getpid();
	atexit(remove_folder);
	return folder;
}

void fuzz_write(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0 || fs_write_fd(fd, data, size))
		abort();
	close(fd);
}

int fuzz_descriptor(const void *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || fs_write_fd(fd, data, size) || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}
