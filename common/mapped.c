#include "common/mapped.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"

struct mapped {
	char *path;
	char *data;
	size_t size;
	volatile sig_atomic_t is_incomplete;
	struct mapped *before, *next;
};

/* The handler has to find the mapping of an address. */
static struct mapped *first_mapped;
static size_t page_size;
static struct sigaction action_before;

static struct mapped *mapping_at(const void *address)
{
	struct mapped *m = first_mapped;

	while (m && (uintptr_t)address - (uintptr_t)m->data >= m->size)
		m = m->next;
	return m;
}

/* From the page of the address on, because what follows is usually missing, too. */
static bool replace_by_zeros(struct mapped *m, const void *address)
{
	size_t offset = (uintptr_t)address - (uintptr_t)m->data;

	offset -= offset % page_size;
	m->is_incomplete = true;
	return mmap(m->data + offset, m->size - offset, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
	       MAP_FAILED;
}

static void on_missing_page(int signal_number, siginfo_t *info, void *context)
{
	const bool is_fault = info->si_code > 0;
	struct mapped *m = is_fault ? mapping_at(info->si_addr) : NULL;
	const int saved = errno;

	(void)context;
	if (!m || !replace_by_zeros(m, info->si_addr)) {
		/* As if there were no handler. A fault occurs again, a signal from outside does not. */
		sigaction(SIGBUS, &action_before, NULL);
		if (!is_fault)
			raise(signal_number);
	}
	errno = saved;
}

static void install_handler(void)
{
	const struct sigaction sa = {.sa_sigaction = on_missing_page, .sa_flags = SA_SIGINFO | SA_RESTART};

	if (page_size)
		return;
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &sa, &action_before);
}

static int mapped_refuse(const char *path, struct err *e, const char *cause)
{
	return err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "%s", cause);
}

static int map_file(int fd, const char *path, struct mapped *m, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return mapped_refuse(path, e, "it is not a regular file");
	if (!st.st_size)
		return mapped_refuse(path, e, "it is empty");
	m->size = (size_t)st.st_size;
	m->data = mmap(NULL, m->size, PROT_READ, MAP_SHARED, fd, 0);
	return m->data == MAP_FAILED ? err_sys(e, -errno, path, "map") : 0;
}

int mapped_open(const char *path, struct mapped **out, struct err *e)
{
	struct mapped *m = or_abort(calloc(1, sizeof(*m)));
	int fd = fs_open(path, 0), rc;

	*out = NULL;
	rc = fd < 0 ? err_sys(e, fd, path, "read") : map_file(fd, path, m, e);
	if (fd >= 0)
		close(fd);
	if (rc) {
		free(m);
		return rc;
	}
	install_handler();
	m->path = or_abort(strdup(path));
	m->next = first_mapped;
	if (m->next)
		m->next->before = m;
	first_mapped = *out = m;
	return 0;
}

const void *mapped_data(const struct mapped *m)
{
	return m->data;
}

size_t mapped_size(const struct mapped *m)
{
	return m->size;
}

int mapped_close(struct mapped *m, struct err *e)
{
	int rc = 0;

	if (!m)
		return 0;
	if (m->is_incomplete)
		rc =
		    err_set(e, -EIO, STATUS_FAILED, m->path, "read", "it was shortened, or its disk failed, meanwhile");
	*(m->before ? &m->before->next : &first_mapped) = m->next;
	if (m->next)
		m->next->before = m->before;
	munmap(m->data, m->size);
	free(m->path);
	free(m);
	return rc;
}
