#include "measure/transports/ucx_hot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "measure/transports/lane.h"

static const char *const ucx_apis[] = {[UCX_AM] = "am",
				       [UCX_TAG] = "tag",
				       [UCX_STREAM] = "stream",
				       [UCX_PUT] = "put",
				       [UCX_GET] = "get",
				       [UCX_FETCH_ADD] = "fetch_add",
				       [UCX_COMPARE_SWAP] = "compare_swap",
				       NULL};

struct ucx_settings {
	int api;
	char tls[OPT_STR_MAX], devices[OPT_STR_MAX], rndv_thresh[OPT_STR_MAX], lane[OPT_STR_MAX];
};

static const struct opt ucx_options[] = {
    {"api", OPT_ENUM, offsetof(struct ucx_settings, api), "am", 0, 0, ucx_apis,
     "active messages, tagged messages, a stream of bytes, or one-sided operations: put (kernels pingpong, exchange, "
     "stream), get, and fetch_add and compare_swap of 8 bytes (stream)"},
    {"tls", OPT_STR, offsetof(struct ucx_settings, tls), "all", 0, 0, NULL,
     "UCX's transports that may be used, as in UCX_TLS"},
    {"devices", OPT_STR, offsetof(struct ucx_settings, devices), "all", 0, 0, NULL,
     "network devices that may be used, as in UCX_NET_DEVICES"},
    {"rndv_thresh", OPT_STR, offsetof(struct ucx_settings, rndv_thresh), "auto", 0, 0, NULL,
     "size from which messages go by rendezvous, as in UCX_RNDV_THRESH"},
    {"lane", OPT_STR, offsetof(struct ucx_settings, lane), "any", 0, 0, NULL,
     "UCX's transport that must carry the messages, such as rc_verbs or posix; otherwise the point is not valid"},
    {.name = NULL},
};

#ifdef ABSENT

const struct transport_ops ucx_transport = {ABSENT_TRANSPORT, .name = "ucx", .options = ucx_options,
					    .settings_size = sizeof(struct ucx_settings)};

#else

#define ADDRESS_MOST 4096
#define COUNT(a)     (sizeof(a) / sizeof((a)[0]))

/* By enum ucx_api. */
static const uint64_t features[] = {
    [UCX_AM] = UCP_FEATURE_AM,
    [UCX_TAG] = UCP_FEATURE_TAG,
    [UCX_STREAM] = UCP_FEATURE_STREAM,
    [UCX_PUT] = UCP_FEATURE_RMA,
    [UCX_GET] = UCP_FEATURE_RMA,
    [UCX_FETCH_ADD] = UCP_FEATURE_RMA | UCP_FEATURE_AMO64,
    [UCX_COMPARE_SWAP] = UCP_FEATURE_RMA | UCP_FEATURE_AMO64,
};
static const enum window_use window_uses[] = {[UCX_PUT] = WINDOW_WRITTEN,
					      [UCX_GET] = WINDOW_READ,
					      [UCX_FETCH_ADD] = WINDOW_CHANGED,
					      [UCX_COMPARE_SWAP] = WINDOW_CHANGED};

#define OPERAND_BYTES sizeof(uint64_t) /* of an atomic */

struct ucx_functions ucx_library;

static const char *const function_names[] = {UCX_FUNCTIONS(LOADED_NAME) NULL};

static struct ucx *ucx_of(struct transport *t)
{
	return (struct ucx *)t;
}

/* --- errors --- */

static int errno_of(ucs_status_t status)
{
	switch (status) {
	case UCS_ERR_NO_MEMORY:
		return -ENOMEM;
	case UCS_ERR_UNREACHABLE:
		return -EHOSTUNREACH;
	case UCS_ERR_CONNECTION_RESET:
	case UCS_ERR_ENDPOINT_TIMEOUT:
		return -ECONNRESET;
	case UCS_ERR_NO_DEVICE:
		return -ENODEV;
	default:
		return -EIO;
	}
}

static int ucx_complain(ucs_status_t status, const char *operation, struct err *e)
{
	const bool impossible = status == UCS_ERR_NO_DEVICE || status == UCS_ERR_UNREACHABLE;

	return err_set(e, errno_of(status), impossible ? STATUS_IMPOSSIBLE : STATUS_FAILED, "ucx", operation, "%s%s",
		       ucx_library.status_string(status),
		       impossible ? "; `tls` and `devices` leave nothing that can carry messages (see `ucx_info -d`)"
				  : "");
}

static int note(struct ucx *t, ucs_status_t status, const char *operation)
{
	return frames_note(&t->frames, errno_of(status), operation, ucx_library.status_string(status));
}

/* --- the library's environment --- */

