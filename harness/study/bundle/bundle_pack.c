#include "study/bundle/bundle_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/spawn.h"
#include "common/temporary.h"
#include "common/text.h"
#include "common/version.h"
#include "files/rundir/manifest.h"
#include "files/rundir/reader.h"
#include "files/rundir/writer.h"
#include "judge/claims/claims.h"
#include "report/checked_page.h"
#include "study/bundle/bundle.h"
#include "study/bundle/bundle_mask.h"
#include "study/bundle/bundle_sign.h"
#include "study/bundle/bundle_tar.h"
#include "study/bundle/reproduce.h"
#include "study/kinds.h"
#include "study/study_record.h"

#define MANIFEST  "manifest-sha256.txt"
#define ENDING	  ".tar.gz"
#define TEXT_MOST (64 << 20)

struct packing {
	const struct bundle_request *request;
	struct bundle b;
	struct run *run;
	size_t runs;
	struct study study; /* if there is one: its `path` is set */
	struct hidden hidden;
	char *folder; /* of our own: what is made for the bundle */
	size_t made;  /* files in it, numbered */
};

/* --- files that are made --- */

/* Add a file with this content. What is made need not last: it is not synced to the disk, which would take a thousand times as
 * long. */
static int add_text(struct packing *p, struct bundle *to, const char *name, const char *text, size_t size,
		    struct err *e)
{
	char *path = fs_path("%s/%zu", p->folder, p->made++);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600),
	    rc = fd < 0 ? -errno : fs_write_fd(fd, text, size);

	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	if (rc)
		err_sys(e, rc, path, "write");
	else
		bundle_add_file(to, name, path);
	free(path);
	return rc;
}

/* --- what is hidden --- */

static int refuse_to_mask(const char *path, struct err *e)
{
	return err_set(
	    e, -EINVAL, STATUS_FAILED, path, "be bundled with --mask",
	    "the name of a host or a user is a word that kblat needs; measure with `kblat run --mask` instead");
}

/* A name or a text without what --mask hides; the caller frees. */
static char *without_secrets(const struct packing *p, const char *text)
{
	size_t length = strlen(text);

	return p->request->mask ? hidden_apply(&p->hidden, "", text, &length) : or_abort(strdup(text));
}

/* JSON likewise: a new reference. NULL: with that hidden, it is JSON no more. */
static json_t *json_without_secrets(const struct packing *p, const json_t *j)
{
	char *text = or_abort(json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY)), *hidden = without_secrets(p, text);
	json_t *clean = json_loads(hidden, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);

	free(hidden);
	free(text);
	return clean;
}

/* Did hiding leave the keys as they are, but those of "hosts", which are the names of hosts? */
static bool keys_are_kept(const json_t *before, const json_t *after, bool names)
{
	void *at = json_object_iter((json_t *)after);
	const char *key;
	json_t *value;
	size_t i;

	if (json_typeof(before) != json_typeof(after) || json_object_size(before) != json_object_size(after) ||
	    json_array_size(before) != json_array_size(after))
		return false;
	json_object_foreach ((json_t *)before, key, value) {
		if (!(names || !strcmp(key, json_object_iter_key(at))) ||
		    !keys_are_kept(value, json_object_iter_value(at), !strcmp(key, "hosts")))
			return false;
		at = json_object_iter_next((json_t *)after, at);
	}
	json_array_foreach (before, i, value)
		if (!keys_are_kept(value, json_array_get(after, i), false))
			return false;
	return true;
}

