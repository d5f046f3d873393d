/*
 * Bundles: what their index may declare, and that no archive but the one written for it is taken. The index is the
 * input; the content of every file that it declares is zeros.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sha256.h"
#include "fuzz.h"
#include "judge/claims/claims.h"
#include "study/bundle/bundle.h"
#include "study/bundle/bundle_tar.h"

enum { HEAD = 48, BLOCK = 512, BYTES_MOST = 1 << 16, FILES_MOST = 16 };

static const char *const words[] = {
    "bundle.json", "../x",	  "runs/r/run.json",
    "a/../b",	   "/x",	  "pages/r.html",
    ".",	   "ARTIFACT.md", "schema",
    "title",	   "study",	  "argv",
    "columns",	   "masked",	  "made_by",
    "version",	   "commit",	  "compiler",
    "signed_utc",  "packages",	  "build_ids",
    "runs",	   "files",	  "path",
    "name",	   "variant",	  "status",
    "valid",	   "started_utc", "ended_utc",
    "size",	   "sha256",	  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    NULL};

/* A bundle that was read can be written, and read again as it was. */
static void check_index(const struct bundle *b)
{
	json_t *j = bundle_to_json(b), *same;
	struct claim_verdicts none = {0};
	struct bundle again;
	struct err e = ERR_INIT;
	FILE *nowhere = fopen("/dev/null", "w");

	fuzz_require(!bundle_from_json(j, "again", &again, &e));
	same = bundle_to_json(&again);
	fuzz_require(json_equal(j, same));
	for (size_t i = 0; i < b->files; i++)
		fuzz_require(*b->file[i].name != '/' && strncmp(b->file[i].name, "../", 3) &&
			     !strstr(b->file[i].name, "/../"));
	fuzz_require(!bundle_check_places(b, &e) && bundle_size(b) <= BUNDLE_SIZE_MAX);
	artifact_write(b, &none, nowhere);
	fclose(nowhere);
	json_decref(same);
	json_decref(j);
	bundle_free(&again);
}

/* One file of zeros for each that is declared. */
static void fill(struct bundle *b, const char *folder)
{
	static const char zeros[BYTES_MOST];

	for (size_t i = 0; i < b->files; i++) {
		b->file[i].from = fs_path("%s/zeros-%zu", folder, i);
		fuzz_write(b->file[i].from, zeros, (size_t)b->file[i].size);
	}
}

static int read_back(const char *path, struct err *e)
{
	char *folder = fs_path("%s/unpacked", fuzz_folder());
	struct bundle out;
	int rc;

	fuzz_require(!mkdir(folder, 0700));
	rc = bundle_tar_read(path, folder, &out, e);
	bundle_free(&out);
	fs_remove_tree(folder, NULL);
	free(folder);
	return rc;
}

/* The archive with one byte behind its index changed, compressed again, under the right SHA-256. */
static void damage(const char *path, size_t index_end, unsigned at, unsigned by)
{
	size_t size, room, packed;
	char *file;
	unsigned char *tar, *out;
	z_stream z = {0};
	struct sha256 *hash = sha256_begin();

	fuzz_require(!fs_read(path, 4 * BYTES_MOST, &file, &size, NULL));
	tar = or_abort(malloc(room = 8 * BYTES_MOST));
	z = (z_stream){.next_in = (unsigned char *)file + HEAD,
		       .avail_in = (uInt)(size - HEAD),
		       .next_out = tar,
		       .avail_out = (uInt)room};
	inflateInit2(&z, -MAX_WBITS);
	fuzz_require(inflate(&z, Z_FINISH) == Z_STREAM_END);
	tar[index_end + at % (z.total_out - index_end)] ^= (unsigned char)(by % 255 + 1);
	room = z.total_out;
	inflateEnd(&z);
	out = or_abort(malloc(HEAD + compressBound(room) + 8));
	z = (z_stream){
	    .next_in = tar, .avail_in = (uInt)room, .next_out = out + HEAD, .avail_out = (uInt)compressBound(room)};
	deflateInit2(&z, 1, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
	fuzz_require(deflate(&z, Z_FINISH) == Z_STREAM_END);
	packed = HEAD + z.total_out;
	deflateEnd(&z);
	memcpy(out, file, HEAD);
	memset(out + packed, 0, 8);
	sha256_add(hash, out + HEAD, packed - HEAD + 8);
	sha256_end(hash, out + HEAD - SHA256_BYTES);
	fuzz_write(path, out, packed + 8);
	free(out);
	free(tar);
	free(file);
}

static void check_archive(struct bundle *b, unsigned at, unsigned by)
{
	char *path = fs_path("%s/b.tar.gz", fuzz_folder()), *index = fs_path("%s/" BUNDLE_INDEX, fuzz_folder());
	struct err e = ERR_INIT;
	struct stat st;
	json_t *j;

	fill(b, fuzz_folder());
	fuzz_require(!bundle_hash_files(b, &e));
	j = bundle_to_json(b);
	fuzz_require(!json_write(index, j, &e));
	if (!bundle_tar_write(b, fuzz_folder(), path, true, &e)) {
		fuzz_require(!read_back(path, &e));
		fuzz_require(!stat(index, &st));
		damage(path, BLOCK + (size_t)(st.st_size + BLOCK - 1) / BLOCK * BLOCK, at, by);
		fuzz_require(read_back(path, &e) && e.status == STATUS_USAGE && *e.text);
	}
	json_decref(j);
	for (size_t i = 0; i < b->files; i++)
		remove(b->file[i].from);
	remove(path);
	remove(index);
	free(index);
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *j = json_loadb((const char *)data, size, 0, NULL);
	const unsigned at = size ? crc32(0, data, (uInt)size) : 0;
	struct err e = ERR_INIT;
	struct bundle b;

	if (!j)
		return 0;
	if (!bundle_from_json(j, "input", &b, &e)) {
		check_index(&b);
		if (b.files <= FILES_MOST && bundle_size(&b) < BYTES_MOST)
			check_archive(&b, at, at >> 16);
	} else {
		fuzz_require(e.status == STATUS_USAGE && *e.text);
	}
	bundle_free(&b);
	json_decref(j);
	return 0;
}

FUZZ_MUTATOR(mutate_json, words)
