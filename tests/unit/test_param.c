/* Settings for people: their names, their values, and whether a value needs its name. */
#include "judge/analysis/param.h"
#include "tests/unit/tap.h"

static void value_is(json_t *value, enum unit unit, const char *wanted)
{
	char text[64];

	is_str(param_value_text(value, unit, text, sizeof(text)), wanted, "a value is shown as '%s'", wanted);
	json_decref(value);
}

static void test_values(void)
{
	value_is(json_integer(32), UNIT_BYTES, "32B");
	value_is(json_string("9,12"), UNIT_ONE, "9,12");
	value_is(json_string(""), UNIT_ONE, "none");
	value_is(json_true(), UNIT_ONE, "yes");
	value_is(json_null(), UNIT_ONE, "-");
}

static void speaks(json_t *value, bool wanted, const char *what)
{
	ok(param_speaks(value) == wanted, "%s %s its setting's name", what, wanted ? "does not need" : "needs");
	json_decref(value);
}

static void test_speaks(void)
{
	speaks(json_string("rc"), true, "rc");
	speaks(json_string("auto"), false, "auto");
	speaks(json_string("188B"), false, "188B");
	speaks(json_string("9,12"), false, "a list of numbers");
	speaks(json_string(""), false, "an empty list");
	speaks(json_string("-"), false, "a dash");
	speaks(json_integer(5), false, "a number");
	speaks(json_true(), false, "a yes");
}

int main(void)
{
	test_values();
	test_speaks();
	return done_testing();
}
