/* In place of stages_filter.c, in a build without libbpf: t_socket has no stamps. */
#include <errno.h>

#include "measure/transports/stages.h"

void stages_watch_socket(struct stages *s, int fd, bool is_stream, size_t size, uint64_t messages)
{
	(void)fd, (void)is_stream, (void)size, (void)messages;
	s->socket.rc = -ENOSYS;
}
