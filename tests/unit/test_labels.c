/* Labels of the points of many runs: which settings tell them apart. */
#include <stdlib.h>

#include "report/labels.h"
#include "tap.h"

#define MOST 4

static const struct {
	const char *what;
	const char *settings[MOST], *labels[MOST];
} cases[] = {
    {"equal points", {"{'transport': 'tcp', 'size_bytes': 32}", "{'transport': 'tcp', 'size_bytes': 32}"}, {"", ""}},
    {"one point", {"{'transport': 'tcp', 'size_bytes': 32}"}, {""}},
    {"a setting",
     {"{'poll': 'busy', 'size_bytes': 32}", "{'poll': 'busy', 'size_bytes': 64}"},
     {"size 32B", "size 64B"}},
    {"the transport comes first",
     {"{'poll': 'busy', 'transport': 'tcp'}", "{'poll': 'event', 'transport': 'tcp'}",
      "{'poll': 'event', 'transport': 'udp'}"},
     {"tcp, busy", "tcp, event", "udp, event"}},
    {"a setting that only one transport has",
     {"{'qp': 'rc', 'transport': 'verbs'}", "{'transport': 'shmem'}", "{'qp': 'ud', 'transport': 'verbs'}"},
     {"verbs, rc", "shmem", "verbs, ud"}},
    {"a setting with another default in another transport",
     {"{'sndbuf_bytes': 1024, 'transport': 'tcp'}", "{'sndbuf_bytes': 2048, 'transport': 'nanomsg'}"},
     {"tcp", "nanomsg"}},
    {"flows: each has a transport",
     {"{'a.transport': 'tcp', 'b.qp': 'rc', 'b.transport': 'verbs'}",
      "{'a.transport': 'udp', 'b.qp': 'rc', 'b.transport': 'verbs'}",
      "{'a.transport': 'udp', 'b.qp': 'ud', 'b.transport': 'verbs'}"},
     {"tcp, rc", "udp, rc", "udp, ud"}},
    {"settings that could not be read",
     {"{'qp': 'rc', 'transport': 'verbs'}", "-", "{'qp': 'ud', 'transport': 'verbs'}"},
     {"rc", "", "ud"}},
};

static json_t *parse(const char *text)
{
	char json[256];
	size_t i = 0;

	for (; text[i] && i < sizeof(json) - 1; i++)
		json[i] = (char)(text[i] == '\'' ? '"' : text[i]);
	json[i] = 0;
	return json_loads(json, 0, NULL);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *settings[MOST] = {NULL};
		char *labels[MOST] = {NULL};
		size_t count = 0;

		for (; count < MOST && cases[i].settings[count]; count++)
			settings[count] = parse(cases[i].settings[count]);
		label_apart(settings, count, labels);
		for (size_t k = 0; k < count; k++) {
			is_str(labels[k], cases[i].labels[k], "%s: point %zu", cases[i].what, k);
			free(labels[k]);
			json_decref(settings[k]);
		}
	}
	return done_testing();
}