static bool is_kept(const char *before, size_t size, const char *after, size_t left)
{
	json_t *from = json_loadb(before, size, JSON_DECODE_ANY, NULL),
	       *to = json_loadb(after, left, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	bool kept = !from || (to && keys_are_kept(from, to, false));

	json_decref(to);
	json_decref(from);
	return kept;
}

/* Time stamps, events and samples have no names in them. */
static bool is_binary(const char *name)
{
	return bundle_is_column(name) || text_ends_in(name, ".bin");
}

static int pack_hidden(struct packing *p, struct bundle *to, const char *name, const char *from, struct err *e)
{
	char *text = NULL, *hidden;
	size_t size, left;
	int rc = fs_read(from, TEXT_MOST, &text, &size, e);

	if (!rc) {
		left = size;
		hidden = (text_ends_in(name, ".gz") ? hidden_apply_gzip : hidden_apply)(&p->hidden, from, text, &left);
		rc = text_ends_in(name, ".json") && !bundle_is_state(name) && !is_kept(text, size, hidden, left)
			 ? refuse_to_mask(from, e)
			 : add_text(p, to, name, hidden, left, e);
		free(hidden);
	}
	free(text);
	return rc;
}

/* Add a file as it is, or with what identifies a machine hidden. */
static int pack_member(struct packing *p, struct bundle *to, const char *name, const char *from, struct err *e)
{
	char *as = without_secrets(p, name);
	int rc = 0;

	if (p->request->mask && !is_binary(from))
		rc = pack_hidden(p, to, as, from, e);
	else
		bundle_add_file(to, as, from);
	free(as);
	return rc;
}

/* --- a run --- */

static int pack_describe_run(struct packing *p, const struct run *run, const char *path, struct err *e)
{
	json_t *is = run_record_to_json(&run->record), *said = json_without_secrets(p, is);
	char *as = without_secrets(p, path);

	if (said) {
		bundle_add_build_ids(p->b.build_ids, run);
		p->b.run = grow_or_abort(p->b.run, p->b.runs, sizeof(*p->b.run));
		p->b.run[p->b.runs++] = bundle_run_of(as, said);
	}
	free(as);
	json_decref(is);
	json_decref(said);
	return said ? 0 : refuse_to_mask(run->path, e);
}

/* As manifest_write(), about files of a bundle. */
static int add_manifest(struct packing *p, struct bundle *files, const char *prefix, struct err *e)
{
	char *text = NULL, *name = fs_path("%s" MANIFEST, prefix);
	size_t size;
	FILE *out = or_abort(open_memstream(&text, &size));
	int rc = bundle_hash_files(files, e);

	for (size_t i = 0; i < files->files; i++)
		fprintf(out, "%s  %s\n", files->file[i].sha256, files->file[i].name + strlen(prefix));
	fclose(out);
	rc = rc ?: add_text(p, files, name, text, size, e);
	free(text);
	free(name);
	return rc;
}

/* The files of a run: all but what is derived from it and what is to be left out. If something of a state is hidden or
 * left out, the run gets a manifest of its own, which has the columns' hashes, too. */
static int pack_run_files(struct packing *p, const struct run *run, const char *path, struct err *e)
{
	const struct bundle_request *r = p->request;
	const bool own_manifest = r->mask || r->without_states;
	struct bundle files = {0};
	char *as = without_secrets(p, path), *prefix = fs_path("runs/%s/", as), **names;
	size_t count;
	int rc = fs_files(run->path, &names, &count, e);

	for (size_t i = 0; i < count && !rc; i++) {
		char *name = fs_path("runs/%s/%s", path, names[i]), *from = fs_path("%s/%s", run->path, names[i]);
		const bool is_manifest = !strcmp(names[i], MANIFEST);

		if (strncmp(names[i], "derived/", 8) && !(is_manifest && own_manifest) &&
		    !(r->without_states && bundle_is_state(names[i])))
			rc = pack_member(p, &files, name, from, e);
		free(from);
		free(name);
	}
	fs_files_free(names);
	if (!rc && own_manifest)
		rc = add_manifest(p, &files, prefix, e);
	for (size_t i = 0; i < files.files && !rc; i++)
		if (!r->without_columns || !bundle_is_column(files.file[i].name))
			bundle_add_file(&p->b, files.file[i].name, files.file[i].from);
	bundle_free(&files);
	free(prefix);
	free(as);
	return rc;
}

static void pack_complain(void *arg, const char *text)
{
	struct err *first = arg;

	err_set(first, -EBADMSG, STATUS_USAGE, NULL, NULL, "%s", text);
}

static int check_whole(const struct run *run, struct err *e)
{
	struct err first = ERR_INIT;
	int wrong;

	if (!run->sealed)
		return err_set(e, -EINVAL, STATUS_USAGE, run->path, "be bundled",
			       "it is not sealed: the run has not ended, or was killed");
	wrong = manifest_check(run->path, pack_complain, &first, e);
	return wrong > 0 ? err_set(e, -EBADMSG, STATUS_USAGE, run->path, "be bundled", "%s", first.text) : wrong;
}

/* The page of a run that has one, made again from numbers that were checked. Those of a masked bundle would be made of what is
 * hidden: whoever unpacks it makes them. */
static int add_page(struct packing *p, const struct run *run, const char *path, struct err *e)
{
	char *there = fs_path("%s/derived/report.html", run->path), *dir = fs_path("%s/page-%zu", p->folder, p->made++),
	     *name = fs_path("pages/%s.html", path), *html = NULL, *why = NULL;
	int rc = p->request->mask || fs_is_missing(there) ? 0 : checked_page_make(run, dir, &html, &why, e);

	if (html)
		bundle_add_file(&p->b, name, html);
	else if (why)
		fprintf(stderr, "kblat: %s: its page is left out: %s\n", path, why);
	free(why);
	free(html);
	free(name);
	free(dir);
	free(there);
	return rc;
}

/* The name of its folder. */
static const char *path_of(const struct run *run)
{
	return strrchr(run->path, '/') + 1;
}

static int add_run(struct packing *p, const struct run *run, struct err *e)
{
	const char *path = path_of(run);

	return pack_describe_run(p, run, path, e) ?: pack_run_files(p, run, path, e) ?: add_page(p, run, path, e);
}

static int open_run(struct packing *p, const char *dir, struct err *e)
{
	struct run *run;
	int rc;

	p->run = grow_or_abort(p->run, p->runs, sizeof(*p->run));
	run = &p->run[p->runs];
	rc = run_open(dir, run, e);
	if (rc)
		return rc;
	p->runs++;
	for (size_t i = 0; i + 1 < p->runs; i++)
		if (!strcmp(path_of(&p->run[i]), path_of(run)))
			return err_set(e, -EEXIST, STATUS_USAGE, dir, "be bundled",
				       "a run of that name is in it already");
	return check_whole(run, e);
}

/* --- a study --- */

static int add_record(struct packing *p, const char *file, struct err *e)
{
	char *from = fs_path("%s/%s", p->study.path, file), *name = fs_path("study/%s", file);
	int rc = pack_member(p, &p->b, name, from, e);

	free(name);
	free(from);
	return rc;
}

static int open_cells(struct packing *p, const struct study *s, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < s->count && !rc; i++) {
		char *dir = s->cell[i].run ? fs_path("%s/%s", s->path, s->cell[i].run) : NULL;

		rc = dir ? open_run(p, dir, e) : 0;
		free(dir);
	}
	if (!rc && !p->runs)
		rc = err_set(e, -ENOENT, STATUS_USAGE, s->path, "be bundled", "no run of it has been completed");
	return rc;
}

