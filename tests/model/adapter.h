/*
 * A model of RDMA adapters in place of libibverbs and librdmacm, for tests: preloaded, it finds a script and its shared
 * memory in the directory $KBLAT_ADAPTER.
 *
 *   adapter.c         the script, shared memory, devices, their events, clocks and counters
 *   adapter_times.c   what each message takes
 *   adapter_memory.c  memory regions, and how other processes reach them
 *   adapter_queues.c  completion queues, queue pairs: who posts a request carries it out; it is seen when its time has come
 *   adapter_posts.c   the extended interface for posting (ibv_wr_*)
 *   adapter_cm.c      the connection manager
 *
 * README.md has the script. All stamps that devices have made are in the shared memory, in ticks of kblat's clock: the
 * truth.
 */
#ifndef KBLAT_TESTS_MODEL_ADAPTER_H
#define KBLAT_TESTS_MODEL_ADAPTER_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE	      4096ULL
#define MODEL_DEVICES 4
#define MODEL_GIDS    8
#define MODEL_CQS     512
#define MODEL_QPS     256
#define MODEL_MRS     4096
#define MODEL_TRUTHS  32768
#define MODEL_ARENA   (16 << 20)
#define MODEL_EFFECTS 96
#define MODEL_SEEN    16 /* words of a map of pages */

enum model_quantity { MODEL_LATENCY, MODEL_ACK, MODEL_POST, MODEL_EVENT, MODEL_GAP, MODEL_LOSS };

/* Both ends included. */
struct model_range {
	unsigned long least, most;
};

/* A line of the script: so many ns more for messages that are such. Answers are 0, 1 or -1: any. */
struct model_effect {
	int quantity, op, type, imm, inlined, signalled, cold, shared, managed;
	double ns, per_byte, spread, tail;
	double every, lasting;	  /* of so many messages one; and so many in turn */
	double after_idle, first; /* 0: any */
	struct model_range size, mtu, depth, sge;
	struct model_range turn; /* of a cycle of so many messages, from 1 on; 0: any */
	unsigned long cycle;
	uint32_t left; /* of the series that has begun */
};

/* What effects depend on. */
struct model_message {
	int op, type;
	bool imm, inlined, signalled, cold, managed;
	bool shared;	     /* the receive queue that it goes to, as the next two */
	uint32_t depth, sge; /* 0: there is none */
	uint32_t size, mtu, nth;
	double idle_ns;
};

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
	int64_t awake_ns;	    /* so long a waiter for an event does not sleep */
	int64_t reach_ns;	    /* so long before it arrives the end of a write is stored, to be seen in time */
	int64_t polled_writes; /* a plain write arrives by the next call of its process, not before its post returns */
	int effects;
	struct model_effect effect[MODEL_EFFECTS];
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

/* What two processes write has cache lines of its own, so that a poll costs what it does with a device. */
struct model_cq {
	_Alignas(64) pid_t owner; /* 0: unused, as in all of these */
	uint32_t size;
	uint64_t ring;
	int32_t channel; /* -1: none */
	_Alignas(64) _Atomic uint32_t tail;
	_Alignas(64) _Atomic uint32_t head;
	uint32_t armed_from;
	bool armed;
	int64_t event_at; /* tick at which a waiter gets its event; 0: not known yet */
};

/* A completion channel: a waiter sleeps on `rung`. */
struct model_channel {
	_Alignas(64) pid_t owner;
	_Atomic uint32_t rung, sleeping;
};

struct model_receive {
	uint64_t wr_id, addr;
	uint32_t length, lkey;
};

/* Of a queue pair, or shared. */
struct model_rq {
	pid_t owner;
	uint32_t size, sge, limit;
	uint64_t ring;
	_Alignas(64) _Atomic uint32_t posted;
	uint32_t taken_seen; /* how many had been taken when the poster last looked */
	_Alignas(64) _Atomic uint32_t taken;
};

struct model_request {
	int64_t posted, leaves;	    /* ticks */
	int64_t latency, ack, post; /* in ticks */
	bool is_lost;
	uint64_t wr_id, addr, remote, compare, swap;
	uint32_t length, lkey, rkey, imm, flags, opcode, dest, qkey;
	char inlined[];
};

