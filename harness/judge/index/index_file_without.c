/* In place of index_file.c, index_sql.c and index_update.c, in a build without SQLite: there is no index. */
#include <errno.h>
#include <math.h>

#include "common/feature.h"
#include "judge/index/index_file.h"
#include "judge/index/index_update.h"

int index_file_open(struct index *ix, const char *dir, struct err *e)
{
	*ix = (struct index){.dir = NULL};
	return feature_missing("SQLite", dir, e);
}

mode_t index_file_mode(const struct index *ix)
{
	(void)ix;
	return 0;
}

bool index_file_is_missing(const char *dir)
{
	(void)dir;
	return true;
}

void index_file_close(struct index *ix)
{
	(void)ix;
}

int index_update(const char *dir, bool anew, struct index_changes *changes, struct err *e)
{
	(void)anew;
	*changes = (struct index_changes){.runs = 0};
	return feature_missing("SQLite", dir, e);
}

int index_open_current(struct index *ix, const char *dir)
{
	(void)ix, (void)dir;
	return -ESTALE;
}

sqlite3_stmt *index_sql(struct index *ix, enum index_statement which, const char *types, ...)
{
	(void)ix, (void)which, (void)types;
	return NULL;
}

int index_sql_next(struct index *ix, sqlite3_stmt *s, struct err *e)
{
	(void)s;
	return feature_missing("SQLite", ix->dir, e);
}

const char *index_sql_text(sqlite3_stmt *s, int column)
{
	(void)s, (void)column;
	return "";
}

int64_t index_sql_integer(sqlite3_stmt *s, int column)
{
	(void)s, (void)column;
	return 0;
}

double index_sql_double(sqlite3_stmt *s, int column)
{
	(void)s, (void)column;
	return NAN;
}
