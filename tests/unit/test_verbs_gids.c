/*
 * Which entries of two tables of GIDs go together.
 */
#include <arpa/inet.h>

#include "common/err.h"
#include "measure/transports/verbs_gids.h"
#include "tap.h"

/* A table: entries "GID/PREFIX vVERSION VLAN", of which PREFIX and VLAN may be -1 (not known). */
static json_t *table(const char *text)
{
	json_t *list = json_array();
	char gid[64];
	int prefix, version, vlan, length;

	for (; sscanf(text, " %63[^/]/%d v%d %d,%n", gid, &prefix, &version, &vlan, &length) == 4; text += length)
		json_array_append_new(list, json_pack("{s:i, s:s, s:i, s:i, s:i, s:s}", "index",
						      (int)json_array_size(list), "gid", gid, "type", version, "prefix",
						      prefix, "vlan", vlan, "netdev", "eth0"));
	return list;
}

static const struct {
	const char *what, *source, *sink;
	int pair[2]; /* -1: none go together */
} rows[] = {
    {"of one network, although others come first",
     "::ffff:12.12.12.12/24 v2 0,::ffff:10.10.10.2/24 v2 0,fd00::1/64 v2 0,",
     "::ffff:10.10.10.3/24 v2 0,::ffff:12.12.12.13/24 v2 0,fd00::2/64 v2 0,",
     {0, 1}},
    {"the only family that both have",
     "::ffff:12.12.12.12/24 v2 0,::ffff:10.10.10.2/24 v2 0,fd00::1/64 v2 0,",
     "fd00::3/64 v2 0,",
     {2, 0}},
    {"networks that only a router joins: IPv4, and no address of a link",
     "fe80::1/64 v2 0,::ffff:10.102.9.101/16 v2 0,",
     "fe80::2/64 v2 0,::ffff:10.103.9.101/16 v2 0,",
     {1, 1}},
    {"a longer prefix",
     "::ffff:10.0.0.1/25 v2 0,::ffff:10.0.1.1/24 v2 0,",
     "::ffff:10.0.0.130/25 v2 0,::ffff:10.0.1.2/24 v2 0,",
     {1, 1}},
    {"a network that only one side has so wide",
     "::ffff:10.0.0.1/8 v2 0,::ffff:10.2.0.1/16 v2 0,",
     "::ffff:10.2.0.2/16 v2 0,",
     {1, 0}},
    {"prefixes that nothing tells",
     "::ffff:10.0.0.1/-1 v2 -1,::ffff:10.0.1.1/-1 v2 -1,",
     "::ffff:10.0.1.2/-1 v2 -1,",
     {1, 0}},
    {"RoCE v2 before v1, in whatever order",
     "::ffff:10.0.0.1/24 v1 0,::ffff:10.0.0.1/24 v2 0,",
     "::ffff:10.0.0.2/24 v2 0,::ffff:10.0.0.2/24 v1 0,",
     {1, 0}},
    {"RoCE v1 where one side has no other",
     "::ffff:10.0.0.1/24 v1 0,::ffff:10.0.0.1/24 v2 0,",
     "::ffff:10.0.0.2/24 v1 0,",
     {0, 0}},
    {"one VLAN, also of addresses of a link", "fe80::1/64 v2 0,fe80::1/64 v2 100,", "fe80::2/64 v2 100,", {1, 0}},
    {"a VLAN that one side does not know", "fe80::1/64 v2 100,", "fe80::2/64 v2 -1,", {0, 0}},
    {"one table for both sides",
     "fe80::1/64 v2 0,::ffff:10.0.0.1/24 v2 0,",
     "fe80::1/64 v2 0,::ffff:10.0.0.1/24 v2 0,",
     {1, 1}},
    {"IPv4 with IPv6", "::ffff:10.0.0.1/24 v2 0,", "fd00::2/64 v2 0,", {-1, -1}},
    {"two versions", "::ffff:10.0.0.1/24 v1 0,", "::ffff:10.0.0.2/24 v2 0,", {-1, -1}},
    {"two VLANs", "::ffff:10.0.0.1/24 v2 5,", "::ffff:10.0.0.2/24 v2 6,", {-1, -1}},
    {"nothing", "", "::ffff:10.0.0.2/24 v2 6,", {-1, -1}},
};

static void test_pairs(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *source = table(rows[i].source), *sink = table(rows[i].sink);
		struct verbs_gid pair[2] = {{.index = -1}, {.index = -1}};
		struct err e = ERR_INIT;
		const int rc = verbs_gids_pair(source, sink, "mlx5_0", pair, &e);

		ok((rc < 0) == (rows[i].pair[0] < 0) && pair[0].index == rows[i].pair[0] &&
		       pair[1].index == rows[i].pair[1],
		   "%s: %d and %d", rows[i].what, pair[0].index, pair[1].index);
		if (rc)
			ok(e.status == STATUS_IMPOSSIBLE && strstr(e.text, "no GID of the source goes with one of the"),
			   "and says so: %s", e.text);
		json_decref(source);
		json_decref(sink);
	}
}

static void test_strangers(void)
{
	static const char *const wrong[] = {
	    "[1]",
	    "[{}]",
	    "[{\"index\": 256, \"gid\": \"fe80::1\", \"type\": 2, \"prefix\": 64, \"vlan\": 0, \"netdev\": \"\"}]",
	    "[{\"index\": 0, \"gid\": \"fe80::g\", \"type\": 2, \"prefix\": 64, \"vlan\": 0, \"netdev\": \"\"}]",
	    "[{\"index\": 0, \"gid\": \"fe80::1\", \"type\": -1, \"prefix\": 64, \"vlan\": 0, \"netdev\": \"\"}]",
	    "[{\"index\": 0, \"gid\": \"fe80::1\", \"type\": 2, \"prefix\": 129, \"vlan\": 0, \"netdev\": \"\"}]",
	    "[{\"index\": 0, \"gid\": \"fe80::1\", \"type\": 2, \"prefix\": 64, \"vlan\": 4096, \"netdev\": \"\"}]",
	    ("[{\"index\": 0, \"gid\": \"::\", \"type\": 2, \"prefix\": 6, \"vlan\": 0, \"netdev\": "
	     "\"sixteen-letters-\"}]"),
	    "[{\"index\": 0, \"gid\": \"fe80::1\", \"type\": 2, \"prefix\": 64, \"vlan\": 0}]",
	};
	json_t *own = table("fe80::2/64 v2 0,"), *many = json_array();
	struct verbs_gid pair[2];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		json_t *theirs = json_loads(wrong[i], 0, NULL);
		struct err e = ERR_INIT;

		ok(verbs_gids_pair(own, theirs, "mlx5_0", pair, &e) == -EPROTO, "%s is no table: %s", wrong[i], e.text);
		json_decref(theirs);
	}
	for (int i = 0; i < 300; i++)
		json_array_append(many, json_array_get(own, 0));
	ok(verbs_gids_pair(own, many, "mlx5_0", pair, &(struct err)ERR_INIT) == -EPROTO, "nor is one that is too long");
	json_decref(many);
	json_decref(own);
}

int main(void)
{
	test_pairs();
	test_strangers();
	return done_testing();
}
