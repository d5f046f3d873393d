/*
 * A model of RDMA adapters in place of libibverbs and librdmacm, for tests: preloaded, it finds a script and its shared
 * memory in the directory $KBLAT_ADAPTER.
 *
 *   adapter.c         the script, shared memory, devices, their events, clocks and counters
 *   adapter_queues.c  memory regions, completion queues, queue pairs: who posts a request carries it out at once
 *   adapter_cm.c      the connection manager
 *
 * Each line of the file `script` is a key and its value. `device NAME` begins a device; the keys after it are those of
 * `keys` in adapter.c. Others:
 *
 *   fail CALL ERRNO [N]              the Nth call (or every one) of this process fails
 *   wc send|recv N STATUS VENDOR [SIZE]   the Nth completion of a queue pair of this direction is an error; only of one whose
 *                                    messages have this size
 *   event N TYPE [ELEMENT]           after the Nth post of the process, its device reports this event to everybody
 *   gid TEXT                         an entry of the device's table
 *   netdev NAME                      the interface below it: GIDs, MTU and the port's state follow from that
 *
 * Further events are written into the FIFOs async.* (struct model_event). All stamps that devices have made are in the
 * shared memory, in ticks of kblat's clock: the truth.
 */
#ifndef KBLAT_TESTS_MODEL_ADAPTER_H
#define KBLAT_TESTS_MODEL_ADAPTER_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MODEL_DEVICES 4
#define MODEL_GIDS    8
#define MODEL_CQS     512
#define MODEL_QPS     256
#define MODEL_MRS     4096
#define MODEL_TRUTHS  32768
#define MODEL_ARENA   (16 << 20)

struct model_device {
	struct ibv_device base;
	int64_t transport, link, state, ports, mtu, max_mtu, path_mtu, max_msg, lid, sm_lid, speed, width;
	int64_t max_qp_wr, max_cqe, max_sge, max_mr, max_srq, max_srq_wr, max_srq_sge, max_mcast_qp_attach, rd_atom,
	    init_rd_atom, atomics, inlined;
	/* Its clock has so many bits (0: none) and so many ticks per second, off by `ppm`, and `offset` at tick 0 of ours.
	 * `core_khz` is what it says of that. */
	int64_t stamp_bits, clock_hz, clock_ppm, clock_offset, core_khz, clock_errno;
	int64_t latency_ns, ack_ns; /* from a post to the arrival; from there to the completion */
	int64_t post_ns;	    /* what the call that posts takes afterwards, as of a device in software */
	int64_t silent_events;	    /* poll() does not tell of its events, as if the reader were late */
	union ibv_gid gid[MODEL_GIDS];
	int gids;
	char netdev[16];
};

/* What an adapter reports of its own accord. The element is a port, the number of a queue pair, or the index of a
 * completion queue or shared receive queue. */
struct model_event {
	int32_t type;
	uint32_t element;
};

struct model_completion {
	uint64_t wr_id, stamp;
	int64_t visible; /* tick from which on it can be polled */
	uint32_t status, opcode, vendor, bytes, imm, qp, source_qp, flags;
	uint32_t retires; /* requests of the send queue whose room is free again; 0: it is a receive completion */
};

struct model_cq {
	pid_t owner; /* 0: unused, as in all of these */
	uint32_t size;
	uint64_t ring;
	_Atomic uint32_t head, tail;
	_Atomic uint32_t rung, sleeping; /* a waiter sleeps on `rung` */
	bool armed;
	uint32_t armed_from;
};

struct model_receive {
	uint64_t wr_id, addr;
	uint32_t length, lkey;
};

/* Of a queue pair, or shared. */
struct model_rq {
	pid_t owner;
	uint32_t size, posted, taken, limit;
	uint64_t ring;
};

struct model_request {
	uint64_t wr_id, addr, remote, compare, swap;
	uint32_t length, lkey, rkey, imm, flags, opcode, dest, qkey;
	char inlined[];
};

struct model_qp {
	pid_t owner;
	uint32_t number, type, state, device, send_cq, recv_cq, port;
	int32_t srq; /* -1: it has a queue of its own */
	uint32_t dest, qkey, access, inlined, mtu, timeout, retry_cnt, rnr_retry, rnr_timer;
	struct model_rq rq;
	uint64_t sq;
	uint32_t sq_size, sq_stride, sq_posted, sq_done, sq_retired;
	uint64_t from, to;	 /* its rings in the arena */
	uint32_t sent, received; /* completions, for the script */
	int64_t
	    stalled_until; /* tick at which the first request fails with `stalled_status`; INT64_MAX: never; 0: not stalled */
	uint32_t stalled_status;
};

struct model_mr {
	pid_t owner;
	uint32_t key, access;
	uint64_t addr, length;
};

struct model_truth {
	int64_t tick;
	uint32_t number, is_send; /* the message's immediate data, or the request's number */
};

/* A connection manager's id that listens. */
struct model_listener {
	pid_t owner;
	uint16_t port;
	uint32_t channel; /* its FIFO */
	uint64_t id;
};

struct model_segment {
	struct model_truth truth[MODEL_TRUTHS]; /* first, for tests to read */
	_Atomic uint32_t truths, ready;
	_Atomic pid_t lock;
	_Atomic uint32_t stalled, fifos;
	_Atomic uint64_t packets, bytes;
	uint32_t generation, next_port;
	double ticks_per_ns;
	uint64_t used; /* of the arena */
	struct model_cq cq[MODEL_CQS];
	struct model_qp qp[MODEL_QPS];
	struct model_rq srq[MODEL_QPS];
	struct model_mr mr[MODEL_MRS];
	struct model_listener listener[MODEL_QPS];
	_Alignas(64) char arena[MODEL_ARENA];
};

/* A device that is open. */
struct model_context {
	struct model_device *device;
	char fifo[32]; /* its name */
	int events_fd;
	_Atomic unsigned events_posted;
	struct verbs_context verbs;
};

extern struct model_segment *model;
extern struct model_device model_devices[MODEL_DEVICES];
extern pid_t model_me;

/* Read the script and map the memory, once per process. Are there devices? */
bool model_start(void);

void model_lock(void);
void model_unlock(void);
bool model_is_alive(pid_t owner);

/* Memory for rings; it is free again when nobody has queues any more. 0: there is no more. */
uint64_t model_take(size_t bytes);
static inline void *model_at(uint64_t offset)
{
	return model->arena + offset;
}

/* Does the script let this call fail? Sets errno. */
bool model_fails(const char *call);

/* The scripted status of the nth completion; IBV_WC_SUCCESS if there is none. */
enum ibv_wc_status model_status(bool is_send, uint32_t n, uint32_t size, uint32_t *vendor);

struct model_context *model_context_of(struct ibv_context *context);
uint64_t model_stamp(const struct model_device *d, int64_t tick);
int64_t model_ticks(int64_t ns);

/* A FIFO of this directory, for reading. */
int model_fifo(char *name, size_t size, const char *kind);
void model_tell(const char *fifo, const void *message, size_t size);

/* An event for everybody; for the owner of a queue only (the element says whose). */
void model_report(int type, uint32_t element);

/* One more post of this process: scripted events. */
void model_count_post(void);

#endif
