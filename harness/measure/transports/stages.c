#include "measure/transports/stages.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "measure/instrument/device_clock.h"
#include "measure/transports/bpf_code.h"
#include "measure/transports/frames.h"

#define CONTROL_BYTES 512
#define AT_ONCE	      16	 /* stamps read by one system call */
#define PATIENCE_MS   300	 /* since the last stamp came */
#define BLIND_MS      50	 /* to wait where it cannot be seen whether the kernel stamps */
#define ROOM_BYTES    (64 << 20) /* for stamps that wait to be read; each takes less than a KiB */
#define MOST_MOVED_NS 1000000	 /* the clock is slewed by at most 500 ppm: a repetition has two seconds */
#define OPT_ID_TCP    (1 << 16)	 /* SOF_TIMESTAMPING_OPT_ID_TCP: Linux 6.2 */
#define EVERY_BIT     UINT64_MAX
#define CLOCK_READS   8 /* of two clocks: the closest counts */

static const char *const stage_names[STAGES_SENDING] = {[STAGE_SCHED] = "t_sched", [STAGE_SENT] = "t_sent"};

void stages_set_column(struct stages *s, const char *name, int64_t *data, uint64_t count)
{
	for (size_t i = 0; i < STAGES_SENDING; i++)
		if (!strcmp(name, stage_names[i])) {
			s->column[i] = data;
			s->messages = count;
			s->blank = data[0];
			s->is_sender = true;
		}
	if (!strcmp(name, "t_driver"))
		s->socket.t_driver = data;
	if (strcmp(name, "t_socket") != 0)
		return;
	s->socket.column = data;
	s->messages = count;
	s->blank = data[0];
}

/* Keys count from when they are requested. Before Linux 6.2 over a stream: from the last byte that was acknowledged. */
static int request_stamps(int fd, int sending, bool is_stream)
{
	int flags = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE | sending;

	if (sending && is_stream) {
		const int best = flags | OPT_ID_TCP;

		if (!setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &best, sizeof(best)))
			return 0;
	}
	return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)) ? -errno : 0;
}

static int64_t ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t realtime_offset_ns(void)
{
	int64_t offset = 0, closest = INT64_MAX;

	for (int i = 0; i < CLOCK_READS; i++) {
		const int64_t before = ns_of(CLOCK_MONOTONIC), real = ns_of(CLOCK_REALTIME),
			      after = ns_of(CLOCK_MONOTONIC);

		if (after - before >= closest)
			continue;
		closest = after - before;
		offset = real - before - closest / 2;
	}
	return offset;
}

/* Does the kernel stamp what is received? By a datagram to a socket of its own; -ENETDOWN: loopback is down, -EAGAIN: not yet. */
static int probe_stamping(int fd, const struct sockaddr_in *own)
{
	uint64_t stamp;
	char byte = 0;

	if (sendto(fd, &byte, 1, MSG_DONTWAIT, (const struct sockaddr *)own, sizeof(*own)) != 1 ||
	    stages_recv(fd, &byte, 1, MSG_DONTWAIT, &stamp) != 1)
		return -ENETDOWN;
	return stamp ? 0 : -EAGAIN;
}

/* The kernel begins to stamp a while after the first socket has asked for it. */
static void await_stamping(void)
{
	const struct timespec soon = {0, 1000000};
	const int64_t deadline_ms = monotonic_ms() + PATIENCE_MS;
	struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(own);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool can_probe = fd >= 0 && !bind(fd, (struct sockaddr *)&own, size) &&
			 !getsockname(fd, (struct sockaddr *)&own, &size) && !request_stamps(fd, 0, false);

	while (can_probe && monotonic_ms() < deadline_ms) {
		const int rc = probe_stamping(fd, &own);

		if (!rc)
			break;
		can_probe = rc == -EAGAIN;
		nanosleep(&soon, NULL);
	}
	if (!can_probe)
		nanosleep(&(const struct timespec){0, BLIND_MS * 1000000}, NULL);
	if (fd >= 0)
		close(fd);
}

int stages_prepare(struct stages *s, int fd, bool is_stream, uint32_t repetition)
{
	const int sending = SOF_TIMESTAMPING_TX_SCHED | SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_OPT_ID |
			    SOF_TIMESTAMPING_OPT_TSONLY;
	const uint64_t messages = s->messages;
	const int room = ROOM_BYTES;
	int rc;

	if (s->is_sender) {
		/* Without the right to exceed the limit: what does not fit is missing in the series. */
		if (!s->has_begun)
			(void)!setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
		/* Stamps that the last repetition left are of none of the messages to come. */
		s->messages = 0;
		stages_take(s, fd);
		s->messages = messages;
		rc = request_stamps(fd, 0, is_stream);
		if (rc)
			return rc;
	}
	if (s->socket.filter) {
		*s->socket.filter = (struct stages_filter){.repetition = repetition};
		memset(s->socket.stamps, 0, s->socket.messages * sizeof(*s->socket.stamps));
	}
	s->last_key = 0;
	s->has_begun = false;
	rc = request_stamps(fd, s->is_sender ? sending : 0, is_stream);
	if (!rc && !s->is_stamping)
		await_stamping();
	s->is_stamping = true;
	return rc;
}

/* --- stamps of sending --- */

/* The message that a key belongs to; its upper bits follow from the last one. False: it is a part of one. */
static bool message_of(struct stages *s, uint32_t key, uint64_t *message)
{
	const uint64_t whole = s->last_key + (uint64_t)(int64_t)(int32_t)(key - (uint32_t)s->last_key);

	s->last_key = whole > s->last_key && whole >> 63 == 0 ? whole : s->last_key;
	*message = whole / s->key_bytes;
	return *message < s->messages && (whole + 1) % s->key_bytes == 0;
}

