#include "pairs/pairs_schedule.h"

/* Rounded up to an even number; if it is odd, the extra one stands for a pause. */
static size_t even(size_t hosts)
{
	return hosts + hosts % 2;
}

size_t pairs_schedule_rounds(size_t hosts)
{
	return hosts < 2 ? 0 : even(hosts) - 1;
}

size_t pairs_schedule_places(size_t hosts)
{
	return even(hosts) / 2;
}

size_t pairs_schedule_pairs(size_t hosts)
{
	return hosts < 2 ? 0 : hosts * (hosts - 1) / 2;
}

/* The last host stays in its place, and the others rotate by one place per round. */
bool pairs_schedule_at(size_t hosts, size_t round, size_t place, struct pairs_two *two)
{
	const size_t circle = even(hosts) - 1;
	const size_t a = (round + place) % circle;
	const size_t b = place ? (round + circle - place) % circle : circle;
	const bool swap = place ? place % 2 : round % 2;

	*two = swap ? (struct pairs_two){b, a} : (struct pairs_two){a, b};
	return a < hosts && b < hosts;
}
