/*
 * Structs as JSON, by tables. A row is a member, and says how it is written, read, checked and freed; rows are in the order of the
 * keys, and {0} ends them:
 *
 *     static const struct codec point_rows[] = {
 *         CODEC(cell_point, id, .most = 1e9),
 *         CODEC(cell_point, metric, .flags = CODEC_CLEAN),
 *         CODEC_AS("class", cell_point, kind, CODEC_WORDS(point_kinds)),
 *         {0},
 *     };
 *
 * The member's type says the rest: char * (owned), const char * (it is only written), char[], bool, double (null where it is no
 * number or infinite), integers, enums (with CODEC_WORDS), json_t * (owned).
 */
#ifndef KBLAT_COMMON_CODEC_H
#define KBLAT_COMMON_CODEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum codec_kind {
	CODEC_END,
	CODEC_TEXT,
	CODEC_BORROWED,
	CODEC_CHARS,
	CODEC_FLAG,
	CODEC_REAL,
	CODEC_SIGNED,
	CODEC_UNSIGNED,
	CODEC_JSON,
	CODEC_STRUCT,	/* an object for a struct inside this one */
	CODEC_POINTER,	/* an object for one that is allocated; NULL: null */
	CODEC_LIST,	/* an array */
	CODEC_MAP,	/* an object; the key of an item is its first member, a char * */
	CODEC_GROUP,	/* an object for members of this struct; without a key they are among its others */
	CODEC_CONSTANT, /* `otherwise`, or that word */
	CODEC_OWN,	/* encode() and decode() */
};

enum codec_flag {
	CODEC_NEEDED = 1,	 /* read: it must be there; a text must not be empty */
	CODEC_NEVER_NULL = 2,	 /* read: what is not there becomes "", [] or {} */
	CODEC_CLEAN = 4,	 /* read: a text for people (text_clean), never NULL */
	CODEC_ARRAY = 8,	 /* what a json_t * must be */
	CODEC_OBJECT = 16,	 /* with CODEC_ARRAY: either */
	CODEC_OPTIONAL = 32,	 /* written: left out where it is NULL, no number, 0, false, empty, or the first word */
	CODEC_LESS_IS_NULL = 64, /* a number below 0 is null */
	CODEC_UNREAD = 128,	 /* only written */
	CODEC_UNWRITTEN = 256,	 /* only read; with CODEC_UNREAD: only freed */
};

struct codec {
	const char *key;
	enum codec_kind kind;
	unsigned flags;
	size_t offset, size, length; /* of the member; its type's or its items'; the offset of their number */
	size_t fixed;		     /* items of an array; 0: a list, whose number is a size_t */
	const struct codec *rows;    /* of a struct or item; of items that are values: one row, without a key */
	const char *const *words;
	size_t word_count;
	double least, most;   /* of a number; both 0: what the type can hold */
	json_int_t otherwise; /* the integer or word where none can be read */

	/* Each may be NULL. Is it written? What is wrong with a text that was read ("is not a name")? NULL: nothing. */
	bool (*given)(const void *of);
	const char *(*check)(const char *text);

	/* `of` is what is at the offset, `outer` the struct that has this one. A new reference, or NULL: left out.
	 * What is wrong with it, or NULL. */
	json_t *(*encode)(const void *of, const void *outer);
	const char *(*decode)(void *of, const json_t *value, void *outer);
	void (*release)(void *of);
};

#define CODEC_OF(tag, member) ((struct tag *)0)->member
#define CODEC_ROW(name, how, tag, member, ...)                                                                         \
	{                                                                                                              \
		.key = (name), .kind = (how), .offset = offsetof(struct tag, member), ##__VA_ARGS__                    \
	}
