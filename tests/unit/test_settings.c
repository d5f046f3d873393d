/* The tables of settings: names that clash would make one setting mean two things; a default must be a value that is
 * accepted. */
#include <string.h>

#include "measure/point/settings.h"
#include "tap.h"

struct seen {
	const char *name[128];
	size_t count;
};

static void check_row(void *arg, const struct opt *row)
{
	struct seen *s = arg;
	bool is_new = true;
	json_t *value = opt_default(row);
	char text[OPT_STR_MAX], why[256] = "";
	json_t *again;

	for (size_t i = 0; i < s->count; i++)
		is_new &= strcmp(s->name[i], row->name) != 0;
	s->name[s->count++] = row->name;
	ok(is_new, "%s is a name of its own", row->name);
	ok(value != NULL, "%s has a default that is accepted", row->name);
	again = opt_parse(row, opt_text(row, value, text, sizeof(text)), why, sizeof(why));
	ok(json_equal(value, again), "%s: what is shown (%s) means the same when written%s", row->name, text, why);
	ok(row->help && *row->help, "%s has a help text", row->name);
	json_decref(value);
	json_decref(again);
}

int main(void)
{
	for (size_t k = 0; kernels[k]; k++)
		for (size_t t = 0; transports[t]; t++) {
			struct seen seen = {{"kernel", "transport"}, 2};

			if (kernel_loops_find(kernels[k], transports[t]->name))
				setting_each(kernels[k], transports[t], check_row, &seen);
		}
	is_str(setting_suggest("mesages"), "messages", "a misspelt setting is recognised");
	ok(setting_suggest("xyzzy") == NULL, "nonsense is not");

	char owner[64];

	ok(setting_find_anywhere("interval", owner, sizeof(owner)) != NULL, "a transport's setting is found");
	is_str(owner, "the transport scripted", "with its owner");
	return done_testing();
}
