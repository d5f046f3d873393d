/*
 * Numbers that arrive: in order, late, twice; beside a record of each, on random orders with losses and duplicates.
 */
#include <stdlib.h>
#include <string.h>

#include "measure/instrument/arrivals.h"
#include "tap.h"

static struct arrivals after(const uint32_t *numbers, size_t count)
{
	struct arrivals a = {0};

	for (size_t i = 0; i < count; i++)
		arrivals_take(&a, numbers[i]);
	return a;
}

#define AFTER(...) after((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void test_orders(void)
{
	struct arrivals a = AFTER(0, 1, 2, 3);

	ok(a.next == 4 && !a.gaps && !a.late && !a.twice, "in order: nothing is kept");
	a = AFTER(0, 3, 1, 2);
	ok(a.next == 4 && !a.gaps && a.late == 2 && !a.twice, "two late ones fill their gap");
	a = AFTER(0, 4, 2, 2);
	ok(a.gaps == 2 && a.late == 1 && a.twice == 1, "one in the middle of a gap divides it, and is then known");
	a = AFTER(0, 0, 1, 1);
	ok(a.next == 2 && a.twice == 2 && !a.late, "what came in order, too, came twice");
	a = AFTER(5, 6, 5);
	ok(a.gaps == 1 && a.twice == 1, "the first of all may be missing");
}

static void test_random(void)
{
	enum { NUMBERS = 3000 };
	static bool came[NUMBERS];
	uint64_t late = 0, twice = 0;
	struct arrivals a = {0};
	uint32_t latest = 0;
	bool agrees = true;

	srand(7);
	for (int i = 0; i < 4 * NUMBERS; i++) {
		const int spread = i / 4 + rand() % 40 - 20;
		const uint32_t number = spread < 0 ? 0 : spread < NUMBERS ? (uint32_t)spread : NUMBERS - 1;

		if (number % 17 == 3)
			continue;
		twice += came[number];
		late += !came[number] && number < latest;
		latest = number > latest ? number : latest;
		came[number] = true;
		arrivals_take(&a, number);
		agrees &= a.twice == twice && a.late == late && a.next == latest + 1;
	}
	ok(agrees && twice > 100 && late > 100, "random orders (seed 7): late and twice as a record of each has them");
}

static void test_room(void)
{
	struct arrivals a = {0};

	for (uint32_t i = 1; i < 4 * ARRIVALS_GAPS; i += 2)
		arrivals_take(&a, i);
	ok(a.gaps == ARRIVALS_GAPS && a.forgotten == 2 * ARRIVALS_GAPS - 1,
	   "more gaps than there is room for: the oldest go");
	arrivals_take(&a, 0);
	ok(a.late == 1 && a.twice == 0, "what comes from a forgotten one is late, not twice");
	arrivals_take(&a, 4 * ARRIVALS_GAPS - 2);
	arrivals_take(&a, 4 * ARRIVALS_GAPS - 2);
	ok(a.late == 2 && a.twice == 1, "one that is remembered tells still");
}

int main(void)
{
	test_orders();
	test_random();
	test_room();
	return done_testing();
}
