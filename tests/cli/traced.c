/*
 * A program with requests, of which every eighth is delayed on purpose, each time in another way:
 *
 *     traced REQUESTS [stamps | none | FILE]
 *
 * Stamps are those of kblat_stamp.h, or go into FILE; with `none`, probes at serve() see the requests. A request's ID is
 * 1000 times its number, plus the number of its delay in delays[]. With "delays" instead of REQUESTS it prints their
 * names and the beginnings of what explains them. $TRACED_DELAY_US: how long a delay takes; $TRACED_DISK: a device or file
 * of FRESH bytes, of which nothing is in memory; $TRACED_PEER: an address at which "traced echo" answers, over a slow link.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "measure/program/kblat_stamp.h"

#define FRESH	 (48 << 20) /* bytes */
#define PAGE	 4096
#define DATAGRAM 1400

static int64_t delay_us = 6000;
static const char *disk, *peer; /* NULL: there is none */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ask_holder[2], answer_holder[2], ask_child[2], answer_child[2];
static char *old;
static volatile int *acted; /* how often the child has stopped its parent, or taken its CPU; shared with it */
static int disk_fd;
static const char *mapped; /* all of it */
static off_t disk_at;	   /* what has been read of it */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void work(int64_t us)
{
	const int64_t end = now_ns() + 1000 * us;

	while (now_ns() < end)
		;
}

static char take(int fd)
{
	char c = 0;

	return read(fd, &c, 1) == 1 ? c : 0;
}

static void give(int fd, char c)
{
	if (write(fd, &c, 1) != 1)
		_exit(1);
}

