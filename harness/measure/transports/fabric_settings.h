/*
 * The settings of the transport fabric, which it has even in a build without its library: for fabric.c, or, there,
 * kernels/absent_transport.c.
 */
#ifndef KBLAT_TRANSPORTS_FABRIC_SETTINGS_H
#define KBLAT_TRANSPORTS_FABRIC_SETTINGS_H

#include "common/opt.h"

enum fabric_api { FABRIC_MSG, FABRIC_TAGGED, FABRIC_WRITE, FABRIC_READ, FABRIC_FETCH_ADD, FABRIC_COMPARE_SWAP };

static const char *const fabric_apis[] = {[FABRIC_MSG] = "msg",
					  [FABRIC_TAGGED] = "tagged",
					  [FABRIC_WRITE] = "write",
					  [FABRIC_READ] = "read",
					  [FABRIC_FETCH_ADD] = "fetch_add",
					  [FABRIC_COMPARE_SWAP] = "compare_swap",
					  NULL};

enum { ENDPOINT_RDM, ENDPOINT_MSG, ENDPOINT_DGRAM };
static const char *const fabric_endpoints[] = {
    [ENDPOINT_RDM] = "rdm", [ENDPOINT_MSG] = "msg", [ENDPOINT_DGRAM] = "dgram", NULL};

struct fabric_settings {
	int api, endpoint;
	char provider[OPT_STR_MAX], domain[OPT_STR_MAX], lane[OPT_STR_MAX];
};

static const struct opt fabric_options[] = {
    {"endpoint", OPT_ENUM, offsetof(struct fabric_settings, endpoint), "rdm", 0, 0, fabric_endpoints,
     "reliable and without connections, connected, or datagrams"},
    {"api", OPT_ENUM, offsetof(struct fabric_settings, api), "msg", 0, 0, fabric_apis,
     "messages, tagged messages, or one-sided operations: write (kernels pingpong, exchange, stream), read, and "
     "fetch_add and compare_swap of 8 bytes (stream)"},
    {"provider", OPT_STR, offsetof(struct fabric_settings, provider), "any", 0, 0, NULL,
     "libfabric's provider, as in FI_PROVIDER, such as shm, tcp or \"tcp;ofi_rxm\"; the point is not valid if it is "
     "another"},
    {"domain", OPT_STR, offsetof(struct fabric_settings, domain), "any", 0, 0, NULL,
     "the provider's domain, mostly a device or interface (`fi_info`)"},
    {"lane", OPT_STR, offsetof(struct fabric_settings, lane), "any", 0, 0, NULL,
     "what must carry the messages, such as \"tcp;ofi_rxm/lo\"; otherwise the point is not valid. any: `provider`"},
    {.name = NULL},
};

enum { fabric_settings_bytes = sizeof(struct fabric_settings) };

#endif
