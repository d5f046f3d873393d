#include "study/bundle/bundle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/codec.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "files/rundir/reader.h"

#define NAME_MOST  240 /* bytes that a tar header has room for, in two parts */
#define DEPTH_MOST 16

struct bundle_file *bundle_add_file(struct bundle *b, const char *name, const char *from)
{
	b->file = grow_or_abort(b->file, b->files, sizeof(*b->file));
	b->file[b->files] =
	    (struct bundle_file){.name = or_abort(strdup(name)), .from = from ? or_abort(strdup(from)) : NULL};
	return &b->file[b->files++];
}

bool bundle_is_column(const char *name)
{
	return text_ends_in(name, ".npy");
}

bool bundle_is_state(const char *name)
{
	const char *state = strncmp(name, "state/", 6) ? strstr(name, "/state/") : name,
		   *host = state ? strchr(state + 1, '/') : NULL, *when = host ? strchr(host + 1, '/') : NULL;

	return when && (!strncmp(when, "/before/", 8) || !strncmp(when, "/after/", 7)) &&
	       !text_ends_in(when, "/state.json");
}

uint64_t bundle_size(const struct bundle *b)
{
	uint64_t all = 0;

	for (size_t i = 0; i < b->files; i++)
		all += b->file[i].size;
	return all;
}

/* --- of runs --- */

static void add_build_id(json_t *all, const char *name, json_t *id)
{
	json_t *ids = json_object_get(all, name);

	if (!ids)
		json_object_set_new(all, name, ids = json_array());
	for (size_t i = 0; i < json_array_size(ids); i++)
		if (json_equal(json_array_get(ids, i), id))
			return;
	json_array_append(ids, id);
}

static void add_builds_of(json_t *all, const struct run *run, const char *role)
{
	json_t *facts = run_state(run->path, &run->record, role), *value;
	const char *key;

	json_object_foreach (facts, key, value) {
		static const char begin[] = "software.", end[] = ".build_id";
		char name[256];

		if (strncmp(key, begin, strlen(begin)) || !text_ends_in(key, end) || !json_string_length(value) ||
		    strlen(key) < strlen(begin) + strlen(end))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(strlen(key) - strlen(begin) - strlen(end)),
			 key + strlen(begin));
		add_build_id(all, name, value);
	}
	json_decref(facts);
}

void bundle_add_build_ids(json_t *ids, const struct run *run)
{
	add_builds_of(ids, run, "source");
	add_builds_of(ids, run, "sink");
}

char *bundle_title_of_runs(const struct bundle *b)
{
	if (b->runs == 1)
		return or_abort(strdup(*b->run[0].title ? b->run[0].title : b->run[0].name));
	return fs_path("%zu runs", b->runs);
}

/* --- as JSON --- */

#define RUN_TEXT(member)    CODEC(bundle_run, member, .flags = CODEC_NEVER_NULL)
#define BUNDLE_TEXT(member) CODEC(bundle, member, .flags = CODEC_NEVER_NULL)
#define BUNDLE_PART(member) CODEC(bundle, member, .flags = CODEC_ARRAY | CODEC_OBJECT)

static const struct codec run_rows[] = {
    RUN_TEXT(path),
    RUN_TEXT(name),
    RUN_TEXT(title),
    RUN_TEXT(variant),
    RUN_TEXT(status),
    CODEC(bundle_run, valid),
    RUN_TEXT(version),
    RUN_TEXT(commit),
    RUN_TEXT(started_utc),
    RUN_TEXT(ended_utc),
    CODEC(bundle_run, argv, .flags = CODEC_ARRAY | CODEC_OBJECT | CODEC_NEVER_NULL),
    {0},
};

static const struct codec file_rows[] = {
    CODEC(bundle_file, name, .flags = CODEC_NEVER_NULL),
    CODEC(bundle_file, size, .otherwise = -1), /* too large */
    CODEC(bundle_file, sha256),
    CODEC_FREED(bundle_file, from),
    {0},
};

static const struct codec maker_rows[] = {BUNDLE_TEXT(version), BUNDLE_TEXT(commit), BUNDLE_TEXT(compiler), {0}};

