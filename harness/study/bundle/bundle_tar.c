#include "study/bundle/bundle_tar.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sha256.h"
#include "common/temporary.h"

#define BLOCK	      512
#define CHUNK	      (128 << 10)
#define SIGNATURE_MAX (64 << 10)
#define LEVEL	      6
#define GZIP_HEADER   (10 + 2 + 4 + EXTRA) /* fixed part, length of the extra field, its head, the hash */
#define EXTRA	      SHA256_BYTES
#define HASH_AT	      (GZIP_HEADER - EXTRA)
#define KEPT_FREE     8 /* one in so many free bytes is left free by what is unpacked */

/* --- headers --- */

/* A fixed header: method deflate, an extra field, no name and no time, made on Unix; then the field "kb". */
static void gzip_header(unsigned char header[GZIP_HEADER], const unsigned char hash[EXTRA])
{
	static const unsigned char fixed[HASH_AT] = {0x1f, 0x8b, 8,	    4, 0,   0,	 0,	0,
						     0,	   3,	 4 + EXTRA, 0, 'k', 'b', EXTRA, 0};

	memcpy(header, fixed, sizeof(fixed));
	memcpy(header + HASH_AT, hash, EXTRA);
}

/* POSIX.1-1988 (ustar). A name of over 100 bytes is split at a slash; files of 8 GiB and more have GNU's form of a size.
 * False: the name cannot be stored. */
static bool tar_header(unsigned char block[BLOCK], const char *name, uint64_t size)
{
	const size_t length = strlen(name);
	const char *rest = name;
	unsigned sum = 0;

	memset(block, 0, BLOCK);
	if (length > 100) {
		rest = memchr(name + length - 101, '/', 101);
		if (!rest || rest - name > 155)
			return false;
		memcpy(block + 345, name, (size_t)(rest - name));
		rest++;
	}
	memcpy(block, rest, strlen(rest));
	memcpy(block + 100,
	       "0000644\0"
	       "0000000\0"
	       "0000000",
	       24);
	if (size < 1ULL << 33)
		snprintf((char *)block + 124, 12, "%011" PRIo64, size);
	else
		for (block[124] = 0x80, sum = 0; sum < 8; sum++)
			block[135 - sum] = (unsigned char)(size >> 8 * sum);
	memcpy(block + 136, "00000000000", 12);
	memset(block + 148, ' ', 8);
	block[156] = '0';
	memcpy(block + 257, "ustar\00000", 8);
	sum = 0;
	for (size_t i = 0; i < BLOCK; i++)
		sum += block[i];
	snprintf((char *)block + 148, 8, "%06o", sum);
	return true;
}

/* --- writing --- */

struct tar_out {
	const char *path;
	int fd;
	z_stream z;
	struct sha256 *hash;
	uint32_t crc, length;
	unsigned char *buffer;
};

static int out_bytes(struct tar_out *o, const void *data, size_t size)
{
	sha256_add(o->hash, data, size);
	return fs_write_fd(o->fd, data, size);
}

static int out_deflate(struct tar_out *o, const void *data, size_t size, int flush)
{
	int rc = 0, state = Z_OK;

	o->crc = (uint32_t)crc32(o->crc, data, (uInt)size);
	o->length += (uint32_t)size;
	o->z.next_in = (void *)data;
	o->z.avail_in = (uInt)size;
	do {
		o->z.next_out = o->buffer;
		o->z.avail_out = CHUNK;
		state = deflate(&o->z, flush);
		rc = out_bytes(o, o->buffer, CHUNK - o->z.avail_out);
	} while (!rc && (o->z.avail_in || !o->z.avail_out || (flush == Z_FINISH && state != Z_STREAM_END)));
	return rc;
}

static int out_padding(struct tar_out *o, uint64_t size)
{
	static const unsigned char zeros[2 * BLOCK];

	return out_deflate(o, zeros, (BLOCK - size % BLOCK) % BLOCK, Z_NO_FLUSH);
}

