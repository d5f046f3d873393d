#include "tests/model/adapter.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <link.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "measure/instrument/clock.h"

#define PATH_SIZE 512
#define ROWS	  64
#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))

struct model_segment *model;
struct model_device model_devices[MODEL_DEVICES];
pid_t model_me;

static int device_count;
static const char *directory;

/* --- the script --- */

static struct {
	char call[32];
	int error, n, calls;
} failures[ROWS];

static struct {
	bool is_send;
	uint32_t n, status, vendor, size; /* size 0: any */
} statuses[ROWS];

static struct {
	uint32_t n, type, element;
} events[ROWS];

static int failure_count, status_count, event_count;
static uint64_t seed = 1;
static _Atomic uint32_t posts;

#define KEY(name, member, value)                                                                                       \
	{                                                                                                              \
		name, offsetof(struct model_device, member), value                                                     \
	}
static const struct {
	const char *name;
	size_t offset;
	int64_t usual;
} keys[] = {
    KEY("transport", transport, IBV_TRANSPORT_IB),
    KEY("link", link, IBV_LINK_LAYER_ETHERNET),
    KEY("state", state, IBV_PORT_ACTIVE),
    KEY("ports", ports, 1),
    KEY("mtu", mtu, IBV_MTU_4096),
    KEY("max_mtu", max_mtu, IBV_MTU_4096),
    KEY("path_mtu", path_mtu, IBV_MTU_4096), /* as the connection manager knows it */
    KEY("max_msg", max_msg, 1 << 30),
    KEY("lid", lid, 0),
    KEY("sm_lid", sm_lid, 0),
    KEY("speed", speed, 32),
    KEY("width", width, 2),
    KEY("max_qp_wr", max_qp_wr, 16384),
    KEY("max_cqe", max_cqe, 32768),
    KEY("max_sge", max_sge, 32),
    KEY("max_mr", max_mr, MODEL_MRS),
    KEY("max_srq", max_srq, 64),
    KEY("max_srq_wr", max_srq_wr, 16384),
    KEY("max_srq_sge", max_srq_sge, 32),
    KEY("max_mcast_qp_attach", max_mcast_qp_attach, 0),
    KEY("rd_atom", rd_atom, 16),
    KEY("init_rd_atom", init_rd_atom, 16),
    KEY("atomics", atomics, 1),
    KEY("inline", inlined, 512),
    KEY("stamp_bits", stamp_bits, 0),
    KEY("clock_hz", clock_hz, 156250000),
    KEY("clock_ppm", clock_ppm, 0),
    KEY("clock_offset", clock_offset, 0),
    KEY("core_khz", core_khz, 156250),
    KEY("clock_errno", clock_errno, 0),
    KEY("latency_ns", latency_ns, 0),
    KEY("ack_ns", ack_ns, 0),
    KEY("post_ns", post_ns, 0),
    KEY("silent_events", silent_events, 0),
    KEY("awake_ns", awake_ns, 0),
    KEY("reach_ns", reach_ns, 60),
    KEY("polled_writes", polled_writes, 0),
};

static void add_device(const char *name)
{
	struct model_device *d = &model_devices[device_count];

	for (size_t i = 0; i < COUNT(keys); i++)
		*(int64_t *)(void *)((char *)d + keys[i].offset) = keys[i].usual;
	d->base.node_type = IBV_NODE_CA;
	snprintf(d->base.name, sizeof(d->base.name), "%s", name);
	snprintf(d->base.dev_name, sizeof(d->base.dev_name), "uverbs%d", device_count++);
}

static bool set_key(struct model_device *d, const char *key, const char *value)
{
	for (size_t i = 0; i < COUNT(keys); i++)
		if (!strcmp(keys[i].name, key)) {
			*(int64_t *)(void *)((char *)d + keys[i].offset) = strtoll(value, NULL, 0);
			d->base.transport_type = (enum ibv_transport_type)d->transport;
			return true;
		}
	if (!strcmp(key, "netdev"))
		return snprintf(d->netdev, sizeof(d->netdev), "%s", value) > 0;
	return !strcmp(key, "gid") && d->gids < MODEL_GIDS && inet_pton(AF_INET6, value, d->gid[d->gids++].raw) == 1;
}