static const struct codec bundle_rows[] = {
    CODEC_SCHEMA,
    BUNDLE_TEXT(title),
    CODEC_AS("study", bundle, kind, .flags = CODEC_NEVER_NULL),
    BUNDLE_PART(argv),
    CODEC_AS("columns", bundle, has_columns),
    CODEC_AS("states", bundle, has_states),
    CODEC(bundle, masked),
    CODEC_GROUPED("made_by", maker_rows),
    BUNDLE_TEXT(signed_utc),
    BUNDLE_PART(packages),
    BUNDLE_PART(build_ids),
    CODEC_LISTED("runs", bundle, run, runs, run_rows),
    CODEC_LISTED("files", bundle, file, files, file_rows),
    {0},
};

struct bundle_run bundle_run_of(const char *path, const json_t *j)
{
	struct bundle_run r = {.path = NULL};

	codec_decode(run_rows, &r, j, NULL);
	free(r.path);
	r.path = or_abort(strdup(path));
	return r;
}

json_t *bundle_run_to_json(const struct bundle_run *r)
{
	return or_abort(codec_encode(run_rows, r, NULL));
}

void bundle_run_free(struct bundle_run *r)
{
	codec_free(run_rows, r);
}

json_t *bundle_to_json(const struct bundle *b)
{
	return or_abort(codec_encode(bundle_rows, b, NULL));
}

void bundle_free(struct bundle *b)
{
	codec_free(bundle_rows, b);
	*b = (struct bundle){0};
}

/* A component of a path that stays where it is put. */
static bool is_component(const char *s, size_t n)
{
	return n && !(n == 1 && s[0] == '.') && !(n == 2 && s[0] == '.' && s[1] == '.');
}

static bool is_clean(const char *name)
{
	const size_t n = strlen(name);
	uint32_t cp;

	for (size_t i = 0, step; i < n; i += step) {
		step = text_utf8(name + i, n - i, &cp);
		if (!step || !text_is_printable(cp) || cp == '\\')
			return false;
	}
	return true;
}

static bool is_member_name(const char *name)
{
	size_t depth = 0;

	if (!*name || strlen(name) > NAME_MOST || !is_clean(name) || !strcmp(name, BUNDLE_INDEX) ||
	    !strcmp(name, BUNDLE_SIGNATURE))
		return false;
	for (const char *p = name;; p++) {
		const size_t n = strcspn(p, "/");

		if (!is_component(p, n) || ++depth > DEPTH_MOST)
			return false;
		p += n;
		if (!*p)
			return true;
	}
}

static bool is_hash(const char *text)
{
	return strlen(text) == SHA256_HEX && strspn(text, "0123456789abcdef") == SHA256_HEX;
}

/* --- where a member may be --- */

static bool place_is_in(const char *const *list, const char *name, size_t length)
{
	for (; *list; list++)
		if (strlen(*list) == length && !memcmp(*list, name, length))
			return true;
	return false;
}

/* A file of a run directory, or of a folder in it (docs/run-directory.md). */
static bool is_of_run(const char *name)
{
	static const char *const files[] = {"README.txt",	"claims.json",	 "log.jsonl", "manifest-sha256.txt",
					    "observatory.json", "resolved.json", "run.json",  "spec.yaml",
					    "summary.csv",	"summary.json",	 NULL};
	static const char *const folders[] = {"output", "points", "state", NULL};
	const size_t n = strcspn(name, "/");

	return place_is_in(name[n] ? folders : files, name, n);
}

static bool is_page(const char *name)
{
	return !strncmp(name, "pages/", 6) && !strchr(name + 6, '/') && text_ends_in(name, ".html");
}

static bool is_listed(const json_t *runs, const char *name, size_t length)
{
	return json_object_getn(runs, name, length) != NULL;
}

/* Whatever has another place would be taken for something that kblat made itself, or for a run that was checked. `runs`: an
 * object with the paths of those that the index lists. */
static const char *trouble_with_place(const char *name, const json_t *runs, bool is_study)
{
	static const char *const own[] = {"ARTIFACT.md", "claims.json", "claims.tsv", NULL};
	static const char *const study[] = {"study/cells.jsonl", "study/study.json", NULL};
	const size_t length = strlen(name), of_run = strncmp(name, "runs/", 5) ? 0 : strcspn(name + 5, "/");

	if (place_is_in(own, name, length) || (is_study && place_is_in(study, name, length)) || is_page(name))
		return NULL;
	if (!of_run || !name[5 + of_run] || !is_of_run(name + 5 + of_run + 1))
		return "a bundle has no place for it";
	return is_listed(runs, name + 5, of_run) ? NULL : "it belongs to a run that the bundle does not list";
}

