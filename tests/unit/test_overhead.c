/*
 * Bytes on the wire: from the files of counters as the kernel has them to the block `wire`, for messages whose headers
 * are known.
 */
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/sysroot.h"
#include "measure/transports/interface.h"
#include "measure/transports/verbs_counters.h"
#include "summary_documents.h"
#include "tap.h"

static char *dir;

static void put(const char *name, const char *text)
{
	char *path = fs_path("%s/%s", dir, name), *folder = strdup(path);

	*strrchr(folder, '/') = '\0';
	fs_mkdirs(folder, NULL);
	tap_file(path, text, strlen(text));
	free(folder);
	free(path);
}

/* One port's files, with so many words of four octets sent and received. */
static json_t *port_counters(const char *sent, const char *received)
{
	static const char at[] = "sys/class/infiniband/mlx5_0/ports/1";
	struct sysroot r;
	char name[128];
	json_t *counters;

	snprintf(name, sizeof(name), "%s/counters/port_xmit_data", at);
	put(name, sent);
	snprintf(name, sizeof(name), "%s/counters/port_rcv_data", at);
	put(name, received);
	snprintf(name, sizeof(name), "%s/hw_counters/rnr_nak_retry_err", at);
	put(name, "3\n");
	sysroot_open(&r, dir, NULL);
	counters = verbs_counters_below(&r, "mlx5_0", 1);
	sysroot_close(&r);
	return counters;
}

/* A repetition of which the source's device counted this; both are consumed. */
static struct rep rep_of(json_int_t posted, json_int_t answered, json_t *before, json_t *after)
{
	return (struct rep){.counters = json_pack("{s{sI sI} s{sI} s{s{so so}}}", "source", "posted", posted,
						  "duration_ns", (json_int_t)2000000000, "sink", "posted", answered,
						  "device", "source", "before", before, "after", after)};
}

static json_t *interface_counters(json_int_t sent, json_int_t received)
{
	return json_pack("{sI sI}", "tx_bytes", sent, "rx_bytes", received);
}

static json_t *block_of(struct layout_wire wire, bool device, struct rep *reps, size_t count)
{
	const struct layout_flow flow = {.name = "", .wire = wire, .traits.device = device};
	json_t *block = document_of_block(&overhead_block, &flow, reps, count);

	for (size_t i = 0; i < count; i++)
		json_decref(reps[i].counters);
	return block;
}

static void is_block(json_t *block, const char *expected, const char *what)
{
	char *text = block ? json_dumps(block, JSON_REAL_PRECISION(10) | JSON_COMPACT) : strdup("none");

	is_str(text, expected, "%s", what);
	free(text);
	json_decref(block);
}

/*
 * 1000 messages of 4096 bytes with a path MTU of 1024 on InfiniBand: 4 packets each, with a local route header (8), a
 * base transport header (12) and an invariant CRC (4), which port_xmit_data counts; the first of a write has another 16.
 */
static void test_port(void)
{
	const struct layout_wire there = {.out_bytes = 4096}, back = {.in_bytes = 4096, .fetches = true};
	const struct layout_wire both = {4096, 4096, false};
	struct rep r;

	/* (4096 + 4 * 24 + 16) * 1000 / 4 = 1052000 words more */
	r = rep_of(1000, 0, port_counters("5000000\n", "0\n"), port_counters("6052000\n", "9\n"));
	is_block(block_of(there, true, &r, 1),
		 "{\"payload_bytes\":4096000,\"raw_bytes\":4208000,\"factor\":1.02734375,\"percent\":2.734375,"
		 "\"bytes_per_s\":2104000.0,\"why\":null}",
		 "what a port sent, in words of four octets");
	/* An answer to a read: 4 packets, of which the first and the last have 4 bytes more. */
	r = rep_of(1000, 0, port_counters("0\n", "0\n"), port_counters("10000\n", "1050000\n"));
	is_block(block_of(back, true, &r, 1),
		 "{\"payload_bytes\":4096000,\"raw_bytes\":4200000,\"factor\":1.025390625,\"percent\":2.5390625,"
		 "\"bytes_per_s\":2100000.0,\"why\":null}",
		 "what a read brought is held against what arrived");
	r = rep_of(1000, 500, port_counters("0\n", "0\n"), port_counters("1052000\n", "526000\n"));
	is_block(block_of(both, true, &r, 1),
		 "{\"payload_bytes\":6144000,\"raw_bytes\":6312000,\"factor\":1.02734375,\"percent\":2.734375,"
		 "\"bytes_per_s\":3156000.0,\"why\":null}",
		 "both directions, by what each side posted");
}

