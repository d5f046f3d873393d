#include "measure/instrument/pinned.h"

#include <errno.h>
#include <sched.h>

int pinned_start(pthread_t *thread, int cpu, void *(*function)(void *), void *arg)
{
	cpu_set_t *set = cpu < 0 ? NULL : CPU_ALLOC(cpu + 1);
	pthread_attr_t attr;
	size_t size;
	int rc;

	if (!set)
		return cpu < 0 ? -EINVAL : -ENOMEM;
	size = CPU_ALLOC_SIZE(cpu + 1);
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	pthread_attr_init(&attr);
	rc = pthread_attr_setaffinity_np(&attr, size, set);
	if (!rc)
		rc = pthread_create(thread, &attr, function, arg);
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	return -rc;
}
