/*
 * Memory regions. As an adapter reaches memory without the process that owns it, so does who posts a request: private
 * pages that are registered become pages of a file without a name, which other processes map. Where that cannot be
 * (huge pages, files, the stack), the kernel copies between the processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/model/adapter.h"

#define WINDOW_NAME "model-of-an-adapter"
#define WINDOW_MOST (1ULL << 31)

static int window_fd = -1;
static uint64_t window_used;

/* What this process has mapped of others' regions. */
static struct {
	pid_t owner;
	uint32_t key;
	char *at;
	size_t length;
} seen[MODEL_MRS];

/* So that no first use of it falls into a measurement. */
void model_touch_memory(void)
{
	memset(seen, 0, sizeof(seen));
}

/* After a fork: what is registered from now on is of the child. */
void model_forget_window(void)
{
	window_fd = -1;
	window_used = 0;
}

/* --- becoming pages of the file --- */

struct piece {
	uint64_t from, to, offset;
	bool is_private, is_ours;
};

/* The mapping of this process that contains the address. */
static bool find_piece(uint64_t addr, struct piece *p)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long long from, to, offset;
	char line[512], rights[8], name[256];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		name[0] = 0;
		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %255[^\n]", &from, &to, rights, &offset, name) < 4 ||
		    addr < from || addr >= to)
			continue;
		*p = (struct piece){from, to, offset + (addr - from),
				    !strcmp(rights, "rw-p") &&
					(!name[0] || !strcmp(name, "[heap]") || !strncmp(name, "[anon:", 6)),
				    strstr(name, WINDOW_NAME) != NULL && window_fd >= 0};
		found = true;
	}
	if (maps)
		fclose(maps);
	return found;
}

static bool share_private(uint64_t from, uint64_t to, uint64_t *offset)
{
	const uint64_t length = to - from;
	void *const at = (void *)(uintptr_t)from;

	if (window_fd < 0)
		window_fd = memfd_create(WINDOW_NAME, MFD_CLOEXEC);
	if (window_fd < 0 || window_used + length > WINDOW_MOST ||
	    ftruncate(window_fd, (off_t)(window_used + length)) ||
	    pwrite(window_fd, at, length, (off_t)window_used) != (ssize_t)length ||
	    mmap(at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, window_fd,
		 (off_t)window_used) == MAP_FAILED)
		return false;
	*offset = window_used;
	window_used += length;
	return true;
}

/* Are the pages of these bytes one piece of the file? Its offset is that of `addr`. */
static bool share(uint64_t addr, uint64_t length, uint64_t *offset)
{
	const uint64_t from = addr & ~(PAGE - 1), to = (addr + length + PAGE - 1) & ~(PAGE - 1);
	struct piece p;

	if (!length || !find_piece(from, &p) || p.to < to)
		return false;
	*offset = p.offset;
	if (!p.is_ours && (!p.is_private || !share_private(from, to, offset)))
		return false;
	*offset += addr - from;
	return true;
}

/* --- regions --- */

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	struct ibv_mr *mr = model_fails("reg_mr") ? NULL : calloc(1, sizeof(*mr));
	struct rlimit lockable;
	struct model_mr made;
	int i;

	(void)iova;
	if (geteuid() && !getrlimit(RLIMIT_MEMLOCK, &lockable) && length > lockable.rlim_cur) {
		free(mr);
		mr = NULL;
		errno = ENOMEM;
	}
	if (!mr)
		return NULL;
	made = (struct model_mr){
	    .owner = model_me, .access = access, .addr = (uintptr_t)addr, .length = length, .window = -1};
	if (share(made.addr, length, &made.offset))
		made.window = window_fd;
	model_lock();
	i = VACANT(model->mr, MODEL_MRS);
	if (i >= 0) {
		made.key = (uint32_t)i << 16 | (++model->generation & 0xffff);
		model->mr[i] = made;
	}
	model_unlock();
	if (i < 0) {
		free(mr);
		errno = ENOMEM;
		return NULL;
	}
	*mr = (struct ibv_mr){.context = pd->context,
			      .pd = pd,
			      .addr = addr,
			      .length = length,
			      .handle = (uint32_t)i,
			      .lkey = made.key,
			      .rkey = made.key};
	return mr;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	if (model_fails("dereg_mr"))
		return errno;
	model->mr[mr->handle].owner = 0;
	free(mr);
	return 0;
}

/* Does this key of the process open these bytes? */
bool model_is_open_to(pid_t owner, uint32_t key, uint64_t addr, uint64_t length, unsigned access)
{
	const uint32_t i = key >> 16;
	const struct model_mr *mr = &model->mr[i < MODEL_MRS ? i : 0];

	return i < MODEL_MRS && mr->owner == owner && mr->key == key && addr >= mr->addr &&
	       addr + length <= mr->addr + mr->length && (mr->access & access) == access;
}

/* --- reaching them --- */

static char *map_region(const struct model_mr *mr, size_t *mapped)
{
	const uint64_t before = mr->offset % PAGE;
	char path[64], *at;
	int fd;

	*mapped = before + mr->length;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", mr->owner, mr->window);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	at = mmap(NULL, *mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, (off_t)(mr->offset - before));
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

/* Where this process has the address of the owner's region; NULL: nowhere. */
static char *here(pid_t owner, uint32_t key, uint64_t addr)
{
	const uint32_t i = key >> 16;
	const struct model_mr *mr = &model->mr[i < MODEL_MRS ? i : 0];

	if (owner == model_me)
		return (char *)(uintptr_t)addr;
	if (!key || mr->owner != owner || mr->key != key || mr->window < 0)
		return NULL;
	if (seen[i].key != key || seen[i].owner != owner) {
		if (seen[i].at)
			munmap(seen[i].at, seen[i].length);
		seen[i].key = key;
		seen[i].owner = owner;
		seen[i].at = map_region(mr, &seen[i].length);
	}
	return seen[i].at ? seen[i].at + mr->offset % PAGE + (addr - mr->addr) : NULL;
}

/* Before the first message: all regions of the process on the other side. */
void model_reach(pid_t owner)
{
	for (int i = 0; i < MODEL_MRS; i++)
		if (model->mr[i].owner == owner)
			here(owner, model->mr[i].key, model->mr[i].addr);
}

/* At most one of both is another process. */
static bool copy_by_kernel(pid_t to, uint64_t target, pid_t from, uint64_t source, size_t length)
{
	struct iovec mine = {(void *)(uintptr_t)(from == model_me ? source : target), length};
	struct iovec theirs = {(void *)(uintptr_t)(from == model_me ? target : source), length};

	return (from == model_me ? process_vm_writev : process_vm_readv)(from == model_me ? to : from, &mine, 1,
									 &theirs, 1, 0) == (ssize_t)length;
}

bool model_copy(struct model_place to, struct model_place from, size_t length)
{
	static __thread char between[65536];
	char *target = here(to.owner, to.key, to.addr), *source = here(from.owner, from.key, from.addr);

	if (target && source) {
		memmove(target, source, length);
		return true;
	}
	if (target || source)
		return copy_by_kernel(target ? model_me : to.owner, target ? (uintptr_t)target : to.addr,
				      source ? model_me : from.owner, source ? (uintptr_t)source : from.addr, length);
	for (size_t n; length; length -= n, to.addr += n, from.addr += n) {
		n = length > sizeof(between) ? sizeof(between) : length;
		if (!copy_by_kernel(model_me, (uintptr_t)between, from.owner, from.addr, n) ||
		    !copy_by_kernel(to.owner, to.addr, model_me, (uintptr_t)between, n))
			return false;
	}
	return true;
}
