/*
 * SHA-256, piece by piece or of an open file.
 */
#ifndef KBLAT_COMMON_SHA256_H
#define KBLAT_COMMON_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32
#define SHA256_HEX   64 /* digits, without a NUL */

struct sha256;

/* Aborts when out of memory. sha256_end() frees it, and writes the hash to `out`, which may be NULL. */
struct sha256 *sha256_begin(void);
void sha256_add(struct sha256 *s, const void *data, size_t size);
void sha256_end(struct sha256 *s, unsigned char out[SHA256_BYTES]);

/* As hexadecimal digits and a NUL. */
void sha256_text(const unsigned char hash[SHA256_BYTES], char text[SHA256_HEX + 1]);

/* Of the rest of an open file, as text; `size` (may be NULL) gets its bytes. 0 or a negative errno. */
int sha256_fd(int fd, char text[SHA256_HEX + 1], uint64_t *size);

#endif
