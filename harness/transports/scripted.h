/*
 * A transport without a network: delays, losses and reorderings are settings, and time is virtual,
 * so the correct results of a run are known to the nanosecond. It serves to test the recorder,
 * statistics, flags and the handling of failing endpoints from end to end.
 *
 * Message i is submitted at i * interval (+ pauses), completes comp_delay later, and arrives after
 * `delay` + jitter(i), where jitter alternates between +jitter and -jitter. Messages in `delayed`
 * take `delayed_by` longer, those in `lose` never arrive, those in `duplicate` arrive twice.
 * `pattern` and `noise` add to the latency of every message; `noise` differs between repetitions.
 * The sink sees arrivals in chronological order. Both sides derive everything from the settings and
 * do not communicate.
 *
 * With the kernel `rate`, the pacer determines when a message is submitted: step i is due at (i +
 * 1) / rate; at the steps in `stall` the pacer wakes up `stall_by` late. scripted_pace() computes
 * from the settings alone what must happen to every step.
 *
 * With t_send: the device reads the payload of a message read_delay after its submission; a message
 * in `overwrite` is read when the next one has already replaced it.
 *
 * With device stamps: the device stamps a completion `poll_delay` before it is polled, with a clock
 * of its own that counts 4 ticks a nanosecond in 48 bits, and wraps around soon after the start.
 *
 * `fault` makes one side really fail at message `fault_at`: a page fault, a recorder overflow, a
 * bad completion, death, silence, or invalid output.
 */
#ifndef KBLAT_TRANSPORTS_SCRIPTED_H
#define KBLAT_TRANSPORTS_SCRIPTED_H

#include "common/cpulist.h"
#include "common/opt.h"
#include "transports/transport.h"

enum scripted_fault {
	FAULT_NONE,
	FAULT_PAGE_FAULT,
	FAULT_SWITCH,
	FAULT_OVERFLOW,
	FAULT_BAD_COMPLETION,
	FAULT_BAD_PAYLOAD,
	FAULT_DIE,
	FAULT_EXIT,
	FAULT_HANG,
	FAULT_NONSENSE,
	FAULT_OPEN,
};

struct scripted_settings {
	int64_t interval, delay, jitter, noise, comp_delay, poll_delay, read_delay, delayed_by, fault_at;
	int fault, fault_side;
	bool reliable;
	char lose[OPT_STR_MAX], duplicate[OPT_STR_MAX], delayed[OPT_STR_MAX], overwrite[OPT_STR_MAX];
	char stall[OPT_STR_MAX], pattern[OPT_STR_MAX];
	int64_t stall_by;
	uint32_t repetition;	  /* counted by prepare(): each has different noise */
	struct schedule schedule; /* the kernel's, set by open(): the expected results depend on it */
};

struct scripted_arrival {
	int64_t time;
	uint32_t seq;
};

struct scripted {
	struct transport base;
	struct scripted_settings s;
	enum role role;
	bool duplex;
	int64_t now;			      /* source: submission of the next message; sink: arrival of the last */
	int64_t stamp;			      /* what scripted_end() returns */
	uint32_t posted, polled;	      /* source */
	uint32_t last;			      /* source: the message posted last */
	uint32_t step;			      /* source of a kernel with a pacer: the next step that is due */
	int64_t *submission;		      /* of every step, set by scripted_pace(); NULL: the kernel has no pacer */
	struct cpulist *stalls, *overwritten; /* NULL: the kernel has no pacer; no t_send */
	uint32_t next;			      /* sink: index in arrivals */
	uint32_t arrivals;
	struct scripted_arrival *arrival;
	char *payload; /* a correct payload */
	int64_t size;
	uint32_t payload_seq;
	bool failed;
};

extern const struct transport_ops scripted_transport;

/*
 * Duplex: the sink sends every message back, with the same delay; so a round trip takes twice the
 * delay, and a message that is lost on the way there does not return. A source that waits for the
 * next reply sees it arrive; if it was lost, nothing arrives until scripted_pause() has advanced
 * the time.
 */

/* When message seq is submitted, and when it arrives (NEVER if it is lost): the expected values for tests. */
int64_t scripted_submission(const struct scripted_settings *s, uint32_t seq);
int64_t scripted_delay(const struct scripted_settings *s, uint32_t seq);

/* When step i of a kernel with a pacer is due; and when each step must be submitted, NEVER if it is
 * missed or outside of the window: `submission` has room for all steps. */
int64_t scripted_due(const struct scripted_settings *s, int64_t step);
void scripted_pace(const struct scripted_settings *s, int64_t *submission);

#endif