/* `size` bytes of an open file. -EBADMSG: it has another size by now. */
static int out_content(struct tar_out *o, int fd, uint64_t size)
{
	unsigned char *chunk = or_abort(malloc(CHUNK));
	uint64_t left = size;
	int rc = 0;

	while (!rc && left) {
		const ssize_t n = read(fd, chunk, left < CHUNK ? (size_t)left : CHUNK);

		rc = n > 0 ? out_deflate(o, chunk, (size_t)n, Z_NO_FLUSH) : n ? -errno : -EBADMSG;
		left -= n > 0 ? (uint64_t)n : 0;
	}
	free(chunk);
	return rc ?: out_padding(o, size);
}

static int out_member(struct tar_out *o, const char *name, const char *from, uint64_t size, struct err *e)
{
	unsigned char header[BLOCK];
	int fd, rc;

	if (!tar_header(header, name, size))
		return err_set(e, -ENAMETOOLONG, STATUS_FAILED, name, "be stored in a bundle", "its name is too long");
	fd = fs_open(from, 0);
	if (fd < 0)
		return err_sys(e, fd, from, "read");
	rc = out_deflate(o, header, BLOCK, Z_NO_FLUSH) ?: out_content(o, fd, size);
	close(fd);
	return rc == -EBADMSG ? err_set(e, rc, STATUS_FAILED, from, "read", "it changed while the bundle was made")
	       : rc	      ? err_sys(e, rc, o->path, "write")
			      : 0;
}

/* bundle.json and the signature are members that it does not list. */
static int out_own(struct tar_out *o, const char *folder, const char *name, bool may_lack, struct err *e)
{
	char *path = fs_path("%s/%s", folder, name);
	struct stat st;
	int rc = lstat(path, &st) ? -errno : 0;

	if (!rc)
		rc = out_member(o, name, path, (uint64_t)st.st_size, e);
	else if (rc == -ENOENT && may_lack)
		rc = 0;
	else
		err_sys(e, rc, path, "read");
	free(path);
	return rc;
}

static int out_end(struct tar_out *o, struct err *e)
{
	static const unsigned char end[2 * BLOCK];
	unsigned char tail[8], hash[EXTRA];
	int rc = out_deflate(o, end, sizeof(end), Z_FINISH);

	for (size_t i = 0; i < 4; i++) {
		tail[i] = (unsigned char)(o->crc >> 8 * i);
		tail[4 + i] = (unsigned char)(o->length >> 8 * i);
	}
	rc = rc ?: out_bytes(o, tail, sizeof(tail));
	sha256_end(o->hash, hash);
	o->hash = NULL;
	if (!rc && pwrite(o->fd, hash, EXTRA, HASH_AT) != EXTRA)
		rc = errno ? -errno : -EIO;
	if (!rc && fsync(o->fd))
		rc = -errno;
	return rc ? err_sys(e, rc, o->path, "write") : 0;
}

static int out_all(struct tar_out *o, const struct bundle *b, const char *folder, struct err *e)
{
	unsigned char header[GZIP_HEADER], none[EXTRA] = {0};
	int rc;

	gzip_header(header, none);
	rc = fs_write_fd(o->fd, header, sizeof(header));
	if (rc)
		return err_sys(e, rc, o->path, "write");
	rc = out_own(o, folder, BUNDLE_INDEX, false, e) ?: out_own(o, folder, BUNDLE_SIGNATURE, true, e);
	for (size_t i = 0; i < b->files && !rc; i++)
		rc = out_member(o, b->file[i].name, b->file[i].from, b->file[i].size, e);
	return rc ?: out_end(o, e);
}

/* link(2) does not replace what is there. */
static int put_in_place(const char *partial, const char *path, bool replace, struct err *e)
{
	if (replace ? rename(partial, path) : link(partial, path)) {
		const int rc = -errno;

		return rc == -EEXIST ? err_set(e, rc, STATUS_USAGE, path, "write",
					       "it exists; name another file, or add --replace")
				     : err_sys(e, rc, path, "write");
	}
	return 0;
}

