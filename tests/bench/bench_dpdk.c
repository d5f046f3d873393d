/*
 * Measures messages over a port of DPDK in a minimal loop: two processes, each with one lcore and the port of one driver,
 * memif, that joins them; frames from a mempool with a cache, sent and received one at a time. The transport dpdk is
 * compared with it.
 *
 *   build/bench/bench_dpdk pingpong|stream SIZE MESSAGES CPU CPU
 *
 * pingpong prints "p50 NS p99 NS mean NS" of half round trips; first, a tenth of the messages is sent without being
 * measured. stream prints "rate BYTES", payload a second, from the first post to the last, as kblat's rate is. A message of
 * SIZE bytes is in a frame with headers for Ethernet, IPv4 and UDP.
 */
#include <stdio.h>

#ifndef RTE_VER_YEAR

int main(void)
{
	fprintf(stderr, "built without DPDK\n");
	return 77;
}

#else

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "measure/instrument/clock.h"

#define DESCRIPTORS 1024
#define POOL	    2047
#define CACHE	    128
#define BURST	    32
#define HEADERS	    42

struct loop {
	struct rte_mempool *pool;
	uint16_t port, count, next;
	uint32_t sent, expected, length;
	long messages, warmup;
	struct rte_mbuf *in[BURST];
	_Atomic bool *listens; /* shared: the server's port is started */
};

static void fail(const char *what)
{
	fprintf(stderr, "%s failed\n", what);
	exit(1);
}

static void open_port(struct loop *l, const char *role, int cpu, pid_t pair)
{
	char lcore[32], device[128];
	char *argv[] = {"bench_dpdk",  "--no-telemetry", "--log-level", "4",  "--no-huge",
			"--no-shconf", "--no-pci",	 "-m",		"64", "--lcores",
			lcore,	       "--vdev",	 device};
	struct rte_eth_conf conf = {0};
	struct rte_eth_link link = {0};

	snprintf(lcore, sizeof(lcore), "0@%d", cpu);
	snprintf(device, sizeof(device), "net_memif0,role=%s,socket-abstract=yes,socket=bench-%d,rsize=10", role, pair);
	setenv("RUNTIME_DIRECTORY", "/dev/null", 1);
	rte_openlog_stream(fopen("/dev/null", "we"));
	if (rte_eal_init(sizeof(argv) / sizeof(argv[0]), argv) < 0 ||
	    rte_eth_dev_get_port_by_name("net_memif0", &l->port))
		fail("the EAL");
	l->pool = rte_pktmbuf_pool_create("pool", POOL, CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (!l->pool || rte_eth_dev_configure(l->port, 1, 1, &conf) ||
	    rte_eth_rx_queue_setup(l->port, 0, DESCRIPTORS, SOCKET_ID_ANY, NULL, l->pool) ||
	    rte_eth_tx_queue_setup(l->port, 0, DESCRIPTORS, SOCKET_ID_ANY, NULL) || rte_eth_dev_start(l->port))
		fail("the port");
	*l->listens = true;
	while (rte_eth_link_get_nowait(l->port, &link) || !link.link_status)
		usleep(1000);
	mlockall(MCL_CURRENT);
}

static inline void post(struct loop *l)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(l->pool);
	const uint32_t number = l->sent++;

	if (!m)
		fail("rte_pktmbuf_alloc");
	m->data_len = (uint16_t)l->length;
	m->pkt_len = l->length;
	memcpy(rte_pktmbuf_mtod(m, char *) + HEADERS, &number, sizeof(number));
	while (rte_eth_tx_burst(l->port, 0, &m, 1) != 1)
		;
}

static inline bool receive_try(struct loop *l)
{
	struct rte_mbuf *m;
	uint32_t number;

	if (l->next == l->count) {
		l->next = 0;
		l->count = rte_eth_rx_burst(l->port, 0, l->in, BURST);
		if (!l->count)
			return false;
	}
	m = l->in[l->next++];
	memcpy(&number, rte_pktmbuf_mtod(m, char *) + HEADERS, sizeof(number));
	if (m->data_len != l->length || number != l->expected++)
		fail("a message");
	rte_pktmbuf_free(m);
	return true;
}

static inline void receive(struct loop *l)
{
	while (!receive_try(l))
		;
}

static void ping(struct loop *l, double hz)
{
	int64_t *trip = calloc((size_t)l->messages, sizeof(*trip));
	struct span span = {trip, NULL, (size_t)l->messages};
	struct stats stats;

	for (long i = -l->warmup; i < l->messages; i++) {
		const int64_t start = clock_ticks_begin();

		post(l);
		receive(l);
		trip[i < 0 ? 0 : i] = clock_ticks_end() - start;
	}
	if (stats_compute(&span, 1, INT64_MAX, &stats, NULL))
		fail("statistics");
	printf("p50 %.1f p99 %.1f mean %.1f\n", (double)stats.quantile[Q50] * 5e8 / hz,
	       (double)stats.quantile[Q99] * 5e8 / hz, stats.mean * 5e8 / hz);
	free(trip);
}

static void pong(struct loop *l)
{
	for (;;) {
		receive(l);
		post(l);
	}
}

static void stream(struct loop *l, double hz)
{
	int64_t start = 0;

	for (long i = -l->warmup; i < l->messages; i++) {
		if (!i)
			start = clock_ticks_begin();
		post(l);
	}
	printf("rate %.0f\n", (double)l->messages * (l->length - HEADERS) * hz / (double)(clock_ticks_end() - start));
}

static void drain(struct loop *l)
{
	for (;;)
		receive(l);
}

int main(int argc, char **argv)
{
	struct loop l = {.length = argc == 6 ? HEADERS + (uint32_t)atol(argv[2]) : 0};
	const bool is_stream = argc == 6 && !strcmp(argv[1], "stream");
	const pid_t own = getpid();
	struct clock_report clock;
	pid_t pid;

	if (argc != 6 || l.length < HEADERS + sizeof(uint32_t) || l.length > 1514 ||
	    (l.messages = atol(argv[3])) < 100) {
		fprintf(stderr, "usage: %s pingpong|stream SIZE MESSAGES CPU CPU\n", argv[0]);
		return 2;
	}
	l.warmup = l.messages / 10;
	clock_calibrate(100, &clock);
	l.listens = mmap(NULL, sizeof(*l.listens), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		bench_pin(atoi(argv[5]));
		open_port(&l, "server", atoi(argv[5]), own);
		(is_stream ? drain : pong)(&l);
	}
	while (!*l.listens && !waitpid(pid, NULL, WNOHANG))
		usleep(1000);
	bench_pin(atoi(argv[4]));
	open_port(&l, "client", atoi(argv[4]), own);
	(is_stream ? stream : ping)(&l, clock.hz);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

#endif
