/*
 * Asynchronous events of a device: the device or its port has failed (ibv_get_async_event(3)), or
 * is being removed. The hot path cannot check for that, so a thread waits for such an event and
 * then puts the queue pair into the error state. This flushes every outstanding work request, so a
 * thread that polls or sleeps receives a completion with an error.
 *
 * A removal is reported in up to three ways, depending on the driver and on the users of the
 * device: as an event of the device; as an event of the connection manager; or, if the driver waits
 * for its users to end (rdma_rxe, `rdma link delete`), only by the kernel's message that the device
 * file has been removed (drivers/infiniband/core/uverbs_main.c: ib_uverbs_remove_one).
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "measure/transports/verbs_hot.h"
#include "measure/transports/verbs_peer.h"
#include "measure/transports/verbs_resources.h"
#include "measure/transports/verbs_types.h"

#define STACK_BYTES	    (256 * 1024) /* the default of 8 MiB would be locked in memory */
#define KERNEL_MESSAGES	    1		 /* group of NETLINK_KOBJECT_UEVENT; others are udev's */
#define KERNEL_MESSAGE_SIZE 8192
#define COUNT(a)	    (sizeof(a) / sizeof((a)[0]))

static bool is_among_pairs(const struct verbs *t, const struct ibv_qp *qp)
{
	for (uint32_t i = 0; i < t->pair_count; i++)
		if (t->pairs[i] == qp)
			return true;
	return false;
}

static bool is_bad(const struct verbs *t, const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_DEVICE_FATAL:
		return true;
	case IBV_EVENT_PORT_ERR:
		return event->element.port_num == t->port.number;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED: /* of a shared receive queue: it has failed */
		return is_among_pairs(t, event->element.qp);
	case IBV_EVENT_CQ_ERR:
		return event->element.cq == t->send_cq.cq || event->element.cq == t->recv_cq.cq;
	default:
		return false;
	}
}

/* The first event counts. */
static void raise_alarm(struct verbs *t, int event)
{
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	int none = 0;

	atomic_compare_exchange_strong(&t->watch.event, &none, event + 1);
	for (uint32_t i = 0; i < t->pair_count; i++) /* if even this fails, the coordinator's timeout ends the wait */
		ibv_modify_qp(t->pairs[i], &error, IBV_QP_STATE);
	verbs_srq_alarm(t);
}

static bool take_event(struct verbs *t)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(t->context, &event))
		return false;
	if (event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
		atomic_fetch_add(&t->watch.srq_limits, 1);
	else if (is_bad(t, &event))
		raise_alarm(t, (int)event.event_type);
	ibv_ack_async_event(&event);
	return true;
}

static void look_at_device(struct verbs *t)
{
	pthread_mutex_lock(&t->watch.taking);
	while (take_event(t))
		;
	pthread_mutex_unlock(&t->watch.taking);
}

int64_t verbs_watch_srq_limits(struct verbs *t)
{
	look_at_device(t);
	return atomic_load(&t->watch.srq_limits);
}

/* The thread may not have read the event yet. */
int verbs_device_failure(struct transport *transport, struct err *e)
{
	struct verbs *t = (struct verbs *)transport;

	look_at_device(t);
	return atomic_load(&t->watch.event) ? verbs_failure(transport, e) : 0;
}

static void look_at_connection_manager(struct verbs *t)
{
	if (verbs_cm_says_removed(t))
		raise_alarm(t, VERBS_REMOVED);
}

/* "remove@/devices/virtual/infiniband_verbs/uverbs0" */
static bool is_our_removal(const struct verbs *t, const char *message)
{
	const char *name = strrchr(message, '/');

	return !strncmp(message, "remove@", 7) && strstr(message, "/infiniband_verbs/") && name &&
	       !strcmp(name + 1, t->context->device->dev_name);
}

static void look_at_kernel_messages(struct verbs *t)
{
	char message[KERNEL_MESSAGE_SIZE];
	struct sockaddr_nl from;
	socklen_t from_size = sizeof(from);
	ssize_t size =
	    recvfrom(t->watch.kernel_fd, message, sizeof(message) - 1, 0, (struct sockaddr *)&from, &from_size);

	if (size <= 0 || from.nl_pid) /* processes can send there, too */
		return;
	message[size] = '\0';
	if (is_our_removal(t, message))
		raise_alarm(t, VERBS_REMOVED);
}

static void *watch_thread(void *argument)
{
	struct verbs *t = argument;
	const struct {
		int fd;
		void (*look)(struct verbs *t);
	} places[] = {{t->watch.stop_fd, NULL},
		      {t->context->async_fd, look_at_device},
		      {t->cm.channel ? t->cm.channel->fd : -1, look_at_connection_manager},
		      {t->watch.kernel_fd, look_at_kernel_messages}};
	struct pollfd fds[COUNT(places)];

	for (size_t i = 0; i < COUNT(places); i++)
		fds[i] = (struct pollfd){.fd = places[i].fd, .events = POLLIN};
	for (;;) {
		if (poll(fds, COUNT(fds), -1) < 0 || fds[0].revents)
			return NULL;
		for (size_t i = 1; i < COUNT(places); i++)
			if (fds[i].revents & POLLIN)
				places[i].look(t);
			else if (fds[i].revents)
				fds[i].fd = -1; /* no further events will arrive */
	}
}

/* Without this socket, there is just one source of events less. */
static int open_kernel_messages(void)
{
	struct sockaddr_nl group = {.nl_family = AF_NETLINK, .nl_groups = KERNEL_MESSAGES};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&group, sizeof(group))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void watch_close_files(struct verbs *t)
{
	if (t->watch.stop_fd >= 0)
		close(t->watch.stop_fd);
	if (t->watch.kernel_fd >= 0)
		close(t->watch.kernel_fd);
	t->watch.stop_fd = t->watch.kernel_fd = -1;
}

/* Signals must go to the threads that wait for messages, so this thread blocks them. */
static int watch_start(struct verbs *t)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = -pthread_create(&t->watch.thread, &attr, watch_thread, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

int verbs_watch(struct verbs *t, struct err *e)
{
	int rc = 0;

	/* The connection manager shares a context between several users, and another one may have
	 * taken the event. */
	if (fcntl(t->context->async_fd, F_SETFL, O_NONBLOCK))
		rc = -errno;
	if (!rc)
		t->watch.stop_fd = eventfd(0, EFD_CLOEXEC);
	if (!rc && t->watch.stop_fd < 0)
		rc = -errno;
	if (!rc) {
		pthread_mutex_init(&t->watch.taking, NULL);
		t->watch.kernel_fd = open_kernel_messages();
		rc = watch_start(t);
	}
	if (!rc)
		return 0;
	watch_close_files(t);
	return err_sys(e, rc, t->object, "watch the device's events");
}

void verbs_unwatch(struct verbs *t)
{
	if (t->watch.stop_fd < 0)
		return;
	eventfd_write(t->watch.stop_fd, 1);
	pthread_join(t->watch.thread, NULL);
	watch_close_files(t);
}
