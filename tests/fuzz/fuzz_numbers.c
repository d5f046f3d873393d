/* Quantities and lists of CPUs as people write them: what was read is written and read again as the same. */
#include <stdlib.h>
#include <string.h>

#include "common/cpulist.h"
#include "common/units.h"
#include "fuzz.h"

static void check_unit(enum unit unit, const char *text)
{
	char why[128], again[64];
	int64_t value, same;
	int rc = unit_parse(unit, text, &value, why, sizeof(why));

	fuzz_require(rc <= 0 && (!rc || memchr(why, '\0', sizeof(why))));
	if (rc)
		return;
	unit_format(unit, value, again, sizeof(again));
	fuzz_require(!unit_parse(unit, again, &same, NULL, 0) && same == value);
	unit_human_ns(value, again, sizeof(again));
}

static void check_list(const char *text)
{
	static struct cpulist set, same;
	static char again[CPULIST_TEXT_MAX];
	char why[128];

	if (!cpulist_parse(text, &set, why, sizeof(why))) {
		cpulist_format(&set, again, sizeof(again));
		fuzz_require(!cpulist_parse(again, &same, NULL, 0) && !memcmp(&set, &same, sizeof(set)));
		fuzz_require(cpulist_count(&set) <= CPULIST_MAX && cpulist_first(&set) < CPULIST_MAX);
	}
	if (!cpulist_parse_mask(text, &set, why, sizeof(why))) {
		cpulist_format_mask(&set, again, sizeof(again));
		fuzz_require(!cpulist_parse_mask(again, &same, NULL, 0) && !memcmp(&set, &same, sizeof(set)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size)
		return 0;
	text = fuzz_text(data + 1, size - 1);
	if (*data <= UNIT_SHARE_PPM)
		check_unit((enum unit) * data, text);
	else
		check_list(text);
	free(text);
	return 0;
}
