/* In place of xdp_program.c, in a build without libbpf: nothing is attached. */
#include <errno.h>

#include "measure/transports/xdp_types.h"

void xdp_program_init(struct xdp_program *p)
{
	*p = (struct xdp_program){.link_fd = -1};
}

int xdp_program_attach(struct xdp *t, struct err *e)
{
	(void)t, (void)e;
	return -ENOSYS; /* never: nothing is opened (xdp_open) */
}

void xdp_program_close(struct xdp_program *p)
{
	(void)p;
}

int xdp_program_direct(struct xdp *t, struct err *e)
{
	(void)t, (void)e;
	return -ENOSYS;
}

struct xdp_strays xdp_program_strays(const struct xdp_program *p)
{
	(void)p;
	return (struct xdp_strays){0};
}
