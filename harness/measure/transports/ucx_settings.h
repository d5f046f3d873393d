/*
 * The settings of the transport ucx, which it has even in a build without its library: for ucx.c, or, there,
 * kernels/absent_transport.c.
 */
#ifndef KBLAT_TRANSPORTS_UCX_SETTINGS_H
#define KBLAT_TRANSPORTS_UCX_SETTINGS_H

#include "common/opt.h"

enum ucx_api { UCX_AM, UCX_TAG, UCX_STREAM, UCX_PUT, UCX_GET, UCX_FETCH_ADD, UCX_COMPARE_SWAP };

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

enum { ucx_settings_bytes = sizeof(struct ucx_settings) };

#endif
