/*
 * The requests of a program, from its stamps.
 */
#include "measure/program/requests.h"
#include "tap.h"

static struct request_stamps stamps;

static void begin(int64_t time, int32_t tid, uint64_t id)
{
	request_stamps_add(&stamps, &(struct request_stamp){time, id, tid, false});
}

static void end(int64_t time, int32_t tid, uint64_t id)
{
	request_stamps_add(&stamps, &(struct request_stamp){time, id, tid, true});
}

/* "10-20 thread 1 id 7" */
static const char *request(const struct program_requests *r, size_t i)
{
	static char text[64];

	if (i >= r->count)
		return "(none)";
	snprintf(text, sizeof(text), "%lld-%lld thread %lld id %llu", (long long)r->list[i].from,
		 (long long)r->list[i].to, (long long)r->list[i].tid, (unsigned long long)r->list[i].id);
	return text;
}

static struct program_requests match(bool by_thread)
{
	struct program_requests r = requests_match(&stamps, by_thread);

	free(stamps.list);
	stamps = (struct request_stamps){.list = NULL};
	return r;
}

static void test_ids(void)
{
	struct program_requests r;

	/* Rings are read one after the other, so stamps of several threads come in any order. */
	end(50, 2, 7);
	end(60, 1, 8);
	begin(10, 1, 7);
	begin(20, 1, 8);
	begin(30, 3, 7);
	r = match(false);
	is_int((long long)r.count, 2, "each end has a begin");
	is_str(request(&r, 0), "20-60 thread 1 id 8", "requests overlap");
	is_str(request(&r, 1), "30-50 thread 2 id 7",
	       "an ID that begins twice ends its last begin, in whichever thread");
	is_int((long long)r.open, 1, "the first one is still open");
	is_int((long long)r.strange, 0, "nothing ended that had not begun");
	free(r.list);
}

static void test_nested(void)
{
	struct program_requests r;

	begin(10, 1, 0);
	begin(20, 1, 0);
	begin(25, 2, 0);
	end(30, 1, 0);
	end(35, 2, 0);
	end(40, 1, 0);
	end(50, 1, 0);
	r = match(false);
	is_int((long long)r.count, 3, "without an ID an end belongs to its thread");
	is_str(request(&r, 0), "10-40 thread 1 id 0", "the outer request ends last");
	is_str(request(&r, 1), "20-30 thread 1 id 0", "the inner one first");
	is_str(request(&r, 2), "25-35 thread 2 id 0", "another thread has its own");
	is_int((long long)r.strange, 1, "an end too many is counted");
	free(r.list);

	begin(10, 1, 5);
	begin(11, 2, 5);
	end(20, 1, 0);
	end(30, 2, 0);
	r = match(true);
	is_str(request(&r, 0), "10-20 thread 1 id 5", "by thread, an ID is only kept");
	is_str(request(&r, 1), "11-30 thread 2 id 5", "of each");
	free(r.list);
}

static void test_many(void)
{
	struct program_requests r;
	bool same = true;

	for (int64_t i = 0; i < 100000; i++)
		begin(i, 1, (uint64_t)i + 1);
	for (int64_t i = 0; i < 100000; i++)
		end(200000 - i, 1, (uint64_t)i + 1);
	r = match(false);
	for (size_t i = 0; i < r.count; i++)
		same &= r.list[i].from == (int64_t)i && r.list[i].to == 200000 - (int64_t)i;
	ok(r.count == 100000 && same && !r.open && !r.strange, "a hundred thousand open ones are matched");
	free(r.list);
	r = match(false);
	is_int((long long)r.count, 0, "and none are none");
	free(r.list);
}

int main(void)
{
	test_ids();
	test_nested();
	test_many();
	return done_testing();
}