/* UCX's configuration from its environment and the settings, which must not contradict each other. */
static int ucx_configure(const struct ucx_settings *s, ucp_config_t *config, struct err *e)
{
	const struct lane_variable variables[] = {{"UCX_TLS", "tls", s->tls, "all"},
						  {"UCX_NET_DEVICES", "devices", s->devices, "all"},
						  {"UCX_RNDV_THRESH", "rndv_thresh", s->rndv_thresh, "auto"}};

	for (size_t i = 0; i < COUNT(variables); i++) {
		const struct lane_variable *v = &variables[i];
		const int is_set = lane_setting(v, e);
		ucs_status_t status;

		if (is_set < 0)
			return is_set;
		if (!is_set)
			continue;
		status = ucx_library.config_modify(config, v->name + strlen("UCX_"), v->value);
		if (status != UCS_OK)
			return err_set(e, -EINVAL, STATUS_FAILED, v->key, NULL, "UCX does not accept %s", v->value);
	}
	return 0;
}

/* UCX writes its messages to standard output, where the endpoint speaks to the coordinator. It reads
 * these variables when it is loaded. If it ends the process, its reason is what is said last, without a backtrace. */
static int ucx_load(struct err *e)
{
	setenv("UCX_LOG_FILE", "stderr", 1);
	setenv("UCX_ERROR_SIGNALS", "", 0);
	setenv("UCX_HANDLE_ERRORS", "none", 0);
	return loaded_library_open("ucx", function_names, &ucx_library, e);
}

/* --- receiving --- */

static void received(struct ucx_slot *slot, ucs_status_t status, size_t length)
{
	if (status == UCS_ERR_CANCELED)
		return;
	if (status != UCS_OK)
		note(slot->owner, status, "receive");
	slot->length = status == UCS_OK ? length : 0;
	slot->is_full = status == UCS_OK;
}

static void on_tagged(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *slot)
{
	received(slot, status, info->length);
	ucx_library.request_free(request);
}

static void on_fetched(void *request, ucs_status_t status, size_t length, void *slot)
{
	received(slot, status, length);
	ucx_library.request_free(request);
}

/* The next bytes of the stream; all of them are waited for. */
static int post_streamed(struct ucx *t, struct ucx_slot *slot)
{
	const ucp_request_param_t param = {
	    .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
	    .flags = UCP_STREAM_RECV_FLAG_WAITALL,
	    .cb.recv_stream = on_fetched,
	    .user_data = slot,
	};
	size_t length = 0;
	void *request = ucx_library.stream_recv_nbx(t->ep, slot->data, t->frames.size, &length, &param);

	if (!request)
		received(slot, UCS_OK, length);
	return UCS_PTR_IS_ERR(request) ? note(t, UCS_PTR_STATUS(request), "post a receive") : 0;
}

static void prepare_receive(struct ucx *t)
{
	t->receive = (ucp_request_param_t){
	    .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_RECV_INFO,
	    .cb.recv = on_tagged,
	    .recv_info.tag_info = &t->received,
	};
}

static int post_tagged(struct ucx *t, struct ucx_slot *slot)
{
	void *request;

	/* Of a message that was there already, UCX 1.13 does not tell the length; a longer one would have been an error. */
	t->received.length = t->frames.size;
	t->receive.user_data = slot;
	request = ucx_library.tag_recv_nbx(t->worker, slot->data, t->frames.size, t->badge, UINT64_MAX, &t->receive);
	if (!request)
		received(slot, UCS_OK, t->received.length);
	else if (!UCS_PTR_IS_ERR(request))
		slot->request = request;
	return UCS_PTR_IS_ERR(request) ? note(t, UCS_PTR_STATUS(request), "post a receive") : 0;
}

/* Cold: it comes by rendezvous. */
static __attribute__((noinline)) ucs_status_t fetch_active(struct ucx *t, struct ucx_slot *slot, void *data,
							   size_t length)
{
	const ucp_request_param_t fetch = {
	    .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
	    .cb.recv_am = on_fetched,
	    .user_data = slot,
	};
	void *request = ucx_library.am_recv_data_nbx(t->worker, data, slot->data, length, &fetch);

	if (!request)
		received(slot, UCS_OK, length);
	else if (UCS_PTR_IS_ERR(request))
		note(t, UCS_PTR_STATUS(request), "receive");
	return UCS_INPROGRESS;
}

int ucx_post_slot(struct ucx *t, struct ucx_slot *slot)
{
	return t->api == UCX_STREAM ? post_streamed(t, slot) : post_tagged(t, slot);
}

/* Messages that came when all slots were taken. */
struct ucx_kept {
	struct ucx_kept *next;
	char data[];
};

/* Cold: one call of the library can deliver more messages than there are slots. Those that follow wait for their turn, too. */
static __attribute__((noinline)) ucs_status_t keep_message(struct ucx *t, const void *data, size_t length,
							   const ucp_am_recv_param_t *param)
{
	struct ucx_kept *kept;

	if (length != t->frames.size || param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
		frames_note(&t->frames, length == t->frames.size ? -ENOBUFS : -EMSGSIZE, "receive", NULL);
		return UCS_OK;
	}
	kept = or_abort(malloc(sizeof(*kept) + length));
	kept->next = NULL;
	memcpy(kept->data, data, length);
	*(t->kept ? &t->kept_last->next : &t->kept) = kept;
	t->kept_last = kept;
	return UCS_OK;
}

static void drop_kept(struct ucx *t)
{
	struct ucx_kept *first = t->kept;

	t->kept = first->next;
	free(first);
}