static int open_study(struct packing *p, const struct study_kind *kind, const char *dir, struct err *e)
{
	if (p->study.path)
		return err_set(e, -EINVAL, STATUS_USAGE, dir, "be bundled", "one study at a time");
	p->study.kind = kind;
	return study_record_open(&p->study, dir, e) ?: open_cells(p, &p->study, e);
}

static int add_study(struct packing *p, struct err *e)
{
	const struct study *s = &p->study;
	json_t *argv = json_without_secrets(p, s->argv);

	free(p->b.kind);
	free(p->b.title);
	p->b.kind = or_abort(strdup(s->kind->name));
	p->b.title = without_secrets(p, *s->title ? s->title : s->name);
	if (!argv)
		return refuse_to_mask(s->path, e);
	json_decref(p->b.argv);
	p->b.argv = argv;
	return add_record(p, "study.json", e) ?: add_record(p, "cells.jsonl", e);
}

/* --- all of them --- */

static int open_path(struct packing *p, const char *path, struct err *e)
{
	const struct study_kind *kind = study_kind_at(path);

	return kind ? open_study(p, kind, path, e) : open_run(p, path, e);
}

/* A name that one run knows is hidden in all. */
static void learn_secrets(struct packing *p)
{
	for (size_t i = 0; i < p->runs; i++)
		hidden_add_run(&p->hidden, &p->run[i]);
	if (p->study.path)
		hidden_add_study(&p->hidden, &p->study);
	hidden_complete(&p->hidden);
}