int bundle_tar_write(const struct bundle *b, const char *folder, const char *path, bool replace, struct err *e)
{
	char *partial = fs_path("%s.partial-%d", path, (int)getpid());
	struct tar_out o = {.path = path};
	struct temporary temporary;
	int rc = temporary_file(&temporary, partial, e);

	if (rc) {
		free(partial);
		return rc;
	}
	o.fd = open(partial, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (o.fd < 0) {
		rc = err_sys(e, -errno, path, "write");
		temporary_forget(&temporary);
		free(partial);
		return rc;
	}
	o.buffer = or_abort(malloc(CHUNK));
	o.hash = sha256_begin();
	deflateInit2(&o.z, LEVEL, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
	rc = out_all(&o, b, folder, e);
	deflateEnd(&o.z);
	if (o.hash)
		sha256_end(o.hash, NULL);
	free(o.buffer);
	close(o.fd);
	rc = rc ?: put_in_place(partial, path, replace, e);
	temporary_remove(&temporary);
	free(partial);
	return rc;
}

/* --- sizes and hashes of what is written --- */

int bundle_hash_files(struct bundle *b, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < b->files && !rc; i++) {
		int fd = *b->file[i].sha256 ? -1 : fs_open(b->file[i].from, 0);

		if (*b->file[i].sha256)
			continue;
		rc = fd < 0 ? fd : sha256_fd(fd, b->file[i].sha256, &b->file[i].size);
		if (fd >= 0)
			close(fd);
		if (rc)
			err_sys(e, rc, b->file[i].from, "read");
	}
	return rc;
}

/* --- reading --- */

struct tar_in {
	const char *path;
	int fd;
	z_stream z;
	bool ended; /* the compressed data */
	unsigned char *buffer;
};

static int in_refuse(const struct tar_in *in, const char *member, const char *why, struct err *e)
{
	return err_set(e, -EBADMSG, STATUS_USAGE, in->path, "be used", "%s%s%s; get it again from where it came",
		       member ? member : "", member ? ": " : "", why);
}

static ssize_t read_whole(int fd, void *data, size_t size)
{
	size_t all = 0;
	ssize_t n = 1;

	while (all < size && n > 0) {
		n = read(fd, (char *)data + all, size - all);
		all += n > 0 ? (size_t)n : 0;
	}
	return n < 0 ? -errno : (ssize_t)all;
}

/* The hash of all after the header is the one in it; otherwise nothing is interpreted. */
static int in_check(struct tar_in *in, struct err *e)
{
	unsigned char said[GZIP_HEADER] = {0}, wanted[GZIP_HEADER], hash[EXTRA];
	struct sha256 *context = sha256_begin();
	ssize_t n = read_whole(in->fd, said, sizeof(said));

	while (n > 0 && (n = read(in->fd, in->buffer, CHUNK)) > 0)
		sha256_add(context, in->buffer, (size_t)n);
	sha256_end(context, hash);
	if (n < 0)
		return err_sys(e, n == -1 ? -errno : (int)n, in->path, "read");
	gzip_header(wanted, hash);
	if (memcmp(said, wanted, HASH_AT))
		return err_set(e, -EINVAL, STATUS_USAGE, in->path, NULL, "this is not a bundle of kblat");
	if (memcmp(said, wanted, sizeof(said)))
		return in_refuse(in, NULL, "it is damaged: its SHA-256 is not the one that it begins with", e);
	return lseek(in->fd, GZIP_HEADER, SEEK_SET) < 0 ? err_sys(e, -errno, in->path, "read") : 0;
}

/* `size` bytes of the archive, or -EBADMSG. */
static int in_bytes(struct tar_in *in, void *data, size_t size)
{
	in->z.next_out = data;
	in->z.avail_out = (uInt)size;
	while (in->z.avail_out && !in->ended) {
		int state;

		if (!in->z.avail_in) {
			ssize_t n = read(in->fd, in->buffer, CHUNK);

			if (n <= 0)
				return n ? -errno : -EBADMSG;
			in->z.next_in = in->buffer;
			in->z.avail_in = (uInt)n;
		}
		state = inflate(&in->z, Z_NO_FLUSH);
		in->ended = state == Z_STREAM_END;
		if (state != Z_OK && !in->ended)
			return -EBADMSG;
	}
	return in->z.avail_out ? -EBADMSG : 0;
}

static int in_header(struct tar_in *in, unsigned char block[BLOCK])
{
	return in_bytes(in, block, BLOCK);
}

static bool is_zero(const unsigned char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i])
			return false;
	return true;
}

