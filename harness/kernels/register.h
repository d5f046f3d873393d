/*
 * What it costs to register memory with a device, or to lock it, and to undo that: the source does one after the other,
 * and nothing is sent. What is not measured stands between two measurements: giving pages back, touching new ones.
 */
#ifndef KBLAT_KERNELS_REGISTER_H
#define KBLAT_KERNELS_REGISTER_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "instrument/memory.h"
#include "kernels/kernel.h"

enum register_pin { REGISTER_WITH_KERNEL, REGISTER_WITH_DEVICE };
enum register_memory { REGISTER_SAME, REGISTER_FRESH, REGISTER_UNTOUCHED };

struct register_settings {
	int64_t messages, size;
	int pin, memory, pages; /* enum register_pin, register_memory, memory_pages */
};

/* Of the source. */
struct register_side {
	const struct register_settings *settings;
	struct memory memory;
	const char *failed; /* what did not succeed: "register", "deregister", …; NULL: nothing */
	int rc;
};

enum { REGISTER_T_BEGIN, REGISTER_T_HELD, REGISTER_T_DROP, REGISTER_T_GONE };
enum { REGISTER_SOURCE, REGISTER_SINK };

/* mlock(2) and munlock(2) themselves: sanitizers have the C library's do nothing. 0 or a negative errno. */
static inline int register_lock(void *data, size_t size)
{
	return syscall(SYS_mlock, data, size) ? -errno : 0;
}

static inline int register_unlock(void *data, size_t size)
{
	return syscall(SYS_munlock, data, size) ? -errno : 0;
}

/* Between two measurements: have the memory as the settings want it. 0 or a negative errno. */
int register_renew(struct register_side *side);

/* Keep what failed, for who asks at the end of the repetition. Returns `rc`. */
int register_note(struct register_side *side, const char *what, int rc);

extern const struct kernel_ops register_kernel;

#endif