struct model_qp {
	_Alignas(64) pid_t owner;
	bool signals_all, managed; /* by the connection manager */
	int64_t last_arrival, posted_last;
	uint64_t seen[MODEL_SEEN]; /* pages from which was sent */
	uint32_t posted_ever;
	uint32_t number, type, state, device, send_cq, recv_cq, port;
	int32_t srq; /* -1: it has a queue of its own */
	uint32_t dest, qkey, access, inlined, mtu, timeout, retry_cnt, rnr_retry, rnr_timer;
	uint64_t sq;
	uint32_t sq_size, sq_stride, sq_posted, sq_done, sq_retired;
	uint64_t from, to; /* its rings in the arena */
	uint32_t sent;	   /* completions, for the script */
	int64_t
	    stalled_until; /* tick at which the first request fails with `stalled_status`; INT64_MAX: never; 0: not stalled */
	uint32_t stalled_status;
	struct model_rq rq;
	/* Of who sends to it. */
	_Alignas(64) uint32_t received;
	int64_t owner_seen; /* tick at which the owner was alive */
};

struct model_mr {
	pid_t owner;
	uint32_t key, access;
	int window; /* the owner's descriptor of the file that has its pages; -1: none has */
	uint64_t addr, length, offset;
};

struct model_place {
	pid_t owner;
	uint32_t key; /* of a region that contains it; 0: it is in none */
	uint64_t addr;
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
	uint32_t generation, next_port;
	double ticks_per_ns;
	int64_t clock_cost; /* between a caller's stamp and one made in here, in ticks */
	uint64_t used;	    /* of the arena */
	_Alignas(64) _Atomic pid_t lock;
	_Atomic uint32_t fifos;
	_Atomic uint64_t packets, bytes;
	uint64_t random;
	int64_t busy_until[MODEL_DEVICES]; /* tick from which on it can send */
	_Alignas(64) _Atomic uint32_t stalled;
	struct model_cq cq[MODEL_CQS];
	struct model_channel channel[MODEL_CQS];
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

/* Write to every page that all processes have in common, but those of the arena: messages are about to be measured. */
void model_touch_segment(void);

/* Does the script let this call fail? Sets errno. */
bool model_fails(const char *call);

/* An effect in the device's part of the script: `line` from "effect" on. False if it means nothing. */
bool model_read_effect(struct model_device *d, const char *line);

/* The lock is held: chance is shared. */
double model_time(struct model_device *d, enum model_quantity quantity, const struct model_message *m);

/* Once per message, in the order of posts. `to` is the queue that it goes to; NULL: there is none. */
struct model_message model_message_of(struct model_qp *qp, const struct model_request *r, const struct model_qp *dest,
				      const struct model_rq *to);

/* The scripted status of the nth completion; IBV_WC_SUCCESS if there is none. */
enum ibv_wc_status model_status(bool is_send, uint32_t n, uint32_t size, uint32_t *vendor);

struct model_context *model_context_of(struct ibv_context *context);
uint64_t model_stamp(const struct model_device *d, int64_t tick);
int64_t model_ticks(int64_t ns);

/* --- memory --- */

bool model_is_open_to(pid_t owner, uint32_t key, uint64_t addr, uint64_t length, unsigned access);
bool model_copy(struct model_place to, struct model_place from, size_t length);
void model_reach(pid_t owner);
void model_forget_window(void);
void model_touch_memory(void);
void model_touch_queues(void);

/* The first entry of a table that nobody alive holds; each begins with its owner. -1: there is none. */
int model_find_vacant(const void *table, size_t stride, int count);
#define VACANT(table, count) model_find_vacant(table, sizeof((table)[0]), count)

/* --- posting --- */

/* A queue pair as its process holds it. */
struct model_held_qp {
	union {
		struct ibv_qp plain;
		struct ibv_qp_ex extended;
	};
	struct model_wr *built; /* by the extended interface; NULL: it was created without */
	unsigned count, most, current;
	bool unfit;
};

int model_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);

/* False: there is no memory. */
bool model_extend(struct model_held_qp *qp, unsigned most, unsigned inlined);
void model_unextend(struct model_held_qp *qp);

/* For the connection manager: this queue pair is one that it connects; the memory of that one's process is mapped before the
 * first message; to the error state. */
void model_manage(uint32_t number);
void model_reach_peer(uint32_t number);
void model_break(struct ibv_qp *qp);

/* --- events --- */

/* A FIFO of this directory, for reading. */
int model_fifo(char *name, size_t size, const char *kind);
void model_tell(const char *fifo, const void *message, size_t size);

/* An event for everybody; for the owner of a queue only (the element says whose). */
void model_report(int type, uint32_t element);

/* One more post of this process: scripted events. */
void model_count_post(void);

#endif
