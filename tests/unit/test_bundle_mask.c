/* What a masked bundle has instead of names and addresses. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "files/rundir/reader.h"
#include "study/bundle/bundle_mask.h"
#include "tap.h"

static const char run_json[] =
    "{\"hosts\": {\"quokka17.zoo.example\": {}, \"n1\": {}, \"n2\": {}, \"vm\": {}, \"10.9.8.7\": {}}, "
    "\"argv\": [\"kblat\", \"run\", \"/home/keeper/s.yaml\", \"--source\", \"ssh -p 22 -l x someone@lynx\", "
    "\"--sink=srun -w node-07 taskset 3\", \"--hosts\", \"m[1-4],z9\"]}";

static const char resolved_json[] = "{\"points\": [{\"params\": {\"sink_address\": \"heron\"}}]}";

static void check(const struct hidden *h, const char *text, const char *want)
{
	size_t length = strlen(text);
	char *is = hidden_apply(h, "", text, &length);

	is_str(is, want, "%s", text);
	ok(length == strlen(want), "its length");
	free(is);
}

int main(void)
{
	static const char *const rows[][2] = {
	    {"on quokka17.zoo.example, quokka17 and Quokka17-ib0",
	     "on xxxxxxxxxxxxxxxxxxxx, xxxxxxx2 and xxxxxxx2-ib0"},
	    {"mail.zoo.example", "mail.xxxxxxxxxxx"},
	    {"n1 n2 n12 xn1 n1.", "xx x2 n12 xn1 xx."},
	    {"{\"vm\": \"a vm\"} state/vm/before proc/sys/vm/x", "{\"x3\": \"a vm\"} state/x3/before proc/sys/vm/x"},
	    {"vm\n", "x3\n"},
	    {"someone lynx node-07 heron keeper", "xxxxxx2 xxxx xxxxxxx xxxxx xxxxxx"},
	    {"ssh -p 22 srun taskset 3", "ssh -p 22 srun taskset 3"},
	    {"m[1-4],z9 and z9", "xxxxxxxxx and x4"},
	    {"/home/another/x /Users/b.c/d /home/ /root", "/home/xxxxxxx/x /Users/x.x/d /home/ /root"},
	    {"10.9.8.7 10.0.0.1:80 x=192.168.7.2/24", "xxxxxxxx 00.0.0.0:80 x=000.000.0.0/24"},
	    {"127.0.0.1 0.0.0.0 255.255.255.0 1.2.3 1.2.3.4.5 300.1.1.1 v1.2.3.4",
	     "127.0.0.1 0.0.0.0 255.255.255.0 1.2.3 1.2.3.4.5 300.1.1.1 v1.2.3.4"},
	    {"fe80::1:2 2001:db8::7/64 [fd00::9]", "0000::0:0 0000:000::0/64 [0000::0]"},
	    {"::1 :: 12:34:56 std::abc a::b 0000:01:00.0", "::1 :: 12:34:56 std::abc a::b 0000:01:00.0"},
	    {"02:fc:00:00:00:05 0c-42-a1-12-34-56", "00:00:00:00:00:00 00-00-00-00-00-00"},
	    {"0123456789abcdef0123456789abcdef 2026-11-28", "00000000000000000000000000000000 2026-11-28"},
	    {"", ""},
	};
	struct run run = {.path = (char *)"/none", .resolved = json_loads(resolved_json, 0, NULL)};
	struct hidden h = {0};
	json_t *record = json_loads(run_json, 0, NULL);

	run.record = run_record_from_json(record);
	json_decref(record);
	hidden_add_run(&h, &run);
	hidden_complete(&h);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check(&h, rows[i][0], rows[i][1]);
	hidden_free(&h);
	run_record_free(&run.record);
	json_decref(run.resolved);
	return done_testing();
}
