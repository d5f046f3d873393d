/*
 * NumPy's .npy format, version 1.0, for one-dimensional little-endian int64 columns
 * (numpy.org/doc/stable/reference/generated/ numpy.lib.format.html). The header is padded to NPY_HEADER bytes, so that
 * the data starts on a page boundary and a column can be mapped, locked and filled in place. At first the header
 * contains the capacity as the shape; it is replaced by the true count as soon as that is known. NumPy can read the
 * file at any time.
 */
#ifndef KBLAT_COMMON_NPY_H
#define KBLAT_COMMON_NPY_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct mapped;

#define NPY_HEADER 4096

/* "never happened": a message that was lost, or a completion that was not requested. */
#define NEVER INT64_MIN

struct npy {
	const int64_t *data; /* mapped read-only */
	size_t count;
	struct mapped *file;
};

/* Fill NPY_HEADER bytes for `count` entries. */
void npy_header(char header[NPY_HEADER], size_t count);

/* Map a column. STATUS_USAGE and a clear cause for: not .npy, another version, dtype, order or
 * shape, truncated, too long. */
int npy_open(const char *path, struct npy *out, struct err *e);

/* -EIO if it was shortened, or could not be read, since it was opened: what was computed from it is wrong. */
int npy_close(struct npy *n, struct err *e);

/* Write a complete column: `<path>.tmp`, fsync, rename. */
int npy_write(const char *path, const int64_t *data, size_t count, struct err *e);

#endif