/* A script that cannot be read ends the process, because a test would pass for the wrong reason. */
static void read_line(char *line)
{
	char word[6][64] = {""};
	int n = sscanf(line, "%63s %63s %63s %63s %63s %63s", word[0], word[1], word[2], word[3], word[4], word[5]);
	const uint32_t second = (uint32_t)strtoul(word[2], NULL, 0), third = (uint32_t)strtoul(word[3], NULL, 0);
	bool good = n >= 2 && failure_count < ROWS && status_count < ROWS && event_count < ROWS;

	if (n <= 0 || word[0][0] == '#')
		return;
	if (good && !strcmp(word[0], "effect") && device_count &&
	    model_read_effect(&model_devices[device_count - 1], line)) {
		/* read */
	} else if (good && !strcmp(word[0], "seed")) {
		seed = strtoull(word[1], NULL, 0);
	} else if (good && !strcmp(word[0], "device") && device_count < MODEL_DEVICES) {
		add_device(word[1]);
	} else if (good && !strcmp(word[0], "fail")) {
		snprintf(failures[failure_count].call, sizeof(failures[0].call), "%.31s", word[1]);
		failures[failure_count].error = (int)second;
		failures[failure_count++].n = (int)third;
	} else if (good && !strcmp(word[0], "wc")) {
		statuses[status_count].is_send = !strcmp(word[1], "send");
		statuses[status_count].n = second;
		statuses[status_count].status = third;
		statuses[status_count].vendor = (uint32_t)strtoul(word[4], NULL, 0);
		statuses[status_count++].size = (uint32_t)strtoul(word[5], NULL, 0);
	} else if (good && !strcmp(word[0], "event")) {
		events[event_count].n = (uint32_t)strtoul(word[1], NULL, 0);
		events[event_count].type = second;
		events[event_count++].element = third;
	} else if (!good || !device_count || !set_key(&model_devices[device_count - 1], word[0], word[1])) {
		fprintf(stderr, "model of an adapter: its script says '%s', which means nothing\n", line);
		abort();
	}
}

static void read_script(void)
{
	char path[PATH_SIZE], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/script", directory);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		read_line(line);
	if (f)
		fclose(f);
	for (int i = 0; i < device_count; i++)
		if (!model_devices[i].gids && !model_devices[i].netdev[0] &&
		    model_devices[i].transport == IBV_TRANSPORT_IB)
			set_key(&model_devices[i], "gid", "::ffff:10.7.0.1");
}

bool model_fails(const char *call)
{
	for (int i = 0; i < failure_count; i++)
		if (!strcmp(failures[i].call, call) && (++failures[i].calls == failures[i].n || !failures[i].n)) {
			errno = failures[i].error;
			return true;
		}
	return false;
}

enum ibv_wc_status model_status(bool is_send, uint32_t n, uint32_t size, uint32_t *vendor)
{
	for (int i = 0; i < status_count; i++)
		if (statuses[i].is_send == is_send && statuses[i].n == n &&
		    (!statuses[i].size || statuses[i].size == size)) {
			*vendor = statuses[i].vendor;
			return (enum ibv_wc_status)statuses[i].status;
		}
	return IBV_WC_SUCCESS;
}

void model_count_post(void)
{
	const uint32_t n = atomic_fetch_add(&posts, 1) + 1;

	for (int i = 0; i < event_count; i++)
		if (events[i].n == n)
			model_report((int)events[i].type, events[i].element);
}

/* --- shared memory --- */

static double measure_rate(void)
{
	struct timespec t[2], pause = {0, 20000000};
	int64_t ticks[2];

	for (int i = 0; i < 2; i++) {
		clock_gettime(CLOCK_MONOTONIC_RAW, &t[i]);
		ticks[i] = clock_ticks_now();
		if (!i)
			nanosleep(&pause, NULL);
	}
	return (double)(ticks[1] - ticks[0]) /
	       ((double)(t[1].tv_sec - t[0].tv_sec) * 1e9 + (double)(t[1].tv_nsec - t[0].tv_nsec));
}

static int64_t measure_cost(void)
{
	int64_t least = INT64_MAX;

	for (int i = 0; i < 1000; i++) {
		const int64_t begin = clock_ticks_begin(), end = clock_ticks_begin();

		least = end - begin < least ? end - begin : least;
	}
	return least;
}

