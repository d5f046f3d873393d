/*
 * Mutations of an input of file_tree_apply(): one of its files, by the end of its name, or which files there are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "file_tree.h"
#include "fuzz.h"

#define RECORDS_MAX 64

/* Of the input: its head with the mark and the newline, and what follows. */
struct record {
	uint8_t *at;
	size_t head, body;
};

static size_t find_records(uint8_t *data, size_t size, struct record *r)
{
	const size_t mark = strlen(FILE_TREE_MARK);
	size_t count = 0;

	for (size_t i = 0; i + mark < size && count < RECORDS_MAX; i++) {
		const uint8_t *end;

		if ((i && data[i - 1] != '\n') || memcmp(data + i, FILE_TREE_MARK, mark) != 0)
			continue;
		end = memchr(data + i, '\n', size - i);
		r[count] = (struct record){data + i, end ? (size_t)(end - data) + 1 - i : size - i, 0};
		if (count)
			r[count - 1].body = (size_t)(r[count].at - r[count - 1].at) - r[count - 1].head;
		count++;
	}
	if (count)
		r[count - 1].body = (size_t)(data + size - r[count - 1].at) - r[count - 1].head;
	return count;
}

static bool ends_in(const struct record *r, const char *end)
{
	const size_t n = strlen(end);

	return r->head > n && !memcmp(r->at + r->head - 1 - n, end, n);
}

static fuzz_mutator *mutator_of(const struct record *r)
{
	return ends_in(r, ".json")    ? mutate_json
	       : ends_in(r, ".yaml")  ? mutate_yaml
	       : ends_in(r, ".jsonl") ? mutate_lines
				      : NULL;
}

/* The content of one. */
static size_t mutate_body(uint8_t *data, size_t size, size_t max, const struct record *r, const char *const *words)
{
	const size_t before = (size_t)(r->at - data) + r->head, after = size - before - r->body;
	const bool newline = after && r->body && data[before + r->body - 1] == '\n';
	uint8_t *body = or_abort(malloc(max + 1));
	fuzz_mutator *mutate = mutator_of(r);
	size_t changed, room = max - before - after - 1;

	memcpy(body, data + before, r->body);
	changed = r->body - newline;
	changed = mutate ? mutate(body, changed, room, words) : LLVMFuzzerMutate(body, changed, room);
	if (after)
		body[changed++] = '\n';
	memmove(data + before + changed, data + before + r->body, after);
	memcpy(data + before, body, changed);
	free(body);
	return before + changed + after;
}

/* A file of the tree as it is, to be changed later; or none, or a link, in its place. */
static size_t add_record(uint8_t *data, size_t size, size_t max)
{
	static const char *const targets[] = {"/etc/passwd", "..",	 ".", "../../../../etc/hostname",
					      "run.json",    "/dev/zero"};
	const struct file_tree *t = file_tree_of_target;
	const struct tree_entry *f = t && t->count ? &t->entries[fuzz_below((unsigned)t->count)] : NULL;
	const unsigned kind = fuzz_below(12);
	const bool newline = size && data[size - 1] != '\n';
	const char *link = kind == 1 ? targets[fuzz_below(6)] : "";
	char head[512];
	int n = f ? snprintf(head, sizeof(head), "%s%s%.200s%s%s\n", newline ? "\n" : "", FILE_TREE_MARK, f->path,
			     kind == 0	 ? " -"
			     : kind == 1 ? " > "
					 : "",
			     link)
		  : 0;
	size_t body = kind > 1 && f && f->kind == TREE_FILE ? f->size : 0;

	if (!f || size + (size_t)n + body > max)
		return size;
	memcpy(data + size, head, (size_t)n);
	if (body)
		memcpy(data + size + n, f->data, body);
	return size + (size_t)n + body;
}

static size_t drop_record(uint8_t *data, size_t size, const struct record *r)
{
	const size_t length = r->head + r->body, before = (size_t)(r->at - data);

	memmove(r->at, r->at + length, size - before - length);
	return size - length;
}

size_t mutate_files(uint8_t *data, size_t size, size_t max, const char *const *words)
{
	struct record r[RECORDS_MAX];
	size_t count = find_records(data, size, r);
	const struct record *one = count ? &r[fuzz_below((unsigned)count)] : NULL;

	if (!one || (count < RECORDS_MAX && !fuzz_below(6)))
		return add_record(data, one ? size : 0, max);
	if (count > 1 && !fuzz_below(10))
		return drop_record(data, size, one);
	if (!fuzz_below(32))
		return LLVMFuzzerMutate(data, size, max);
	return size + 2 < max ? mutate_body(data, size, max, one, words) : size;
}