#define CODEC_KIND(value)                                                                                              \
	_Generic((value), char *: _Generic(&(value), char **: CODEC_TEXT, default: CODEC_CHARS),                       \
	    const char *: CODEC_BORROWED, bool: CODEC_FLAG, double: CODEC_REAL, json_t *: CODEC_JSON,                  \
	    int: CODEC_SIGNED, long: CODEC_SIGNED, long long: CODEC_SIGNED, default: CODEC_UNSIGNED)

#define CODEC_AS(name, tag, member, ...)                                                                               \
	CODEC_ROW(name, CODEC_KIND(CODEC_OF(tag, member)), tag, member, .size = sizeof(CODEC_OF(tag, member)),         \
		  ##__VA_ARGS__)
#define CODEC(tag, member, ...) CODEC_AS(#member, tag, member, ##__VA_ARGS__)
#define CODEC_WORDS(list)	.words = (list), .word_count = sizeof(list) / sizeof((list)[0])
#define CODEC_SCHEMA                                                                                                   \
	{                                                                                                              \
		.key = "schema", .kind = CODEC_CONSTANT, .otherwise = 1                                                \
	}

#define CODEC_FREED(tag, member) CODEC_AS("", tag, member, .flags = CODEC_UNREAD | CODEC_UNWRITTEN)

#define CODEC_NESTED(name, tag, member, table, ...)                                                                    \
	CODEC_ROW(name, CODEC_STRUCT, tag, member, .rows = (table), ##__VA_ARGS__)
#define CODEC_ITEMS(name, how, tag, member, table, ...)                                                                \
	CODEC_ROW(name, how, tag, member, .size = sizeof(*CODEC_OF(tag, member)), .rows = (table), ##__VA_ARGS__)
#define CODEC_POINTED(name, tag, member, table, ...) CODEC_ITEMS(name, CODEC_POINTER, tag, member, table, ##__VA_ARGS__)
#define CODEC_LISTED(name, tag, member, number, table, ...)                                                            \
	CODEC_ITEMS(name, CODEC_LIST, tag, member, table, .length = offsetof(struct tag, number), ##__VA_ARGS__)
#define CODEC_MAPPED(name, tag, member, number, table, ...)                                                            \
	CODEC_ITEMS(name, CODEC_MAP, tag, member, table, .length = offsetof(struct tag, number), ##__VA_ARGS__)
#define CODEC_FIXED(name, tag, member, table)                                                                          \
	CODEC_ITEMS(name, CODEC_LIST, tag, member, table,                                                              \
		    .fixed = sizeof(CODEC_OF(tag, member)) / sizeof(*CODEC_OF(tag, member)))
#define CODEC_GROUPED(name, table, ...)                                                                                \
	{                                                                                                              \
		.key = (name), .kind = CODEC_GROUP, .rows = (table), ##__VA_ARGS__                                     \
	}
#define CODEC_MEMBER_BY(name, tag, member, write, read, ...)                                                           \
	CODEC_ROW(name, CODEC_OWN, tag, member, .encode = (write), .decode = (read), ##__VA_ARGS__)
#define CODEC_BY(name, write, read, ...)                                                                               \
	{                                                                                                              \
		.key = (name), .kind = CODEC_OWN, .encode = (write), .decode = (read), ##__VA_ARGS__                   \
	}

/* For items that are a char * (of any bytes: json_outside), a double, an int64_t. */
extern const struct codec codec_texts[], codec_reals[], codec_integers[];

/* A new reference; NULL if a text is not UTF-8. `outer`: for encode() of these rows, as below. */
json_t *codec_encode(const struct codec *rows, const void *of, const void *outer);

/*
 * Into `of`, which is zeroed. NULL, or what is wrong first ("'at_once' is not an integer in its range"; until the next call of this
 * thread). What is wrong is read as if it were not there, so that the rest can be used; codec_free() it in any case. A
 * list has zeroes after its last item, and grow_or_abort() grows it.
 */
const char *codec_decode(const struct codec *rows, void *of, const json_t *object, void *outer);

/* What the struct owns. */
void codec_free(const struct codec *rows, void *of);

#endif
