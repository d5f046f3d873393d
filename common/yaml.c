#include "common/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"

/* The state of parsing a text. Errors are in `d`; `broken` means that parsing cannot continue. */
struct reader {
	yaml_parser_t parser;
	struct diag *d;
	bool broken;
};

void ynode_free(struct ynode *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->count; i++) {
		ynode_free(n->items[i]);
		if (n->keys)
			ynode_free(n->keys[i]);
	}
	free(n->items);
	free(n->keys);
	free(n->scalar);
	free(n);
}

const struct ynode *yaml_get(const struct ynode *map, const char *key)
{
	if (!map || map->kind != YNODE_MAPPING)
		return NULL;
	for (size_t i = 0; i < map->count; i++)
		if (!strcmp(map->keys[i]->scalar, key))
			return map->items[i];
	return NULL;
}

/*
 * Checks before parsing with libyaml: size, encoding, control characters.
 */

/* The position of a byte, counted as by libyaml: a byte order mark does not count, and Unicode has
 * further line breaks. */
static void find_place(const char *text, size_t offset, unsigned *line, unsigned *column)
{
	*line = *column = 1;
	for (size_t at = 0, len; at < offset; at += len) {
		uint32_t cp = 0;

		len = text_utf8(text + at, offset - at, &cp);
		len = len ? len : 1;
		if (cp == '\n' || (cp == '\r' && text[at + 1] != '\n') || cp == 0x85 || cp == 0x2028 || cp == 0x2029) {
			++*line;
			*column = 1;
		} else if (cp != 0xfeff) {
			++*column;
		}
	}
}

static bool is_allowed(uint32_t cp, size_t at)
{
	if (cp < 0x20)
		return cp == '\t' || cp == '\n' || cp == '\r';
	if (cp == 0xfeff)
		return at == 0;
	return cp != 0x7f && (cp < 0x80 || cp > 0x9f || cp == 0x85) && cp != 0xfffe && cp != 0xffff;
}

static int check_utf8(const char *text, size_t length, struct diag *d)
{
	unsigned line, column;
	uint32_t cp;

	for (size_t at = 0, len; at < length; at += len) {
		len = text_utf8(text + at, length - at, &cp);
		if (len && is_allowed(cp, at))
			continue;
		find_place(text, at, &line, &column);
		if (len)
			diag_add(d, line, column, "the control character 0x%02x is not allowed in text", (unsigned)cp);
		else
			diag_add(d, line, column, "the byte 0x%02x is not UTF-8; is this a text file?",
				 (unsigned)(unsigned char)text[at]);
		return -EINVAL;
	}
	return 0;
}

/*
 * Converting events to nodes.
 */

static void at_mark(struct reader *r, const yaml_mark_t *m, const char *text)
{
	diag_add(r->d, (unsigned)m->line + 1, (unsigned)m->column + 1, "%s", text);
}

static void report_syntax(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	char text[300];

	r->broken = true;
	if (p->error == YAML_MEMORY_ERROR) {
		diag_add(r->d, 0, 0, "out of memory");
		return;
	}
	snprintf(text, sizeof(text), "not valid YAML: %s%s%s", p->context ? p->context : "", p->context ? ", " : "",
		 p->problem ? p->problem : "it cannot be read");
	at_mark(r, &p->problem_mark, text);
}

/* The next event; false if parsing cannot continue. The caller deletes the event. */
static bool yaml_event(struct reader *r, yaml_event_t *event)
{
	if (r->broken)
		return false;
	if (yaml_parser_parse(&r->parser, event))
		return true;
	report_syntax(r);
	return false;
}

static struct ynode *new_node(enum ynode_kind kind, const yaml_mark_t *m)
{
	struct ynode *n = or_abort(calloc(1, sizeof(*n)));

	n->kind = kind;
	n->line = (unsigned)m->line + 1;
	n->column = (unsigned)m->column + 1;
	return n;
}

static void append_node(struct ynode *n, struct ynode *key, struct ynode *item)
{
	n->items = grow_or_abort(n->items, n->count, sizeof(struct ynode *));
	if (n->kind == YNODE_MAPPING) {
		n->keys = grow_or_abort(n->keys, n->count, sizeof(struct ynode *));
		n->keys[n->count] = key;
	}
	n->items[n->count++] = item;
}

