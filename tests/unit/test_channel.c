/*
 * Endpoints that hold their coordinator up: they send their data byte by byte, send files without end, or do not read.
 */
#include <errno.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/write_signals.h"
#include "fixture_params.h"
#include "measure/run/channel.h"
#include "measure/run/host_state.h"
#include "measure/run/repetition.h"
#include "measure/run/transfer.h"
#include "tap.h"

extern const struct transport_ops scripted_transport;

#define SOON_MS	 200   /* the patience with one that must be given up */
#define AMPLE_MS 60000 /* with one that must not */
#define MESSAGES 1000

/* Starts a shell script in place of an endpoint. */
static void start(struct channel *c, const char *script, int64_t patience_ms)
{
	char *words[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)script, NULL};
	struct err e = ERR_INIT;

	ok(!channel_spawn(c, "sink", words, &e), "an endpoint %s", e.text);
	c->patience_ms = patience_ms;
}

static int count_bytes(void *arg, const void *data, size_t size, struct err *e)
{
	(void)data, (void)e;
	*(size_t *)arg += size;
	return 0;
}

/* `patience_ms`: in the middle of data; `limit_ms`: for all of it, in addition to the time of its bytes. */
static int receive(const char *script, size_t size, int64_t patience_ms, int64_t limit_ms, struct err *e)
{
	struct channel c;
	struct transfer t;
	size_t got = 0;
	int rc;

	start(&c, script, patience_ms);
	transfer_begin(&t, limit_ms);
	transfer_expect(&t, size);
	rc = channel_raw(&c, &t, size, count_bytes, &got, e);
	ok(rc ? got < size : got == size, "%zu of %zu bytes", got, size);
	channel_stop(&c, 0);
	return rc;
}

static void test_raw(void)
{
	struct err e = ERR_INIT;

	is_int(receive("head -c 3000000 /dev/zero", 3000000, AMPLE_MS, AMPLE_MS, &e), 0, "much data arrives %s",
	       e.text);

	is_int(receive("while :; do printf x; sleep 0.02; done", 1000, AMPLE_MS, SOON_MS, &e), -ETIMEDOUT,
	       "a byte now and then: the transfer has an end");
	contains(e.text, "slower than 128 KiB/s", "said as it is");

	err_clear(&e);
	is_int(receive("printf x; exec sleep 60", 1000, SOON_MS, AMPLE_MS, &e), -ETIMEDOUT, "nothing any more");
	contains(e.text, "has sent nothing", "said as it is");

	err_clear(&e);
	is_int(receive("printf xyz", 4, AMPLE_MS, AMPLE_MS, &e), -EPIPE, "it ends in the middle");
}

/* Slow, but faster than the limit: bytes extend the time, also when more are announced later. */
static void test_grows(void)
{
	const int64_t rate = TRANSFER_KIB_PER_S * 1024;
	struct transfer t;
	int64_t before;

	transfer_begin(&t, SOON_MS);
	before = transfer_left_ms(&t);
	ok(before > 0 && before <= SOON_MS, "without bytes there is the patience (%lld ms)", (long long)before);
	transfer_expect(&t, (unsigned long long)(100 * rate));
	transfer_expect(&t, (unsigned long long)(100 * rate));
	ok(transfer_left_ms(&t) > before + 199000,
	   "for 200 times as many as in a second, there are 200 s more (%lld ms)", (long long)transfer_left_ms(&t));
}

/* --- columns --- */

static void load_sink(struct flow *flow, struct peer *p)
{
	json_t *params = fixture_params("oneway", &scripted_transport);
	struct err e = ERR_INIT;

	json_object_set_new(params, "messages", json_integer(MESSAGES));
	is_int(flow_load(flow, "", params, &e), 0, "a flow %s", e.text);
	*p = (struct peer){.flow = flow, .role = ROLE_SINK, .name = "sink"};
	json_decref(params);
}

static int store(const char *script, int64_t patience_ms, const char *columns, struct err *e)
{
	char *dir = tap_dir();
	json_t *done = json_pack("{s:i, s:o}", "messages", MESSAGES, "columns", json_loads(columns, 0, NULL));
	struct flow flow;
	struct peer p;
	int rc;

	load_sink(&flow, &p);
	start(&p.channel, script, patience_ms);
	rc = columns_store(&p, done, MESSAGES, dir, e);
	if (!rc) {
		char *path = fs_path("%s/t_recv.npy", dir);

		ok(!access(path, R_OK), "the column is stored");
		free(path);
	}
	channel_stop(&p.channel, 0);
	flow_free(&flow);
	json_decref(done);
	tap_dir_remove(dir);
	return rc;
}

