#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "measure/transports/shmem_hot.h"

#define SHMEM_HEADER 4096

int shmem_sleep(_Atomic uint32_t *flag)
{
	long rc = syscall(SYS_futex, flag, FUTEX_WAIT, 1, NULL, NULL, 0);

	return rc < 0 && errno == EINTR ? -EINTR : 0;
}

void shmem_wake(_Atomic uint32_t *flag)
{
	atomic_store(flag, 0);
	syscall(SYS_futex, flag, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static const struct opt shmem_options[] = {{.name = NULL}};

static size_t ring_size(const struct shmem *t)
{
	return SHMEM_HEADER + (size_t)t->depth * t->stride;
}

static size_t map_size(const struct shmem *t)
{
	return (t->duplex ? 2 : 1) * ring_size(t);
}

static struct shmem_ring ring_at(const struct shmem *t, size_t offset)
{
	char *start = (char *)t->map.data + offset;

	return (struct shmem_ring){(struct shmem_header *)start, start + SHMEM_HEADER};
}

/* The ring written by the source comes first, then the one written by the sink. */
static void use_map(struct shmem *t)
{
	struct shmem_ring there = ring_at(t, 0), back = {NULL, NULL};

	if (t->duplex)
		back = ring_at(t, ring_size(t));
	t->tx = t->role == ROLE_SOURCE ? there : back;
	t->rx = t->role == ROLE_SOURCE ? back : there;
}

static int shmem_check_space(const struct shmem *t, struct err *e)
{
	unsigned long long free_bytes;
	int rc = fs_free_bytes("/dev/shm", &free_bytes, e);

	if (rc || free_bytes >= map_size(t))
		return rc;
	return err_set(e, -ENOSPC, STATUS_IMPOSSIBLE, "/dev/shm", "hold the ring",
		       "depth %u of %u-byte slots needs %zu bytes, %llu are free", t->depth, t->stride, map_size(t),
		       free_bytes);
}

/* The sink creates the object, which only this user may access. */
static int create_object(struct shmem *t, const struct transport_config *config, struct err *e)
{
	int rc = shmem_check_space(t, e);

	if (rc)
		return rc;
	snprintf(t->name, sizeof(t->name), "/kblat-%u-%.16s-%d", (unsigned)getuid(), config->name, (int)getpid());
	int fd = shm_open(t->name, O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd < 0) {
		rc = err_sys(e, -errno, t->name, "create shared memory");
		t->name[0] = '\0';
		return rc;
	}
	/* Reserve memory now: running out of it later would raise SIGBUS in the timed loop. */
	int failed = posix_fallocate(fd, 0, (off_t)map_size(t));

	rc = failed ? err_sys(e, -failed, t->name, "reserve shared memory")
		    : memory_map(&t->map, fd, map_size(t), true, config->numa_node, t->name, e);
	close(fd);
	return rc;
}

/* memcpy() of whole pages takes twice as long on some CPUs if the two begin differently far from a cache line. */
static int make_writer(struct shmem *t, const struct transport_config *config, struct err *e)
{
	t->seqs = large_alloc(t->depth, sizeof(*t->seqs));
	if (!t->seqs)
		return err_sys(e, -ENOMEM, "shmem", "allocate");
	int rc = memory_alloc(&t->buffer, offsetof(struct shmem_slot, payload) + t->size, config->numa_node, e);

	if (!rc)
		t->out = (char *)t->buffer.data + offsetof(struct shmem_slot, payload);
	return rc;
}

static void shmem_close(struct transport *transport)
{
	struct shmem *t = (struct shmem *)transport;

	if (t->name[0] && t->role == ROLE_SINK)
		shm_unlink(t->name); /* already removed if the source has connected */
	memory_free(&t->map);
	memory_free(&t->buffer);
	free(t->seqs);
	free(t);
}

static int shmem_open(const struct transport_config *config, const void *settings, struct transport **out,
		      json_t **address, struct err *e)
{
	struct shmem *t = or_abort(aligned_alloc(SHMEM_LINE, sizeof(*t)));

	(void)settings;
	memset(t, 0, sizeof(*t));
	t->base.ops = &shmem_transport;
	t->role = config->role;
	t->duplex = config->duplex;
	t->size = (uint32_t)transport_sent_bytes(config);
	t->depth = transport_ring_slots(config->depth);
	t->stride = (uint32_t)((sizeof(struct shmem_slot) + (size_t)transport_largest_bytes(config) + SHMEM_LINE - 1) /
			       SHMEM_LINE * SHMEM_LINE);

	int rc = t->role == ROLE_SINK ? create_object(t, config, e) : 0;

	if (!rc && (t->role == ROLE_SOURCE || t->duplex))
		rc = make_writer(t, config, e);
	if (rc) {
		shmem_close(&t->base);
		return rc;
	}
	if (t->role == ROLE_SINK)
		use_map(t);
	*address = t->name[0] ? json_pack("{s:s}", "object", t->name) : json_object();
	*out = &t->base;
	return 0;
}

static int check_object(int fd, const char *name, size_t size, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_sys(e, -errno, name, "examine");
	if (st.st_uid != getuid() || (st.st_mode & 077) || (size_t)st.st_size != size)
		return err_set(e, -EPERM, STATUS_FAILED, name, "use shared memory",
			       "owner, mode or size differ from what the sink creates");
	return 0;
}

/* The source opens the object and removes its name, so nothing can be left behind after that,
 * however the two sides end. */
static int shmem_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	struct shmem *t = (struct shmem *)transport;
	const char *name = json_string_value(json_object_get(peer, "object"));

	if (t->role == ROLE_SINK)
		return 0;
	if (!name || strncmp(name, "/kblat-", 7) || strchr(name + 1, '/'))
		return err_set(e, -EPROTO, STATUS_FAILED, "sink's address", NULL, "has no valid \"object\"");
	int fd = shm_open(name, O_RDWR, 0);

	if (fd < 0)
		return err_sys(e, -errno, name, "open shared memory");
	int rc = check_object(fd, name, map_size(t), e);

	if (!rc)
		rc = memory_map(&t->map, fd, map_size(t), true, -1, name, e);
	close(fd);
	if (rc)
		return rc;
	shm_unlink(name);
	use_map(t);
	return 0;
}

/* The sink removes from the ring what a stopped repetition has left; the source then counts it as completed. */
static int shmem_prepare(struct transport *transport, struct err *e)
{
	struct shmem *t = (struct shmem *)transport;
	uint32_t seq;

	(void)e;
	while (t->rx.header && shmem_poll_recv(t, &seq))
		shmem_release(t);
	if (t->tx.header)
		t->done = atomic_load(&t->tx.header->consumed);
	return 0;
}

static json_t *shmem_granted(const struct transport *transport)
{
	const struct shmem *t = (const struct shmem *)transport;

	return json_pack("{s:I, s:I, s:b}", "depth", (json_int_t)t->depth, "slot_bytes", (json_int_t)t->stride,
			 "locked", t->map.locked);
}

static int shmem_failure(const struct transport *transport, struct err *e)
{
	(void)transport;
	return err_set(e, -EIO, STATUS_FAILED, "shmem", NULL, "unknown failure");
}

const struct transport_ops shmem_transport = {
    .name = "shmem",
    .summary = "POSIX shared memory on one host: hand-over of cache lines, the reference for all other transports",
    .options = shmem_options,
    .answers_differ = true,
    .poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT | 1 << POLL_ADAPTIVE,
    .typical = {.post_ns = 150, .latency_ns = 300, .sleeping_ns = 10000},
    .open = shmem_open,
    .connect = shmem_connect,
    .prepare = shmem_prepare,
    .granted = shmem_granted,
    .failure = shmem_failure,
    .close = shmem_close,
};
