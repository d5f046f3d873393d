#include "common/sha256.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/or_abort.h"

#define PIECE (256 << 10)

struct sha256 {
	struct sha256_ctx context;
};

struct sha256 *sha256_begin(void)
{
	struct sha256 *s = or_abort(malloc(sizeof(*s)));

	sha256_init(&s->context);
	return s;
}

void sha256_add(struct sha256 *s, const void *data, size_t size)
{
	sha256_update(&s->context, size, data);
}

void sha256_end(struct sha256 *s, unsigned char out[SHA256_BYTES])
{
	if (out)
		sha256_digest(&s->context, SHA256_BYTES, out);
	free(s);
}

void sha256_text(const unsigned char hash[SHA256_BYTES], char text[SHA256_HEX + 1])
{
	for (size_t i = 0; i < SHA256_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", hash[i]);
}

int sha256_fd(int fd, char text[SHA256_HEX + 1], uint64_t *size)
{
	unsigned char hash[SHA256_BYTES], *piece = or_abort(malloc(PIECE));
	struct sha256 *s = sha256_begin();
	uint64_t all = 0;
	ssize_t n;
	int rc = 0;

	while (!rc && (n = read(fd, piece, PIECE)) != 0) {
		if (n < 0) {
			rc = errno == EINTR ? 0 : -errno;
			continue;
		}
		sha256_add(s, piece, (size_t)n);
		all += (uint64_t)n;
	}
	sha256_end(s, hash);
	sha256_text(hash, text);
	if (size)
		*size = all;
	free(piece);
	return rc;
}
