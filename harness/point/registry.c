/* What there is: one row a kernel, one row a transport. */
#include <string.h>

#include "kernels/oneway.h"
#include "kernels/pingpong.h"
#include "kernels/rate.h"
#include "transports/list.h"
#include "transports/nanomsg.h"
#include "transports/scripted.h"
#include "transports/shmem.h"
#include "transports/tcp.h"
#include "transports/udp.h"
#include "transports/verbs.h"
#include "transports/zeromq.h"

const struct kernel_ops *const kernels[] = {&oneway_kernel, &pingpong_kernel, &rate_kernel, NULL};

#define ROW(t) &t##_transport,
const struct transport_ops *const transports[] = {EVERY_TRANSPORT(ROW) NULL};

const struct transport_ops *transport_find(const char *name)
{
	for (size_t i = 0; transports[i]; i++)
		if (!strcmp(transports[i]->name, name))
			return transports[i];
	return NULL;
}
