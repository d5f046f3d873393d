#include "report/sparkline.h"

#include <math.h>

#include "report/escape.h"

#define WIDTH  180
#define HEIGHT 26
#define EDGE   3   /* space for the dot at the end */
#define PLACES 120 /* more cannot be distinguished */

struct range {
	double least, most;
};

static double mean_between(const double *values, size_t from, size_t to)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += values[i];
	return sum / (double)(to - from);
}

static double place_value(const double *values, size_t count, size_t places, size_t at)
{
	return mean_between(values, at * count / places, (at + 1) * count / places);
}

static double x_of(size_t at, size_t places)
{
	return places > 1 ? EDGE + (double)at * (WIDTH - 2 * EDGE) / (double)(places - 1) : WIDTH / 2.0;
}

/* Equal values are in the middle. */
static double y_of(double value, struct range r)
{
	double share = r.most > r.least ? (value - r.least) / (r.most - r.least) : 0.5;

	return HEIGHT - EDGE - share * (HEIGHT - 2 * EDGE);
}

void sparkline_write(FILE *out, const double *values, size_t count, const char *text)
{
	size_t places = count < PLACES ? count : PLACES;
	struct range r = {INFINITY, -INFINITY};

	for (size_t i = 0; i < places; i++) {
		double value = place_value(values, count, places, i);

		r.least = fmin(r.least, value);
		r.most = fmax(r.most, value);
	}
	fprintf(out, "<svg class=\"spark\" role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" aria-label=\"",
		WIDTH, HEIGHT, WIDTH, HEIGHT);
	escape_html(out, text);
	fprintf(out, "\"><polyline fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\" points=\"");
	for (size_t i = 0; i < places; i++)
		fprintf(out, "%s%.1f,%.1f", i ? " " : "", x_of(i, places),
			y_of(place_value(values, count, places, i), r));
	fprintf(out, "\"/>");
	if (places)
		fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"currentColor\"/>",
			x_of(places - 1, places), y_of(place_value(values, count, places, places - 1), r));
	fprintf(out, "</svg>");
}
