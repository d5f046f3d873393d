/*
 * The cost of registering memory with a device, or locking it, and of undoing that; or of setting up a connection. The source does
 * one after the other, and nothing is sent. Between two measurements there is work that is not
 * measured: returning pages to the system, and touching new ones.
 */
#ifndef KBLAT_KERNELS_REGISTER_H
#define KBLAT_KERNELS_REGISTER_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/instrument/memory.h"
#include "measure/kernels/kernel.h"

enum register_pin { REGISTER_WITH_KERNEL, REGISTER_WITH_DEVICE, REGISTER_CONNECTION };
enum register_memory { REGISTER_SAME, REGISTER_FRESH, REGISTER_UNTOUCHED };

struct register_settings {
	int64_t messages, size;
	int pin, memory, pages; /* enum register_pin, register_memory, memory_pages */
};

/* The source's side. */
struct register_side {
	const struct register_settings *settings;
	struct memory memory;
	const char *failed; /* the operation that failed: "register", "deregister", …; NULL: none */
	int rc;
};

enum { REGISTER_T_BEGIN, REGISTER_T_HELD, REGISTER_T_DROP, REGISTER_T_GONE };
enum { REGISTER_SOURCE, REGISTER_SINK };

/* The system calls mlock(2) and munlock(2), because sanitizers replace the C library's functions by
 * ones that do nothing. 0 or a negative errno. */
static inline int register_lock(void *data, size_t size)
{
	return syscall(SYS_mlock, data, size) ? -errno : 0;
}

static inline int register_unlock(void *data, size_t size)
{
	return syscall(SYS_munlock, data, size) ? -errno : 0;
}

/* Between two measurements: prepare the memory as the settings require. 0 or a negative errno. */
int register_renew(struct register_side *side);

/* Record the operation that failed, to be reported at the end of the repetition. Returns `rc`. */
int register_note(struct register_side *side, const char *what, int rc);

extern const struct kernel_ops register_kernel;

#endif
