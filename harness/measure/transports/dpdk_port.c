/*
 * The EAL, and the port of a side. The EAL lives in the endpoint's process and ends with it: no file, no directory, no
 * socket of telemetry, no handler of a signal; its words are kept for messages instead of being printed.
 */
#include "measure/transports/dpdk.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/card_drivers.h"
#include "common/err.h"
#include "common/file_users.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "common/text.h"

#define WORDS_MAX      1024
#define OWN_BYTES      (48 << 20) /* of the EAL and its drivers */
#define ROOM_LEAST     2048	  /* of a buffer, which drivers expect */
#define BUFFER_OWN     512	  /* of a mempool and a driver for each buffer, beside its room */
#define PAGE_BYTES     4096	  /* which no buffer that is smaller crosses */
#define RINGS_OF_MEMIF 14	  /* at most 2 to this power of descriptors */
#define PATH_BYTES     (OPT_STR_MAX + 64)
#define LINK_MS	       (TOKEN_PATIENCE_MS - 2000) /* sooner than the other side gives up, which does not know why */

struct dpdk_functions dpdk_library;
static const char *const function_names[] = {DPDK_FUNCTIONS(LOADED_NAME) NULL};

/* --- what the EAL says --- */

static pthread_mutex_t words_mutex = PTHREAD_MUTEX_INITIALIZER;
static char words[WORDS_MAX];
static size_t words_size;

static ssize_t keep_words(void *cookie, const char *text, size_t size)
{
	(void)cookie;
	pthread_mutex_lock(&words_mutex);
	for (size_t i = 0; i < size && words_size < sizeof(words) - 1; i++)
		words[words_size++] = text[i];
	words[words_size] = '\0';
	pthread_mutex_unlock(&words_mutex);
	return (ssize_t)size;
}

static void forget_words(void)
{
	pthread_mutex_lock(&words_mutex);
	words_size = 0;
	words[0] = '\0';
	pthread_mutex_unlock(&words_mutex);
}

/* Has this line been said before? */
static bool is_repeated(const char *said, const char *line, size_t length)
{
	for (const char *at = said; (at = strstr(at, "; ")) != NULL; at += 2)
		if (!strncmp(at + 2, line, length))
			return true;
	return !strncmp(said, line, length);
}

