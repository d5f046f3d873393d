#include "study/bundle/bundle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

void bundle_run_free(struct bundle_run *r)
{
	char *texts[] = {r->path,    r->name,	r->title,	r->variant,  r->status,
			 r->version, r->commit, r->started_utc, r->ended_utc};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(texts[i]);
	json_decref(r->argv);
}

void bundle_free(struct bundle *b)
{
	char *texts[] = {b->title, b->kind, b->version, b->commit, b->compiler, b->signed_utc};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(texts[i]);
	json_decref(b->argv);
	json_decref(b->build_ids);
	json_decref(b->packages);
	for (size_t i = 0; i < b->runs; i++)
		bundle_run_free(&b->run[i]);
	for (size_t i = 0; i < b->files; i++) {
		free(b->file[i].name);
		free(b->file[i].from);
	}
	free(b->run);
	free(b->file);
	*b = (struct bundle){0};
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

struct bundle_run bundle_run_of(const char *path, const json_t *j)
{
	json_t *argv = json_object_get(j, "argv");

	return (struct bundle_run){
	    .path = or_abort(strdup(path)),
	    .name = or_abort(strdup(json_text(j, "name"))),
	    .title = or_abort(strdup(json_text(j, "title"))),
	    .variant = or_abort(strdup(json_text(j, "variant"))),
	    .status = or_abort(strdup(json_text(j, "status"))),
	    .version = or_abort(strdup(json_text(j, "version"))),
	    .commit = or_abort(strdup(json_text(j, "commit"))),
	    .started_utc = or_abort(strdup(json_text(j, "started_utc"))),
	    .ended_utc = or_abort(strdup(json_text(j, "ended_utc"))),
	    .valid = json_is_true(json_object_get(j, "valid")),
	    .argv = json_is_array(argv) ? json_incref(argv) : json_array(),
	};
}

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

json_t *bundle_run_to_json(const struct bundle_run *r)
{
	return or_abort(json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s, s:s, s:s, s:s, s:O}", "path", r->path, "name",
				  r->name, "title", r->title, "variant", r->variant, "status", r->status, "valid",
				  r->valid, "version", r->version, "commit", r->commit, "started_utc", r->started_utc,
				  "ended_utc", r->ended_utc, "argv", r->argv));
}

json_t *bundle_to_json(const struct bundle *b)
{
	json_t *runs = json_array(), *files = json_array();

	for (size_t i = 0; i < b->runs; i++)
		json_array_append_new(runs, bundle_run_to_json(&b->run[i]));
	for (size_t i = 0; i < b->files; i++)
		json_array_append_new(files, json_pack("{s:s, s:I, s:s}", "name", b->file[i].name, "size",
						       (json_int_t)b->file[i].size, "sha256", b->file[i].sha256));
	return or_abort(json_pack("{s:i, s:s, s:s, s:O, s:b, s:b, s:b, s:{s:s, s:s, s:s}, s:s, s:O, s:O, s:o, s:o}",
				  "schema", BUNDLE_SCHEMA, "title", b->title, "study", b->kind, "argv", b->argv,
				  "columns", b->has_columns, "states", b->has_states, "masked", b->masked, "made_by",
				  "version", b->version, "commit", b->commit, "compiler", b->compiler, "signed_utc",
				  b->signed_utc, "packages", b->packages, "build_ids", b->build_ids, "runs", runs,
				  "files", files));
}

static char *bundle_text(const json_t *object, const char *key)
{
	return or_abort(strdup(json_text(object, key)));
}

/* An array or an object of the bundle, or null: a new reference. */
static json_t *bundle_part(const json_t *object, const char *key)
{
	json_t *part = json_object_get(object, key);

	return json_is_array(part) || json_is_object(part) ? json_incref(part) : json_null();
}

