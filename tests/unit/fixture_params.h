/* A point's parameters as a spec without settings would make them. */
#ifndef KBLAT_TESTS_UNIT_FIXTURE_PARAMS_H
#define KBLAT_TESTS_UNIT_FIXTURE_PARAMS_H

#include <jansson.h>

#include "measure/point/settings.h"

static void fixture_default(void *params, const struct opt *row)
{
	char key[64];

	json_object_set_new(params, opt_key(row, key, sizeof(key)), opt_default(row));
}

static inline json_t *fixture_params(const char *kernel, const struct transport_ops *transport)
{
	json_t *params = json_pack("{s:s, s:s}", "kernel", kernel, "transport", transport->name);

	setting_each(kernel_find(kernel), transport, fixture_default, params);
	return params;
}

#endif
