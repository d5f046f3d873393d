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

/* What transports call their operations; the first row of several for one op is what a spec gets. */
static const struct word {
	const char *transport, *setting, *word, *op;
} words[] = {
    {"verbs", "op", "send", "send"},  {"verbs", "op", "send_imm", "send_imm"}, {"verbs", "op", "write", "write"},
    {"verbs", "op", "read", "read"},  {"ucx", "api", "tag", "send"},	       {"ucx", "api", "am", "send"},
    {"ucx", "api", "put", "write"},   {"ucx", "api", "get", "read"},	       {"fabric", "api", "tagged", "send"},
    {"fabric", "api", "msg", "send"}, {"fabric", "api", "write", "write"},     {"fabric", "api", "read", "read"},
};

#define WORDS	   (sizeof(words) / sizeof(words[0]))
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

const char *observatory_operations_setting(const char *transport)
{
	for (size_t i = 0; i < WORDS; i++)
		if (!strcmp(words[i].transport, transport))
			return words[i].setting;
	return NULL;
}

const char *observatory_operations_word(const char *transport, const char *op)
{
	const char *like_it = NULL;

	for (size_t i = 0; i < WORDS; i++) {
		if (strcmp(words[i].transport, transport) != 0)
			continue;
		if (!strcmp(words[i].op, op))
			return words[i].word;
		if (!like_it && !strncmp(op, words[i].op, strlen(words[i].op)))
			like_it = words[i].word;
	}
	return like_it;
}

const char *observatory_operations_op(const char *transport, const char *word)
{
	for (size_t i = 0; i < WORDS; i++)
		if (!strcmp(words[i].transport, transport) && !strcmp(words[i].word, word))
			return words[i].op;
	return NULL;
}

bool observatory_operations_is_one_sided(const struct observatory_operation *o)
{
	return strncmp(o->op, "send", strlen("send")) != 0;
}