void ucx_take_kept(struct ucx *t)
{
	while (t->kept && t->tail - t->head < t->mask) {
		struct ucx_slot *slot = &t->slots[t->tail++ & t->mask];

		memcpy(slot->data, t->kept->data, t->frames.size);
		slot->length = t->frames.size;
		slot->is_full = true;
		drop_kept(t);
	}
}

static bool is_of_peer(const struct ucx *t, const void *header, size_t header_length)
{
	return header_length == sizeof(t->badge) && !memcmp(header, &t->badge, sizeof(t->badge));
}

/* Bytes. To copy fewer is cheaper than to have the library set other memory aside for what comes next. */
#define HELD_LEAST    1024

static ucs_status_t on_active(void *arg, const void *header, size_t header_length, void *data, size_t length,
			      const ucp_am_recv_param_t *param)
{
	struct ucx *t = arg;
	struct ucx_slot *slot = &t->slots[t->tail & t->mask];

	if (frames_unlikely(!is_of_peer(t, header, header_length))) {
		t->strangers++;
		return UCS_OK;
	}
	/* The message in the slot before the head may still be read. */
	if (frames_unlikely(t->tail - t->head >= t->mask || t->kept || length != t->frames.size))
		return keep_message(t, data, length, param);
	t->tail++;
	if (frames_unlikely(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV))
		return fetch_active(t, slot, data, length);
	slot->length = length;
	slot->is_full = true;
	if (length >= HELD_LEAST && param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) {
		slot->held = data;
		return UCS_INPROGRESS;
	}
	memcpy(slot->data, data, length);
	return UCS_OK;
}

/* Tagged messages that nobody will receive; their bytes are left where they are. */
void ucx_drop_strangers(struct ucx *t)
{
	static const ucp_request_param_t plain = {.op_attr_mask = 0};
	ucp_tag_recv_info_t info;
	ucp_tag_message_h message;

	while (t->api == UCX_TAG && ucx_library.tag_probe_nb(t->worker, 0, 0, 0, &info) &&
	       info.sender_tag != t->badge) {
		void *request;

		message = ucx_library.tag_probe_nb(t->worker, info.sender_tag, UINT64_MAX, 1, &info);
		if (!message)
			break;
		request = ucx_library.tag_msg_recv_nbx(t->worker, NULL, 0, message, &plain);
		if (request && !UCS_PTR_IS_ERR(request))
			ucx_library.request_free(request);
		t->strangers++;
	}
}

int ucx_recv_other(struct ucx *t)
{
	return frames_note(&t->frames, -EMSGSIZE, "receive", "it does not belong to this run");
}

/* 1: the worker reports what comes from now on. 0: look once more, as not every device reports a completion that came
 * before it was armed. */
static int is_armed(struct ucx *t)
{
	ucs_status_t status = UCS_OK;
	const bool was_armed = t->is_armed;

	if (!was_armed)
		status = ucx_library.worker_arm(t->worker);
	t->is_armed = !was_armed && status == UCS_OK;
	return status == UCS_OK || status == UCS_ERR_BUSY ? was_armed : note(t, status, "arm the worker");
}

int ucx_wait_recv(struct ucx *t)
{
	return t->slots[t->head & t->mask].is_full ? 0 : frames_sleep_to_receive(&t->frames, t->fd, is_armed(t));
}

/* --- sending --- */

int ucx_wait_to_send(struct ucx *t, uint32_t *rounds)
{
	const int rc = t->frames.spins || t->fd < 0 ? 1 : is_armed(t);

	return frames_sleep_to_send(&t->frames, t->fd, rc, rounds);
}

int ucx_post_later(struct ucx *t)
{
	ucs_status_t status;

	ucx_library.worker_progress(t->worker);
	if (t->frames.fault.rc)
		return t->frames.fault.rc;
	status = ucx_library.request_check_status(t->pending);
	if (status == UCS_INPROGRESS)
		return 0;
	ucx_library.request_free(t->pending);
	t->pending = NULL;
	t->is_waiting = false;
	return status == UCS_OK ? 1 : note(t, status, "send");
}

int ucx_send_later(struct ucx *t, void *request)
{
	if (UCS_PTR_IS_ERR(request))
		return note(t, UCS_PTR_STATUS(request), "send");
	t->pending = request;
	t->is_waiting = true;
	return ucx_post_later(t);
}

static const ucp_request_param_t plain = {.op_attr_mask = 0};

int ucx_send_flush(struct ucx *t)
{
	void *request = ucx_library.worker_flush_nbx(t->worker, &plain);

	return request ? ucx_send_later(t, request) : 1;
}

/* --- one-sided operations --- */

int ucx_let_go(struct ucx *t, void *request, const char *operation)
{
	if (UCS_PTR_IS_ERR(request))
		return note(t, UCS_PTR_STATUS(request), operation);
	if (request)
		ucx_library.request_free(request);
	return 0;
}

