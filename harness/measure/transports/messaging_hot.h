/*
 * The hot path over a message library, once for all libraries.
 *
 * MESSAGING_HOT(name, library, dontwait, item): `library` is the structure of the loaded functions, of
 * which send, recv and poll are needed; `dontwait` is the flag with which send and recv do not wait;
 * `item` declares what poll() takes to wait for a message on t->in, by that name.
 */
#ifndef KBLAT_TRANSPORTS_MESSAGING_HOT_H
#define KBLAT_TRANSPORTS_MESSAGING_HOT_H

#include <errno.h>

#include "measure/transports/messaging.h"

#define TRANSPORT_POST_IS_A_SYSCALL
#define TRANSPORT_POST_WAITS 1

#define MESSAGING_HOT(name, library, dontwait, ...)                                                                    \
	FRAMES_HOT(name)                                                                                               \
	/* Cold: the library could not send immediately. */                                                            \
	int name##_post_again(struct name *t);                                                                         \
	int name##_post_later(struct name *t); /* 0: not possible yet */                                               \
                                                                                                                       \
	/* Cold: the library received `n`, which is not the size of a message. */                                      \
	int name##_recv_other(struct name *t, int n);                                                                  \
                                                                                                                       \
	static inline int name##_post(struct name *t, uint32_t seq, bool signal)                                       \
	{                                                                                                              \
		struct frames *f = &t->frames;                                                                         \
                                                                                                                       \
		(void)signal;                                                                                          \
		frames_put_number(f, seq);                                                                             \
		if (frames_unlikely(library.send(t->out, f->out, f->size, dontwait) < 0)) {                            \
			int rc = name##_post_again(t);                                                                 \
                                                                                                                       \
			if (rc)                                                                                        \
				return rc;                                                                             \
		}                                                                                                      \
		frames_posted(f, seq);                                                                                 \
		return 0;                                                                                              \
	}                                                                                                              \
                                                                                                                       \
	static inline int name##_post_try(struct name *t, uint32_t seq, bool signal)                                   \
	{                                                                                                              \
		struct frames *f = &t->frames;                                                                         \
                                                                                                                       \
		(void)signal;                                                                                          \
		frames_put_number(f, seq);                                                                             \
		if (frames_unlikely(library.send(t->out, f->out, f->size, dontwait) < 0))                              \
			return name##_post_later(t);                                                                   \
		frames_posted(f, seq);                                                                                 \
		return 1;                                                                                              \
	}                                                                                                              \
                                                                                                                       \
	static inline int name##_poll_recv(struct name *t, uint32_t *seq)                                              \
	{                                                                                                              \
		int n = library.recv(t->in, t->frames.in, t->frames.size, dontwait);                                   \
                                                                                                                       \
		if (n < 0 && errno == EAGAIN)                                                                          \
			return 0;                                                                                      \
		if (frames_unlikely(n != (int)t->frames.size))                                                         \
			return name##_recv_other(t, n);                                                                \
		return frames_take_number(&t->frames, seq);                                                            \
	}                                                                                                              \
                                                                                                                       \
	static inline int name##_wait_recv(struct name *t)                                                             \
	{                                                                                                              \
		__VA_ARGS__;                                                                                           \
                                                                                                                       \
		if (library.poll(&item, 1, -1) >= 0)                                                                   \
			return 0;                                                                                      \
		return errno == EINTR ? -EINTR : frames_note(&t->frames, -errno, "wait for messages", NULL);           \
	}

#endif
