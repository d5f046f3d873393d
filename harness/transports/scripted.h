/*
 * A transport without a network: delays, losses and reorderings are settings, time is virtual, so what a run must
 * report is known to the nanosecond. It proves recorder, statistics, flags and the handling of endpoints that go wrong,
 * end to end.
 *
 * Truth: message i is submitted at i * interval (+ pauses), completes comp_delay later and arrives after `delay` +
 * jitter(i), where jitter alternates +jitter, -jitter; messages in `delayed` take `delayed_by` longer, those in `lose` never
 * arrive, those in `duplicate` arrive twice; `pattern` and `noise` add to every message, and `noise` anew in each repetition. The
 * sink sees arrivals in order of time. Both sides derive all of it from the settings; nothing passes between them.
 *
 * With the kernel `rate` the pacer says when a message is submitted: step i is due at (i + 1) / rate; at the steps in `stall` the pacer wakes up
 * `stall_by` late. scripted_pace() works out from the settings alone what must become of every step.
 *
 * With t_send: the device reads the payload of a message read_delay after its submission; a message in `overwrite` is
 * read when the next one lies in its place.
 *
 * With device stamps: the device stamps a completion `poll_delay` before it is polled, with a clock of its own that
 * counts 4 ticks a nanosecond in 48 bits, and wraps around soon after the start.
 *
 * `fault` makes one side go wrong for real at message `fault_at`: a page fault, a recorder overflow, a bad completion,
 * death, silence, nonsense.
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
	uint32_t repetition;	  /* counted by prepare(): its noise is another each time */
	struct schedule schedule; /* the kernel's, set by open(): needed to derive the truth */
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
	int64_t stamp;			      /* what scripted_end() says */
	uint32_t posted, polled;	      /* source */
	uint32_t last;			      /* source: the message posted last */
	uint32_t step;			      /* source of a pacer's kernel: the next that is due */
	int64_t *submission;		      /* of every step, by scripted_pace(); NULL: not a pacer's kernel */
	struct cpulist *stalls, *overwritten; /* NULL: not a pacer's kernel; no t_send */
	uint32_t next;			      /* sink: into arrivals */
	uint32_t arrivals;
	struct scripted_arrival *arrival;
	char *payload; /* what a correct payload looks like */
	int64_t size;
	uint32_t payload_seq;
	bool failed;
};

extern const struct transport_ops scripted_transport;

/*
 * Duplex: the sink sends every message back, with the same delay; so a round trip takes twice the delay, and what is lost on the way there never
 * comes back. A source that waits for the next reply sees it arrive; where it was lost, nothing arrives until scripted_pause() has let the time pass.
 */

/* When message seq is submitted, and when it arrives (NEVER if it is lost): the truth that tests compare with. */
int64_t scripted_submission(const struct scripted_settings *s, uint32_t seq);
int64_t scripted_delay(const struct scripted_settings *s, uint32_t seq);

/* When step i of a pacer's kernel is due; when it must be submitted, NEVER where it is missed or out of the window: `submission` has room for all. */
int64_t scripted_due(const struct scripted_settings *s, int64_t step);
void scripted_pace(const struct scripted_settings *s, int64_t *submission);

#endif
