#include "measure/program/binary.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "measure/program/binary_parts.h"
#include "measure/program/probed_file.h"

static int complain_of_inlined(const struct binary *b, const struct binary_names *into, const char *name, struct err *e)
{
	char list[512] = "";
	size_t length = 0;

	for (size_t i = 0; i < into->count && length < sizeof(list); i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s'%.80s'",
					   !i			 ? ""
					   : i + 1 < into->count ? ", "
								 : " and ",
					   into->list[i]);
	return err_set(e, -ENOENT, STATUS_USAGE, b->path, NULL,
		       "the function '%.80s' was inlined into %s, so it has no place of its own: choose one that was "
		       "not, or forbid it (noinline)",
		       name, list);
}

/* It may have been inlined everywhere, which is more to know than that it is not there. */
static int look_for_inlined(struct binary *b, const char *name, struct err *e)
{
	struct binary_names into = {.list = NULL};
	int rc = -ENOENT;

	binary_inlined_into(b, name, &into);
	if (into.count) {
		err_clear(e);
		rc = complain_of_inlined(b, &into, name, e);
	}
	binary_names_free(&into);
	return rc;
}

static int find_function(struct binary *b, const char *name, bool at_return, struct binary_sites *out, struct err *e)
{
	struct binary_function f = {.list = NULL};
	int rc = binary_function_find(b, name, &f, e);

	if (rc == -ENOENT)
		rc = look_for_inlined(b, name, e);
	if (!rc)
		rc = binary_sites_of_function(b, &f, name, at_return, out, e);
	if (!rc && !f.is_chosen)
		binary_inlined_add(b, &f, name, at_return, out);
	binary_function_free(&f);
	return rc;
}

static bool address_begins(struct binary *b, uint64_t address)
{
	struct binary_body body;
	bool is;

	if (!binary_function_around(b, address, &body))
		return false;
	is = body.range.begin == address;
	free(body.name);
	return is;
}

/* A function that is known by where it begins. */
static int find_of_address(struct binary *b, uint64_t address, const char *name, bool at_return,
			   struct binary_sites *out, struct err *e)
{
	struct binary_function f = {.list = NULL};
	struct binary_body body;
	int rc = 0;

	if (!binary_function_around(b, address, &body))
		return err_set(e, -EINVAL, STATUS_USAGE, b->path, NULL, "has no function at address 0x%" PRIx64,
			       address);
	if (body.range.begin != address)
		rc = err_set(e, -EINVAL, STATUS_USAGE, b->path, NULL,
			     "address 0x%" PRIx64 " is within the function%s%.80s%s, which begins at 0x%" PRIx64
			     ": its return is that of its beginning",
			     address, *body.name ? " '" : "", body.name, *body.name ? "'" : "", body.range.begin);
	binary_function_add(&f, body.name, body.range, body.part);
	free(body.name);
	if (!rc)
		rc = binary_sites_of_function(b, &f, name, at_return, out, e);
	binary_function_free(&f);
	return rc;
}

static int find_address(struct binary *b, const char *name, bool at_return, struct binary_sites *out, struct err *e)
{
	char *end;
	const uint64_t address = strtoull(name, &end, 16);

	if (*end)
		return err_set(e, -EINVAL, STATUS_USAGE, b->path, NULL, "'%.40s' is not an address", name);
	return at_return || address_begins(b, address) ? find_of_address(b, address, name, at_return, out, e)
						       : binary_sites_of_address(b, address, out, e);
}

/* "serve+4", as perf and bpftrace write it; false: it is not so. */
static bool read_offset(const char *name, char **function, uint64_t *offset)
{
	const char *plus = strrchr(name, '+');
	char *end;

	if (!plus || plus == name || !isdigit((unsigned char)plus[1]))
		return false;
	*offset = strtoull(plus + 1, &end, 0);
	if (*end)
		return false;
	*function = or_abort(strndup(name, (size_t)(plus - name)));
	return true;
}

static int find_in_function(struct binary *b, const char *name, bool at_return, struct binary_sites *out, struct err *e)
{
	struct binary_function f = {.list = NULL};
	char *function;
	uint64_t offset;
	int rc;

	if (at_return || !read_offset(name, &function, &offset))
		return find_function(b, name, at_return, out, e);
	rc = binary_function_find(b, function, &f, e);
	if (!rc)
		rc = binary_sites_of_address(b, f.list[0].range.begin + offset, out, e);
	binary_function_free(&f);
	free(function);
	return rc;
}

/* Of what this processor runs, NULL. */
static const char *other_processor(const struct binary *b)
{
	static const char *const names[] = {
	    [CODE_X86_64] = "x86-64", [CODE_I386] = "i386", [CODE_AARCH64] = "aarch64", [CODE_UNKNOWN] = NULL};
#if defined(__x86_64__)
	const bool is_own = b->machine == CODE_X86_64 || b->machine == CODE_I386;
#elif defined(__aarch64__)
	const bool is_own = b->machine == CODE_AARCH64;
#else
	const bool is_own = true;
#endif

	return is_own ? NULL : names[b->machine];
}

static int check_kind(const struct binary *b, struct err *e)
{
	const char *other = other_processor(b);

	if (b->is_symbols)
		return err_set(
		    e, -EINVAL, STATUS_USAGE, b->path, NULL,
		    "is a file of debug symbols, which nobody runs: give the program or library that they are of");
	if (other)
		return err_set(e, -EINVAL, STATUS_USAGE, b->path, NULL,
			       "is for another processor (%s): what runs it here is an emulator, in whose code its "
			       "functions are not",
			       other);
	if (binary_is_patched(b))
		return err_set(
		    e, -EINVAL, STATUS_USAGE, b->path, NULL,
		    "has code that is changed when it is loaded (text relocations): probes would execute what is "
		    "in the file");
	return 0;
}

int binary_find(const struct probed_file *file, const char *name, bool at_return, struct binary_sites *out,
		struct err *e)
{
	struct binary b;
	int rc = binary_open(file->fd, file->path, file->root, &b, e);

	*out = (struct binary_sites){.list = NULL};
	if (!rc)
		binary_build_id(b.elf, out->build_id);
	if (!rc)
		rc = check_kind(&b, e);
	if (!rc)
		rc = !strncmp(name, "0x", 2) ? find_address(&b, name, at_return, out, e)
		     : binary_is_usdt(name)  ? binary_usdt_find(&b, name, out, e)
					     : find_in_function(&b, name, at_return, out, e);
	binary_close(&b);
	return rc;
}