/* A thread that has the lock when it answers, and keeps it for the delay. */
static void *hold(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "holder");
	while (take(ask_holder[0])) {
		pthread_mutex_lock(&lock);
		give(answer_holder[1], 1);
		sched_yield();
		work(delay_us);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* Ask the child to, and run until it has. */
static void suffer(const char *what, size_t length)
{
	const int before = *acted;
	const int64_t end = now_ns() + 10 * 1000 * delay_us;

	if (write(ask_child[1], what, length) != (ssize_t)length)
		_exit(1);
	while (*acted == before && now_ns() < end)
		sched_yield(); /* there may be one CPU only */
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (cpu < 0 || i == cpu)
			CPU_SET(i, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Takes that CPU from a thread with the lowest real-time priority. */
static void hog(int cpu)
{
	const struct sched_param before = {.sched_priority = 1}, above = {.sched_priority = 2};

	sched_setscheduler(0, SCHED_FIFO, &above);
	stay_on(cpu);
	work(delay_us);
	++*acted;
	stay_on(-1);
	sched_setscheduler(0, SCHED_FIFO, &before);
}

/* A process that answers late ('a'), stops its parent ('s'), or takes its CPU ('h', and that CPU's number). */
static void serve_as_child(void)
{
	const pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (char c; (c = take(ask_child[0]));) {
		if (c == 's') {
			kill(parent, SIGSTOP);
			++*acted;
			usleep(delay_us);
			kill(parent, SIGCONT);
		} else if (c == 'h') {
			hog(take(ask_child[0]));
		} else {
			work(delay_us);
		}
		if (c == 'a')
			give(answer_child[1], 1);
	}
	_exit(0);
}

static void delay_lock(void)
{
	give(ask_holder[1], 1);
	take(answer_holder[0]);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void delay_sleep(void)
{
	usleep(delay_us);
}

static void delay_work(void)
{
	work(delay_us);
}

static void delay_fault(void)
{
	char *fresh = mmap(NULL, FRESH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(fresh, FRESH, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < FRESH; i += 4096)
		fresh[i] = 1;
}

static void delay_call(void)
{
	static int zero;

	zero = zero ? zero : open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (int64_t end = now_ns() + 1000 * delay_us; now_ns() < end;)
		if (read(zero, old, FRESH) < 0)
			return;
}

static void delay_answer(void)
{
	give(ask_child[1], 'a');
	take(answer_child[0]);
}

static void delay_stop(void)
{
	suffer("s", 1);
}

static void delay_hog(void)
{
	const int cpu = sched_getcpu();

	stay_on(cpu);
	suffer((char[]){'h', (char)cpu}, 2);
	stay_on(-1);
}

/* So much at a time that the disk takes longer than asking it. */
static void delay_disk(void)
{
	static _Alignas(PAGE) char block[16 * PAGE];

	for (int64_t end = now_ns() + 1000 * delay_us; now_ns() < end && disk_at + (off_t)sizeof(block) <= FRESH;
	     disk_at += sizeof(block))
		if (pread(disk_fd, block, sizeof(block), disk_at) != sizeof(block))
			_exit(1);
}

/* Code and data that were paged out. */
static void delay_page(void)
{
	for (int64_t end = now_ns() + 1000 * delay_us; now_ns() < end && disk_at < FRESH; disk_at += PAGE)
		(void)*(volatile char *)(mapped + disk_at);
}

static int echo_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static struct sockaddr_in echo_address(const char *at)
{
	return (struct sockaddr_in){
	    .sin_family = AF_INET, .sin_port = htons(7), .sin_addr.s_addr = at ? inet_addr(at) : INADDR_ANY};
}

static int echo(void)
{
	const struct sockaddr_in own = echo_address(NULL);
	const int fd = echo_socket();
	char packet[DATAGRAM];
	struct sockaddr_in from;
	socklen_t size = sizeof(from);

	if (bind(fd, (const struct sockaddr *)&own, sizeof(own)))
		return 1;
	while (recvfrom(fd, packet, sizeof(packet), 0, (struct sockaddr *)&from, &size) > 0)
		sendto(fd, packet, 1, 0, (struct sockaddr *)&from, size);
	return 1;
}

/* The link lets one packet pass at once, and a second one after the delay. */
static void delay_net(void)
{
	static int fd;
	const struct sockaddr_in there = echo_address(peer);
	char packet[DATAGRAM] = "";

	fd = fd ? fd : echo_socket();
	for (int i = 0; i < 2; i++)
		if (sendto(fd, packet, sizeof(packet), 0, (const struct sockaddr *)&there, sizeof(there)) < 0)
			_exit(1);
	for (int i = 0; i < 2; i++)
		recv(fd, packet, sizeof(packet), 0);
}

static const struct {
	const char *name;
	void (*wait)(void);
	const char *cause;
	const char **needs; /* NULL: nothing */
} delays[] = {
    {"none", NULL, "", NULL},
    {"lock", delay_lock, "asleep in futex, woken by holder", NULL},
    {"sleep", delay_sleep, "asleep in clock_nanosleep, woken by hrtimer_wakeup", NULL},
    {"work", delay_work, "running its own code", NULL},
    {"fault", delay_fault, "page fault", NULL},
    {"call", delay_call, "running in the system call read", NULL},
    {"answer", delay_answer, "asleep in read, woken by child", NULL},
    {"stop", delay_stop, "stopped by a signal", NULL},
    {"hog", delay_hog, "preempted by child", NULL},
    {"disk", delay_disk, "asleep in pread64", &disk},
    {"page", delay_page, "asleep in a page fault", &disk},
    {"net", delay_net, "asleep in recvfrom, woken by NET_RX", &peer},
};

#define DELAYS (sizeof(delays) / sizeof(delays[0]))

static bool is_possible(size_t i)
{
	return !delays[i].needs || *delays[i].needs;
}

__attribute__((noinline, externally_visible)) uint64_t serve(uint64_t id);

uint64_t serve(uint64_t id)
{
	work(50);
	if (delays[id % 1000].wait && is_possible(id % 1000))
		delays[id % 1000].wait();
	return id;
}

static void serve_with(const char *how, FILE *out, uint64_t id)
{
	const int64_t begin = now_ns();

	if (!strcmp(how, "stamps"))
		kblat_begin(id);
	serve(id);
	if (!strcmp(how, "stamps"))
		kblat_end(id);
	if (out)
		fprintf(out, "%" PRId64 " %" PRId64 " %d %" PRIu64 "\n", begin, now_ns(), getpid(), id);
}

static void start_others(void)
{
	pthread_t thread;

	acted = mmap(NULL, sizeof(*acted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (acted == MAP_FAILED || pipe(ask_holder) || pipe(answer_holder) || pipe(ask_child) || pipe(answer_child))
		_exit(1);
	if (!fork()) {
		prctl(PR_SET_NAME, "child");
		close(ask_child[1]);
		serve_as_child();
	}
	close(ask_child[0]);
	pthread_create(&thread, NULL, hold, NULL);
}

static void open_disk(void)
{
	if (!disk)
		return;
	disk_fd = open(disk, O_RDONLY | O_CLOEXEC | O_DIRECT);
	mapped = mmap(NULL, FRESH, PROT_READ, MAP_SHARED, open(disk, O_RDONLY | O_CLOEXEC), 0);
	if (mapped == MAP_FAILED || madvise((void *)mapped, FRESH, MADV_RANDOM))
		_exit(1);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "stamps";
	FILE *out = strcmp(how, "stamps") && strcmp(how, "none") ? fopen(how, "we") : NULL;

	disk = getenv("TRACED_DISK");
	peer = getenv("TRACED_PEER");
	if (getenv("TRACED_DELAY_US"))
		delay_us = atoi(getenv("TRACED_DELAY_US"));
	if (argc > 1 && !strcmp(argv[1], "echo"))
		return echo();
	if (argc > 1 && !strcmp(argv[1], "delays")) {
		for (size_t i = 0; i < DELAYS; i++)
			printf("%s|%s\n", delays[i].name, is_possible(i) ? delays[i].cause : "");
		return 0;
	}
	start_others();
	old = malloc(FRESH);
	memset(old, 1, FRESH);
	open_disk();
	usleep(20000);
	for (int i = 1; argc > 1 && i <= atoi(argv[1]); i++) {
		serve_with(how, out, (uint64_t)i * 1000 + (i % 8 ? 0 : (uint64_t)(i / 8) % DELAYS));
		usleep(500);
	}
	if (out)
		fclose(out);
	close(ask_child[1]);
	wait(NULL);
	return 0;
}
