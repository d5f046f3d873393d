/*
 * The program that the transport xdp attaches to an interface, run by the kernel with frames of our own
 * (BPF_PROG_TEST_RUN): which go to the socket, and which pass. On the loopback interface of a network namespace.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "measure/transports/xdp_types.h"
#include "tap.h"

#define PORT   4711
#define LENGTH (UDP_FRAME_NUMBER + 64)

enum { AT_TYPE = 12, AT_VERSION = 14, AT_FRAGMENT = 20, AT_PROTOCOL = 23, AT_ADDRESS = 30, AT_PORT = 36 };

static void put16(unsigned char *at, uint16_t value)
{
	value = htons(value);
	memcpy(at, &value, sizeof(value));
}

static void point(struct xdp *t, int64_t queue)
{
	struct sockaddr_in *own = (struct sockaddr_in *)&t->own.at.addr;

	memset(t, 0, sizeof(*t));
	own->sin_family = AF_INET;
	own->sin_port = htons(PORT);
	own->sin_addr.s_addr = htonl(0xc6120001);
	t->settings.queue = queue;
	t->settings.mode = XDP_MODE_GENERIC;
	t->card.index = 1;
	for (int i = 0; i < (int)sizeof(t->own.token.bytes); i++)
		t->own.token.bytes[i] = (unsigned char)(0x81 + i);
	xdp_program_init(&t->program);
}

static void message(const struct xdp *t, unsigned char frame[LENGTH])
{
	const struct sockaddr_in *own = (const struct sockaddr_in *)&t->own.at.addr;

	memset(frame, 0, LENGTH);
	put16(frame + AT_TYPE, ETH_P_IP);
	frame[AT_VERSION] = 0x45;
	put16(frame + AT_FRAGMENT, 0x4000); /* not to be fragmented */
	frame[AT_PROTOCOL] = IPPROTO_UDP;
	memcpy(frame + AT_ADDRESS, &own->sin_addr, sizeof(own->sin_addr));
	put16(frame + AT_PORT, PORT);
	memcpy(frame + UDP_FRAME_HEADERS, t->own.token.bytes, UDP_FRAME_TOKEN);
}

/* What becomes of a frame: XDP_REDIRECT, XDP_PASS; -1 if it cannot be tried. */
static int fate(const struct xdp *t, unsigned char *frame, uint32_t length)
{
	struct bpf_test_run_opts run = {.sz = sizeof(run), .data_in = frame, .data_size_in = length, .repeat = 1};

	const int program = bpf_program__fd(bpf_object__find_program_by_name(t->program.code, "kblat_xdp"));

	return bpf_prog_test_run_opts(program, &run) ? -1 : (int)run.retval;
}

static void test_others(const struct xdp *t)
{
	static const struct {
		const char *what;
		int at;
		unsigned char bytes[2];
	} changes[] = {{"another protocol than IPv4", AT_TYPE, {0x86, 0xdd}},
		       {"a VLAN's tag", AT_TYPE, {0x81, 0x00}},
		       {"options in the header", AT_VERSION, {0x46, 0}},
		       {"IPv6 as the version", AT_VERSION, {0x65, 0}},
		       {"the first of several fragments", AT_FRAGMENT, {0x20, 0x00}},
		       {"a later fragment", AT_FRAGMENT, {0x00, 0x10}},
		       {"tcp", AT_PROTOCOL - 1, {64, IPPROTO_TCP}},
		       {"another address", AT_ADDRESS + 2, {0, 2}},
		       {"another port", AT_PORT, {0x12, 0x68}},
		       {"a token whose begin is wrong", UDP_FRAME_HEADERS, {0x80, 0x82}},
		       {"a token whose end is wrong", UDP_FRAME_HEADERS + UDP_FRAME_TOKEN - 2, {0x87, 0x89}}};
	unsigned char frame[LENGTH];

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		message(t, frame);
		memcpy(frame + changes[i].at, changes[i].bytes, 2);
		is_int(fate(t, frame, LENGTH), XDP_PASS, "passes: %s", changes[i].what);
	}
	message(t, frame);
	for (uint32_t length = ETH_HLEN; length < UDP_FRAME_NUMBER; length += 7)
		is_int(fate(t, frame, length), XDP_PASS, "passes: a frame of %u bytes", length);
	is_int(fate(t, frame, UDP_FRAME_NUMBER - 1), XDP_PASS, "passes: all but the last byte of the token");
	is_int(fate(t, frame, UDP_FRAME_NUMBER), XDP_REDIRECT, "goes to the socket: nothing but the token");
}

static void test_mine(void)
{
	unsigned char frame[LENGTH];
	struct err e = ERR_INIT;
	struct xdp t;

	point(&t, 0);
	is_int(xdp_program_attach(&t, &e), 0, "the program is attached %s", e.text);
	message(&t, frame);
	is_int(fate(&t, frame, LENGTH), XDP_PASS, "passes: a message, as long as there is no socket");
	t.fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	is_int(xdp_program_direct(&t, &e), 0, "there is one %s", e.text);
	is_int(fate(&t, frame, LENGTH), XDP_REDIRECT, "goes to the socket: a message");
	test_others(&t);
	is_int((long long)xdp_program_strays(&t.program).frames, 0, "none of them is a stray");
	xdp_program_close(&t.program);
	close(t.fd);
}

static void test_stray(void)
{
	unsigned char frame[LENGTH];
	struct err e = ERR_INIT;
	struct xdp t;

	point(&t, 1);
	is_int(xdp_program_attach(&t, &e), 0, "for another queue %s", e.text);
	message(&t, frame);
	is_int(fate(&t, frame, LENGTH), XDP_PASS, "passes: a message that came to a queue that is not the point's");
	is_int(fate(&t, frame, LENGTH), XDP_PASS, "and one more");
	is_int((long long)xdp_program_strays(&t.program).frames, 2, "both are counted");
	is_int((long long)xdp_program_strays(&t.program).queue, 0, "with their queue");
	frame[UDP_FRAME_HEADERS] ^= 1;
	fate(&t, frame, LENGTH);
	is_int((long long)xdp_program_strays(&t.program).frames, 2, "but not a stranger's");
	xdp_program_close(&t.program);
}

int main(void)
{
	struct xdp probe;

	point(&probe, 0);
	if (unshare(CLONE_NEWNET) || xdp_program_attach(&probe, NULL)) {
		ok(true, "# SKIP a program cannot be attached here");
		return done_testing();
	}
	xdp_program_close(&probe.program);
	test_mine();
	test_stray();
	return done_testing();
}