static int in_padding(struct tar_in *in, uint64_t size)
{
	const size_t n = (BLOCK - size % BLOCK) % BLOCK;
	unsigned char block[BLOCK];

	return in_bytes(in, block, n) ?: is_zero(block, n) ? 0 : -EBADMSG;
}

/* The content of a member, into an open file; `hex` becomes its hash. */
static int in_content(struct tar_in *in, uint64_t size, int to, char hex[SHA256_HEX + 1])
{
	unsigned char *chunk = or_abort(malloc(CHUNK)), hash[EXTRA];
	struct sha256 *context = sha256_begin();
	int rc = 0;

	for (uint64_t left = size; left && !rc;) {
		const size_t n = left < CHUNK ? (size_t)left : CHUNK;

		rc = in_bytes(in, chunk, n);
		if (!rc) {
			sha256_add(context, chunk, n);
			rc = fs_write_fd(to, chunk, n);
		}
		left -= n;
	}
	sha256_end(context, hash);
	sha256_text(hash, hex);
	free(chunk);
	return rc ?: in_padding(in, size);
}

static int make_parents(const char *folder, const char *name, struct err *e)
{
	const char *slash = strrchr(name, '/');
	char *parent = slash ? fs_path("%s/%.*s", folder, (int)(slash - name), name) : NULL;
	int rc = parent ? fs_mkdirs(parent, e) : 0;

	free(parent);
	return rc;
}

static int in_member(struct tar_in *in, const char *folder, const char *name, uint64_t size, char hex[SHA256_HEX + 1],
		     struct err *e)
{
	char *path = fs_path("%s/%s", folder, name);
	int rc = make_parents(folder, name, e), to;

	if (!rc) {
		to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		rc = to < 0 ? -errno : in_content(in, size, to, hex);
		if (to >= 0 && close(to) && !rc)
			rc = -errno;
		if (rc == -EBADMSG)
			in_refuse(in, name, "it is damaged", e);
		else if (rc)
			err_sys(e, rc, path, "write");
	}
	free(path);
	return rc;
}

static uint64_t size_in(const unsigned char block[BLOCK])
{
	char text[13] = "";

	memcpy(text, block + 124, 12);
	return strtoull(text, NULL, 8);
}

/* A member that nothing has declared: its header says how long it is, up to `most`. */
static int in_undeclared(struct tar_in *in, const char *folder, const char *name, uint64_t most,
			 const unsigned char block[BLOCK], struct err *e)
{
	unsigned char wanted[BLOCK];
	char hex[SHA256_HEX + 1];
	const uint64_t size = size_in(block);

	if (!tar_header(wanted, name, size) || memcmp(block, wanted, BLOCK))
		return in_refuse(in, name, "it is not there, or not as kblat writes it", e);
	if (size > most)
		return in_refuse(in, name, "it is too large", e);
	return in_member(in, folder, name, size, hex, e);
}

static int in_index(struct tar_in *in, const char *folder, struct bundle *out, struct err *e)
{
	char *path = fs_path("%s/" BUNDLE_INDEX, folder);
	unsigned char block[BLOCK];
	json_t *j = NULL;
	int rc = in_header(in, block) ? in_refuse(in, BUNDLE_INDEX, "it is not there", e) : 0;

	if (!rc)
		rc = in_undeclared(in, folder, BUNDLE_INDEX, BUNDLE_INDEX_MAX, block, e);
	if (!rc && !(j = json_read(path, e)))
		rc = -EINVAL;
	if (!rc)
		rc = bundle_from_json(j, in->path, out, e);
	json_decref(j);
	free(path);
	return rc;
}