/* A watched put whose turn follows its other bytes. */
static int put_in_two(struct ucx *t, const char *buffer, uint64_t remote)
{
	const size_t first = t->window.target.size - WINDOW_TURN;
	const int rc = ucx_let_go(t, ucx_library.put_nbx(t->ep, buffer, first, remote, t->rkey, &plain), "put");

	if (rc)
		return rc;
	ucx_library.worker_fence(t->worker);
	return ucx_let_go(t, ucx_library.put_nbx(t->ep, buffer + first, WINDOW_TURN, remote + first, t->rkey, &plain),
			  "put");
}

/* Operation n of this repetition. A compare and swap expects what the ones before it have left, and adds 1, too; what it
 * compares with lies before the buffer, which ends a cache line. */
static void *fetch(struct ucx *t, char *buffer, uint64_t remote, uint32_t n)
{
	static const uint64_t one = 1;
	uint64_t *result = (uint64_t *)(void *)buffer;
	const ucp_request_param_t to_buffer = {
	    .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
	    .datatype = ucp_dt_make_contig(OPERAND_BYTES),
	    .reply_buffer = buffer,
	};

	if (t->api == UCX_GET)
		return ucx_library.get_nbx(t->ep, buffer, t->window.target.size, remote, t->rkey, &plain);
	if (t->api == UCX_COMPARE_SWAP) {
		result[-1] = n / t->window.target.count;
		result[0] = result[-1] + 1;
		return ucx_library.atomic_op_nbx(t->ep, UCP_ATOMIC_OP_CSWAP, &result[-1], 1, remote, t->rkey,
						 &to_buffer);
	}
	return ucx_library.atomic_op_nbx(t->ep, UCP_ATOMIC_OP_ADD, &one, 1, remote, t->rkey, &to_buffer);
}

int ucx_remote_later(struct ucx *t, void *request)
{
	struct window *w = &t->window;
	int rc = 0;

	if (t->api == UCX_PUT)
		rc = ucx_let_go(t, request, "put");
	else if (UCS_PTR_IS_ERR(request))
		rc = note(t, UCS_PTR_STATUS(request), ucx_apis[t->api]);
	else
		t->requests[window_flight(w, w->posted)] = request;
	w->posted++;
	return rc ? rc : 1;
}

int ucx_post_remote(struct ucx *t, uint32_t seq)
{
	struct window *w = &t->window;
	const uint32_t n = window_next(w, seq);
	char *buffer = window_buffer(w, n);
	const uint64_t remote = window_remote(w, n);
	int rc;

	if (w->is_watched) {
		window_put_turn(w, buffer, seq);
		rc = put_in_two(t, buffer, remote);
		frames_posted(&t->frames, seq);
		w->posted++;
	} else if (t->api == UCX_PUT) {
		rc = ucx_remote_later(t, ucx_library.put_nbx(t->ep, buffer, w->target.size, remote, t->rkey, &plain));
	} else {
		rc = ucx_remote_later(t, fetch(t, buffer, remote, n));
	}
	t->frames.out = window_buffer(w, window_next(w, seq + 1)) - FRAMES_NUMBER;
	return rc < 0 ? rc : 1;
}

/* 1: a request is complete, and freed; 0: not yet. */
static int settle_request(struct ucx *t, void **request, const char *operation)
{
	ucs_status_t status = UCS_OK;

	if (*request) {
		ucx_library.worker_progress(t->worker);
		if (t->frames.fault.rc)
			return t->frames.fault.rc;
		status = ucx_library.request_check_status(*request);
		if (status == UCS_INPROGRESS)
			return 0;
		ucx_library.request_free(*request);
		*request = NULL;
	}
	return status == UCS_OK ? 1 : note(t, status, operation);
}

int ucx_poll_remote(struct ucx *t, uint32_t *seq)
{
	struct window *w = &t->window;
	int rc;

	if (w->completed == w->posted)
		return ucx_serve(t);
	if (t->api == UCX_PUT && !t->flush) {
		t->flush = ucx_library.worker_flush_nbx(t->worker, &plain);
		if (UCS_PTR_IS_ERR(t->flush)) {
			const ucs_status_t status = UCS_PTR_STATUS(t->flush);

			t->flush = NULL;
			return note(t, status, "flush");
		}
		t->flushed = w->posted;
	}
	rc = t->api == UCX_PUT ? settle_request(t, &t->flush, "flush")
			       : settle_request(t, &t->requests[window_flight(w, w->completed)], ucx_apis[t->api]);
	if (rc <= 0)
		return rc;
	w->completed = t->api == UCX_PUT ? t->flushed : w->completed + 1;
	*seq = w->completed - 1;
	return 1;
}

bool ucx_fetched(const struct ucx *t, uint32_t seq)
{
	return window_fetched(&t->window.target, window_buffer(&t->window, seq), seq);
}

