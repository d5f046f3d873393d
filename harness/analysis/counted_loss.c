#include "analysis/counted_loss.h"

struct counted_loss counted_loss(const struct layout_flow *f, const struct rep *reps, size_t count)
{
	static const char *const sides[] = {"source", "sink"};
	struct counted_loss sum = {0, 0};
	json_int_t received = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t side = 0; side < sizeof(sides) / sizeof(sides[0]); side++) {
			sum.sent += rep_counter(&reps[i], sides[side], "posted");
			received += rep_counter(&reps[i], sides[side], "received") -
				    rep_counter(&reps[i], sides[side], "duplicates");
		}
	sum.lost = f->traits.passive || received > sum.sent ? 0 : sum.sent - received;
	return sum;
}
