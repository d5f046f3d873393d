/* How many places a window has, and which of them an operation uses. */
#include "measure/transports/remote_window.h"

#include "common/opt.h"
#include "tap.h"

#define SIZE  4096
#define DEPTH 32

static void opened(struct window *w, enum window_use use, bool any_payload, const char *what)
{
	const struct transport_config config = {
	    .role = ROLE_SINK, .size = SIZE, .depth = DEPTH, .is_passive = true, .any_payload = any_payload};
	char *memory = malloc(window_bytes(&config, use));

	window_open(w, memory, &config, use);
	ok((char *)window_greeted(w) + sizeof(uint64_t) <= memory + window_bytes(&config, use) &&
	       window_buffer(w, w->target.count - 1) + SIZE <= (char *)window_greeting(w),
	   "%s: everything lies in its memory", what);
	window_prepare(w, &config);
	is_int(window_check_memory(w, &config, 0), 0, "%s: nothing is wrong before the first operation", what);
	free(memory);
}

int main(void)
{
	struct window w;

	opened(&w, WINDOW_WRITTEN, false, "writes that are checked");
	ok(w.target.count > DEPTH && window_remote(&w, 1) - window_remote(&w, 0) == SIZE,
	   "each in flight has its place");

	opened(&w, WINDOW_WRITTEN, true, "writes");
	ok(w.target.count == 1 && window_remote(&w, 1) == window_remote(&w, 0) &&
	       window_buffer(&w, 7) == window_buffer(&w, 0),
	   "all are to the same place, from the same buffer");
	ok(w.in_flight > DEPTH && window_flight(&w, DEPTH) == DEPTH, "and are told apart");

	opened(&w, WINDOW_READ, true, "reads");
	is_int(w.target.count, 1, "all fetch from the same place");

	opened(&w, WINDOW_CHANGED, true, "atomics");
	ok(w.target.count > DEPTH, "work on several words, as they are always checked");
	return done_testing();
}
