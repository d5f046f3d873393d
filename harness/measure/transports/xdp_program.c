/*
 * The program on the interface: a frame of this point goes to the socket of its queue; all others go the way that they
 * would have gone without it. It is written as instructions, as clang is no dependency of kblat. See bpf(2), and
 * Documentation/networking/af_xdp.rst of Linux.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

#include "common/err.h"
#include "measure/transports/bpf_code.h"
#include "measure/transports/xdp_types.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Of a fragment; a message is in one frame. */
#define MORE_FRAGMENTS	0x2000
#define FRAGMENT_OFFSET 0x1fff

/* Offsets in a frame. */
enum { AT_TYPE = 12, AT_VERSION = 14, AT_FRAGMENT = 20, AT_PROTOCOL = 23, AT_ADDRESS = 30, AT_PORT = 36 };

static int xdp_load(struct xdp *t, const struct bpf_insn *made, size_t count, struct err *e)
{
	struct bpf_insn program[BPF_CODE_MAX];
	struct bpf_prog_load_opts options = {.sz = sizeof(options)};

	bpf_code_link(program, made, count);
	t->program.program_fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "kblat_xdp", "Apache-2.0", program, count, &options);
	if (t->program.program_fd >= 0)
		return 0;
	return xdp_refused(t, -errno, "load the program that selects frames", "CAP_BPF and CAP_NET_ADMIN", e);
}

static int make_program(struct xdp *t, struct err *e)
{
	const struct sockaddr_in *own = (const struct sockaddr_in *)&t->own.addr;
	uint64_t token;

	memcpy(&token, t->token.bytes, sizeof(token));
	const struct bpf_insn made[] = {
	    COPY(R6, R1),
	    LOAD(BPF_W, R2, R6, offsetof(struct xdp_md, data)),
	    LOAD(BPF_W, R3, R6, offsetof(struct xdp_md, data_end)),
	    COPY(R4, R2),
	    ADD(R4, XDP_NUMBER),
	    IF_ABOVE(R4, R3),
	    LOAD(BPF_H, R4, R2, AT_TYPE),
	    UNLESS(R4, htons(ETH_P_IP)),
	    LOAD(BPF_B, R4, R2, AT_VERSION),
	    UNLESS(R4, 0x45),
	    LOAD(BPF_H, R4, R2, AT_FRAGMENT),
	    IF_ANY(R4, htons(MORE_FRAGMENTS | FRAGMENT_OFFSET)),
	    LOAD(BPF_B, R4, R2, AT_PROTOCOL),
	    UNLESS(R4, IPPROTO_UDP),
	    LOAD(BPF_W, R4, R2, AT_ADDRESS),
	    UNLESS(R4, own->sin_addr.s_addr),
	    LOAD(BPF_H, R4, R2, AT_PORT),
	    UNLESS(R4, own->sin_port),
	    LOAD(BPF_DW, R4, R2, XDP_HEADERS),
	    WIDE(R5, 0, token),
	    UNLESS_SAME(R4, R5),
	    LOAD(BPF_W, R4, R6, offsetof(struct xdp_md, rx_queue_index)),
	    IF_EQUAL(R4, (uint32_t)t->settings.queue, 13),
	    /* a stray: counted */
	    COPY(R6, R4),
	    SET(R1, 0),
	    STORE(BPF_W, R10, -4, R1),
	    COPY(R2, R10),
	    ADD(R2, -4),
	    MAP(R1, t->program.strays_fd),
	    CALL(BPF_FUNC_map_lookup_elem),
	    IF_ZERO(R0),
	    STORE(BPF_DW, R0, offsetof(struct xdp_strays, queue), R6),
	    SET(R1, 1),
	    COUNT_UP(R0, offsetof(struct xdp_strays, frames), R1),
	    INSTRUCTION(BPF_JMP | BPF_JA, 0, 0, TO_PASS, 0),
	    /* one of this queue */
	    MAP(R1, t->program.sockets_fd),
	    COPY(R2, R4),
	    SET(R3, XDP_PASS),
	    CALL(BPF_FUNC_redirect_map),
	    RETURN,
	    /* all others */
	    SET(R0, XDP_PASS),
	    RETURN,
	};

	return xdp_load(t, made, COUNT(made), e);
}

static int make_maps(struct xdp *t, struct err *e)
{
	struct xdp_program *p = &t->program;

	p->sockets_fd = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "kblat_sockets", sizeof(uint32_t), sizeof(uint32_t),
				       (uint32_t)t->settings.queue + 1, NULL);
	if (p->sockets_fd >= 0)
		p->strays_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "kblat_strays", sizeof(uint32_t),
					      sizeof(struct xdp_strays), 1, NULL);
	if (p->sockets_fd >= 0 && p->strays_fd >= 0)
		return 0;
	return xdp_refused(t, -errno, "make the program's maps", "CAP_BPF and CAP_NET_ADMIN", e);
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
	const char *operation = "attach the program";
	int rc = 0;

	for (size_t i = 0; i < COUNT(modes); i++) {
		struct bpf_link_create_opts options = {.sz = sizeof(options), .flags = modes[i].flag};

		if (asked != XDP_MODE_AUTO && asked != modes[i].mode)
			continue;
		operation = modes[i].operation;
		t->program.link_fd = bpf_link_create(t->program.program_fd, (int)t->card.index, BPF_XDP, &options);
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
	*p = (struct xdp_program){.sockets_fd = -1, .strays_fd = -1, .program_fd = -1, .link_fd = -1};
}

int xdp_program_attach(struct xdp *t, struct err *e)
{
	int rc = make_maps(t, e);

	if (!rc)
		rc = make_program(t, e);
	return rc ? rc : attach(t, e);
}

void xdp_program_close(struct xdp_program *p)
{
	/* The link first: nothing is handed over any more. */
	const int all[] = {p->link_fd, p->program_fd, p->sockets_fd, p->strays_fd};

	for (size_t i = 0; i < COUNT(all); i++)
		if (all[i] >= 0)
			close(all[i]);
	xdp_program_init(p);
}

int xdp_program_direct(struct xdp *t, struct err *e)
{
	const uint32_t queue = (uint32_t)t->settings.queue;

	if (!bpf_map_update_elem(t->program.sockets_fd, &queue, &t->fd, BPF_ANY))
		return 0;
	return err_sys(e, -errno, t->object, "direct frames to the socket");
}

struct xdp_strays xdp_program_strays(const struct xdp_program *p)
{
	struct xdp_strays strays = {0};
	const uint32_t first = 0;

	if (p->strays_fd < 0 || bpf_map_lookup_elem(p->strays_fd, &first, &strays))
		return (struct xdp_strays){0};
	return strays;
}
