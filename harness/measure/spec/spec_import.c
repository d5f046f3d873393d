#include "measure/spec/spec_import.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/or_abort.h"
#include "common/yaml_make.h"
#include "measure/point/settings.h"
#include "measure/spec/observatory_config.h"
#include "measure/spec/observatory_spec.h"
#include "measure/transports/verbs_device.h"

/* --- local devices --- */

/* The RDMA devices of this machine, each once, in the order of libibverbs; `list` owns the names. */
static size_t find_devices(json_t **list, const char ***names)
{
	json_t *port;
	size_t count = 0, i;

	*list = verbs_devices();
	json_array_foreach (*list, i, port) {
		const char *name = json_text(port, "name");

		if (count && !strcmp((*names)[count - 1], name))
			continue;
		*names = grow_or_abort(*names, count, sizeof(**names));
		(*names)[count++] = name;
	}
	return count;
}

/* --- limits of a transport --- */

static void set_param_default(void *params, const struct opt *row)
{
	char key[64];

	json_object_set_new(params, opt_key(row, key, sizeof(key)), opt_default(row));
}

static void note_complaint(void *complaints, const struct flow *f, const char *why)
{
	(void)f, (void)why;
	++*(unsigned *)complaints;
}

static bool carries(const struct transport_ops *t, int size)
{
	json_t *params = json_pack("{s:s, s:s}", "kernel", "pingpong", "transport", t->name);
	unsigned complaints = 0;
	struct flow flow;

	setting_each(kernel_find("pingpong"), t, set_param_default, params);
	json_object_set_new(params, "size_bytes", json_integer(size));
	if (flow_load(&flow, "", params, NULL))
		complaints++;
	else
		flow_check(&flow, note_complaint, &complaints);
	flow_free(&flow);
	json_decref(params);
	return !complaints;
}

/* The smallest message that the transport allows, as messages may have to contain their number. */
static unsigned long long find_least_bytes(const char *transport)
{
	const struct transport_ops *t = transport_find(transport);
	int size = 1;

	while (t && size < 64 && !carries(t, size))
		size++;
	return (unsigned long long)size;
}

static const char *find_transport(const struct spec_overrides *o)
{
	const char *transport = "verbs";

	for (size_t i = 0; i < o->set_count; i++)
		if (!strncmp(o->set[i], "transport=", strlen("transport=")))
			transport = o->set[i] + strlen("transport=");
	return transport;
}

void spec_import(struct spec *s, struct ynode **root, const struct spec_overrides *overrides, struct diag *d)
{
	struct observatory_request request = {.transport = find_transport(overrides)};
	const char **devices = NULL;
	json_t *list = NULL;
	struct ynode *made;

	if (!observatory_config_is(*root))
		return;
	request.device_count = find_devices(&list, &devices);
	request.devices = devices;
	request.least_bytes = find_least_bytes(request.transport);
	s->warnings.text = s->text;
	s->warnings.length = s->length;
	observatory_config_check(*root, s->text, s->length, d, &s->warnings);
	made = d->count ? NULL : observatory_spec_make(*root, &request, d, &s->warnings);
	s->wants_wire = made && observatory_config_has_detector(*root);
	yaml_free(*root);
	*root = made;
	s->original = s->text;
	s->original_length = s->length;
	s->text = made ? yaml_make_dump(made) : NULL;
	s->length = s->text ? strlen(s->text) : 0;
	free(devices);
	json_decref(list);
}
