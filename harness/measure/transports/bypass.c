#include "measure/transports/bypass.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "common/text.h"

#define LOOPBACK_INDEX 1 /* in every network namespace */

struct interface bypass_carrier(const struct interface *own, const struct sockaddr *peer)
{
	struct interface carrier, at_peer;

	interface_find(peer, &at_peer);
	if (!at_peer.is_loopback && !*at_peer.name)
		return *own;
	carrier.is_loopback = true;
	if (!if_indextoname(LOOPBACK_INDEX, carrier.name))
		carrier.name[0] = '\0';
	return carrier;
}

/* The dynamic loader goes on without a library that it does not find. */
static void add_if_loaded(json_t *libraries, const char *name)
{
	void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
	char clean[256];

	if (!handle)
		return;
	dlclose(handle);
	json_array_append_new(libraries, json_string(text_clean(name, strlen(name), clean, sizeof(clean))));
}

static json_t *preloaded(void)
{
	json_t *libraries = json_array();
	const char *value = getenv("LD_PRELOAD");
	char *names = or_abort(strdup(value ? value : "")), *rest = NULL;

	for (char *name = strtok_r(names, ": ", &rest); name; name = strtok_r(NULL, ": ", &rest))
		add_if_loaded(libraries, name);
	free(names);
	return libraries;
}

json_t *bypass_describe(const struct interface *carrier, size_t message_bytes)
{
	return json_pack("{s:s*, s:I, s:o}", "carrier", *carrier->name ? carrier->name : NULL, "message_bytes",
			 (json_int_t)message_bytes, "libraries", preloaded());
}