/* UCX's shared memory carries puts only to memory that it has allocated itself. */
static int make_window(struct ucx *t, const struct transport_config *config, struct err *e)
{
	const ucp_mem_map_params_t params = {
	    .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
	    .length = window_bytes(config, window_uses[t->api]),
	    .flags = UCP_MEM_MAP_ALLOCATE,
	};
	ucp_mem_attr_t memory = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
	ucs_status_t status = ucx_library.mem_map(t->context, &params, &t->memory);

	if (status == UCS_OK)
		status = ucx_library.mem_query(t->memory, &memory);
	else
		t->memory = NULL;
	if (status != UCS_OK)
		return ucx_complain(status, "allocate and map memory (see `ulimit -l`)", e);
	window_open(&t->window, memory.address, config, window_uses[t->api]);
	if (!t->window.is_watched)
		t->requests = or_abort(calloc(t->window.in_flight, sizeof(*t->requests)));
	t->frames.out = window_buffer(&t->window, 0) - FRAMES_NUMBER;
	t->base.overhead = t->window.is_watched ? WINDOW_TURN : 0;
	t->is_one_place = !t->window.is_watched && t->window.target.count == 1 && t->api <= UCX_GET;
	return 0;
}

/* {"window": address, "rkey": hexadecimal digits} */
static int describe_window(const struct ucx *t, json_t *address, struct err *e)
{
	ucp_mem_attr_t memory = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
	void *rkey;
	size_t size;
	ucs_status_t status = ucx_library.mem_query(t->memory, &memory);

	if (status == UCS_OK)
		status = ucx_library.rkey_pack(t->context, t->memory, &rkey, &size);
	if (status != UCS_OK)
		return ucx_complain(status, "pack the key of the memory", e);
	json_object_set_new(address, "window", json_integer((json_int_t)(uintptr_t)memory.address));
	json_object_set_new(address, "rkey", lane_address(rkey, size));
	ucx_library.rkey_buffer_release(rkey);
	return 0;
}

static int reach_window(struct ucx *t, const json_t *peer, struct err *e)
{
	const json_t *base = json_object_get(peer, "window");
	unsigned char rkey[ADDRESS_MOST];
	ucs_status_t status;

	if (!json_is_integer(base) || lane_read_address(json_object_get(peer, "rkey"), rkey, sizeof(rkey)))
		return err_set(e, -EPROTO, STATUS_FAILED, "the peer's address", NULL, "has no valid window");
	window_reach(&t->window, (uint64_t)json_integer_value(base));
	status = ucx_library.ep_rkey_unpack(t->ep, rkey, &t->rkey);
	return status == UCS_OK ? 0 : ucx_complain(status, "use the key of the other side's memory", e);
}

/* Put a word where the other side expects greetings. */
static int put_word(void *transport, const uint64_t *word)
{
	struct ucx *t = transport;
	const int rc = ucx_let_go(
	    t, ucx_library.put_nbx(t->ep, word, WINDOW_TURN, window_remote_greeted(&t->window), t->rkey, &plain),
	    "put");

	return rc ? rc : 1;
}

/* And see it arrive. */
static int put_word_whole(void *transport, const uint64_t *word)
{
	struct ucx *t = transport;
	int rc;

	if (t->is_waiting)
		return ucx_post_later(t);
	rc = put_word(t, word);
	return rc < 0 ? rc : ucx_send_flush(t);
}

static int serve_other(void *transport)
{
	return ucx_serve(transport);
}

int ucx_part(struct ucx *t)
{
	static const struct window_calls calls = {serve_other, put_word_whole, put_word};

	return window_part(&t->window, &calls, t);
}

/* --- open and close --- */

static int make_slots(struct ucx *t, const struct transport_config *config, struct err *e)
{
	const uint32_t slots = frames_slots(config);
	int rc = frames_open(&t->frames, &t->base, config, e);

	if (!rc)
		rc = frames_slot_memory(&t->frames, &t->slot_memory, slots, config, e);

	if (rc)
		return rc;
	t->slots = or_abort(calloc(slots, sizeof(*t->slots)));
	t->mask = slots - 1;
	for (uint32_t i = 0; i < slots; i++)
		t->slots[i] = (struct ucx_slot){.owner = t, .data = frames_slot(&t->frames, &t->slot_memory, i)};
	return 0;
}

static int make_context(struct ucx *t, const struct ucx_settings *s, bool sleeps, struct err *e)
{
	const ucp_params_t params = {
	    .field_mask = UCP_PARAM_FIELD_FEATURES,
	    .features = features[t->api] | (sleeps ? UCP_FEATURE_WAKEUP : 0),
	};
	ucp_config_t *config;
	ucs_status_t status = ucx_library.config_read(NULL, NULL, &config);
	int rc;

	if (status != UCS_OK)
		return ucx_complain(status, "read the environment", e);
	rc = ucx_configure(s, config, e);
	if (!rc) {
		status = ucx_library.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &t->context);
		if (status != UCS_OK) {
			t->context = NULL;
			rc = ucx_complain(status, "initialise the library", e);
		}
	}
	ucx_library.config_release(config);
	return rc;
}

/* One thread makes, connects and closes it, and others use it meanwhile, one at a time (SERIALIZED): a side's measuring
 * thread is started after, and has ended before, each other call. */
