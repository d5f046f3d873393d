/* Values of settings as people write them, by the table that every point has: what was read is written and read again as the same. */
#include <stdlib.h>

#include "common/opt.h"
#include "fuzz.h"
#include "measure/point/settings.h"

static void check_option(const struct opt *o, const char *text)
{
	char why[256], again[OPT_STR_MAX * 2];
	json_t *value = opt_parse(o, text, why, sizeof(why)), *same;

	if (!value)
		return;
	same = opt_parse(o, opt_text(o, value, again, sizeof(again)), why, sizeof(why));
	fuzz_require(same && json_equal(value, same));
	json_decref(same);
	json_decref(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct opt *o = common_options;
	char *text;
	size_t row;

	if (!size)
		return 0;
	text = fuzz_text(data + 1, size - 1);
	for (row = 0; o[row].name; row++)
		;
	check_option(&o[*data % row], text);
	free(text);
	return 0;
}
