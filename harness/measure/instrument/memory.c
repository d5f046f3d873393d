#include <errno.h>
#include <numa.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/err.h"
#include "measure/instrument/memory.h"

int memory_node_of_cpu(int cpu)
{
	return numa_available() < 0 || cpu < 0 ? -1 : numa_node_of_cpu(cpu);
}

/* Every page is written rather than read: reading would map the shared zero page, and the first
 * stamp would cause a fault. */
static void prefault(void *data, size_t size)
{
	volatile char *p = data;
	char c;
	long page = sysconf(_SC_PAGESIZE);

	for (size_t at = 0; at < size; at += (size_t)page) {
		c = p[at];
		p[at] = c;
	}
}

static void bind_to(struct memory *m, int node)
{
	if (node < 0)
		node = memory_node_of_cpu(sched_getcpu());
	if (node >= 0)
		numa_tonode_memory(m->data, m->size, node);
}

static void settle(struct memory *m, int node)
{
	bind_to(m, node);
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

/* The value of a line of /proc/meminfo in bytes; 0: there is no such line. */
static size_t meminfo_bytes(const char *format)
{
	FILE *f = fopen("/proc/meminfo", "re");
	char line[128];
	size_t kib = 0;

	while (f && !kib && fgets(line, sizeof(line), f))
		if (sscanf(line, format, &kib) != 1)
			kib = 0;
	if (f)
		fclose(f);
	return kib * 1024;
}

/* The default size, which MAP_HUGETLB uses; 0: this kernel does not have huge pages. */
static size_t huge_page_size(void)
{
	return meminfo_bytes("Hugepagesize: %zu kB");
}

static int no_huge_pages(size_t count, size_t page, int rc, struct err *e)
{
	return err_set(e, rc, STATUS_IMPOSSIBLE, "huge pages", "allocate",
		       "%zu of %zu KiB are not free; `sysctl vm.nr_hugepages=N` reserves some", count, page / 1024);
}

/* If a NUMA node or cpuset cannot provide a huge page, touching it would raise SIGBUS, whereas
 * madvise() returns an error. */
static int populate(struct memory *m)
{
	if (!madvise(m->data, m->size, MADV_POPULATE_WRITE))
		return 0;
	if (errno != EINVAL)
		return -errno;
	prefault(m->data, m->size); /* before Linux 5.14 */
	return 0;
}

int memory_alloc_huge(struct memory *m, size_t size, int node, struct err *e)
{
	size_t page = huge_page_size();
	int rc;

	memset(m, 0, sizeof(*m));
	if (!page)
		return err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, "huge pages", "allocate", "this kernel has none");
	size = (size + page - 1) / page * page;
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (data == MAP_FAILED)
		return no_huge_pages(size / page, page, -errno, e);
	*m = (struct memory){.data = data, .size = size, .huge = true};
	bind_to(m, node);
	rc = populate(m);
	if (rc) {
		memory_free(m);
		return no_huge_pages(size / page, page, rc, e);
	}
	m->locked = mlock(m->data, m->size) == 0;
	return 0;
}

const char *const memory_pages_names[] = {
    [MEMORY_PAGES_SMALL] = "small", [MEMORY_PAGES_TRANSPARENT] = "transparent", [MEMORY_PAGES_HUGE] = "huge", NULL};

/* Map at an address where a huge page can begin; what is mapped before and after it is unmapped. */
static void *map_aligned(size_t size, size_t align)
{
	char *data = mmap(NULL, size + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (data == MAP_FAILED)
		return data;
	const size_t before = -(uintptr_t)data & (align - 1);

	if (before)
		munmap(data, before);
	munmap(data + before + size, align - before);
	return data + before;
}

int memory_reserve(struct memory *m, size_t size, enum memory_pages pages, int node, struct err *e)
{
	const size_t huge = huge_page_size(), small = (size_t)sysconf(_SC_PAGESIZE);
	const size_t align = pages == MEMORY_PAGES_TRANSPARENT && huge ? huge : small;

	if (pages == MEMORY_PAGES_HUGE)
		return memory_alloc_huge(m, size, node, e);
	const size_t available = meminfo_bytes("MemAvailable: %zu kB");

	memset(m, 0, sizeof(*m));
	if (available && size > available)
		return err_set(e, -ENOMEM, STATUS_IMPOSSIBLE, "memory", "allocate", "%zu bytes: %zu are available",
			       size, available);
	size = (size + align - 1) / align * align;
	void *data = map_aligned(size, align);

	if (data == MAP_FAILED)
		return err_set(e, -errno, STATUS_IMPOSSIBLE, "memory", "allocate", "%zu bytes: %s", size,
			       strerror(errno));
	*m = (struct memory){.data = data, .size = size};
	bind_to(m, node);
	madvise(data, size, pages == MEMORY_PAGES_TRANSPARENT ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return 0;
}

int memory_map(struct memory *m, int fd, size_t size, bool touch, int node, const char *name, struct err *e)
{
	memset(m, 0, sizeof(*m));
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (data == MAP_FAILED)
		return err_sys(e, -errno, name, "map");
	m->data = data;
	m->size = size;
	if (touch)
		settle(m, node);
	return 0;
}

void memory_free(struct memory *m)
{
	if (m->data)
		munmap(m->data, m->size);
	memset(m, 0, sizeof(*m));
}

void memory_prefer(int node)
{
	if (node < 0)
		node = memory_node_of_cpu(sched_getcpu());
	if (node >= 0)
		numa_set_preferred(node);
}

void memory_touch_all(void)
{
	mlockall(MCL_CURRENT);
}
