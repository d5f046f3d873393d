#include "tuning/profile/setting.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/text.h"

void setting_fault(const struct setting *s, const struct ynode *n, const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	diag_add(&s->file->diag, n ? n->line : s->line, n ? n->column : s->column, "%s", text);
}

void setting_must_be(const struct setting *s, const struct ynode *n, const char *key, const char *what)
{
	char quoted[TEXT_QUOTE_MAX];

	setting_fault(s, n, "'%s' must be %s, not %s", key, what,
		      n->kind == YNODE_SCALAR	 ? text_quote(n->scalar, quoted, sizeof(quoted))
		      : n->kind == YNODE_MAPPING ? "a mapping"
						 : "a list");
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcasecmp(word, *words))
			return true;
	return false;
}

bool setting_is_on(const struct setting *s, const struct ynode *n, const char *key)
{
	static const char *const on[] = {"on", "yes", "true", "1", NULL};
	static const char *const off[] = {"off", "no", "false", "0", NULL};

	if (n->kind == YNODE_SCALAR && is_one_of(n->scalar, on))
		return true;
	if (n->kind != YNODE_SCALAR || !is_one_of(n->scalar, off))
		setting_must_be(s, n, key, "on or off");
	return false;
}

bool setting_is_word(const struct ynode *n, const char *word)
{
	return n->kind == YNODE_SCALAR && !strcmp(n->scalar, word);
}

void setting_check_keys(const struct setting *s, const struct ynode *map, const char *const *names)
{
	char quoted[TEXT_QUOTE_MAX], hint[SUGGESTION_MAX];

	/* A list has no keys, and the caller says that it must be a mapping. */
	for (size_t i = 0; map->kind == YNODE_MAPPING && i < map->count; i++) {
		const struct ynode *key = map->keys[i];
		const char *const *n = names;

		while (*n && strcmp(*n, key->scalar))
			n++;
		if (!*n)
			setting_fault(s, key, "unknown key %s in '%s'%s",
				      text_quote(key->scalar, quoted, sizeof(quoted)), s->key,
				      suggestion(suggest(key->scalar, names), hint, sizeof(hint)));
	}
}
