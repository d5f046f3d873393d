/*
 * The program on the interface (xdp_frames.bpf.c): a frame of this point goes to the socket of its queue; all others go
 * the way that they would have gone without it.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

#include "common/err.h"
#include "measure/transports/xdp_types.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const _Alignas(8) unsigned char frames_code[] = {
#include "measure/transports/xdp_frames.bpf.inc"
};

static int map_of(const struct xdp_program *p, const char *name)
{
	return bpf_object__find_map_fd_by_name(p->code, name);
}

static int load_program(struct xdp *t, struct err *e)
{
	const struct sockaddr_in *own = (const struct sockaddr_in *)&t->own.at.addr;
	struct xdp_wanted wanted = {
	    .address = own->sin_addr.s_addr, .port = own->sin_port, .queue = (uint32_t)t->settings.queue};
	int rc;

	memcpy(&wanted.token, t->own.token.bytes, sizeof(wanted.token));
	t->program.code = bpf_code_open(frames_code, sizeof(frames_code), &wanted, sizeof(wanted));
	rc = t->program.code
		 ? bpf_map__set_max_entries(bpf_object__find_map_by_name(t->program.code, "sockets"), wanted.queue + 1)
		 : -errno;
	if (!rc)
		rc = bpf_object__load(t->program.code);
	return rc ? xdp_refused(t, rc, "load the program that selects frames", "CAP_BPF and CAP_NET_ADMIN", e) : 0;
}

/* The modes to try, in order. */
static int attach(struct xdp *t, struct err *e)
{
	static const struct {
		enum xdp_mode mode;
		unsigned flag;
		const char *operation;
	} modes[] = {{XDP_MODE_NATIVE, XDP_FLAGS_DRV_MODE, "attach the program in native mode"},
		     {XDP_MODE_GENERIC, XDP_FLAGS_SKB_MODE, "attach the program in generic mode"}};
	const enum xdp_mode asked = (enum xdp_mode)t->settings.mode;
	const int program = bpf_program__fd(bpf_object__find_program_by_name(t->program.code, "kblat_xdp"));
	const char *operation = "attach the program";
	int rc = 0;

	for (size_t i = 0; i < COUNT(modes); i++) {
		struct bpf_link_create_opts options = {.sz = sizeof(options), .flags = modes[i].flag};

		if (asked != XDP_MODE_AUTO && asked != modes[i].mode)
			continue;
		operation = modes[i].operation;
		t->program.link_fd = bpf_link_create(program, (int)t->card.index, BPF_XDP, &options);
		t->program.mode = modes[i].mode;
		rc = t->program.link_fd < 0 ? -errno : 0;
		/* Only what the driver cannot do, at all or with this MTU, is another mode's to try. */
		if (rc != -EOPNOTSUPP && rc != -EINVAL && rc != -ERANGE)
			break;
	}
	if (rc == -ERANGE)
		return err_set(e, rc, STATUS_IMPOSSIBLE, t->object, operation,
			       "the driver %s cannot with an MTU of %d; set a smaller one, or mode generic",
			       t->card.driver, t->card.mtu);
	if (rc == -EBUSY || rc == -EEXIST)
		return err_set(e, rc, STATUS_FAILED, t->object, operation,
			       "the interface has another program; see `ip link show %s`", t->card.interface.name);
	return rc ? xdp_refused(t, rc, operation, "CAP_NET_ADMIN", e) : 0;
}

void xdp_program_init(struct xdp_program *p)
{
	*p = (struct xdp_program){.link_fd = -1};
}

int xdp_program_attach(struct xdp *t, struct err *e)
{
	const int rc = load_program(t, e);

	return rc ? rc : attach(t, e);
}

void xdp_program_close(struct xdp_program *p)
{
	/* First of all: nothing is handed over any more. */
	if (p->link_fd >= 0)
		close(p->link_fd);
	bpf_object__close(p->code);
	xdp_program_init(p);
}

int xdp_program_direct(struct xdp *t, struct err *e)
{
	const uint32_t queue = (uint32_t)t->settings.queue;

	if (!bpf_map_update_elem(map_of(&t->program, "sockets"), &queue, &t->fd, BPF_ANY))
		return 0;
	return err_sys(e, -errno, t->object, "direct frames to the socket");
}

struct xdp_strays xdp_program_strays(const struct xdp_program *p)
{
	struct xdp_strays strays = {0};
	const uint32_t first = 0;

	if (!p->code || bpf_map_lookup_elem(map_of(p, "strays"), &first, &strays))
		return (struct xdp_strays){0};
	return strays;
}