static void test_interface(void)
{
	const struct layout_wire there = {.out_bytes = 1000};
	struct rep reps[2] = {rep_of(10, 0, interface_counters(0, 0), interface_counters(10420, 0)),
			      rep_of(10, 0, interface_counters(20000, 0), interface_counters(30420, 7))};

	is_block(block_of(there, false, reps, 2),
		 "{\"payload_bytes\":20000,\"raw_bytes\":20840,\"factor\":1.042,\"percent\":4.2,\"bytes_per_s\":5210.0,"
		 "\"why\":null}",
		 "an interface's bytes, over two repetitions");
}

#define NOTHING "\"raw_bytes\":null,\"factor\":null,\"percent\":null,\"bytes_per_s\":null,\"why\":"

static void test_unknown(void)
{
	const struct layout_wire there = {.out_bytes = 1000};
	struct rep r = rep_of(10, 0, json_object(), json_object()), reps[2];

	is_block(block_of(there, true, &r, 1),
		 "{\"payload_bytes\":10000," NOTHING "\"the RDMA port has no byte counter\"}",
		 "a port that counts none");
	r = rep_of(10, 0, json_object(), json_object());
	is_block(block_of(there, false, &r, 1),
		 "{\"payload_bytes\":10000," NOTHING
		 "\"the messages only crossed the loopback interface, which has no wire\"}",
		 "loopback");
	r = rep_of(10, 0, interface_counters(500, 0), interface_counters(900, 0));
	is_block(block_of(there, false, &r, 1),
		 "{\"payload_bytes\":10000," NOTHING
		 "\"fewer bytes were counted than the messages have: they took another path\"}",
		 "another way");
	r = rep_of(10, 0, port_counters("4294960000\n", "0\n"), port_counters("4294967295\n", "0\n"));
	is_block(block_of(there, true, &r, 1),
		 "{\"payload_bytes\":10000," NOTHING "\"the byte counter overflowed, or was reset meanwhile\"}",
		 "a counter of 32 bits that is full");
	reps[0] = rep_of(10, 0, interface_counters(0, 0), interface_counters(10420, 0));
	reps[1] = rep_of(10, 0, interface_counters(99999, 0), interface_counters(10, 0));
	is_block(block_of(there, false, reps, 2),
		 "{\"payload_bytes\":20000," NOTHING "\"the byte counter overflowed, or was reset meanwhile\"}",
		 "one of two repetitions whose counter was reset");
	r = rep_of(10, 0, json_object(), json_object());
	is_block(block_of((struct layout_wire){.out_bytes = 0}, true, &r, 1), "none",
		 "a run of a version that did not say what messages move has no such block");
}

static void test_table(void)
{
	static const char table[] =
	    "Inter-|   Receive                                                |  Transmit\n"
	    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls "
	    "carrier compressed\n"
	    "    lo:     822      10    0    0    0     0          0         0      822      10    0    0    0     0"
	    "       0          0\n"
	    "xveth0:       1       2    3    4    5     6          7         8        9      10   11   12   13    14"
	    "      15         16\n"
	    " veth0:11506000000001 12    0    0    0     0          0         0     9534     66    0    0    0     0"
	    "       0          0\n";
	const struct interface veth = {.name = "veth0"}, none = {.name = "eth7"};
	json_t *counters = json_object();
	char *path = fs_path("%s/dev", dir);

	put("dev", table);
	interface_count(path, &none, "tx_bytes", "rx_bytes", counters);
	is_int((long)json_object_size(counters), 0, "an interface that is not there has no counters");
	interface_count(path, &veth, "tx_bytes", "rx_bytes", counters);
	is_int(json_integer_value(json_object_get(counters, "rx_bytes")), 11506000000001, "bytes received");
	is_int(json_integer_value(json_object_get(counters, "tx_bytes")), 9534, "bytes sent");
	interface_count_drops(path, &(const struct interface){.name = "xveth0"}, counters);
	is_int(json_integer_value(json_object_get(counters, "interface_rx_dropped")), 4, "packets dropped that came");
	is_int(json_integer_value(json_object_get(counters, "interface_tx_dropped")), 12, "packets dropped that went");
	json_decref(counters);
	free(path);
}

static void test_rnr(void)
{
	json_t *counters = port_counters("1\n", "2\n");

	is_int(json_integer_value(json_object_get(counters, "rnr_naks")), 3, "RNR NAKs have one name for all drivers");
	json_decref(counters);
}

int main(void)
{
	dir = tap_dir();
	test_port();
	test_interface();
	test_unknown();
	test_table();
	test_rnr();
	tap_dir_remove(dir);
	return done_testing();
}
