/* Do both sides of a flow use one adapter that nobody named? */
#include "common/err.h"
#include "fixture_params.h"
#include "measure/run/coordinator.h"
#include "measure/transports/shmem_hot.h"
#include "measure/transports/verbs_types.h"
#include "tap.h"

static json_t *granted(const char *source, const char *sink, const char *software)
{
	return json_pack("{s:{s:s, s:s*}, s:{s:s, s:s*}}", "source", "device", source, "software", software, "sink",
			 "device", sink, "software", software);
}

static const struct row {
	const char *what, *setting, *value, *source, *sink, *software, *shared;
} rows[] = {
    {"one adapter, and nobody has named it", NULL, NULL, "mlx5_0", "mlx5_0", NULL, "mlx5_0"},
    {"two adapters", NULL, NULL, "mlx5_0", "mlx5_1", NULL, NULL},
    {"one that is named for both", "device", "mlx5_0", "mlx5_0", "mlx5_0", NULL, NULL},
    {"one that is named for the sink", "sink_device", "mlx5_0", "mlx5_0", "mlx5_0", NULL, NULL},
    {"Soft-RoCE", NULL, NULL, "rxe0", "rxe0", "Soft-RoCE", NULL},
    {"Soft-iWARP", NULL, NULL, "siw0", "siw0", "Soft-iWARP", NULL},
    {"nothing was granted", NULL, NULL, "", "", NULL, NULL},
};

static void test_row(const struct row *r)
{
	json_t *params = fixture_params("oneway", &verbs_transport), *both = granted(r->source, r->sink, r->software);
	struct err e = ERR_INIT;
	struct flow f;

	if (r->setting)
		json_object_set_new(params, r->setting, json_string(r->value));
	is_int(flow_load(&f, "", params, &e), 0, "%s: settings %s", r->what, e.text);
	is_str(adapter_shared_unasked(&f, both), r->shared, "%s", r->what);
	flow_free(&f);
	json_decref(both);
	json_decref(params);
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
