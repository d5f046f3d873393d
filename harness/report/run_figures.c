#include "report/run_figures.h"

#include "report/figure_axis.h"
#include "report/figure_claim.h"
#include "report/figure_histogram.h"
#include "report/figure_overlay.h"
#include "report/figure_overview.h"
#include "report/figure_pattern.h"
#include "report/figure_rate.h"
#include "report/figure_shares.h"
#include "report/figure_surface.h"
#include "report/figure_tail.h"

static int (*const kinds[])(struct figures *f, const struct report *r, struct err *e) = {
    figure_overview_add, figure_claim_add,   figure_rate_add,	   figure_shares_add,  figure_axis_add,
    figure_surface_add,	 figure_overlay_add, figure_histogram_add, figure_pattern_add, figure_tail_add,
};

int run_figures_add(struct figures *f, const void *report, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		rc = kinds[i](f, report, e);
	return rc;
}