/* What it has said since the last time: its lines, each once, or `otherwise`. */
static const char *take_words(const char *otherwise, char *buf, size_t size)
{
	char said[WORDS_MAX], clean[WORDS_MAX] = "", *rest = NULL;
	size_t used = 0;

	pthread_mutex_lock(&words_mutex);
	memcpy(said, words, sizeof(said));
	pthread_mutex_unlock(&words_mutex);
	forget_words();
	for (char *line = strtok_r(said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *text = line + strspn(line, " \t");

		if (!*text || is_repeated(clean, text, strlen(text)) || used + strlen(text) + 3 > sizeof(clean))
			continue;
		used += (size_t)sprintf(clean + used, "%s%s", used ? "; " : "", text);
	}
	if (!used)
		return otherwise;
	return text_clean(clean, used, buf, size);
}

/* --- is the card there, and handed over? --- */

bool dpdk_port_is_pci(const char *text)
{
	const size_t length = strcspn(text, ",");
	char address[16];
	unsigned d, b, s, f;
	int end = 0;

	if (length >= sizeof(address))
		return false;
	memcpy(address, text, length);
	address[length] = '\0';
	if (sscanf(address, "%4x:%2x:%2x.%1x%n", &d, &b, &s, &f, &end) == 4 && (size_t)end == length)
		return true;
	end = 0;
	return sscanf(address, "%2x:%2x.%1x%n", &b, &s, &f, &end) == 3 && (size_t)end == length;
}

/* "0000:00:06.0" of "00:06.0,argument=1". */
static void name_card(const char *text, char *name, size_t size)
{
	const int length = (int)strcspn(text, ",");
	const char *address = text;
	size_t colons = 0;

	for (int i = 0; i < length; i++)
		colons += text[i] == ':';
	snprintf(name, size, "%s%.*s", colons < 2 ? "0000:" : "", length, address);
	for (char *c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
}

/* The last component of a link of the card, "driver" or "iommu_group"; false: there is none. */
static bool read_link(const char *card, const char *link, char *name, size_t size)
{
	char path[PATH_BYTES], target[256];
	ssize_t length;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", card, link);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return false;
	target[length] = '\0';
	snprintf(name, size, "%.31s", strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
	return true;
}

/* The file by which programs use a card that is bound to vfio-pci; false: it has none. */
static bool find_group_file(const struct dpdk_port *p, char path[64])
{
	char group[32];

	if (!read_link(p->name, "iommu_group", group, sizeof(group)))
		return false;
	snprintf(path, 64, "/dev/vfio/%s", group);
	return true;
}

/* Without an IOMMU, the EAL says what is missing. */
static int check_vfio(const struct dpdk_port *p, struct err *e)
{
	char path[64];

	if (!find_group_file(p, path) || !access(path, R_OK | W_OK))
		return 0;
	return err_set(e, -EACCES, STATUS_IMPOSSIBLE, p->object, "open its IOMMU group",
		       "%s: %s; run as root, or give this user the rights to that file", path, strerror(errno));
}

/* With uio, a card reads and writes physical addresses, which only root may learn and only huge pages keep. */
static int check_uio(const struct dpdk_port *p, bool huge, const char *driver, struct err *e)
{
	if (geteuid())
		return err_set(e, -EPERM, STATUS_IMPOSSIBLE, p->object, NULL,
			       "only root can use a card that is bound to %s; vfio-pci also works for other users",
			       driver);
	if (!huge)
		return err_set(
		    e, -EINVAL, STATUS_IMPOSSIBLE, p->object, NULL,
		    "a card that is bound to %s uses physical addresses: set huge: yes, or bind it to vfio-pci",
		    driver);
	return 0;
}

/* No other kblat may use the card: the lock goes with this process. */
static int take_card(const struct dpdk_port *p, struct err *e)
{
	char path[PATH_BYTES];
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", p->name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, -errno, p->object, "look for");
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return 0; /* kept open until the process ends */
	close(fd);
	return err_set(e, -EBUSY, STATUS_FAILED, p->object, NULL,
		       "another side of a point uses this card; each side needs its own");
}

static bool find_uio_file(const struct dpdk_port *p, char path[64])
{
	char pattern[PATH_BYTES];
	glob_t uio;

	snprintf(pattern, sizeof(pattern), "/sys/bus/pci/devices/%s/uio/uio*", p->name);
	if (glob(pattern, 0, NULL, &uio))
		return false;
	snprintf(path, 64, "/dev/%.32s", strrchr(uio.gl_pathv[0], '/') + 1);
	globfree(&uio);
	return true;
}

/* With uio nothing keeps two programs from driving a card; with vfio-pci the kernel does, but does not say which other it is. */
static int check_programs(const struct dpdk_port *p, struct err *e)
{
	char path[64], name[FILE_USER_MAX];
	const char *const files[] = {path, NULL};
	struct sysroot root;
	int pid, rc;

	if (!find_uio_file(p, path) && !find_group_file(p, path))
		return 0;
	rc = sysroot_open(&root, NULL, e);
	if (rc)
		return rc;
	pid = file_users_first(&root, files, name);
	sysroot_close(&root);
	if (!pid)
		return 0;
	return err_set(e, -EBUSY, STATUS_FAILED, p->object, NULL, "the program %s (process %d) uses this card already",
		       text_named(name), pid);
}

/* vfio-pci needs an IOMMU. */
static const char *option_to_bind(const struct dpdk_port *p)
{
	char path[64];

	return find_group_file(p, path) ? "" : " --driver " DRIVER_UIO;
}

static int check_card(const struct dpdk *t, struct err *e)
{
	const struct dpdk_port *p = &t->port;
	char path[PATH_BYTES], driver[32];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", p->name);
	if (access(path, F_OK))
		return err_set(e, -ENODEV, STATUS_IMPOSSIBLE, p->object, NULL,
			       "no PCI device here has this address; `lspci -D` lists them");
	if (!read_link(p->name, "driver", driver, sizeof(driver)))
		return err_set(e, -ENODEV, STATUS_IMPOSSIBLE, p->object, NULL,
			       "the card is bound to no driver; `kbtune card bind %s%s` hands it over", p->name,
			       option_to_bind(p));
	if (!strcmp(driver, DRIVER_VFIO))
		return check_vfio(p, e);
	if (!strcmp(driver, DRIVER_UIO) || !strcmp(driver, DRIVER_UIO_OF_DPDK))
		return check_uio(p, t->settings.huge, driver, e);
	if (card_driver_shares(driver))
		return 0;
	return err_set(e, -EBUSY, STATUS_IMPOSSIBLE, p->object, NULL,
		       "the card is bound to the kernel's driver %s; `kbtune card bind %s%s` hands it over, and its "
		       "network interface is gone meanwhile",
		       driver, p->name, option_to_bind(p));
}

/* --- the EAL --- */

static int64_t ceiling(int64_t n)
{
	return transport_ring_slots(n);
}

/* Buffers to receive into; one less than a power of two fits mempools best. Each thread's cache keeps half as many again. */
static uint32_t received_buffers(const struct dpdk_settings *s)
{
	if (s->mempool)
		return (uint32_t)s->mempool;
	return (uint32_t)ceiling((s->queue + 1) * s->descriptors + s->rx_burst + 3 * s->cache + 64) - 1;
}

/* The oldest of so many frames has always left, whatever the driver keeps. */
static uint32_t sent_buffers(int64_t descriptors, int64_t batch)
{
	return (uint32_t)ceiling(descriptors + batch + 64);
}

static uint32_t room_of(const struct dpdk *t)
{
	const uint32_t room = RTE_ALIGN_CEIL(t->out_length + DPDK_SHIFT, RTE_CACHE_LINE_SIZE);

	return room < ROOM_LEAST ? ROOM_LEAST : room;
}

static int64_t memory_mb(const struct dpdk *t)
{
	const int64_t buffers =
	    (int64_t)received_buffers(&t->settings) + sent_buffers(t->settings.descriptors, t->batch);

	const int64_t buffer = RTE_ALIGN_CEIL(room_of(t) + RTE_PKTMBUF_HEADROOM + BUFFER_OWN, PAGE_BYTES);

	return (buffers * buffer + OWN_BYTES) >> 20;
}

static int64_t free_huge_pages(void)
{
	static const char all[] = "/sys/kernel/mm/hugepages";
	DIR *dir = opendir(all);
	int64_t pages = 0;
	char path[320];

	for (const struct dirent *d; dir && (d = readdir(dir)) != NULL;) {
		long long n = 0;
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s/free_hugepages", all, d->d_name);
		f = fopen(path, "re");
		if (f && fscanf(f, "%lld", &n) == 1)
			pages += n;
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return pages;
}

/* A CPU that this process may use: that of the side, if it has one. */
static int choose_cpu(int cpu, const cpu_set_t *allowed)
{
	if (cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET((unsigned)cpu, allowed))
		return cpu;
	for (cpu = 0; cpu < CPU_SETSIZE - 1 && !CPU_ISSET((unsigned)cpu, allowed); cpu++)
		;
	return cpu;
}

/* The directory that the EAL would make for files is one that cannot be made; it needs none. Its threads get no signal, and
 * run on other CPUs than the side's, if there are some. */
static int eal_init(int argc, char **argv, const cpu_set_t *allowed)
{
	const char *before = getenv("RUNTIME_DIRECTORY");
	char *kept = before ? or_abort(strdup(before)) : NULL;
	sigset_t all, mask;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	setenv("RUNTIME_DIRECTORY", "/dev/null", 1);
	rc = dpdk_library.eal_init(argc, argv);
	if (kept)
		setenv("RUNTIME_DIRECTORY", kept, 1);
	else
		unsetenv("RUNTIME_DIRECTORY");
	free(kept);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	sched_setaffinity(0, sizeof(*allowed), allowed);
	return rc;
}

static int start_eal(const struct dpdk *t, const char *card, int64_t memory, int cpu, struct err *e)
{
	static const cookie_io_functions_t keeper = {.write = keep_words};
	static bool is_up;
	char megabytes[24], lcore[32], said[WORDS_MAX];
	const char *argv[16] = {"kblat", "--no-telemetry", "--log-level", "4", "--lcores", lcore};
	int argc = 6, rc;
	cpu_set_t allowed;
	FILE *log;

	if (is_up)
		return 0;
	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	snprintf(lcore, sizeof(lcore), "0@%d", choose_cpu(cpu, &allowed));
	snprintf(megabytes, sizeof(megabytes), "%lld", (long long)memory);
	if (t->settings.huge)
		argv[argc++] = "--in-memory";
	else
		for (size_t i = 0; i < 4; i++)
			argv[argc++] = (const char *[]){"--no-huge", "--no-shconf", "-m", megabytes}[i];
	argv[argc++] = card ? "-a" : "--no-pci";
	if (card)
		argv[argc++] = card;
	log = fopencookie(NULL, "w", keeper);
	if (log)
		setvbuf(log, NULL, _IONBF, 0);
	dpdk_library.openlog_stream(log);
	rc = eal_init(argc, (char **)argv, &allowed);
	if (rc < 0)
		return err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, "dpdk", "start the EAL", "%s",
			       take_words("it gives no reason", said, sizeof(said)));
	is_up = true;
	return 0;
}

int dpdk_port_begin(struct dpdk *t, const char *text, int cpu, struct err *e)
{
	struct dpdk_port *p = &t->port;
	const bool is_card = dpdk_port_is_pci(text);
	int rc;

	p->is_own_memif = !strcmp(text, DPDK_MEMIF);
	if (is_card)
		name_card(text, p->name, sizeof(p->name));
	else
		snprintf(p->name, sizeof(p->name), "%.*s", (int)strcspn(text, ","), text);
	snprintf(p->object, sizeof(p->object), "dpdk %s", p->name);
	rc = loaded_library_open("dpdk", function_names, &dpdk_library, e);
	if (!rc && is_card)
		rc = check_card(t, e);
	if (!rc && is_card)
		rc = take_card(p, e);
	if (!rc && is_card)
		rc = check_programs(p, e);
	if (!rc && t->settings.huge && !free_huge_pages())
		rc = err_set(
		    e, -ENOMEM, STATUS_IMPOSSIBLE, p->object, NULL,
		    "huge: yes, and no huge page is free; `sysctl vm.nr_hugepages=128` reserves some, as kbtune's "
		    "knob huge_pages does");
	return rc ? rc : start_eal(t, is_card ? text : NULL, memory_mb(t), cpu, e);
}

/* --- the port --- */

/* What joins both sides: the sink listens at a socket without a file, as is the driver's default, whose name and secret the source
 * is told. DPDK 24.11 refuses what is longer than 127 bytes with the name of the port. */
static void describe_memif(const struct dpdk *t, char *arguments, size_t size)
{
	const struct token *token = t->role == ROLE_SINK ? &t->own.token : &t->peer.token;
	char secret[TOKEN_TEXT];
	int power = 0;

	while (power < RINGS_OF_MEMIF && 1 << power < t->settings.descriptors)
		power++;
	token_text(token, secret);
	snprintf(arguments, size, "role=%s,socket=%s,secret=%.24s,rsize=%d,bsize=%u",
		 t->role == ROLE_SINK ? "server" : "client", t->rendezvous, secret + 8, power, room_of(t));
}

static int add_virtual(struct dpdk *t, const char *arguments, struct err *e)
{
	struct dpdk_port *p = &t->port;
	char said[WORDS_MAX];
	int rc;

	forget_words();
	rc = dpdk_library.eal_hotplug_add("vdev", p->name, arguments);
	if (!rc)
		rc = dpdk_library.eth_dev_get_port_by_name(p->name, &p->id);
	if (!rc)
		return 0;
	return err_set(e, rc, STATUS_IMPOSSIBLE, p->object, "make the port",
		       "%s; a port is \"" DPDK_MEMIF
		       "\", a PCI address, or a driver of DPDK's with its arguments, such as "
		       "net_af_packet0,iface=eth0 (package librte-meta-net)",
		       take_words("the EAL gives no reason", said, sizeof(said)));
}

/* The EAL starts without a card that it cannot have, and says why at its start. vfio-pci locks all memory of the EAL. */
static int not_taken(const struct dpdk *t, struct err *e)
{
	const struct dpdk_port *p = &t->port;
	const size_t bytes = (size_t)memory_mb(t) << 20;
	char path[64], said[WORDS_MAX];
	struct rlimit limit;

	if (find_group_file(p, path) && geteuid() && !getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur < bytes)
		return transport_memlock_too_low(p->object, "make the port", bytes,
						 "smaller `mempool` or `descriptors`", e);
	return err_set(e, -ENODEV, STATUS_IMPOSSIBLE, p->object, "make the port",
		       "no driver of DPDK here has taken this card: %s",
		       take_words("the package librte-meta-net has all of them", said, sizeof(said)));
}

static int find_port(struct dpdk *t, const char *text, struct err *e)
{
	static unsigned made; /* in one process there are several in tests only */
	struct dpdk_port *p = &t->port;
	char arguments[OPT_STR_MAX + 128] = "";

	if (p->is_own_memif) {
		describe_memif(t, arguments, sizeof(arguments));
		snprintf(p->name, sizeof(p->name), "net_memif%u", made++);
		return add_virtual(t, arguments, e);
	}
	if (!dpdk_port_is_pci(text)) {
		if (text[strcspn(text, ",")])
			snprintf(arguments, sizeof(arguments), "%s", text + strcspn(text, ",") + 1);
		return add_virtual(t, arguments, e);
	}
	if (dpdk_library.eth_dev_get_port_by_name(p->name, &p->id))
		return not_taken(t, e);
	forget_words();
	return 0;
}

static int refused(const struct dpdk_port *p, int rc, const char *operation, struct err *e)
{
	char said[WORDS_MAX], cause[128];

	return err_set(e, rc, STATUS_FAILED, p->object, operation, "%s",
		       take_words(err_cause(rc, cause, sizeof(cause)), said, sizeof(said)));
}

static int too_large(const struct dpdk *t, unsigned granted, struct err *e)
{
	return err_set(e, -EMSGSIZE, STATUS_IMPOSSIBLE, t->port.object, NULL,
		       "messages of this size need an MTU of %u, and that of the port is %u",
		       t->out_length - RTE_ETHER_HDR_LEN, granted);
}

/* As rte_eth_dev_configure() computes it. */
static unsigned most_mtu(const struct rte_eth_dev_info *info)
{
	const unsigned most = info->max_mtu ? info->max_mtu : UINT16_MAX;
	const unsigned overhead = most != UINT16_MAX && info->max_rx_pktlen > most
				      ? info->max_rx_pktlen - most
				      : RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;

	return info->max_rx_pktlen > overhead && info->max_rx_pktlen - overhead < most ? info->max_rx_pktlen - overhead
										       : most;
}

static int configure(struct dpdk *t, struct err *e)
{
	struct dpdk_port *p = &t->port;
	const uint16_t queues = (uint16_t)(t->settings.queue + 1);
	const unsigned mtu = t->out_length - RTE_ETHER_HDR_LEN;
	struct rte_eth_conf conf = {.rxmode = {.mtu = mtu > RTE_ETHER_MTU ? mtu : 0}};
	struct rte_eth_dev_info info;
	int rc = dpdk_library.eth_dev_info_get(p->id, &info);

	if (rc)
		return refused(p, rc, "ask for its properties", e);
	snprintf(p->driver, sizeof(p->driver), "%s", info.driver_name ? info.driver_name : "");
	p->interface = info.if_index;
	if (mtu > most_mtu(&info))
		return too_large(t, most_mtu(&info), e);
	if (queues > info.max_rx_queues || queues > info.max_tx_queues)
		return err_set(e, -EINVAL, STATUS_IMPOSSIBLE, p->object, NULL,
			       "the port has no queue %lld: it receives from %u, and sends from %u",
			       (long long)t->settings.queue, info.max_rx_queues, info.max_tx_queues);
	rc = dpdk_library.eth_dev_configure(p->id, queues, queues, &conf);
	if (rc)
		return refused(p, rc, "configure", e);
	p->is_configured = true;
	p->queue = (uint16_t)t->settings.queue;
	p->rx_descriptors = p->tx_descriptors = (uint16_t)t->settings.descriptors;
	rc = dpdk_library.eth_dev_adjust_nb_rx_tx_desc(p->id, &p->rx_descriptors, &p->tx_descriptors);
	return rc ? refused(p, rc, "choose the number of descriptors", e) : 0;
}

static int make_pool(const struct dpdk *t, const char *name, uint32_t buffers, int64_t cache, struct rte_mempool **out,
		     struct err *e)
{
	const uint16_t room = (uint16_t)(room_of(t) + RTE_PKTMBUF_HEADROOM);
	char said[WORDS_MAX], full[RTE_MEMPOOL_NAMESIZE], cause[128];

	snprintf(full, sizeof(full), "%s%u", name, t->port.id);
	*out = dpdk_library.pktmbuf_pool_create(full, buffers, (unsigned)cache, 0, room, SOCKET_ID_ANY);
	if (*out)
		return 0;
	err_cause(-*dpdk_library._rte_errno, cause, sizeof(cause));
	return err_set(e, -ENOMEM, STATUS_FAILED, t->port.object, "make a mempool",
		       "%u buffers of %u bytes: %s; choose smaller `mempool` or `descriptors`%s", buffers, room,
		       take_words(cause, said, sizeof(said)), t->settings.huge ? ", or reserve more huge pages" : "");
}

struct collection {
	struct rte_mbuf **out;
	uint32_t count;
};

/* Nobody takes these from their mempool: the sender has them all, and a driver that is done with one leaves it at that. */
static void collect(struct rte_mempool *pool, void *argument, void *object, unsigned index)
{
	struct collection *c = argument;
	struct rte_mbuf *m = object;

	(void)pool, (void)index;
	m->data_off = RTE_PKTMBUF_HEADROOM + DPDK_SHIFT;
	c->out[c->count++] = m;
}

static int make_pools(struct dpdk *t, struct err *e)
{
	struct dpdk_port *p = &t->port;
	const uint32_t slots = sent_buffers(p->tx_descriptors, t->batch);
	struct collection all = {.out = or_abort(calloc(slots, sizeof(*all.out)))};
	int rc;

	p->buffers = received_buffers(&t->settings);
	rc = make_pool(t, "kblat-in-", p->buffers, t->settings.cache, &p->receiving, e);

	t->out = all.out;
	t->mask = slots - 1;
	if (!rc)
		rc = make_pool(t, "kblat-out-", slots, 0, &p->sending, e);
	if (!rc)
		dpdk_library.mempool_obj_iter(p->sending, collect, &all);
	return rc;
}

static int set_up_queues(struct dpdk *t, struct err *e)
{
	struct dpdk_port *p = &t->port;
	int rc = 0;

	for (uint16_t q = 0; !rc && q <= p->queue; q++)
		rc = dpdk_library.eth_rx_queue_setup(p->id, q, p->rx_descriptors, SOCKET_ID_ANY, NULL, p->receiving);
	if (rc)
		return refused(p, rc, "set up a queue to receive from", e);
	for (uint16_t q = 0; !rc && q <= p->queue; q++)
		rc = dpdk_library.eth_tx_queue_setup(p->id, q, p->tx_descriptors, SOCKET_ID_ANY, NULL);
	return rc ? refused(p, rc, "set up a queue to send from", e) : 0;
}

static int start_port(struct dpdk *t, struct err *e)
{
	struct dpdk_port *p = &t->port;
	struct rte_ether_addr mac;
	const struct rte_eth_fp_ops *fast;
	int rc = dpdk_library.eth_dev_start(p->id);

	if (rc)
		return refused(p, rc, "start", e);
	p->is_started = true;
	if (dpdk_library.eth_dev_get_mtu(p->id, &p->mtu))
		p->mtu = RTE_ETHER_MTU;
	if (t->out_length - RTE_ETHER_HDR_LEN > p->mtu)
		return too_large(t, p->mtu, e);
	dpdk_library.eth_macaddr_get(p->id, &mac);
	memcpy(t->own.mac, mac.addr_bytes, sizeof(t->own.mac));
	fast = &(*dpdk_library.eth_fp_ops)[p->id];
	t->rx_burst = fast->rx_pkt_burst;
	t->tx_burst = fast->tx_pkt_burst;
	t->rx_queue = fast->rxq.data[p->queue];
	t->tx_queue = fast->txq.data[p->queue];
	return 0;
}

int dpdk_port_open(struct dpdk *t, const char *text, struct err *e)
{
	int rc = find_port(t, text, e);

	if (!rc)
		rc = configure(t, e);
	if (!rc)
		rc = make_pools(t, e);
	if (!rc)
		rc = set_up_queues(t, e);
	return rc ? rc : start_port(t, e);
}

/* af_packet calls every link up. */
static bool is_running(unsigned interface)
{
	struct ifreq request = {0};
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool running = false;

	if (fd < 0)
		return true;
	if (if_indextoname(interface, request.ifr_name) && !ioctl(fd, SIOCGIFFLAGS, &request))
		running = (request.ifr_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
	close(fd);
	return running;
}

bool dpdk_port_has_link(const struct dpdk *t)
{
	struct rte_eth_link link = {.link_status = RTE_ETH_LINK_DOWN};

	if (t->port.interface && !is_running(t->port.interface))
		return false;
	return !dpdk_library.eth_link_get_nowait(t->port.id, &link) && link.link_status == RTE_ETH_LINK_UP;
}

int dpdk_port_await_link(const struct dpdk *t, struct err *e)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	const int64_t deadline_ms = monotonic_ms() + LINK_MS;
	char said[WORDS_MAX];

	while (!dpdk_port_has_link(t)) {
		if (monotonic_ms() > deadline_ms)
			return err_set(e, -ENETDOWN, STATUS_FAILED, t->port.object, NULL,
				       "the port has had no link for %d s%s", LINK_MS / 1000,
				       take_words(t->port.is_own_memif
						      ? "; memif joins two sides on one host and in one network "
							"namespace: name a port for "
							"each"
						      : "; is its cable plugged in, and the other side's port started?",
						  said, sizeof(said)));
		nanosleep(&moment, NULL);
	}
	return 0;
}

void dpdk_port_close(struct dpdk *t)
{
	struct dpdk_port *p = &t->port;

	if (p->is_started)
		dpdk_library.eth_dev_stop(p->id);
	if (p->is_configured)
		dpdk_library.eth_dev_close(p->id);
	if (p->receiving)
		dpdk_library.mempool_free(p->receiving);
	if (p->sending)
		dpdk_library.mempool_free(p->sending);
	free(t->out);
}

/* --- its counters --- */

static void count_extended(const struct dpdk *t, json_t *counters)
{
	const int n = dpdk_library.eth_xstats_get_names(t->port.id, NULL, 0);
	struct rte_eth_xstat_name *names = or_abort(calloc((size_t)(n > 0 ? n : 1), sizeof(*names)));
	struct rte_eth_xstat *values = or_abort(calloc((size_t)(n > 0 ? n : 1), sizeof(*values)));

	if (n > 0 && dpdk_library.eth_xstats_get_names(t->port.id, names, (unsigned)n) == n &&
	    dpdk_library.eth_xstats_get(t->port.id, values, (unsigned)n) == n)
		for (int i = 0; i < n; i++) {
			char key[sizeof(names[i].name) + 1];

			text_clean(names[i].name, strnlen(names[i].name, sizeof(names[i].name)), key, sizeof(key));
			if (!json_object_get(counters, key))
				json_object_set_new(counters, key, json_integer((json_int_t)values[i].value));
		}
	free(names);
	free(values);
}

void dpdk_port_count(const struct dpdk *t, json_t *counters)
{
	struct rte_eth_stats s = {0};

	if (!t->port.is_started || dpdk_library.eth_stats_get(t->port.id, &s))
		return;
	const struct {
		const char *key;
		uint64_t count;
	} rows[] = {{"ipackets", s.ipackets}, {"opackets", s.opackets}, {"imissed", s.imissed},
		    {"ierrors", s.ierrors},   {"oerrors", s.oerrors},	{"rx_nombuf", s.rx_nombuf},
		    {"tx_bytes", s.obytes},   {"rx_bytes", s.ibytes}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		json_object_set_new(counters, rows[i].key, json_integer((json_int_t)rows[i].count));
	count_extended(t, counters);
}
