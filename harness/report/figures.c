#include "report/figures.h"

#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "report/derived.h"
#include "report/gnuplot.h"
#include "report/plot_scripts.h"

#define SCRIPT "figures.gp"

static int write_script(struct figures *f, figures_add *add, const void *what, const char *scripts, struct err *e)
{
	char *path = fs_path("%s/" SCRIPT, f->dir);
	int rc = -EIO, closed;

	f->script = derived_open(path, e);
	if (f->script) {
		fputs("# Made by kblat. To draw again after changing a plot script, run gnuplot on this file in this "
		      "folder.\n"
		      "if (!exists(\"parts\")) {\n\tpart = 0\n\tparts = 1\n}\n",
		      f->script);
		figure_set(f, "plots", scripts ? scripts : "plots");
		rc = add(f, what, e);
		closed = derived_close(f->script, path, e);
		rc = rc ? rc : closed;
	}
	free(path);
	return rc;
}

int figures_start(struct figures *f, const char *dir, figures_add *add, const void *what, struct gnuplot *g,
		  struct err *e)
{
	struct err lost = ERR_INIT;
	char *scripts = plot_scripts(&lost);
	int rc = fs_mkdirs(dir, e);

	*f = (struct figures){.dir = fs_path("%s", dir)};
	if (!rc)
		rc = write_script(f, add, what, scripts, e);
	if (!rc && !scripts)
		rc = err_set(e, -ENOENT, lost.status, NULL, NULL, "%s", lost.text);
	if (!rc && f->count)
		f->drawing = gnuplot_draw(g, dir, SCRIPT, f->count);
	free(scripts);
	return rc;
}

int figures_finish(struct figures *f, struct gnuplot *g, struct err *e)
{
	int rc = f->drawing ? gnuplot_wait(g, f->drawing, e) : 0;

	f->drawing = NULL;
	return rc;
}

int figures_make(struct figures *f, const char *dir, figures_add *add, const void *what, struct err *e)
{
	struct gnuplot *g = gnuplot_open();
	int rc = figures_start(f, dir, add, what, g, e);

	rc = rc ? rc : figures_finish(f, g, e);
	gnuplot_close(g);
	return rc;
}

void figures_free(struct figures *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->items[i].name);
		free(f->items[i].text);
	}
	free(f->items);
	free(f->dir);
	*f = (struct figures){0};
}
