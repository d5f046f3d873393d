/* The filter on the socket of a sink, which stamps what is handed to it (stages.h). */
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "measure/transports/bpf_code.h"
#include "measure/transports/frames.h"
#include "measure/transports/stages.h"

static const _Alignas(8) unsigned char filter_code[] = {
#include "measure/transports/stages_filter.bpf.inc"
};

/* Opens the filter, one of whose two programs is loaded. */
static int load_filter(const char *program, size_t size, uint64_t messages, struct bpf_object **code)
{
	const struct stages_wanted wanted = {.size = size, .sequence_mask = FRAMES_SEQ_MASK};
	struct bpf_program *p;

	*code = bpf_code_open(filter_code, sizeof(filter_code), &wanted, sizeof(wanted));
	if (!*code)
		return -errno;
	for (p = NULL; (p = bpf_object__next_program(*code, p));)
		bpf_program__set_autoload(p, !strcmp(bpf_program__name(p), program));
	bpf_map__set_max_entries(bpf_object__find_map_by_name(*code, "stamps"), (uint32_t)messages);
	return bpf_object__load(*code);
}

/* Memory of one of the filter's arrays. */
static int map_memory(const struct bpf_object *code, const char *name, size_t size, void **memory)
{
	*memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_object__find_map_fd_by_name(code, name), 0);
	if (*memory != MAP_FAILED)
		return 0;
	*memory = NULL;
	return -ENOMEM;
}

static int attach_filter(struct stages *s, int fd, const struct bpf_object *code, const char *program)
{
	const int filter = bpf_program__fd(bpf_object__find_program_by_name(code, program));
	void *kept, *stamps;
	int rc = map_memory(code, "filter", sizeof(*s->socket.filter), &kept);

	if (!rc) {
		s->socket.filter = kept;
		rc = map_memory(code, "stamps", s->socket.messages * sizeof(*s->socket.stamps), &stamps);
	}
	if (rc)
		return rc;
	s->socket.stamps = stamps;
	s->socket.filter->repetition = UINT64_MAX; /* none has begun */
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_BPF, &filter, sizeof(filter)) ? -errno : 0;
}

/* The descriptors are not needed any longer: the socket holds the program, and that its maps. */
void stages_watch_socket(struct stages *s, int fd, bool is_stream, size_t size, uint64_t messages)
{
	const char *program = is_stream ? "of_streams" : "of_datagrams";
	struct bpf_object *code;

	s->socket.messages = messages;
	s->socket.rc = load_filter(program, size, messages, &code);
	if (!s->socket.rc)
		s->socket.rc = attach_filter(s, fd, code, program);
	bpf_object__close(code);
	if (s->socket.rc)
		stages_close(s);
}