/* Is a folder that leads to it declared as a file? `names`: an object with those before it; a folder's would be there. */
static bool is_below_file(const json_t *names, const char *name)
{
	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/'))
		if (json_object_getn(names, name, (size_t)(slash - name)))
			return true;
	return false;
}

static json_t *listed_runs(const struct bundle *b)
{
	json_t *runs = json_object();

	for (size_t i = 0; i < b->runs; i++)
		json_object_set_new(runs, b->run[i].path, json_true());
	return runs;
}

int bundle_check_places(const struct bundle *b, struct err *e)
{
	json_t *runs = listed_runs(b);
	int rc = 0;

	for (size_t i = 0; i < b->files && !rc; i++) {
		const char *trouble = trouble_with_place(b->file[i].name, runs, *b->kind);

		if (trouble)
			rc = err_set(e, -EINVAL, STATUS_USAGE, b->file[i].name, "be bundled", "%s", trouble);
	}
	json_decref(runs);
	return rc;
}

/* --- what is read --- */

/* The files from the first to this one. */
struct checked_files {
	json_t *runs, *names;
	uint64_t size;
};

/* The names ascend, so none is there twice. NULL, or what is wrong with it. */
static const char *trouble_with_file(struct checked_files *c, const struct bundle *b, const struct bundle_file *f)
{
	if (!is_member_name(f->name))
		return "a name that a bundle cannot have";
	if (f > b->file && strcmp(f[-1].name, f->name) >= 0)
		return "it is there twice, or not in order";
	if (is_below_file(c->names, f->name))
		return "what it is in is a file";
	if (f->size > BUNDLE_SIZE_MAX)
		return "no size that a file can have";
	if (f->size > BUNDLE_SIZE_MAX - c->size)
		return "with it, the files are larger than those of any bundle";
	if (!is_hash(f->sha256))
		return "no SHA-256";
	c->size += f->size;
	json_object_set_new(c->names, f->name, json_true());
	return trouble_with_place(f->name, c->runs, *b->kind);
}

static const char *trouble_with_run(struct checked_files *c, const struct bundle_run *r)
{
	if (!is_member_name(r->path) || strchr(r->path, '/'))
		return "a name that a bundle cannot have";
	if (json_object_get(c->runs, r->path))
		return "it is listed twice";
	json_object_set_new(c->runs, r->path, json_true());
	return NULL;
}

static int check_entries(const struct bundle *b, const char *path, struct err *e)
{
	struct checked_files c = {json_object(), json_object(), 0};
	const char *trouble;
	int rc = 0;

	for (size_t i = 0; i < b->runs && !rc; i++)
		if ((trouble = trouble_with_run(&c, &b->run[i])))
			rc = err_set(e, -EINVAL, STATUS_USAGE, path, "be used", "its run '%.200s': %s", b->run[i].path,
				     trouble);
	for (size_t i = 0; i < b->files && !rc; i++)
		if ((trouble = trouble_with_file(&c, b, &b->file[i])))
			rc = err_set(e, -EINVAL, STATUS_USAGE, path, "be used", "its file '%.200s': %s",
				     b->file[i].name, trouble);
	json_decref(c.names);
	json_decref(c.runs);
	return rc;
}

int bundle_from_json(const json_t *j, const char *path, struct bundle *out, struct err *e)
{
	const json_int_t schema = json_integer_value(json_object_get(j, "schema"));

	*out = (struct bundle){0};
	codec_decode(bundle_rows, out, j, NULL);
	if (schema > BUNDLE_SCHEMA)
		return err_set(e, -EINVAL, STATUS_USAGE, path, "be used",
			       "it was made by kblat %.40s, which is newer; install that version", out->version);
	if (schema != BUNDLE_SCHEMA || !out->runs)
		return err_set(e, -EINVAL, STATUS_USAGE, path, "be used", "its " BUNDLE_INDEX " is not a bundle's");
	return check_entries(out, path, e);
}