static void keep_stamp(struct stages *s, const struct sock_extended_err *about, const struct timespec *at)
{
	const enum stage stage = about->ee_info == SCM_TSTAMP_SCHED ? STAGE_SCHED : STAGE_SENT;
	uint64_t message;

	if (about->ee_origin != SO_EE_ORIGIN_TIMESTAMPING || about->ee_info == SCM_TSTAMP_ACK || !s->column[stage])
		return;
	/* The first one: TCP may send a message again. */
	if (message_of(s, about->ee_data, &message) && s->column[stage][message] == s->blank)
		s->column[stage][message] = at->tv_sec * 1000000000 + at->tv_nsec;
}

static bool tells_about(const struct cmsghdr *c)
{
	return (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) ||
	       (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR);
}

static bool is_stamp(const struct cmsghdr *c)
{
	return c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPING;
}

static void take_one(struct stages *s, struct msghdr *m)
{
	const struct sock_extended_err *about = NULL;
	const struct scm_timestamping *stamps = NULL;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (tells_about(c))
			about = (const void *)CMSG_DATA(c);
		else if (is_stamp(c))
			stamps = (const void *)CMSG_DATA(c);
	}
	if (about && stamps)
		keep_stamp(s, about, &stamps->ts[0]);
}

/* The number of stamps. */
static int take_some(struct stages *s, int fd)
{
	_Alignas(struct cmsghdr) char control[AT_ONCE][CONTROL_BYTES];
	struct mmsghdr m[AT_ONCE];
	int count;

	for (size_t i = 0; i < AT_ONCE; i++)
		m[i] = (struct mmsghdr){.msg_hdr = {.msg_control = control[i], .msg_controllen = CONTROL_BYTES}};
	count = recvmmsg(fd, m, AT_ONCE, MSG_ERRQUEUE | MSG_DONTWAIT, NULL);
	for (int i = 0; i < count; i++)
		take_one(s, &m[i].msg_hdr);
	return count;
}

void stages_take(struct stages *s, int fd)
{
	while (take_some(s, fd) == AT_ONCE)
		;
}

void stages_await(struct stages *s, int fd, uint32_t last)
{
	const struct timespec soon = {0, 200000};
	const uint64_t end = (last + 1) * s->key_bytes - 1;
	int64_t deadline_ms = monotonic_ms() + PATIENCE_MS;
	const int64_t *sent = s->column[STAGE_SENT];

	if (!s->is_sender || last >= s->messages)
		return;
	while (monotonic_ms() < deadline_ms) {
		if (take_some(s, fd) > 0)
			deadline_ms = monotonic_ms() + PATIENCE_MS;
		else if (s->last_key >= end && sent[last] != s->blank)
			return;
		else
			nanosleep(&soon, NULL);
	}
}

/* --- the stamp of reception --- */

ssize_t stages_recv(int fd, void *to, size_t size, int flags, uint64_t *stamp)
{
	_Alignas(struct cmsghdr) char control[CONTROL_BYTES];
	struct iovec into = {to, size};
	struct msghdr m = {
	    .msg_iov = &into, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	const ssize_t n = recvmsg(fd, &m, flags);

	*stamp = 0;
	for (struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL; c; c = CMSG_NXTHDR(&m, c))
		if (is_stamp(c)) {
			const struct scm_timestamping *stamps = (const void *)CMSG_DATA(c);

			*stamp = (uint64_t)stamps->ts[0].tv_sec * 1000000000 + (uint64_t)stamps->ts[0].tv_nsec;
		}
	return n;
}

/* --- the stamp of a socket --- */

void stages_close(struct stages *s)
{
	if (s->socket.filter)
		munmap(s->socket.filter, sizeof(*s->socket.filter));
	if (s->socket.stamps)
		munmap(s->socket.stamps, s->socket.messages * sizeof(*s->socket.stamps));
	s->socket.filter = NULL;
	s->socket.stamps = NULL;
}

/* Not before the driver's stamp: over a stream that may be of a later segment, and the filter's of bytes after a loss. */
static void keep_socket_stamps(struct stages *s)
{
	const uint64_t count = s->messages < s->socket.messages ? s->messages : s->socket.messages;

	for (uint64_t i = 0; s->socket.stamps && s->socket.column && i < count; i++) {
		const int64_t at = (int64_t)s->socket.stamps[i] + s->offset_ns, driver = s->socket.t_driver[i];

		if (s->socket.stamps[i] && driver != s->blank && at >= driver)
			s->socket.column[i] = at;
	}
}

/* --- the clock --- */

static int read_realtime(void *unused, uint64_t *now)
{
	struct timespec t;

	(void)unused;
	clock_gettime(CLOCK_REALTIME, &t);
	*now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	return 0;
}

/* Between the two readings of a repetition the clock must not have been set. */
int stages_read_clock(struct stages *s, const char *object, struct device_clock_reading *now,
		      struct device_counter *counter, struct err *e)
{
	const int64_t offset_ns = realtime_offset_ns();

	if (s->has_begun && llabs(offset_ns - s->offset_ns) > MOST_MOVED_NS)
		return err_set(e, -ERANGE, STATUS_FAILED, object, "convert stamps of the kernel",
			       "the system's clock was set meanwhile");
	if (s->has_begun)
		keep_socket_stamps(s);
	s->has_begun = true;
	s->offset_ns = offset_ns;
	*counter = (struct device_counter){.mask = EVERY_BIT, .hz = 1000000000};
	return device_clock_read(read_realtime, NULL, now);
}
