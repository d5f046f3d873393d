#include "analysis/control.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/series.h"
#include "common/fs.h"

static int open_control_column(const char *dir, const char *name, struct npy *out, struct err *e)
{
	char *path = fs_path("%s/%s.npy", dir, name);
	int rc = npy_open(path, out, e);

	free(path);
	return rc;
}

int control_stats(const char *dir, const struct layout_flow *f, const struct layout_series *s, struct stats *out,
		  struct err *e)
{
	struct npy a = {0}, b = {0};
	int rc = open_control_column(dir, f->columns[s->column], &a, e);

	if (!rc)
		rc = open_control_column(dir, f->columns[s->minus], &b, e);
	if (!rc) {
		struct span span = {a.data, b.data, a.count < b.count ? a.count : b.count};

		rc = series_stats(s, &span, 1, 0, f->limit_ns, out, e);
	}
	if (npy_close(&a, e))
		rc = -EIO;
	return npy_close(&b, e) ?: rc;
}