static void refuse_extras(struct reader *r, const yaml_event_t *event, const yaml_char_t *anchor,
			  const yaml_char_t *tag)
{
	if (anchor)
		at_mark(r, &event->start_mark, "anchors ('&') are not supported; write the value out");
	if (tag)
		at_mark(r, &event->start_mark, "tags ('!') are not supported; omit the tag");
}

static struct ynode *take_scalar(struct reader *r, const yaml_event_t *event)
{
	struct ynode *n = new_node(YNODE_SCALAR, &event->start_mark);
	const char *value = (const char *)event->data.scalar.value;
	yaml_scalar_style_t style = event->data.scalar.style;

	refuse_extras(r, event, event->data.scalar.anchor, event->data.scalar.tag);
	if (strlen(value) != event->data.scalar.length)
		at_mark(r, &event->start_mark, "a NUL character is not allowed in text");
	n->scalar = fs_path("%s", value);
	n->quoted = style != YAML_PLAIN_SCALAR_STYLE;
	return n;
}

static struct ynode *take_node(struct reader *r, const yaml_event_t *event, unsigned depth);

/* The next node, or NULL at the end of a collection, at the end of the text, or after a fatal error. */
static struct ynode *next_node(struct reader *r, unsigned depth)
{
	yaml_event_t event;
	struct ynode *n;

	if (!yaml_event(r, &event))
		return NULL;
	n = take_node(r, &event, depth);
	yaml_event_delete(&event);
	return n;
}

static void fill_sequence(struct reader *r, struct ynode *n, unsigned depth)
{
	struct ynode *item;

	while ((item = next_node(r, depth + 1)))
		append_node(n, NULL, item);
}

/* Invalid keys and their values are left out of the tree, because the text is rejected anyway. */
static void fill_mapping(struct reader *r, struct ynode *n, unsigned depth)
{
	struct ynode *key, *value;

	while ((key = next_node(r, depth + 1))) {
		value = next_node(r, depth + 1);
		if (key->kind == YNODE_SCALAR && value) {
			append_node(n, key, value);
			continue;
		}
		if (key->kind != YNODE_SCALAR && !r->broken)
			diag_add(r->d, key->line, key->column, "a key must be a plain word, not a list or a mapping");
		ynode_free(key);
		ynode_free(value);
	}
}

static int compare_nodes(const void *a, const void *b)
{
	const struct ynode *x = *(struct ynode *const *)a, *y = *(struct ynode *const *)b;
	int order = strcmp(x->scalar, y->scalar);

	if (order)
		return order;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->column < y->column ? -1 : x->column > y->column;
}

/* By sorting rather than comparing all pairs, because a malicious text may have a hundred thousand keys. */
static void check_duplicates(struct reader *r, const struct ynode *map)
{
	size_t size = map->count * sizeof(struct ynode *);
	struct ynode **sorted = map->count > 1 ? or_abort(malloc(size)) : NULL;
	char quoted[TEXT_QUOTE_MAX];

	if (!sorted)
		return;
	memcpy(sorted, map->keys, size);
	qsort(sorted, map->count, sizeof(*sorted), compare_nodes);
	for (size_t i = 1; i < map->count; i++)
		if (!strcmp(sorted[i - 1]->scalar, sorted[i]->scalar))
			diag_add(r->d, sorted[i]->line, sorted[i]->column, "duplicate key %s; it is already in line %u",
				 text_quote(sorted[i]->scalar, quoted, sizeof(quoted)), sorted[i - 1]->line);
	free(sorted);
}

static struct ynode *take_collection(struct reader *r, const yaml_event_t *event, enum ynode_kind kind, unsigned depth)
{
	struct ynode *n = new_node(kind, &event->start_mark);

	if (depth > YAML_MAX_DEPTH) {
		diag_add(r->d, n->line, n->column, "nested more than %d levels deep", YAML_MAX_DEPTH);
		r->broken = true;
	} else if (kind == YNODE_SEQUENCE) {
		fill_sequence(r, n, depth);
	} else {
		fill_mapping(r, n, depth);
		check_duplicates(r, n);
	}
	return n;
}

