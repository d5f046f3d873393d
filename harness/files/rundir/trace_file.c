#include "files/rundir/trace_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/npy.h"
#include "common/or_abort.h"

static int trace_file_kind(const char *key)
{
	static const char *const keys[] = {
#define KIND(id, key, ...) [TRACE_##id] = key,
#include "common/lateness.def"
	};

	for (int i = 0; i < TRACE_KINDS; i++)
		if (!strcmp(keys[i], key))
			return i;
	return -1;
}

static void read_kinds(struct trace_file *f)
{
	const json_t *kinds = json_object_get(f->about, "kinds");

	for (size_t i = 0; i < TRACE_FILE_KINDS; i++) {
		const char *key = json_string_value(json_array_get(kinds, i));

		f->kind[i] = key ? trace_file_kind(key) : -1;
	}
}

/* Limited, so that differences of two times do not overflow. */
static bool trace_file_is_time(int64_t ns)
{
	return ns > INT64_MIN / 4 && ns < INT64_MAX / 4;
}

/* Copied, because what has been checked must stay as it is. */
static int copy_words(const char *path, struct trace_file *f, struct err *e)
{
	struct npy column;
	int rc = npy_open(path, &column, e);

	if (rc)
		return rc;
	if (column.count % TRACE_WORDS || column.count / TRACE_WORDS > TRACE_EVENTS_MOST)
		rc = err_set(e, -EINVAL, STATUS_USAGE, path, NULL,
			     "it has %zu numbers; expected %d for each of at most %d events", column.count, TRACE_WORDS,
			     TRACE_EVENTS_MOST);
	if (!rc) {
		f->events = column.count / TRACE_WORDS;
		f->words = f->copy = or_abort(malloc(column.count * sizeof(*f->copy) + 1));
		memcpy(f->copy, column.data, column.count * sizeof(*f->copy));
	}
	return npy_close(&column, e) ?: rc;
}

static int read_words(const char *path, struct trace_file *f, struct err *e)
{
	int rc = copy_words(path, f, e);

	for (size_t i = 0; !rc && i < f->events; i++) {
		const int64_t *word = f->words + i * TRACE_WORDS;

		if (i && word[TRACE_TIME] < word[TRACE_TIME - TRACE_WORDS])
			return err_set(e, -EINVAL, STATUS_USAGE, path, NULL,
				       "its events are not in chronological order");
		if (!trace_file_is_time(word[TRACE_TIME]) || !trace_file_is_time(word[TRACE_VALUE]))
			return err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "it contains a number that is not a time");
	}
	return rc;
}

/* The number of names is limited, because each may become a cause, and causes are searched one by one. */
static int read_names(const char *path, struct trace_file *f, struct err *e)
{
	f->names = json_array_size(json_object_get(f->about, "names"));
	return f->names <= TRACE_FILE_NAMES
		   ? 0
		   : err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "it has %zu names, more than the maximum of %d",
			     f->names, TRACE_FILE_NAMES);
}

int trace_file_open(const char *dir, const char *side, struct trace_file *out, struct err *e)
{
	char *words = fs_path("%s/trace-%s.npy", dir, side), *about = fs_path("%s/trace-%s.json", dir, side);
	int rc = 1;

	*out = (struct trace_file){.about = NULL};
	if (fs_is_missing(words) || fs_is_missing(about))
		rc = 0;
	if (rc) {
		out->about = json_read(about, e);
		rc = !out->about ? -EINVAL : read_words(words, out, e) ?: read_names(about, out, e) ?: 1;
	}
	if (rc > 0)
		read_kinds(out);
	else
		trace_file_close(out);
	free(words);
	free(about);
	return rc;
}

void trace_file_close(struct trace_file *f)
{
	json_decref(f->about);
	free(f->copy);
	*f = (struct trace_file){.about = NULL};
}

struct trace_file trace_file_of_events(json_t *about, const int64_t *words, size_t events)
{
	struct trace_file f = {.about = about,
			       .words = words,
			       .events = events,
			       .names = json_array_size(json_object_get(about, "names"))};

	for (int i = 0; i < TRACE_FILE_KINDS; i++)
		f.kind[i] = i < TRACE_KINDS ? i : -1;
	return f;
}

const char *trace_file_name(const struct trace_file *f, int64_t name)
{
	const json_t *names = json_object_get(f->about, "names");
	const char *text = name < 0 ? NULL : json_string_value(json_array_get(names, (size_t)name));

	return text ? text : "";
}

const char *trace_file_why(const struct trace_file *f)
{
	return json_text(f->about, "why");
}
