#include "measure/transports/ucx_hot.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "measure/transports/lane.h"

#define ADDRESS_MOST 4096
#define COUNT(a)     (sizeof(a) / sizeof((a)[0]))

enum { API_AM, API_TAG };
static const char *const apis[] = {[API_AM] = "am", [API_TAG] = "tag", NULL};

struct ucx_settings {
	int api;
	char tls[OPT_STR_MAX], devices[OPT_STR_MAX], rndv_thresh[OPT_STR_MAX], lane[OPT_STR_MAX];
};

#define FIELD(f) offsetof(struct ucx_settings, f)

static const struct opt ucx_options[] = {
    {"api", OPT_ENUM, FIELD(api), "am", 0, 0, apis, "active messages, or tagged messages"},
    {"tls", OPT_STR, FIELD(tls), "all", 0, 0, NULL, "UCX's transports that may be used, as in UCX_TLS"},
    {"devices", OPT_STR, FIELD(devices), "all", 0, 0, NULL, "network devices that may be used, as in UCX_NET_DEVICES"},
    {"rndv_thresh", OPT_STR, FIELD(rndv_thresh), "auto", 0, 0, NULL,
     "size from which messages go by rendezvous, as in UCX_RNDV_THRESH"},
    {"lane", OPT_STR, FIELD(lane), "any", 0, 0, NULL,
     "UCX's transport that must carry the messages, such as rc_verbs or posix; otherwise the point is not valid"},
    {.name = NULL},
};

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
 * these variables when it is loaded. */
static int ucx_load(struct err *e)
{
	setenv("UCX_LOG_FILE", "stderr", 1);
	setenv("UCX_ERROR_SIGNALS", "", 0);
	return loaded_library_open("ucx", function_names, &ucx_library, e);
}

/* --- receiving --- */

static void received(struct ucx_slot *slot, ucs_status_t status, size_t length)
{
	if (status == UCS_ERR_CANCELED)
		return;
	if (status != UCS_OK)
		note(slot->owner, status, "receive");
	slot->length = length;
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

int ucx_post_slot(struct ucx *t, struct ucx_slot *slot)
{
	ucp_tag_recv_info_t info = {.length = 0};
	const ucp_request_param_t param = {
	    .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_RECV_INFO,
	    .cb.recv = on_tagged,
	    .user_data = slot,
	    .recv_info.tag_info = &info,
	};
	void *request = ucx_library.tag_recv_nbx(t->worker, slot->data, t->frames.size, UCX_ID, UINT64_MAX, &param);

	if (!request)
		received(slot, UCS_OK, info.length);
	return UCS_PTR_IS_ERR(request) ? note(t, UCS_PTR_STATUS(request), "post a receive") : 0;
}

static ucs_status_t on_active(void *arg, const void *header, size_t header_length, void *data, size_t length,
			      const ucp_am_recv_param_t *param)
{
	struct ucx *t = arg;
	struct ucx_slot *slot = &t->slots[t->tail & t->mask];
	const ucp_request_param_t fetch = {
	    .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
	    .cb.recv_am = on_fetched,
	    .user_data = slot,
	};
	void *request;

	(void)header;
	(void)header_length;
	/* The message in the slot before the head may still be read. */
	if (t->tail - t->head >= t->mask || length != t->frames.size) {
		frames_note(&t->frames, length == t->frames.size ? -ENOBUFS : -EMSGSIZE, "receive", NULL);
		return UCS_OK;
	}
	t->tail++;
	if (!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)) {
		memcpy(slot->data, data, length);
		received(slot, UCS_OK, length);
		return UCS_OK;
	}
	request = ucx_library.am_recv_data_nbx(t->worker, data, slot->data, length, &fetch);
	if (!request)
		received(slot, UCS_OK, length);
	else if (UCS_PTR_IS_ERR(request))
		note(t, UCS_PTR_STATUS(request), "receive");
	return UCS_INPROGRESS;
}

int ucx_recv_other(struct ucx *t)
{
	return frames_note(&t->frames, -EMSGSIZE, "receive", "it does not belong to this run");
}

int ucx_wait_recv(struct ucx *t)
{
	struct pollfd readable = {.fd = t->fd, .events = POLLIN};
	ucs_status_t status;

	if (t->slots[t->head & t->mask].is_full)
		return 0;
	status = ucx_library.worker_arm(t->worker);
	if (status == UCS_ERR_BUSY)
		return 0;
	if (status != UCS_OK)
		return note(t, status, "arm the worker");
	if (poll(&readable, 1, -1) >= 0)
		return 0;
	return errno == EINTR ? -EINTR : frames_note(&t->frames, -errno, "wait for messages", NULL);
}

/* --- sending --- */

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

int ucx_send_flush(struct ucx *t)
{
	static const ucp_request_param_t plain = {.op_attr_mask = 0};
	void *request = ucx_library.worker_flush_nbx(t->worker, &plain);

	return request ? ucx_send_later(t, request) : 1;
}

/* --- open and close --- */