static int make_worker(struct ucx *t, bool sleeps, struct err *e)
{
	const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
					    .thread_mode = UCS_THREAD_MODE_SERIALIZED};
	const ucp_am_handler_param_t handler = {
	    .field_mask =
		UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
	    .id = UCX_ID,
	    .cb = on_active,
	    .arg = t,
	};
	ucs_status_t status = ucx_library.worker_create(t->context, &params, &t->worker);

	if (status != UCS_OK) {
		t->worker = NULL;
		return ucx_complain(status, "make a worker", e);
	}
	if (sleeps)
		status = ucx_library.worker_get_efd(t->worker, &t->fd);
	if (status == UCS_OK && t->api == UCX_AM)
		status = ucx_library.worker_set_am_recv_handler(t->worker, &handler);
	prepare_receive(t);
	for (uint32_t i = 0; status == UCS_OK && t->api == UCX_TAG && i <= t->mask; i++)
		if (ucx_post_slot(t, &t->slots[i]))
			return frames_failure(&t->frames, "ucx", e);
	return status == UCS_OK ? 0 : ucx_complain(status, "prepare the worker", e);
}

/* {"worker": hexadecimal digits, "token": …} */
static int ucx_describe(const struct ucx *t, json_t **address, struct err *e)
{
	char token[TOKEN_TEXT];
	ucp_address_t *bytes;
	size_t size;
	ucs_status_t status = ucx_library.worker_get_address(t->worker, &bytes, &size);

	if (status != UCS_OK)
		return ucx_complain(status, "get the worker's address", e);
	*address = json_pack("{s:o, s:s, s:s}", "worker", lane_address(bytes, size), "token",
			     token_text(&t->token, token), "library", ucx_library.get_version_string());
	ucx_library.worker_release_address(t->worker, bytes);
	return ucx_is_one_sided(t) ? describe_window(t, *address, e) : 0;
}

/* Tagged messages that will not come any more, the oldest request first: of each that is left the library complains. For
 * the slot of the last message, there is no request yet. */
static void cancel_receives(struct ucx *t)
{
	for (uint32_t i = 0; t->worker && t->api == UCX_TAG && i <= t->mask; i++) {
		const struct ucx_slot *slot = &t->slots[(t->head + i) & t->mask];

		if (!slot->is_full && slot != t->taken && slot->request)
			ucx_library.request_cancel(t->worker, slot->request);
	}
}

static void release_held(struct ucx *t)
{
	for (uint32_t i = 0; t->slots && i <= t->mask; i++)
		ucx_give_back(&t->slots[i]);
}

static void ucx_close(struct transport *transport)
{
	struct ucx *t = ucx_of(transport);

	if (t->worker)
		ucx_drop_strangers(t);
	cancel_receives(t);
	release_held(t);
	if (t->rkey)
		ucx_library.rkey_destroy(t->rkey);
	if (t->worker)
		ucx_library.worker_destroy(t->worker);
	if (t->memory)
		ucx_library.mem_unmap(t->context, t->memory);
	if (t->context)
		ucx_library.cleanup(t->context);
	while (t->kept)
		drop_kept(t);
	free(t->slots);
	free(t->requests);
	memory_free(&t->slot_memory);
	t->frames.in = NULL;
	frames_close(&t->frames);
	json_decref(t->lanes);
	json_decref(t->environment);
	free(t);
}

static int ucx_open(const struct transport_config *config, const void *settings, struct transport **out,
		    json_t **address, struct err *e)
{
	const struct ucx_settings *s = settings;
	const bool sleeps = config->poll_recv != POLL_BUSY;
	struct ucx *t = or_abort(calloc(1, sizeof(*t)));
	int rc;

	t->base.ops = &ucx_transport;
	t->config = *config;
	t->fd = -1;
	t->api = (enum ucx_api)s->api;
	t->environment = lane_environment("UCX_");
	if (strcmp(s->lane, "any") != 0)
		snprintf(t->expected, sizeof(t->expected), "%s", s->lane);
	rc = ucx_load(e);
	if (!rc)
		rc = token_draw(&t->token, e);
	t->badge = token_word(&t->token);
	frames_begin(&t->frames, config);
	if (!rc && !ucx_is_one_sided(t))
		rc = make_slots(t, config, e);
	if (!rc)
		rc = make_context(t, s, sleeps, e);
	if (!rc && ucx_is_one_sided(t))
		rc = make_window(t, config, e);
	if (!rc)
		rc = make_worker(t, sleeps, e);
	if (!rc)
		rc = ucx_describe(t, address, e);
	if (rc) {
		ucx_close(&t->base);
		return rc;
	}
	*out = &t->base;
	return 0;
}

/* --- the lane --- */

/* A line of ucp_ep_print_info(): "#  lane[0]:  2:posix/memory.0 md[1] -> … am am_bw#0". */
static void read_lane(struct ucx *t, char *line)
{
	char *name = strstr(line, "lane["), *end;

	name = name ? strstr(name, "]:") : NULL;
	name = name ? strchr(name + 2, ':') : NULL;
	if (!name)
		return;
	name++;
	end = name + strcspn(name, " ");
	json_array_append_new(t->lanes, json_string(name));
	for (char *word = strstr(end, " am"); word; word = strstr(word + 1, " am"))
		if (!*t->lane && (word[3] == '\0' || word[3] == ' '))
			snprintf(t->lane, sizeof(t->lane), "%.*s", (int)(end - name), name);
}