static void map_segment(void)
{
	char path[PATH_SIZE];
	int fd;

	snprintf(path, sizeof(path), "%s/segment", directory);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*model)))
		abort();
	model = mmap(NULL, sizeof(*model), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	close(fd);
	if (model == MAP_FAILED)
		abort();
	model_lock();
	if (!model->ready) {
		model->ticks_per_ns = measure_rate();
		model->clock_cost = measure_cost();
		model->used = 64; /* 0 is no offset */
		model->next_port = 20000;
		model->random = (seed + 1) * 0x9e3779b97f4a7c15ULL; /* never 0 */
		model->ready = 1;
	}
	model_unlock();
}

static void after_fork(void)
{
	model_me = getpid();
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	model_forget_window();
}

/* Read the code of this library, so that no first call of a function is a page fault while messages are timed. */
static int touch_code(struct dl_phdr_info *info, size_t size, void *unused)
{
	const uintptr_t here = (uintptr_t)model_start - info->dlpi_addr;

	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || here < p->p_vaddr || here >= p->p_vaddr + p->p_memsz)
			continue;
		for (size_t at = 0; at < p->p_memsz; at += 4096)
			(void)*(volatile const char *)(info->dlpi_addr + p->p_vaddr + at);
		return 1;
	}
	return 0;
}

static void start_once(void)
{
	directory = getenv("KBLAT_ADAPTER");
	if (!directory)
		return;
	model_me = getpid();
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* others write into this process' memory */
	pthread_atfork(NULL, NULL, after_fork);
	model_touch_memory();
	model_touch_queues();
	read_script();
	map_segment();
	dl_iterate_phdr(touch_code, NULL);
}

bool model_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start_once);
	return device_count > 0;
}

bool model_is_alive(pid_t owner)
{
	return owner && (owner == model_me || !kill(owner, 0) || errno != ESRCH);
}

/* Who was killed with the lock loses it. */
void model_lock(void)
{
	for (int tries = 1;; tries++) {
		pid_t nobody = 0;

		if (atomic_compare_exchange_weak(&model->lock, &nobody, model_me))
			return;
		cpu_relax();
		if (tries % 256)
			continue;
		sched_yield();
		if (nobody && !model_is_alive(nobody))
			atomic_compare_exchange_strong(&model->lock, &nobody, 0);
	}
}

void model_unlock(void)
{
	atomic_store(&model->lock, 0);
}

static bool is_unused(void)
{
	for (int i = 0; i < MODEL_CQS; i++)
		if (model_is_alive(model->cq[i].owner))
			return false;
	return true;
}

uint64_t model_take(size_t bytes)
{
	uint64_t at;

	if (is_unused())
		model->used = 64;
	at = model->used;
	bytes = (bytes + 63) & ~(size_t)63;
	if (at + bytes > MODEL_ARENA)
		return 0;
	model->used += bytes;
	memset(model_at(at), 0, bytes);
	return at;
}

/* Populating is not enough: where a hypervisor keeps page tables of its own, a process's first access to a page is slow. */
void model_touch_segment(void)
{
	_Atomic char *at = (_Atomic char *)model, *const arena = (_Atomic char *)model->arena;

	for (; at < arena; at += PAGE)
		atomic_fetch_or(at, 0); /* others may be writing */
}

/* --- clocks --- */

int64_t model_ticks(int64_t ns)
{
	return (int64_t)((double)ns * model->ticks_per_ns);
}

uint64_t model_stamp(const struct model_device *d, int64_t tick)
{
	const long double per_tick = (long double)d->clock_hz * (1 + (long double)d->clock_ppm / 1000000) /
				     ((long double)model->ticks_per_ns * 1e9L);
	const uint64_t all = (uint64_t)d->clock_offset + (uint64_t)((long double)tick * per_tick);

	return d->stamp_bits < 64 ? all & ((1ULL << d->stamp_bits) - 1) : all;
}

