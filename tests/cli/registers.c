/*
 * Preloaded (LD_PRELOAD): lets a process be interrupted by MEMBARRIER_CMD_GLOBAL_EXPEDITED of others, which only those
 * are that asked for it; disturb.py ipis does that.
 */
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((constructor)) static void registers(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
}