static int add_all(struct packing *p, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < p->request->count && !rc; i++)
		rc = open_path(p, p->request->paths[i], e);
	if (!rc && p->request->mask)
		learn_secrets(p);
	for (size_t i = 0; i < p->runs && !rc; i++)
		rc = add_run(p, &p->run[i], e);
	return rc || !p->study.path ? rc : add_study(p, e);
}

/* --- what is made of all --- */

static json_t *installed_packages(void)
{
	static const char *const words[] = {"dpkg-query",  "-W",
					    "-f",	   "${Package} ${Version}\\n",
					    "kblat",	   "kbtune",
					    "libc6",	   "libibverbs1",
					    "librdmacm1",  "ibverbs-providers",
					    "libnuma1",	   "libbpf1",
					    "libzmq5",	   "libnanomsg5",
					    "libjansson4", "libyaml-0-2",
					    "libssl3",	   "libsqlite3-0",
					    "libtracefs1", "libtraceevent1",
					    "liburing2",   "libucx0",
					    "zlib1g",	   "libcpuset1",
					    "gnuplot-nox", "tuned",
					    NULL};
	char text[8192], *rest = text, *line;
	json_t *all = json_object();

	if (spawn_output(&(struct spawn){.words = words, .end_signal = SIGTERM}, 10000, text, sizeof(text)) < 0)
		return all;
	while ((line = strsep(&rest, "\n"))) {
		char *version = strchr(line, ' ');

		if (version && version[1] && !strchr(version + 1, ' ')) {
			*version++ = '\0';
			json_object_set_new(all, line, json_string(version));
		}
	}
	return all;
}

static int pack_claims(struct packing *p, const struct claim_verdicts *v, struct err *e)
{
	json_t *document = claim_verdicts_to_json(v);
	char *text[3] = {NULL}, *hidden;
	size_t size[3];
	static const char *const names[] = {"claims.json", "claims.tsv", "ARTIFACT.md"};
	int rc = 0;

	for (size_t i = 0; i < 3; i++) {
		FILE *out = or_abort(open_memstream(&text[i], &size[i]));

		if (i == 0)
			json_print(document, out);
		else if (i == 1)
			claims_tsv(v, out);
		else
			artifact_write(&p->b, v, out);
		fclose(out);
		hidden = without_secrets(p, text[i]);
		rc = rc ?: add_text(p, &p->b, names[i], hidden, strlen(hidden), e);
		free(hidden);
		free(text[i]);
	}
	json_decref(document);
	return rc;
}

