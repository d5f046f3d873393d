/*
 * UDP datagrams in frames that a process exchanges with a network card directly (AF_XDP), past the kernel's sockets.
 * A program on the interface hands over the frames with the point's port and token, and no others, so everything else
 * on the interface goes on as before. Both sides must be on one Ethernet segment. Losses are counted, by reason where
 * the kernel gives one.
 *
 * Frames are those of udp_frame.h; the payload begins on a cache line on both sides. Needs CAP_NET_RAW, CAP_NET_ADMIN
 * and CAP_BPF.
 */
#ifndef KBLAT_TRANSPORTS_XDP_TYPES_H
#define KBLAT_TRANSPORTS_XDP_TYPES_H

#include <linux/if_xdp.h>
#include <net/if.h>

#include "common/opt.h"
#include "measure/transports/bpf_code.h"
#include "measure/transports/interface.h"
#include "measure/transports/udp_frame.h"

#define XDP_ROOM      10  /* before a frame, so that its payload begins on a cache line */
#define XDP_KERNEL    256 /* what the kernel keeps before a received frame: XDP_PACKET_HEADROOM */
#define XDP_CHUNK_MAX 4096
#define XDP_SIZE_MAX  (XDP_CHUNK_MAX - XDP_KERNEL - XDP_ROOM - UDP_FRAME_HEADERS)

enum xdp_mode { XDP_MODE_AUTO, XDP_MODE_NATIVE, XDP_MODE_GENERIC };
enum xdp_zerocopy { XDP_ZEROCOPY_AUTO, XDP_ZEROCOPY_YES, XDP_ZEROCOPY_NO };

struct xdp_settings {
	char source_address[OPT_STR_MAX], sink_address[OPT_STR_MAX];
	int64_t port, queue, ring, busy_poll, budget;
	int mode;     /* enum xdp_mode */
	int zerocopy; /* enum xdp_zerocopy */
	bool need_wakeup;
};

/* A ring shared with the kernel; indices run freely. */
struct xdp_ring {
	_Atomic uint32_t *producer, *consumer, *flags;
	void *entries; /* struct xdp_desc (rx, tx) or uint64_t (fill, completion) */
	uint32_t mask;
	void *map;
	size_t map_size;
};

/* The interface, as it is when a point begins. */
struct xdp_card {
	struct interface interface;
	unsigned index;
	int mtu;
	char driver[32];
};

/* The program on the interface. It goes with its descriptors, however the process ends. */
struct xdp_program {
	struct bpf_object *code;
	int link_fd;
	enum xdp_mode mode; /* as attached */
};

struct xdp {
	struct transport base;
	struct frames frames; /* out and in: the message that is sent or received now */
	int fd;
	char *umem;
	struct xdp_ring rx, tx, fill, completion;
	uint32_t head, done; /* messages posted, and completed */
	uint32_t taken;	     /* frames taken from rx and released */
	uint32_t filled;     /* frames given to fill */
	uint32_t completed;  /* entries taken from completion */
	uint32_t out_length; /* of a frame that is sent, and of one that is received */
	uint32_t in_length;
	uint32_t chunk;
	bool kicks_always; /* bound without need_wakeup */
	bool nudges;	   /* receiving needs calls to the kernel: preferred busy polling, or a card that says so */
	bool must_kick;	   /* the kernel has not yet accepted all that was posted */
	bool acknowledges;
	uint32_t *seqs; /* by head: the numbers of messages in flight */
	uint64_t *free; /* by head: the chunk of the next message; by done: of a completed one */
	/* --- control path --- */
	enum role role;
	struct xdp_settings settings;
	struct memory memory;
	struct xdp_card card;
	struct xdp_program program;
	struct udp_frame_end own, peer;
	int port_fd; /* a socket that keeps the port for this point */
	unsigned char headers[UDP_FRAME_HEADERS], empty_headers[UDP_FRAME_HEADERS];
	bool is_zerocopy;
	char object[192];
};

extern const struct transport_ops xdp_transport;

/* --- xdp_program.c --- */

/*
 * Load the program for this side's address and token and attach it to the interface. -EBUSY: another program is there.
 * On failure, nothing is left behind.
 */
int xdp_program_attach(struct xdp *t, struct err *e);
void xdp_program_init(struct xdp_program *p);
void xdp_program_close(struct xdp_program *p);

/* Hand over frames to the socket of the queue. */
int xdp_program_direct(struct xdp *t, struct err *e);
struct xdp_strays xdp_program_strays(const struct xdp_program *p);

/* --- xdp_socket.c --- */

/* Read index, MAC address, MTU and driver of the interface that has the address. */
int xdp_card_read(struct xdp *t, struct err *e);

/* Wait until it has a link, for at most 5 s: some cards reset theirs when a program is attached. */
int xdp_card_await_link(const struct xdp *t, struct err *e);

/* Make the socket, its memory and its rings, and bind it to the interface's queue. */
int xdp_socket_open(struct xdp *t, const struct transport_config *config, struct err *e);
void xdp_socket_close(struct xdp *t);
int xdp_socket_statistics(const struct xdp *t, struct xdp_statistics *out);

/* Why something was refused, with the capability that a user lacks. */
int xdp_refused(const struct xdp *t, int rc, const char *operation, const char *capability, struct err *e);

#endif