static int query_clock(struct ibv_context *context, struct ibv_values_ex *values)
{
	const struct model_device *d = model_context_of(context)->device;
	const uint64_t now = model_stamp(d, clock_ticks_now());

	if (d->clock_errno)
		return (int)d->clock_errno;
	values->raw_clock =
	    (struct timespec){.tv_sec = (time_t)(now / 1000000000), .tv_nsec = (long)(now % 1000000000)};
	values->comp_mask = model_fails("raw_clock") ? 0 : IBV_VALUES_MASK_RAW_CLOCK;
	return 0;
}

/* --- events --- */

int model_fifo(char *name, size_t size, const char *kind)
{
	char path[PATH_SIZE];

	snprintf(name, size, "%s.%u", kind, atomic_fetch_add(&model->fifos, 1));
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return mkfifo(path, 0600) ? -1 : open(path, O_RDWR | O_CLOEXEC);
}

void model_tell(const char *fifo, const void *message, size_t size)
{
	char path[PATH_SIZE];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, fifo);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && write(fd, message, size) < 0)
		fprintf(stderr, "model of an adapter: %s is full\n", path);
	if (fd >= 0)
		close(fd);
}

void model_report(int type, uint32_t element)
{
	const struct model_event event = {type, element};
	DIR *all = opendir(directory);
	struct dirent *entry;

	while (all && (entry = readdir(all)))
		if (!strncmp(entry->d_name, "async.", 6))
			model_tell(entry->d_name, &event, sizeof(event));
	if (all)
		closedir(all);
}

/* --- the interface below a device --- */

static int ask_interface(const struct model_device *d, unsigned long what, struct ifreq *answer)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc;

	*answer = (struct ifreq){0};
	snprintf(answer->ifr_name, sizeof(answer->ifr_name), "%s", d->netdev);
	rc = ioctl(fd, what, answer);
	close(fd);
	return rc;
}

static bool is_up(const struct model_device *d)
{
	struct ifreq answer;

	return !ask_interface(d, SIOCGIFFLAGS, &answer) && answer.ifr_flags & IFF_UP;
}

/* Its addresses in the order of Soft-RoCE: link-local, IPv4, other IPv6. */
static void read_addresses(struct model_device *d)
{
	struct ifaddrs *list;

	d->gids = 0;
	if (getifaddrs(&list))
		return;
	for (int kind = 0; kind < 3; kind++)
		for (const struct ifaddrs *a = list; a && d->gids < MODEL_GIDS; a = a->ifa_next) {
			const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)a->ifa_addr;
			const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)a->ifa_addr;

			if (!v6 || strcmp(a->ifa_name, d->netdev))
				continue;
			if (kind == 1 && v4->sin_family == AF_INET) {
				d->gid[d->gids] = (union ibv_gid){.raw = {[10] = 0xff, [11] = 0xff}};
				memcpy(d->gid[d->gids++].raw + 12, &v4->sin_addr, 4);
			} else if (v6->sin6_family == AF_INET6 &&
				   kind == (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr) ? 0 : 2)) {
				memcpy(d->gid[d->gids++].raw, &v6->sin6_addr, 16);
			}
		}
	freeifaddrs(list);
}

static atomic_bool was_up[MODEL_DEVICES];

static void read_interface(struct model_device *d)
{
	struct ifreq answer;

	if (!d->netdev[0])
		return;
	read_addresses(d);
	d->state = is_up(d) ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
	if (d->state == IBV_PORT_ACTIVE)
		was_up[d - model_devices] = true; /* it may go down before the watch has seen it */
	d->mtu = IBV_MTU_4096;
	while (!ask_interface(d, SIOCGIFMTU, &answer) && d->mtu > IBV_MTU_256 && (128 << d->mtu) + 100 > answer.ifr_mtu)
		d->mtu--;
}

/* Reports that the port is down. */
static void *watch_interfaces(void *unused)
{
	const struct timespec moment = {0, 10000000};

	for (;; nanosleep(&moment, NULL))
		for (int i = 0; i < device_count; i++) {
			const struct model_device *d = &model_devices[i];
			const bool up = d->netdev[0] && is_up(d);

			if (was_up[i] && !up)
				model_report(IBV_EVENT_PORT_ERR, 1);
			was_up[i] = up;
		}
	return unused;
}

