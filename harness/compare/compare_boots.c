#include "compare/compare_boots.h"

#include <math.h>

static double normal_tail(double z)
{
	return 0.5 * erfc(z / M_SQRT2);
}

/* By bisection, which takes a few dozen steps and no tables. */
static double normal_quantile(double tail)
{
	double low = -10, high = 40;

	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (normal_tail(middle) > tail)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Hill, Algorithm 396 (CACM 13, 1970): expands t in terms of the normal quantile; the special case
 * for two degrees of freedom is exact. */
double boots_student(double tail, double df)
{
	double p = 2 * tail, a = 1 / (df - 0.5), b = 48 / (a * a);
	double c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
	double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * M_PI_2) * df, x, y = pow(d * p, 2 / df);

	if (df <= 2)
		return sqrt(2 / (p * (2 - p)) - 2);
	if (y > 0.05 + a) {
		x = -normal_quantile(tail);
		y = x * x;
		if (df < 5)
			c += 0.3 * (df - 4.5) * (x + 0.6);
		c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b;
		y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
		y = expm1(a * y * y);
	} else {
		y = ((1 / (((df + 6) / (df * y) - 0.089 * d - 0.822) * (df + 2) * 3) + 0.5 / (df + 4)) * y - 1) *
			(df + 1) / (df + 2) +
		    1 / y;
	}
	return sqrt(df * y);
}

size_t boots_needed(double effect, double stdev, double tail, double power, size_t least)
{
	size_t n = least < 2 ? 2 : least;

	for (; n < BOOTS_MOST; n++) {
		double error = stdev * sqrt(2 / (double)n);

		if (1 - normal_tail(effect / error - boots_student(tail, 2 * (double)n - 2)) >= power)
			break;
	}
	return n;
}
