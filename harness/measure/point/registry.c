/* The tables of all kernels and transports: from the two lists, and those without messages, which are compiled once. */
#include <string.h>

#include "measure/kernels/kernel.h"
#include "measure/kernels/kernel_list.h"
#include "measure/transports/transport_list.h"

#define DECLARE_KERNEL(k) extern const struct kernel_ops k##_kernel;
#define KERNEL_ROW(k)	  &k##_kernel,
EVERY_KERNEL(DECLARE_KERNEL)
extern const struct kernel_ops wakeup_kernel;
const struct kernel_ops *const kernels[] = {EVERY_KERNEL(KERNEL_ROW) & wakeup_kernel, NULL};

#define DECLARE_TRANSPORT(t) extern const struct transport_ops t##_transport;
#define TRANSPORT_ROW(t)     &t##_transport,
EVERY_TRANSPORT(DECLARE_TRANSPORT)
extern const struct transport_ops none_transport;
const struct transport_ops *const transports[] = {EVERY_TRANSPORT(TRANSPORT_ROW) & none_transport, NULL};

const struct transport_ops *transport_find(const char *name)
{
	for (size_t i = 0; name && transports[i]; i++)
		if (!strcmp(transports[i]->name, name))
			return transports[i];
	return NULL;
}