/* What carries the messages, according to the library. */
static void learn_lanes(struct ucx *t)
{
	char *text = NULL, *rest, *line;
	size_t size;
	FILE *stream = or_abort(open_memstream(&text, &size));

	ucx_library.ep_print_info(t->ep, stream);
	fclose(stream);
	t->lanes = json_array();
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_lane(t, line);
	free(text);
	t->flushes = !strncmp(t->lane, "tcp/", 4);
	t->puts_at_once = t->window.is_watched && (!lane_is_memory(t->lane) || t->frames.size <= WINDOW_AT_ONCE);
}

/* --- connect --- */

static void on_end(void *arg, ucp_ep_h ep, ucs_status_t status)
{
	(void)ep;
	note(arg, status, "reach the other side");
}

/* Error handling by the library would exclude its shared memory, so that other lanes would be chosen
 * than programs get. The coordinator notices a side that is gone. */
static int make_endpoint(struct ucx *t, const unsigned char *address, struct err *e)
{
	const ucp_ep_params_t params = {
	    .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER |
			  UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
	    .address = (const ucp_address_t *)address,
	    .err_mode = UCP_ERR_HANDLING_MODE_NONE,
	    .err_handler = {.cb = on_end, .arg = t},
	};
	ucs_status_t status = ucx_library.ep_create(t->worker, &params, &t->ep);

	return status == UCS_OK ? 0 : ucx_complain(status, "reach the other side", e);
}

/* A greeting is sent when it is flushed, too. */
static int ucx_greet(void *transport)
{
	struct ucx *t = transport;
	int sent;

	if (ucx_is_one_sided(t))
		return put_word_whole(t, window_greeting(&t->window));
	if (t->is_waiting)
		return ucx_post_later(t);
	sent = ucx_post_try(t, 0, true);
	return sent > 0 ? ucx_send_flush(t) : sent;
}

static int ucx_be_greeted(void *transport)
{
	struct ucx *t = transport;
	uint32_t seq;

	if (!ucx_is_one_sided(t)) {
		const int rc = t->is_greeted ? 1 : ucx_poll_recv(t, &seq);

		t->is_greeted = rc > 0;
		return rc;
	}
	return window_is_greeted(&t->window, t->badge) ? 1 : ucx_serve(t);
}

static int greet_nobody(void *transport)
{
	(void)transport;
	return 1;
}

static int complain_of_meeting(int rc, struct err *e)
{
	static const char hint[] = "; over RoCE, UCX may have chosen a GID that does not lead there: name another by "
				   "UCX_IB_GID_INDEX (within one machine over Soft-RoCE: 0)";
	char text[128];

	return err_set(e, rc, STATUS_FAILED, "ucx", "connect to the other side", "%s%s",
		       err_cause(rc, text, sizeof(text)), rc == -ETIMEDOUT ? hint : "");
}

static int ucx_meet(struct ucx *t, int (*greet)(void *), struct err *e)
{
	char *next = t->frames.out;
	const int rc = frames_meet(&t->frames, NULL, greet, ucx_be_greeted, t);

	if (rc)
		return t->frames.fault.rc ? frames_failure(&t->frames, "ucx", e) : complain_of_meeting(rc, e);
	t->frames.out = next;
	return 0;
}

/* --- a stream: both sides present themselves before the first message --- */

static int present_token(void *transport)
{
	struct ucx *t = transport;
	void *request;

	if (t->is_waiting)
		return ucx_post_later(t);
	request = ucx_library.stream_send_nbx(t->ep, t->peer_token.bytes, TOKEN_BYTES, &plain);
	return request ? ucx_send_later(t, request) : ucx_send_flush(t);
}

static int take_token(void *transport)
{
	static const ucp_request_param_t whole = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
						  .flags = UCP_STREAM_RECV_FLAG_WAITALL};
	struct ucx *t = transport;
	size_t length = 0;
	int rc = 1;

	if (!t->flush)
		t->flush = ucx_library.stream_recv_nbx(t->ep, t->said.bytes, TOKEN_BYTES, &length, &whole);
	if (UCS_PTR_IS_ERR(t->flush)) {
		const ucs_status_t status = UCS_PTR_STATUS(t->flush);

		t->flush = NULL;
		return note(t, status, "receive the other side's token");
	}
	if (t->flush)
		rc = settle_request(t, &t->flush, "receive the other side's token");
	return rc <= 0 ? rc : token_is(&t->token, t->said.bytes) ? 1 : -EPERM;
}

static int exchange_tokens(struct ucx *t, struct err *e)
{
	char *next = t->frames.out;
	const int rc = frames_meet(&t->frames, NULL, present_token, take_token, t);

	t->frames.out = next;
	if (!rc)
		return 0;
	return t->frames.fault.rc ? frames_failure(&t->frames, "ucx", e) : complain_of_meeting(rc, e);
}