static int make_slots(struct ucx *t, const struct transport_config *config, struct err *e)
{
	const uint32_t slots = frames_slots(config);
	int rc = frames_slot_memory(&t->frames, &t->slot_memory, slots, config, e);

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
	    .features = (t->tagged ? UCP_FEATURE_TAG : UCP_FEATURE_AM) | (sleeps ? UCP_FEATURE_WAKEUP : 0),
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

static int make_worker(struct ucx *t, bool sleeps, struct err *e)
{
	const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
					    .thread_mode = UCS_THREAD_MODE_SINGLE};
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
	if (status == UCS_OK && !t->tagged)
		status = ucx_library.worker_set_am_recv_handler(t->worker, &handler);
	for (uint32_t i = 0; status == UCS_OK && t->tagged && i <= t->mask; i++)
		if (ucx_post_slot(t, &t->slots[i]))
			return frames_failure(&t->frames, "ucx", e);
	return status == UCS_OK ? 0 : ucx_complain(status, "prepare the worker", e);
}

/* {"worker": hexadecimal digits} */
static int ucx_describe(const struct ucx *t, json_t **address, struct err *e)
{
	ucp_address_t *bytes;
	size_t size;
	ucs_status_t status = ucx_library.worker_get_address(t->worker, &bytes, &size);

	if (status != UCS_OK)
		return ucx_complain(status, "get the worker's address", e);
	*address =
	    json_pack("{s:o, s:s}", "worker", lane_address(bytes, size), "library", ucx_library.get_version_string());
	ucx_library.worker_release_address(t->worker, bytes);
	return 0;
}

static void ucx_close(struct transport *transport)
{
	struct ucx *t = ucx_of(transport);

	if (t->worker)
		ucx_library.worker_destroy(t->worker);
	if (t->context)
		ucx_library.cleanup(t->context);
	free(t->slots);
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
	t->tagged = s->api == API_TAG;
	t->environment = lane_environment("UCX_");
	if (strcmp(s->lane, "any") != 0)
		snprintf(t->expected, sizeof(t->expected), "%s", s->lane);
	rc = ucx_load(e);
	if (!rc)
		rc = frames_open(&t->frames, &t->base, config, e);
	if (!rc)
		rc = make_slots(t, config, e);
	if (!rc)
		rc = make_context(t, s, sleeps, e);
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
	const int sent = ucx_post_try(t, 0, true);

	return sent > 0 ? ucx_send_flush(t) : sent;
}

static int ucx_be_greeted(void *transport)
{
	uint32_t seq;

	return ucx_poll_recv(transport, &seq);
}

static int ucx_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	struct ucx *t = ucx_of(transport);
	unsigned char address[ADDRESS_MOST];
	int rc;

	if (lane_read_address(json_object_get(peer, "worker"), address, sizeof(address)))
		return err_set(e, -EPROTO, STATUS_FAILED, "the peer's address", NULL, "has no valid worker");
	rc = make_endpoint(t, address, e);
	if (rc)
		return rc;
	rc = frames_meet(&t->frames, NULL, ucx_greet, ucx_be_greeted, t);
	if (rc)
		return t->frames.fault.rc ? frames_failure(&t->frames, "ucx", e)
					  : err_sys(e, rc, "ucx", "connect to the other side");
	learn_lanes(t);
	return 0;
}

/* --- after connecting --- */

static int ucx_prepare(struct transport *transport, struct err *e)
{
	(void)e;
	frames_next_repetition(&ucx_of(transport)->frames);
	return 0;
}

static json_t *ucx_granted(const struct transport *transport)
{
	const struct ucx *t = (const struct ucx *)transport;
	json_t *granted =
	    json_pack("{s:s, s:s, s:O, s:O}", "library", ucx_library.get_version_string(), "api",
		      apis[t->tagged ? API_TAG : API_AM], "lanes", t->lanes, "environment", t->environment);

	lane_grant(granted, t->lane, t->expected, &t->config);
	return granted;
}

static json_t *ucx_counters(const struct transport *transport)
{
	const struct ucx *t = (const struct ucx *)transport;
	json_t *counters = frames_counters(&t->frames);

	lane_count(counters, t->lane);
	return counters;
}

static int ucx_failure(const struct transport *transport, struct err *e)
{
	return frames_failure(&((const struct ucx *)transport)->frames, "ucx", e);
}

static int ucx_check(const void *settings, const struct transport_config *config, char *why, size_t why_size)
{
	(void)settings;
	return frames_check(config, why, why_size);
}

static void ucx_traits(const void *settings, struct transport_traits *out)
{
	(void)settings;
	out->overhead = FRAMES_NUMBER;
}

const struct transport_ops ucx_transport = {
    .name = "ucx",
    .summary = "UCX (libucp): active or tagged messages over any of its transports",
    .options = ucx_options,
    .settings_size = sizeof(struct ucx_settings),
    .poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT | 1 << POLL_ADAPTIVE,
    .typical = {.post_ns = 300, .latency_ns = 1000, .sleeping_ns = 30000},
    .completes_in_post = true,
    .check = ucx_check,
    .traits = ucx_traits,
    .open = ucx_open,
    .connect = ucx_connect,
    .prepare = ucx_prepare,
    .granted = ucx_granted,
    .device_counters = ucx_counters,
    .failure = ucx_failure,
    .close = ucx_close,
};
