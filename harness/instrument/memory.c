#include <errno.h>
#include <numa.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/err.h"
#include "instrument/memory.h"

int memory_node_of_cpu(int cpu)
{
	return numa_available() < 0 || cpu < 0 ? -1 : numa_node_of_cpu(cpu);
}

/* Every page is written, not read: a read would map the shared zero page, and the first stamp would fault. */
static void prefault(void *data, size_t size)
{
	volatile char *p = data;
	long page = sysconf(_SC_PAGESIZE);

	for (size_t at = 0; at < size; at += (size_t)page)
		p[at] = p[at];
}

static void settle(struct memory *m, int node)
{
	if (node < 0)
		node = memory_node_of_cpu(sched_getcpu());
	if (node >= 0)
		numa_tonode_memory(m->data, m->size, node);
	prefault(m->data, m->size);
	m->locked = mlock(m->data, m->size) == 0;
}

int memory_alloc(struct memory *m, size_t size, int node, struct err *e)
{
	memset(m, 0, sizeof(*m));
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (data == MAP_FAILED)
		return err_set(e, -errno, STATUS_FAILED, "memory", "allocate", "%zu bytes: %s", size, strerror(errno));
	m->data = data;
	m->size = size;
	settle(m, node);
	return 0;
}

int memory_map(struct memory *m, int fd, size_t size, int node, const char *name, struct err *e)
{
	memset(m, 0, sizeof(*m));
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (data == MAP_FAILED)
		return err_sys(e, -errno, name, "map");
	m->data = data;
	m->size = size;
	settle(m, node);
	return 0;
}

void memory_free(struct memory *m)
{
	if (m->data)
		munmap(m->data, m->size);
	memset(m, 0, sizeof(*m));
}
