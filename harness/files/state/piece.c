#include "files/state/piece.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct piece piece_trim(struct piece t)
{
	while (t.n && isspace((unsigned char)*t.p)) {
		t.p++;
		t.n--;
	}
	while (t.n && isspace((unsigned char)t.p[t.n - 1]))
		t.n--;
	return t;
}

struct piece piece_cut(struct piece *rest, char stop)
{
	const char *end = memchr(rest->p, stop, rest->n);
	struct piece head = {rest->p, end ? (size_t)(end - rest->p) : rest->n};
	size_t taken = head.n + !!end;

	rest->p += taken;
	rest->n -= taken;
	return head;
}

bool piece_line(struct piece *rest, struct piece *line)
{
	if (!rest->n)
		return false;
	*line = piece_cut(rest, '\n');
	return true;
}

struct piece piece_word(struct piece *rest)
{
	struct piece word;

	*rest = piece_trim(*rest);
	word.p = rest->p;
	for (word.n = 0; word.n < rest->n && !isspace((unsigned char)word.p[word.n]);)
		word.n++;
	rest->p += word.n;
	rest->n -= word.n;
	return word;
}

bool piece_is(struct piece t, const char *word)
{
	return t.n == strlen(word) && !memcmp(t.p, word, t.n);
}

bool piece_begins(struct piece t, const char *word)
{
	return t.n >= strlen(word) && !memcmp(t.p, word, strlen(word));
}

bool piece_int(struct piece t, int64_t *value)
{
	char copy[32], *end;

	if (!t.n || t.n >= sizeof(copy) || !(isdigit((unsigned char)*t.p) || *t.p == '-'))
		return false;
	memcpy(copy, t.p, t.n);
	copy[t.n] = '\0';
	errno = 0;
	*value = strtoll(copy, &end, 10);
	return !*end && !errno;
}
