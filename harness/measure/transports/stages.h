/*
 * The kernel's stamps of a message on its way through sockets (SO_TIMESTAMPING, software): when it was queued for the
 * device (t_sched), given to it (t_sent), and taken from it on the other side (t_driver). They are times of
 * CLOCK_REALTIME, which the endpoint converts like a device's clock (instrument/device_clock.h). When it was handed to
 * the socket (t_socket), the kernel does not stamp: a filter on the socket does, if the process may load one (CAP_BPF).
 *
 * Stamps of sending come later, through the socket's error queue, with a key: the number of the datagram, or over a
 * stream the offset of the message's last byte. A stamp of reception comes with the message. One thread at a time.
 */
#ifndef KBLAT_TRANSPORTS_STAGES_H
#define KBLAT_TRANSPORTS_STAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct device_clock_reading;
struct device_counter;
struct err;
struct stages_filter;

enum stage { STAGE_SCHED, STAGE_SENT, STAGES_SENDING };

struct stages {
	int64_t *column[STAGES_SENDING]; /* of the recorder; NULL: this side does not record it */
	uint64_t messages;		 /* entries of each */
	uint64_t key_bytes;		 /* by which a key grows with a message: 1, or its size over a stream */
	uint64_t last_key;		 /* with more bits than the kernel's */
	int64_t blank;			 /* an entry without a stamp */
	int64_t offset_ns;		 /* CLOCK_REALTIME - CLOCK_MONOTONIC when the repetition began */
	bool is_sender, has_begun, is_stamping;
	struct {
		int64_t *column, *t_driver;
		int rc; /* why there is no filter */
		struct stages_filter *filter;
		uint64_t *stamps; /* CLOCK_MONOTONIC; 0: none */
		uint64_t messages;
	} socket; /* the sink's */
};

/* Where the stamps of this name ("t_sched") go during the next repetition. */
void stages_set_column(struct stages *s, const char *name, int64_t *data, uint64_t count);

/* When connected: have the sink's socket stamp up to so many messages. Without the right to do that, `socket.rc` says so. */
void stages_watch_socket(struct stages *s, int fd, bool is_stream, size_t size, uint64_t messages);

void stages_close(struct stages *s);

/* Before a repetition (frames.h): the next message sent has the first key. 0, or a negative errno. */
int stages_prepare(struct stages *s, int fd, bool is_stream, uint32_t repetition);

/* Store the stamps that have come. Cheap if there are none. */
void stages_take(struct stages *s, int fd);

/* After a repetition: wait a while for those of the messages up to `last`. */
void stages_await(struct stages *s, int fd, uint32_t last);

/* Like recv(), with the stamp of reception, or 0. */
ssize_t stages_recv(int fd, void *to, size_t size, int flags, uint64_t *stamp);

/* See transport_ops.read_clock. */
int stages_read_clock(struct stages *s, const char *object, struct device_clock_reading *now,
		      struct device_counter *counter, struct err *e);

#endif
