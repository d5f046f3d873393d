#include "files/observatory/observatory_operations.h"

#include <stddef.h>
#include <string.h>

const struct observatory_operation observatory_operations[] = {
    {"MessagingThroughput", OBSERVATORY_THROUGHPUT, "stream", "send", NULL, "Messaging Throughput"},
    {"RdmaWriteThroughput", OBSERVATORY_THROUGHPUT, "stream", "write", NULL, "RDMA Write Throughput"},
    {"RdmaReadThroughput", OBSERVATORY_THROUGHPUT, "stream", "read", NULL, "RDMA Read Throughput"},
    {"MessagingLatency", OBSERVATORY_LATENCY, "stream", "send", "comp_lat_ns", "Messaging Latency"},
    {"RdmaWriteLatency", OBSERVATORY_LATENCY, "stream", "write", "comp_lat_ns", "RDMA Write Latency"},
    {"RdmaReadLatency", OBSERVATORY_LATENCY, "stream", "read", "comp_lat_ns", "RDMA Read Latency"},
    {"MessagingPingPong", OBSERVATORY_ROUND_TRIP, "pingpong", "send_imm", "rtt_ns", "Messaging PingPong"},
    {.name = NULL},
};

#define OPERATIONS (sizeof(observatory_operations) / sizeof(observatory_operations[0]))

const struct observatory_operation *observatory_operations_find(const char *name)
{
	for (const struct observatory_operation *o = observatory_operations; o->name; o++)
		if (!strcmp(o->name, name))
			return o;
	return NULL;
}

const char *const *observatory_operations_names(void)
{
	static const char *names[OPERATIONS];

	for (size_t i = 0; i < OPERATIONS; i++)
		names[i] = observatory_operations[i].name;
	return names;
}

bool observatory_operations_is_one_sided(const struct observatory_operation *o)
{
	return strncmp(o->op, "send", strlen("send")) != 0;
}