/* A part stays free: whoever made the bundle is not to fill the disk (or the memory, where that is what /tmp is). */
static int in_room(const struct tar_in *in, const char *folder, const struct bundle *b, struct err *e)
{
	unsigned long long there, wanted = bundle_size(b) + b->files * 4096;
	int rc = fs_free_bytes(folder, &there, e);

	return rc || wanted <= there - there / KEPT_FREE
		   ? rc
		   : err_set(
			 e, -ENOSPC, STATUS_FAILED, in->path, "be read",
			 "it needs %llu MiB in %s, which has %llu, a part of which stays free; choose another folder "
			 "with --out or TMPDIR",
			 (wanted >> 20) + 1, folder, there >> 20);
}

static int in_declared(struct tar_in *in, const char *folder, const struct bundle_file *f,
		       const unsigned char block[BLOCK], struct err *e)
{
	unsigned char wanted[BLOCK];
	char hex[SHA256_HEX + 1];
	int rc;

	if (!tar_header(wanted, f->name, f->size) || memcmp(block, wanted, BLOCK))
		return in_refuse(in, f->name, "it is missing, or something else is in its place", e);
	rc = in_member(in, folder, f->name, f->size, hex, e);
	return !rc && strcmp(hex, f->sha256) ? in_refuse(in, f->name, "its content is not the one declared", e) : rc;
}

/* The bytes behind the compressed data, or a negative errno. */
static int64_t in_rest(struct tar_in *in)
{
	int64_t all = in->z.avail_in;
	ssize_t n;

	while ((n = read(in->fd, in->buffer, CHUNK)) > 0)
		all += n;
	return n < 0 ? -errno : all;
}

/* Two empty blocks, the end of the compressed data, its check (of 8 bytes), and nothing more. */
static int in_end(struct tar_in *in, const unsigned char block[BLOCK], struct err *e)
{
	unsigned char last[BLOCK], more[1];
	bool whole = is_zero(block, BLOCK) && !in_bytes(in, last, BLOCK) && is_zero(last, BLOCK);

	if (whole && in_bytes(in, more, 1) != -EBADMSG)
		whole = false;
	return whole && in->ended && in_rest(in) == 8 ? 0
						      : in_refuse(in, NULL, "there is more in it than it declares", e);
}

static int in_all(struct tar_in *in, const char *folder, struct bundle *out, struct err *e)
{
	unsigned char block[BLOCK] = {0};
	int rc = in_check(in, e) ?: in_index(in, folder, out, e) ?: in_room(in, folder, out, e);

	if (!rc && in_header(in, block))
		rc = in_refuse(in, NULL, "it ends too early", e);
	if (!rc && !strcmp((const char *)block, BUNDLE_SIGNATURE)) {
		rc = in_undeclared(in, folder, BUNDLE_SIGNATURE, SIGNATURE_MAX, block, e);
		if (!rc && in_header(in, block))
			rc = in_refuse(in, NULL, "it ends too early", e);
	}
	for (size_t i = 0; i < out->files && !rc; i++) {
		rc = in_declared(in, folder, &out->file[i], block, e);
		if (!rc && in_header(in, block))
			rc = in_refuse(in, NULL, "it ends too early", e);
	}
	return rc ?: in_end(in, block, e);
}

int bundle_tar_read(const char *path, const char *folder, struct bundle *out, struct err *e)
{
	struct tar_in in = {.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
	struct stat st;
	int rc;

	*out = (struct bundle){0};
	if (in.fd < 0 || fstat(in.fd, &st))
		rc = err_set(e, -errno, STATUS_USAGE, path, "read", "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rc = err_set(e, -EINVAL, STATUS_USAGE, path, "read", "it is not a regular file");
	else {
		in.buffer = or_abort(malloc(CHUNK));
		inflateInit2(&in.z, -MAX_WBITS);
		rc = in_all(&in, folder, out, e);
		inflateEnd(&in.z);
		free(in.buffer);
	}
	if (in.fd >= 0)
		close(in.fd);
	return rc;
}
