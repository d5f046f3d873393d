/* In place of xdp_program.c, in a build without libbpf: nothing is attached. */
#include "common/feature.h"
#include "measure/transports/xdp_types.h"

void xdp_program_init(struct xdp_program *p)
{
	*p = (struct xdp_program){.link_fd = -1};
}

int xdp_program_attach(struct xdp *t, struct err *e)
{
	(void)t;
	return feature_missing("libbpf", "the transport xdp", e);
}

void xdp_program_close(struct xdp_program *p)
{
	(void)p;
}

int xdp_program_direct(struct xdp *t, struct err *e)
{
	(void)t;
	return feature_missing("libbpf", "the transport xdp", e);
}

struct xdp_strays xdp_program_strays(const struct xdp_program *p)
{
	(void)p;
	return (struct xdp_strays){0};
}