static struct bundle_run run_from_json(const json_t *j)
{
	return (struct bundle_run){
	    .path = bundle_text(j, "path"),
	    .name = bundle_text(j, "name"),
	    .title = bundle_text(j, "title"),
	    .variant = bundle_text(j, "variant"),
	    .status = bundle_text(j, "status"),
	    .version = bundle_text(j, "version"),
	    .commit = bundle_text(j, "commit"),
	    .started_utc = bundle_text(j, "started_utc"),
	    .ended_utc = bundle_text(j, "ended_utc"),
	    .valid = json_is_true(json_object_get(j, "valid")),
	    .argv = bundle_part(j, "argv"),
	};
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

struct taking {
	const char *path; /* the bundle's, for messages */
	json_t *runs, *names;
	uint64_t size; /* of all files so far */
};

/* The names ascend, so none is there twice. NULL, or what is wrong with it. */
static const char *trouble_with_file(const struct taking *t, const struct bundle *b, const char *name, const json_t *j)
{
	const json_int_t size = json_integer_value(json_object_get(j, "size"));

	if (!is_member_name(name))
		return "a name that a bundle cannot have";
	if (b->files && strcmp(b->file[b->files - 1].name, name) >= 0)
		return "it is there twice, or not in order";
	if (is_below_file(t->names, name))
		return "what it is in is a file";
	if (!json_is_integer(json_object_get(j, "size")) || size < 0 || (uint64_t)size > BUNDLE_SIZE_MAX)
		return "no size that a file can have";
	if ((uint64_t)size > BUNDLE_SIZE_MAX - t->size)
		return "with it, the files are larger than those of any bundle";
	if (!is_hash(json_text(j, "sha256")))
		return "no SHA-256";
	return trouble_with_place(name, t->runs, *b->kind);
}

static int take_file_entry(struct taking *t, const json_t *j, struct bundle *out, struct err *e)
{
	const char *name = json_text(j, "name"), *trouble = trouble_with_file(t, out, name, j);
	struct bundle_file *f;

	if (trouble)
		return err_set(e, -EINVAL, STATUS_USAGE, t->path, "be used", "its file '%.200s': %s", name, trouble);
	f = bundle_add_file(out, name, NULL);
	f->size = (uint64_t)json_integer_value(json_object_get(j, "size"));
	memcpy(f->sha256, json_text(j, "sha256"), sizeof(f->sha256));
	t->size += f->size;
	json_object_set_new(t->names, name, json_true());
	return 0;
}

static int take_run_entry(struct taking *t, const json_t *j, struct bundle *out, struct err *e)
{
	const char *name = json_text(j, "path");
	const char *trouble = !is_member_name(name) || strchr(name, '/') ? "a name that a bundle cannot have"
			      : json_object_get(t->runs, name)		 ? "it is listed twice"
									 : NULL;

	if (trouble)
		return err_set(e, -EINVAL, STATUS_USAGE, t->path, "be used", "its run '%.200s': %s", name, trouble);
	json_object_set_new(t->runs, name, json_true());
	out->run = grow_or_abort(out->run, out->runs, sizeof(*out->run));
	out->run[out->runs++] = run_from_json(j);
	return 0;
}

static int take_all(struct taking *t, const json_t *index, struct bundle *out, struct err *e)
{
	const json_t *j;
	size_t i;
	int rc = 0;

	json_array_foreach (json_object_get(index, "runs"), i, j) {
		rc = rc ?: take_run_entry(t, j, out, e);
	}
	json_array_foreach (json_object_get(index, "files"), i, j) {
		rc = rc ?: take_file_entry(t, j, out, e);
	}
	return rc;
}

int bundle_from_json(const json_t *j, const char *path, struct bundle *out, struct err *e)
{
	const json_int_t schema = json_integer_value(json_object_get(j, "schema"));
	const json_t *made_by = json_object_get(j, "made_by");
	struct taking t = {.path = path};
	int rc;

	*out = (struct bundle){.argv = bundle_part(j, "argv"),
			       .packages = bundle_part(j, "packages"),
			       .build_ids = bundle_part(j, "build_ids"),
			       .title = bundle_text(j, "title"),
			       .kind = bundle_text(j, "study"),
			       .signed_utc = bundle_text(j, "signed_utc"),
			       .version = bundle_text(made_by, "version"),
			       .commit = bundle_text(made_by, "commit"),
			       .compiler = bundle_text(made_by, "compiler"),
			       .has_columns = json_is_true(json_object_get(j, "columns")),
			       .has_states = json_is_true(json_object_get(j, "states")),
			       .masked = json_is_true(json_object_get(j, "masked"))};
	if (schema > BUNDLE_SCHEMA)
		return err_set(e, -EINVAL, STATUS_USAGE, path, "be used",
			       "it was made by kblat %.40s, which is newer; install that version", out->version);
	if (schema != BUNDLE_SCHEMA || !json_array_size(json_object_get(j, "runs")))
		return err_set(e, -EINVAL, STATUS_USAGE, path, "be used", "its " BUNDLE_INDEX " is not a bundle's");
	t.runs = json_object();
	t.names = json_object();
	rc = take_all(&t, j, out, e);
	json_decref(t.names);
	json_decref(t.runs);
	return rc;
}
