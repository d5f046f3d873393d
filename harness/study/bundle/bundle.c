#include "study/bundle/bundle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"

#define NAME_MOST  240 /* bytes that a tar header has room for, in two parts */
#define DEPTH_MOST 16
#define SIZE_MOST  (1ULL << 50)

struct bundle_file *bundle_add_file(struct bundle *b, const char *name, const char *from)
{
	b->file = grow_or_abort(b->file, b->files, sizeof(*b->file));
	b->file[b->files] =
	    (struct bundle_file){.name = or_abort(strdup(name)), .from = from ? or_abort(strdup(from)) : NULL};
	return &b->file[b->files++];
}

static void free_run(struct bundle_run *r)
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
		free_run(&b->run[i]);
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

/* --- as JSON --- */

static json_t *run_to_json(const struct bundle_run *r)
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
		json_array_append_new(runs, run_to_json(&b->run[i]));
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

/* The names ascend, so none is there twice. NULL, or what is wrong with it. */
static const char *trouble_with_file(const struct bundle *b, const char *name, const json_t *j)
{
	const json_int_t size = json_integer_value(json_object_get(j, "size"));

	if (!is_member_name(name))
		return "a name that a bundle cannot have";
	if (b->files && strcmp(b->file[b->files - 1].name, name) >= 0)
		return "it is there twice, or not in order";
	if (!json_is_integer(json_object_get(j, "size")) || size < 0 || (uint64_t)size > SIZE_MOST)
		return "no size that a file can have";
	return is_hash(json_text(j, "sha256")) ? NULL : "no SHA-256";
}

static int take_files(const json_t *files, const char *path, struct bundle *out, struct err *e)
{
	const json_t *j;
	size_t i;

	json_array_foreach (files, i, j) {
		const char *name = json_text(j, "name"), *trouble = trouble_with_file(out, name, j);
		struct bundle_file *f;

		if (trouble)
			return err_set(e, -EINVAL, STATUS_USAGE, path, "be used", "its file '%.200s': %s", name,
				       trouble);
		f = bundle_add_file(out, name, NULL);
		f->size = (uint64_t)json_integer_value(json_object_get(j, "size"));
		memcpy(f->sha256, json_text(j, "sha256"), sizeof(f->sha256));
	}
	return 0;
}

static int take_runs(const json_t *runs, const char *path, struct bundle *out, struct err *e)
{
	const json_t *j;
	size_t i;

	json_array_foreach (runs, i, j) {
		const char *name = json_text(j, "path");

		if (!is_member_name(name) || strchr(name, '/'))
			return err_set(e, -EINVAL, STATUS_USAGE, path, "be used",
				       "its run '%.200s': a name that a bundle cannot have", name);
		out->run = grow_or_abort(out->run, out->runs, sizeof(*out->run));
		out->run[out->runs++] = run_from_json(j);
	}
	return 0;
}

int bundle_from_json(const json_t *j, const char *path, struct bundle *out, struct err *e)
{
	const json_int_t schema = json_integer_value(json_object_get(j, "schema"));
	const json_t *made_by = json_object_get(j, "made_by");

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
	return take_runs(json_object_get(j, "runs"), path, out, e)
		   ?: take_files(json_object_get(j, "files"), path, out, e);
}
