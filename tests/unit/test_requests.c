/*
 * The requests of a program, from its stamps.
 */
#include "measure/program/requests.h"
#include "tap.h"

static struct request_stamps stamps;

static void begin(int64_t time, int32_t tid, uint64_t id)
{
	request_stamps_add(&stamps, &(struct request_stamp){.time = time, .id = id, .tid = tid, .task = (uint32_t)tid});
}

static void end(int64_t time, int32_t tid, uint64_t id)
{
	request_stamps_add(&stamps, &(struct request_stamp){
					.time = time, .id = id, .tid = tid, .is_end = true, .task = (uint32_t)tid});
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

static struct program_requests match(enum request_match how)
{
	struct program_requests r = requests_match(&stamps, how);

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
	r = match(MATCH_ID);
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
	r = match(MATCH_ID);
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
	r = match(MATCH_THREAD);
	is_str(request(&r, 0), "10-20 thread 1 id 5", "by thread, an ID is only kept");
	is_str(request(&r, 1), "11-30 thread 2 id 5", "of each");
	free(r.list);
}

/* "TIME THREAD FRAME KIND …" */
static void probed(const char *list)
{
	int time, tid, frame, length;
	char kind[8];

	for (; sscanf(list, "%d %d %d %7s%n", &time, &tid, &frame, kind, &length) == 4; list += length)
		request_stamps_add(&stamps, &(struct request_stamp){.time = time,
								    .tid = tid,
								    .task = (uint32_t)tid,
								    .frame = (uint64_t)frame,
								    .is_end = *kind == 't' || *kind == 'j',
								    .is_again = *kind == 'a',
								    .is_inner = *kind == 'i',
								    .is_joint = *kind == 'j'});
}

static void test_frames(void)
{
	struct program_requests r;

	/* An exception passes through the second call. The last one is of another depth. */
	probed("10 1 100 from 20 1 100 to 30 1 100 from 40 1 100 from 50 1 100 to 60 1 90 from 70 1 100 to");
	r = match(MATCH_FRAME);
	is_int((long long)r.count, 2, "calls that return are requests");
	is_str(request(&r, 1), "40-50 thread 1 id 0", "one that did not is not taken for the next");
	is_int((long long)r.open, 2, "those that did not are counted");
	is_int((long long)r.strange, 1, "an end of another call ends none");
	free(r.list);

	/* Recursion, beside the same frame of another thread (another process). */
	probed("10 1 100 from 11 2 100 from 12 1 80 from 13 1 80 to 14 2 100 to 15 1 100 to");
	r = match(MATCH_FRAME);
	is_str(request(&r, 0), "10-15 thread 1 id 0", "the outer call");
	is_str(request(&r, 1), "11-14 thread 2 id 0", "that of another thread");
	is_str(request(&r, 2), "12-13 thread 1 id 0", "the inner call");
	free(r.list);
}

static void test_parts(void)
{
	struct program_requests r;

	/* It goes on at one of its beginnings, twice; and calls a part of itself. */
	probed("10 1 100 from 11 1 100 again 12 1 100 from 13 1 100 again 14 1 100 from 15 1 80 inner 16 1 80 to "
	       "17 1 100 to 18 1 100 joint");
	r = match(MATCH_FRAME);
	is_int((long long)r.count, 1, "a call that goes on at its beginning, or in a part, is one");
	is_str(request(&r, 0), "10-17 thread 1 id 0", "from its first beginning");
	is_int((long long)(r.open + r.strange), 0, "with nothing left");
	free(r.list);

	probed("10 1 100 from 11 1 80 inner 12 1 90 to");
	r = match(MATCH_THREAD);
	is_str(request(&r, 0), "10-12 thread 1 id 0", "likewise where another function ends requests");
	free(r.list);
}

static void test_most(void)
{
	struct program_requests r;

	for (size_t i = 0; i < REQUEST_STAMPS_MOST + 10; i++)
		begin((int64_t)i, 1, 0);
	is_int((long long)stamps.count, REQUEST_STAMPS_MOST, "so many stamps are kept");
	is_int((long long)stamps.left, 10, "and those beyond are counted");
	r = match(MATCH_ID);
	is_int((long long)r.open, REQUEST_STAMPS_MOST, "none of them ends");
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
	r = match(MATCH_ID);
	for (size_t i = 0; i < r.count; i++)
		same &= r.list[i].from == (int64_t)i && r.list[i].to == 200000 - (int64_t)i;
	ok(r.count == 100000 && same && !r.open && !r.strange, "a hundred thousand open ones are matched");
	free(r.list);
	r = match(MATCH_ID);
	is_int((long long)r.count, 0, "and none are none");
	free(r.list);
}

int main(void)
{
	test_ids();
	test_nested();
	test_frames();
	test_parts();
	test_most();
	test_many();
	return done_testing();
}