static void test_columns(void)
{
	static const char *const others[] = {"[]", "[\"t_recv\", \"t_recv\"]", "[\"t_comp\"]", "[\"t_recv\", 1]",
					     "{}", "[\"../t_recv\"]"};
	struct err e = ERR_INIT;

	is_int(store("head -c 8000 /dev/zero; echo", AMPLE_MS, "[\"t_recv\"]", &e), 0, "the column of the sink %s",
	       e.text);
	is_int(store("while :; do head -c 50 /dev/zero; sleep 0.02; done", SOON_MS, "[\"t_recv\"]", &e), -ETIMEDOUT,
	       "one that comes in small pieces, forever");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		err_clear(&e);
		is_int(store("exec sleep 60", AMPLE_MS, others[i], &e), -EPROTO, "%s are not the columns of the sink",
		       others[i]);
		contains(e.text, "other columns than its kernel has", "said as it is");
	}
}

/* The points of a spec have a trace only with `explain`. */
static void test_trace(void)
{
	json_t *done = json_pack("{s:{s:i}}", "trace", "words", 0);
	struct err e = ERR_INIT;
	struct flow flow;
	struct peer p;

	load_sink(&flow, &p);
	is_int(columns_store_trace(&p, done, true, "/nowhere", &e), -EPROTO, "a trace without explain");
	contains(e.text, "not asked for", "said as it is");
	flow.common.explain = EXPLAIN_YES;
	is_int(columns_store_trace(&p, done, false, "/nowhere", NULL), -EPROTO, "and one of a warm-up");
	flow_free(&flow);
	json_decref(done);
}

/* --- the state of a host --- */

#define FILE_OF "echo '{\"type\":\"file\",\"path\":\"/f'$i'\",\"bytes\":1,\"private\":false}'; echo x; "

static int take(const char *script, int64_t patience_ms, struct err *e)
{
	char *dir = tap_dir();
	struct channel c;
	int rc;

	start(&c, script, patience_ms);
	rc = host_state_take(&c, dir, "far", "before", false, e);
	channel_stop(&c, 0);
	tap_dir_remove(dir);
	return rc;
}

static void test_host_state(void)
{
	struct err e = ERR_INIT;

	is_int(take("read order; for i in 1 2 3; do " FILE_OF "done; echo '{\"type\":\"captured\"}'", AMPLE_MS, &e), 0,
	       "three files %s", e.text);
	is_int(take("read order; while :; do i=$((i + 1)); " FILE_OF "sleep 0.05; done", SOON_MS, &e), -ETIMEDOUT,
	       "files without end");
	contains(e.text, "has not sent all of its host's state", "said as it is");
	err_clear(&e);
	is_int(take("read order; echo '{\"type\":\"file\",\"path\":\"/f\",\"bytes\":9000}'; while :; do printf x; "
		    "sleep 0.02; done",
		    SOON_MS, &e),
	       -ETIMEDOUT, "a file without end");
}

/* --- an endpoint that does not read --- */

static void test_send(void)
{
	struct channel c;
	struct err e = ERR_INIT;
	char *long_text = calloc(1, 300001);

	memset(long_text, 'x', 300000);
	start(&c, "exec sleep 60", SOON_MS);
	is_int(channel_send(&c, json_pack("{s:s}", "type", "run"), &e), 0, "an order fits into the pipe");
	is_int(channel_send(&c, json_pack("{s:s}", "type", long_text), &e), -ETIMEDOUT, "a long one needs a reader");
	contains(e.text, "has not read its orders", "said as it is");
	channel_stop(&c, 0);

	err_clear(&e);
	start(&c, "sleep 0.05; exec cat >/dev/null", AMPLE_MS);
	is_int(channel_send(&c, json_pack("{s:s}", "type", long_text), &e), 0, "a reader may be late %s", e.text);
	channel_stop(&c, 0);
	free(long_text);
}

int main(void)
{
	write_signals_ignore();
	test_raw();
	test_grows();
	test_columns();
	test_trace();
	test_host_state();
	test_send();
	return done_testing();
}
