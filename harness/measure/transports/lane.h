/*
 * What carries the messages, where a library chooses it ("rc_verbs/mlx5_0:1", "tcp;ofi_rxm/lo"): its lane. The library
 * also reads its own environment variables.
 */
#ifndef KBLAT_TRANSPORTS_LANE_H
#define KBLAT_TRANSPORTS_LANE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct err;
struct transport_config;

/* The same choice as a variable of the library and as a setting, which has a value if it is not the usual one. */
struct lane_variable {
	const char *name, *key, *value, *usual;
};

/* The variables that were set and begin with `prefix`: ["UCX_TLS=tcp"]. New reference. */
json_t *lane_environment(const char *prefix);

/* 1 if the setting has a value, 0 if not, -EINVAL if the variable contradicts it. */
int lane_setting(const struct lane_variable *v, struct err *e);

/* Adds to what was granted which lane it is, and which one was expected ("": any); and what must count its messages
 * ("witness"), with their sizes. The judge of validity reads it. */
void lane_grant(json_t *granted, const char *lane, const char *expected, const struct transport_config *config);

/* Is it memory that both sides share? */
bool lane_is_memory(const char *lane);

/* Adds the counters of every interface and RDMA port, of which that judge must find one that moved with the messages, or
 * none; and the evidence's bytes on the wire. */
void lane_count(json_t *counters, const char *lane);

/* A library listens by itself, and takes everybody's calls. From now on the kernel answers none: both sides have met. */
void lane_admit_no_more(void);

/* The library's address of an endpoint, as hexadecimal digits (new reference), and back: all of it must fit, or -EPROTO. */
json_t *lane_address(const void *bytes, size_t size);
int lane_read_address(const json_t *text, unsigned char *bytes, size_t most);

#endif