static struct ynode *take_node(struct reader *r, const yaml_event_t *event, unsigned depth)
{
	struct ynode *n;

	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return take_scalar(r, event);
	case YAML_SEQUENCE_START_EVENT:
		refuse_extras(r, event, event->data.sequence_start.anchor, event->data.sequence_start.tag);
		return take_collection(r, event, YNODE_SEQUENCE, depth);
	case YAML_MAPPING_START_EVENT:
		refuse_extras(r, event, event->data.mapping_start.anchor, event->data.mapping_start.tag);
		return take_collection(r, event, YNODE_MAPPING, depth);
	case YAML_ALIAS_EVENT:
		at_mark(r, &event->start_mark, "aliases ('*') are not supported; write the value out");
		n = new_node(YNODE_SCALAR, &event->start_mark);
		n->scalar = fs_path("%s", "");
		return n;
	default:
		return NULL;
	}
}

/* Skip to the next event of one of two types, and delete it. Returns its type, with its position in
 * `m`; YAML_NO_EVENT if there is none. */
static yaml_event_type_t skip_to(struct reader *r, yaml_event_type_t one, yaml_event_type_t other, yaml_mark_t *m)
{
	yaml_event_type_t type = YAML_NO_EVENT;
	yaml_event_t event;

	while (type != one && type != other && yaml_event(r, &event)) {
		type = event.type;
		*m = event.start_mark;
		yaml_event_delete(&event);
	}
	return type == one || type == other ? type : YAML_NO_EVENT;
}

static struct ynode *read_document(struct reader *r)
{
	yaml_mark_t m = {0};
	yaml_event_type_t type = skip_to(r, YAML_DOCUMENT_START_EVENT, YAML_STREAM_END_EVENT, &m);
	struct ynode *root;

	if (type == YAML_STREAM_END_EVENT)
		diag_add(r->d, 0, 0, "it is empty");
	if (type != YAML_DOCUMENT_START_EVENT)
		return NULL;
	root = next_node(r, 1);
	if (skip_to(r, YAML_STREAM_END_EVENT, YAML_DOCUMENT_START_EVENT, &m) == YAML_DOCUMENT_START_EVENT)
		at_mark(r, &m, "a second document; expected only one");
	return root;
}

int yaml_load_text(const char *text, size_t length, struct diag *d, struct ynode **root)
{
	struct reader r = {.d = d};
	size_t before = d->count + d->dropped;
	struct ynode *n;

	d->text = text;
	d->length = length;
	if (length > YAML_MAX_BYTES) {
		diag_add(d, 0, 0, "too large: %zu bytes; the limit is %d", length, YAML_MAX_BYTES);
		return -EINVAL;
	}
	if (check_utf8(text, length, d))
		return -EINVAL;
	if (!yaml_parser_initialize(&r.parser)) {
		diag_add(d, 0, 0, "out of memory");
		return -ENOMEM;
	}
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, length);
	n = read_document(&r);
	yaml_parser_delete(&r.parser);
	if (d->count + d->dropped > before) {
		ynode_free(n);
		return -EINVAL;
	}
	*root = n;
	return 0;
}

/* Read a regular file of at most YAML_MAX_BYTES. The size is checked first, so that huge files are not read. */
static int read_yaml_file(const char *path, struct diag *d, char **text, size_t *length)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char cause[128];
	struct stat st;
	int rc = 0;

	if (fd < 0 || fstat(fd, &st))
		rc = -errno;
	else if (!S_ISREG(st.st_mode))
		rc = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	else if (st.st_size > YAML_MAX_BYTES)
		rc = -EFBIG;
	else
		rc = fs_read_fd(fd, YAML_MAX_BYTES, text, length);
	if (fd >= 0)
		close(fd);
	if (rc == -EFBIG)
		diag_add(d, 0, 0, "too large: the limit is %d bytes", YAML_MAX_BYTES);
	else if (rc == -EINVAL)
		diag_add(d, 0, 0, "cannot read: it is not a regular file");
	else if (rc)
		diag_add(d, 0, 0, "cannot read: %s", err_cause(rc, cause, sizeof(cause)));
	return rc ? -EINVAL : 0;
}

int yaml_load_file(const char *path, struct diag *d, struct ynode **root, char **text, size_t *length)
{
	*root = NULL;
	*text = NULL;
	*length = 0;
	if (read_yaml_file(path, d, text, length))
		return -EINVAL;
	return yaml_load_text(*text, *length, d, root);
}