static void start_watch(void)
{
	sigset_t all, old;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&thread, NULL, watch_interfaces, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* --- devices --- */

struct model_context *model_context_of(struct ibv_context *context)
{
	return (struct model_context *)(void *)((char *)context - offsetof(struct model_context, verbs.context));
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list;

	model_start();
	if (num_devices)
		*num_devices = device_count;
	if (model_fails("get_device_list"))
		return NULL;
	list = calloc(MODEL_DEVICES + 1, sizeof(struct ibv_device *));
	for (int i = 0; list && i < device_count; i++)
		list[i] = &model_devices[i].base;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

static int query_port(struct ibv_context *context, uint8_t number, struct ibv_port_attr *attr, size_t size)
{
	struct model_device *d = model_context_of(context)->device;

	read_interface(d);
	struct ibv_port_attr port = {
	    .state = (enum ibv_port_state)d->state,
	    .max_mtu = (enum ibv_mtu)d->max_mtu,
	    .active_mtu = (enum ibv_mtu)d->mtu,
	    .max_msg_sz = (uint32_t)d->max_msg,
	    .lid = (uint16_t)d->lid,
	    .sm_lid = (uint16_t)d->sm_lid,
	    .active_speed = (uint8_t)d->speed,
	    .active_width = (uint8_t)d->width,
	    .link_layer = (uint8_t)d->link,
	};

	if (number > d->ports || model_fails("query_port"))
		return EINVAL;
	memcpy(attr, &port, size < sizeof(port) ? size : sizeof(port));
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	const struct model_device *d = model_context_of(context)->device;

	if (model_fails("query_device"))
		return errno;
	*attr = (struct ibv_device_attr){
	    .fw_ver = "MODEL",
	    .phys_port_cnt = (uint8_t)d->ports,
	    .max_qp_wr = (int)d->max_qp_wr,
	    .max_cqe = (int)d->max_cqe,
	    .max_sge = (int)d->max_sge,
	    .max_mr = (int)d->max_mr,
	    .max_srq = (int)d->max_srq,
	    .max_srq_wr = (int)d->max_srq_wr,
	    .max_srq_sge = (int)d->max_srq_sge,
	    .max_mcast_qp_attach = (int)d->max_mcast_qp_attach,
	    .max_qp_rd_atom = (int)d->rd_atom,
	    .max_qp_init_rd_atom = (int)d->init_rd_atom,
	    .atomic_cap = d->atomics ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE,
	};
	return 0;
}

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	const struct model_device *d = model_context_of(context)->device;

	(void)input;
	memset(attr, 0, size);
	attr->completion_timestamp_mask = d->stamp_bits < 64 ? (1ULL << d->stamp_bits) - 1 : UINT64_MAX;
	attr->hca_core_clock = (uint64_t)d->core_khz;
	return ibv_query_device(context, &attr->orig_attr);
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t most, uint32_t flags,
			     size_t size)
{
	const struct model_device *d = model_context_of(context)->device;
	ssize_t n = 0;

	(void)flags;
	(void)size;
	for (uint32_t port = 1; port <= (uint32_t)d->ports; port++)
		for (int i = 0; i < d->gids && (size_t)n < most; i++)
			entries[n++] = (struct ibv_gid_entry){
			    .gid = d->gid[i],
			    .gid_index = (uint32_t)i,
			    .port_num = port,
			    .ndev_ifindex = d->netdev[0] ? if_nametoindex(d->netdev) : 0,
			    .gid_type = d->link == IBV_LINK_LAYER_ETHERNET ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_IB,
			};
	return n;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t size)
{
	struct ibv_gid_entry all[MODEL_GIDS * 2];
	const struct model_device *d = model_context_of(context)->device;

	(void)flags;
	if (!port || port > (uint32_t)d->ports || index >= (uint32_t)d->gids ||
	    _ibv_query_gid_table(context, all, MODEL_GIDS, 0, sizeof(all[0])) <= (ssize_t)index)
		return ENODATA;
	all[index].port_num = port;
	memcpy(entry, &all[index], size < sizeof(*entry) ? size : sizeof(*entry));
	return 0;
}

/* Tables have more entries than are used; those are zero. */
int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	struct ibv_gid_entry entry = {.gid_index = 0};

	if (index < 0 || index > 255)
		return -1;
	_ibv_query_gid_ex(context, port, (uint32_t)index, &entry, 0, sizeof(entry));
	*gid = entry.gid;
	return 0;
}

