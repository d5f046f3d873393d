#include "compare/compare_indexed.h"

#include <errno.h>

#include "common/err.h"
#include "common/fs.h"
#include "index/index_file.h"
#include "index/index_update.h"

/* The columns of INDEX_DOCUMENTS. */
enum { PATH, RUN, DEFAULTS, SUMMARY, BOOTS, KERNELS, HOSTS, EXPERIMENT, NOT_COMPARABLE };

static json_t *column_document(sqlite3_stmt *s, int column)
{
	return json_loads(index_sql_text(s, column), JSON_REJECT_DUPLICATES, NULL);
}

static char *column_copy(sqlite3_stmt *s, int column)
{
	return fs_path("%s", index_sql_text(s, column));
}

static struct compare_run indexed_run(const struct index *ix, sqlite3_stmt *s, enum compare_arm arm)
{
	struct compare_run r = {.arm = arm};
	struct sealed_hosts hosts = {.boot = column_copy(s, BOOTS),
				     .kernel = column_copy(s, KERNELS),
				     .hosts = column_copy(s, HOSTS),
				     .states = json_object()};

	r.run = (struct run){
	    .path = fs_path("%s/%s", ix->dir, index_sql_text(s, PATH)),
	    .sealed = true,
	    .run = column_document(s, RUN),
	    .resolved = json_pack("{s:s, s:o*}", "name", index_sql_text(s, EXPERIMENT), "defaults",
				  column_document(s, DEFAULTS)),
	    .summary = column_document(s, SUMMARY),
	};
	compare_run_take(&r, &hosts);
	return r;
}

/* If a run cannot be compared, the directories are read instead, which gives the reason. */
static int add_indexed_rows(struct compare_runs *all, struct index *ix, enum compare_arm arm, const char *experiment,
			    struct err *e)
{
	sqlite3_stmt *s = index_sql(ix, INDEX_DOCUMENTS, "t", experiment);
	int rc;

	while ((rc = index_sql_next(ix, s, e)) > 0) {
		struct compare_run r;

		if (*index_sql_text(s, NOT_COMPARABLE))
			return -ESTALE;
		r = indexed_run(ix, s, arm);
		rc = compare_runs_take(all, &r, e);
		if (rc)
			return rc;
	}
	return rc;
}

static int add_from_index(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment)
{
	struct err ignored = ERR_INIT;
	size_t before = all->count;
	struct index ix;
	int rc = index_open_current(&ix, path);

	if (rc)
		return rc;
	rc = add_indexed_rows(all, &ix, arm, experiment, &ignored);
	if (rc)
		compare_runs_drop(all, before);
	index_file_close(&ix);
	return rc || all->count == before ? -ESTALE : 0;
}

int compare_indexed_add(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment,
			struct err *e)
{
	if (!add_from_index(all, path, arm, experiment))
		return 0;
	return compare_runs_add(all, path, arm, experiment, e);
}
