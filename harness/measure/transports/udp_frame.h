/*
 * UDP datagrams in Ethernet frames that a process makes itself, past the kernel's sockets (xdp, dpdk): how a frame is laid
 * out, what the sides tell each other, and how they meet. Control path.
 *
 * A frame: Ethernet, IPv4 and UDP headers, the first 8 bytes of the receiver's token, the message's number (frames.h),
 * and the payload. `size` is that of UDP's payload, so that sizes are comparable with those of udp.
 */
#ifndef KBLAT_TRANSPORTS_UDP_FRAME_H
#define KBLAT_TRANSPORTS_UDP_FRAME_H

#include "measure/transports/frames.h"
#include "measure/transports/sockets.h"
#include "measure/transports/token.h"

#define UDP_FRAME_TOKEN	   8					 /* bytes of the token in each frame */
#define UDP_FRAME_HEADERS  42					 /* Ethernet, IPv4 without options, UDP */
#define UDP_FRAME_NUMBER   (UDP_FRAME_HEADERS + UDP_FRAME_TOKEN) /* where the message's number begins */
#define UDP_FRAME_OVERHEAD (UDP_FRAME_TOKEN + FRAMES_NUMBER)
#define UDP_FRAME_GREETING (UDP_FRAME_NUMBER + 1) /* only the token and a flag: no message is so short */
#define UDP_FRAME_LEAST	   60			  /* on a wire, shorter frames are padded */

/* One side, as it is told to the other. */
struct udp_frame_end {
	struct socket_address at; /* IPv4 */
	unsigned char mac[6];
	struct token token;
};

/* {"address", "port", "token", "mac"}: new reference. */
json_t *udp_frame_describe(const struct udp_frame_end *own);

/* Read what the other side has described. */
int udp_frame_read(struct udp_frame_end *peer, const json_t *description, struct err *e);

/* The headers of a frame of `length` bytes. Over IPv4, a UDP checksum of 0 means that there is none. */
void udp_frame_headers(unsigned char headers[UDP_FRAME_HEADERS], const struct udp_frame_end *from,
		       const struct udp_frame_end *to, uint32_t length);

/* Bytes of UDP's payload in the frame whose message begins at `number`. */
uint32_t udp_frame_payload(const char *number);

/* Is a frame of `length` bytes, padded or not, one with this payload? */
static inline bool udp_frame_is_whole(uint32_t length, uint32_t payload)
{
	return length == UDP_FRAME_HEADERS + payload ||
	       (length == UDP_FRAME_LEAST && length > UDP_FRAME_HEADERS + payload);
}

/* A message of `size` bytes is too short for its token and number: says so. See transport_ops.check. */
int udp_frame_check(const struct transport_config *config, char *why, size_t why_size);

/* How a transport takes part in a meeting. */
struct udp_frame_meeting {
	void *transport;
	/* Send a greeting that says whether the other side's has come. 0 or a negative errno. */
	int (*greet)(void *transport, bool has_heard);
	/* Take all frames that have come: was there a greeting, and did one say that ours has come? */
	bool (*hear)(void *transport, bool *is_heard);
	/* Is it known after half the time that no greeting will come? NULL: it never is. */
	bool (*is_misled)(void *transport);
};

/* Greet until both sides know that their greetings have come; what is lost is sent again. 0, -ENOMSG (none has come) or
 * what greet() has returned. */
int udp_frame_meet(const struct udp_frame_meeting *m);

#endif
