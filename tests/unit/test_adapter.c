/* Do both sides of a flow use one port of an adapter? */
#include "common/err.h"
#include "fixture_params.h"
#include "measure/run/coordinator.h"
#include "measure/transports/shmem_hot.h"
#include "measure/transports/verbs_types.h"
#include "tap.h"

static json_t *side(const char *device, int port, const char *software)
{
	json_t *granted = json_pack("{s:s, s:s*}", "device", device, "software", software);

	if (port)
		json_object_set_new(granted, "port", json_integer(port));
	return granted;
}

static const struct row {
	const char *what, *source, *sink;
	int ports[2]; /* 0: not known */
	const char *software, *shared;
} rows[] = {
    {"one port", "mlx5_0", "mlx5_0", {1, 1}, NULL, "mlx5_0"},
    {"two ports of one device", "mlx4_0", "mlx4_0", {1, 2}, NULL, NULL},
    {"one device, by a library that does not tell the port", "mlx5_0", "mlx5_0", {0, 0}, NULL, "mlx5_0"},
    {"two devices", "mlx5_0", "mlx5_1", {1, 1}, NULL, NULL},
    {"Soft-RoCE", "rxe0", "rxe0", {1, 1}, "Soft-RoCE", NULL},
    {"Soft-iWARP", "siw0", "siw0", {1, 1}, "Soft-iWARP", NULL},
    {"nothing was granted", "", "", {0, 0}, NULL, NULL},
};

static void test_row(const struct row *r)
{
	json_t *both = json_pack("{s:o, s:o}", "source", side(r->source, r->ports[0], r->software), "sink",
				 side(r->sink, r->ports[1], r->software));

	is_str(adapter_shared(both), r->shared, "%s", r->what);
	json_decref(both);
}

static void test_sides(void)
{
	json_t *params = fixture_params("oneway", &verbs_transport);
	struct err e = ERR_INIT;
	struct flow f;

	json_object_set_new(params, "device", json_string("mlx5_0"));
	json_object_set_new(params, "sink_device", json_string("mlx5_1"));
	is_int(flow_load(&f, "", params, &e), 0, "settings of two devices %s", e.text);
	is_str(f.traits.device[ROLE_SOURCE], "mlx5_0", "a side without a device of its own has the point's");
	is_str(f.traits.device[ROLE_SINK], "mlx5_1", "the other its own");
	flow_free(&f);
	json_decref(params);
	params = fixture_params("oneway", &shmem_transport);
	is_int(flow_load(&f, "", params, &e), 0, "settings of another transport %s", e.text);
	ok(!f.traits.device[ROLE_SOURCE] && !f.traits.device[ROLE_SINK], "which has none");
	flow_free(&f);
	json_decref(params);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		test_row(&rows[i]);
	test_sides();
	return done_testing();
}