static int by_member_name(const void *a, const void *b)
{
	const struct bundle_file *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int pack_check_names(const struct bundle *b, struct err *e)
{
	for (size_t i = 1; i < b->files; i++)
		if (!strcmp(b->file[i - 1].name, b->file[i].name))
			return err_set(
			    e, -EEXIST, STATUS_FAILED, b->file[i].name, "be bundled",
			    "two files have this name once the hosts' names are hidden; bundle runs that were "
			    "measured with --mask");
	return 0;
}

static int pack_index(struct packing *p, struct err *e)
{
	char *path = fs_path("%s/" BUNDLE_INDEX, p->folder);
	json_t *j = bundle_to_json(&p->b);
	int rc = json_write(path, j, e);

	json_decref(j);
	free(path);
	return rc;
}

/* Hiding a name must not have changed a word or a number that means something: a masked bundle is written once more, and must
 * be as it says. */
static int check_masked(struct packing *p, struct err *e)
{
	char *file = fs_path("%s/masked" ENDING, p->folder);
	const struct reproduce_request r = {.bundle = file, .quiet = true};
	struct err own = ERR_INIT;
	int rc = p->request->mask ? bundle_tar_write(&p->b, p->folder, file, true, e) : 0;

	if (!rc && p->request->mask && reproduce_bundle(&r, &own) != STATUS_OK)
		rc = refuse_to_mask(p->request->paths[0], e);
	unlink(file);
	free(file);
	return rc;
}

static int pack_all(struct packing *p, struct err *e)
{
	struct claim_verdicts v = {0};
	int rc = add_all(p, e);

	if (!rc && !*p->b.title) {
		free(p->b.title);
		p->b.title = bundle_title_of_runs(&p->b);
	}
	if (!rc && p->request->key)
		utc_now(p->b.signed_utc, BUNDLE_UTC, 0);
	rc = rc ?: bundle_hash_files(&p->b, e) ?: claims_judge(p->run, p->runs, &v, e) ?: pack_claims(p, &v, e);
	claim_verdicts_free(&v);
	if (rc)
		return rc;
	qsort(p->b.file, p->b.files, sizeof(*p->b.file), by_member_name);
	rc = bundle_check_places(&p->b, e) ?: pack_check_names(&p->b, e) ?: bundle_hash_files(&p->b, e) ?: pack_index(p, e);
	if (!rc && p->request->key)
		rc = bundle_sign(p->folder, p->request->key, e);
	return rc ?: check_masked(p, e) ?: bundle_tar_write(&p->b, p->folder, p->request->out, p->request->replace, e);
}

int bundle_pack(const struct bundle_request *r, struct err *e)
{
	struct packing p = {.request = r,
			    .study = {.lock = -1},
			    .b = {.title = or_abort(strdup("")),
				  .kind = or_abort(strdup("")),
				  .argv = json_null(),
				  .has_columns = !r->without_columns,
				  .has_states = !r->without_states,
				  .masked = r->mask,
				  .version = or_abort(strdup(kblat_version)),
				  .commit = or_abort(strdup(kblat_commit)),
				  .compiler = or_abort(strdup(kblat_compiler)),
				  .signed_utc = or_abort(calloc(BUNDLE_UTC, 1)),
				  .packages = installed_packages(),
				  .build_ids = json_object()}};
	struct temporary temporary = {0};
	int rc = text_ends_in(r->out, ENDING)
		     ? 0
		     : err_set(e, -EINVAL, STATUS_USAGE, r->out, "write a bundle", "its name must end in " ENDING);

	rc = rc ?: temporary_make(&temporary, NULL, "bundle", e);
	if (!rc) {
		p.folder = temporary.path;
		rc = pack_all(&p, e);
		temporary_remove(&temporary);
	}
	if (!rc)
		printf("%s: %zu run%s, %zu files, %.1f MiB unpacked%s%s%s\n", r->out, p.b.runs,
		       p.b.runs == 1 ? "" : "s", p.b.files, (double)bundle_size(&p.b) / (1 << 20),
		       r->without_columns ? ", without columns" : "", r->without_states ? ", without states" : "",
		       r->key ? ", signed" : ", not signed");
	while (p.runs)
		run_close(&p.run[--p.runs]);
	free(p.run);
	study_free(&p.study);
	hidden_free(&p.hidden);
	bundle_free(&p.b);
	return rc;
}