int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned index, unsigned *type)
{
	(void)port;
	(void)index;
	*type = model_context_of(context)->device->link == IBV_LINK_LAYER_ETHERNET ? 1 : 0; /* RoCE v2 */
	return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *key)
{
	(void)context;
	(void)port;
	*key = index ? 0 : 0xffff;
	return 0;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp;
	(void)gid;
	(void)lid;
	return EOPNOTSUPP;
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return ibv_attach_mcast(qp, gid, lid);
}

int ibv_close_device(struct ibv_context *context)
{
	struct model_context *c = model_context_of(context);
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/%s", directory, c->fifo);
	unlink(path);
	if (context->async_fd != c->events_fd)
		close(context->async_fd);
	close(c->events_fd);
	free(c);
	return 0;
}

/* Those of adapter_queues.c. */
extern const struct ibv_context_ops model_operations;
struct ibv_cq_ex *model_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
struct ibv_qp *model_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	static pthread_once_t watched = PTHREAD_ONCE_INIT;
	struct model_context *c;

	if (model_fails("open_device"))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	read_interface((struct model_device *)(void *)device);
	if (((struct model_device *)(void *)device)->netdev[0])
		pthread_once(&watched, start_watch);
	c->device = (struct model_device *)(void *)device;
	c->verbs = (struct verbs_context){
	    .query_port = query_port,
	    .query_rt_values = query_clock,
	    .create_cq_ex = model_create_cq_ex,
	    .create_qp_ex = model_create_qp_ex,
	    .query_device_ex = query_device_ex,
	    .sz = sizeof(c->verbs),
	    .context = {.device = device,
			.ops = model_operations,
			.num_comp_vectors = 1,
			.abi_compat = (void *)UINTPTR_MAX},
	};
	c->events_fd = model_fifo(c->fifo, sizeof(c->fifo), "async");
	c->verbs.context.async_fd = c->events_fd;
	if (c->device->silent_events) {
		fcntl(c->events_fd, F_SETFL, O_NONBLOCK);
		c->verbs.context.async_fd = eventfd(0, EFD_CLOEXEC);
	}
	return &c->verbs.context;
}

/* --- files below /sys/class/infiniband: those of the directory, with counters as they are now --- */

static const char *in_model(const char *path, char *buf, size_t size)
{
	static const char below[] = "sys/class/infiniband";
	const char *at = path + strspn(path, "/");

	if (strncmp(at, below, sizeof(below) - 1) || !getenv("KBLAT_ADAPTER") || !model_start())
		return NULL;
	snprintf(buf, size, "%s/%s", directory, at);
	return buf;
}

/* Everything that is sent is received, on the same port. */
static void write_counters(const char *path)
{
	const uint64_t values[] = {model->packets, model->packets, model->bytes / 4, model->bytes / 4};
	static const char *const names[] = {"sent_pkts", "rcvd_pkts", "port_xmit_data", "port_rcv_data"};
	const char *end = strstr(path, "hw_counters");
	char file[PATH_SIZE * 2];

	for (size_t i = 0; end && i < COUNT(names); i++) {
		FILE *f;

		snprintf(file, sizeof(file), "%.*s/%s", (int)(end - path) + 11, path, names[i]);
		f = access(file, W_OK) ? NULL : fopen(file, "re+");
		if (f) {
			fprintf(f, "%llu\n", (unsigned long long)values[i]);
			fclose(f);
		}
	}
}

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

int openat(int at, const char *path, int flags, ...)
{
	char here[PATH_SIZE * 2];
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	if (in_model(path, here, sizeof(here))) {
		write_counters(here);
		path = here;
	}
	return NEXT(openat)(at, path, flags, mode);
}

int fstatat(int at, const char *path, struct stat *st, int flags)
{
	char here[PATH_SIZE * 2];

	return NEXT(fstatat)(at, in_model(path, here, sizeof(here)) ? here : path, st, flags);
}

ssize_t readlinkat(int at, const char *path, char *buf, size_t size)
{
	char here[PATH_SIZE * 2];

	return NEXT(readlinkat)(at, in_model(path, here, sizeof(here)) ? here : path, buf, size);
}