/* Sides that connect at the same moment make two connections over tcp, of which UCX 1.13 drops one; now and then it aborted
 * over a socket that was closed by then. A stream is received by one's own endpoint, so its sink cannot wait. */
static bool connects_second(const struct ucx *t)
{
	return t->config.role == ROLE_SINK && t->api != UCX_STREAM;
}

static int ucx_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	struct ucx *t = ucx_of(transport);
	unsigned char address[ADDRESS_MOST];
	int rc;

	if (lane_read_address(json_object_get(peer, "worker"), address, sizeof(address)) ||
	    !token_read(json_string_value(json_object_get(peer, "token")), &t->peer_token))
		return err_set(e, -EPROTO, STATUS_FAILED, "the peer's address", NULL, "has no valid worker and token");
	t->peer_badge = token_word(&t->peer_token);
	if (ucx_is_one_sided(t))
		window_present(&t->window, t->peer_badge);
	rc = connects_second(t) ? ucx_meet(t, greet_nobody, e) : 0;
	if (!rc)
		rc = make_endpoint(t, address, e);
	if (!rc && t->api == UCX_STREAM)
		rc = exchange_tokens(t, e);
	for (uint32_t i = 0; !rc && t->api == UCX_STREAM && i <= t->mask; i++)
		if (ucx_post_slot(t, &t->slots[i]))
			rc = frames_failure(&t->frames, "ucx", e);
	if (!rc && ucx_is_one_sided(t))
		rc = reach_window(t, peer, e);
	if (!rc)
		rc = ucx_meet(t, ucx_greet, e);
	if (rc)
		return rc;
	if (ucx_is_one_sided(t))
		window_met(&t->window);
	lane_admit_no_more();
	learn_lanes(t);
	return 0;
}

/* --- after connecting --- */

static int ucx_prepare(struct transport *transport, struct err *e)
{
	struct ucx *t = ucx_of(transport);

	(void)e;
	frames_next_repetition(&t->frames);
	if (!ucx_is_one_sided(t))
		return 0;
	window_prepare(&t->window, &t->config);
	t->frames.out = window_buffer(&t->window, window_next(&t->window, 0)) - FRAMES_NUMBER;
	return 0;
}

/* What is reported from now on may be taken here, so a thread must ask again before it sleeps. */
static void ucx_idle(struct transport *transport)
{
	struct ucx *t = ucx_of(transport);

	ucx_serve(t);
	ucx_drop_strangers(t);
	t->is_armed = false;
}

static int64_t ucx_check_memory(const struct transport *transport, uint64_t posted)
{
	const struct ucx *t = (const struct ucx *)transport;

	return ucx_is_one_sided(t) ? window_check_memory(&t->window, &t->config, posted) : 0;
}

static json_t *ucx_granted(const struct transport *transport)
{
	const struct ucx *t = (const struct ucx *)transport;
	json_t *granted = json_pack("{s:s, s:s, s:O, s:O}", "library", ucx_library.get_version_string(), "api",
				    ucx_apis[t->api], "lanes", t->lanes, "environment", t->environment);

	lane_grant(granted, t->lane, t->expected, &t->config);
	return granted;
}

static json_t *ucx_counters(struct transport *transport)
{
	const struct ucx *t = (const struct ucx *)transport;
	json_t *counters = frames_counters(&t->frames);

	lane_count(counters, t->lane);
	json_object_set_new(counters, "stranger_messages", json_integer((json_int_t)t->strangers));
	return counters;
}

static int ucx_failure(const struct transport *transport, struct err *e)
{
	return frames_failure(&((const struct ucx *)transport)->frames, "ucx", e);
}

static int ucx_check(const void *settings, const struct transport_config *config, char *why, size_t why_size)
{
	const struct ucx_settings *s = settings;

	return s->api < UCX_PUT ? frames_check(config, why, why_size)
				: window_check(ucx_apis[s->api], window_uses[s->api], config, why, why_size);
}

static void ucx_traits(const void *settings, struct transport_traits *out)
{
	const struct ucx_settings *s = settings;

	out->overhead = FRAMES_NUMBER;
	if (s->api >= UCX_PUT)
		window_traits(window_uses[s->api], out);
}

static const struct counter_check ucx_checks[] = {CHECK_STRANGERS, {.counter = NULL}};

const struct transport_ops ucx_transport = {
    .name = "ucx",
    .summary = "UCX (libucp): active or tagged messages, streams, puts, gets and atomics over any of its transports",
    .options = ucx_options,
    .settings_size = sizeof(struct ucx_settings),
    .poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT | 1 << POLL_ADAPTIVE,
    .typical = {.post_ns = 300, .latency_ns = 1000, .sleeping_ns = 30000},
    .completes_in_post = true,
    .shares_files = true,
    .checks = ucx_checks,
    .check = ucx_check,
    .traits = ucx_traits,
    .open = ucx_open,
    .connect = ucx_connect,
    .prepare = ucx_prepare,
    .idle = ucx_idle,
    .check_memory = ucx_check_memory,
    .granted = ucx_granted,
    .device_counters = ucx_counters,
    .failure = ucx_failure,
    .close = ucx_close,
};

#endif
