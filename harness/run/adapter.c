#include "run/adapter.h"

#include <string.h>

#include "common/json.h"

static bool is_software(const char *driver)
{
	static const char *const drivers[] = {"rdma_rxe", "siw", NULL};

	for (size_t i = 0; drivers[i]; i++)
		if (!strcmp(driver, drivers[i]))
			return true;
	return false;
}

static bool is_named(const char *device)
{
	return device && strcmp(device, "auto") != 0;
}

const char *adapter_shared_unasked(const struct flow *f, const json_t *granted)
{
	const json_t *source = json_object_get(granted, role_names[ROLE_SOURCE]);
	const json_t *sink = json_object_get(granted, role_names[ROLE_SINK]);
	const char *device = json_text(source, "device");

	if (!f->transport->has_device || !*device || strcmp(device, json_text(sink, "device")))
		return NULL;
	if (is_named(f->traits.device[ROLE_SOURCE]) || is_named(f->traits.device[ROLE_SINK]))
		return NULL;
	return is_software(json_text(source, "driver")) ? NULL : device;
}
