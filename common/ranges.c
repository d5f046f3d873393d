#include "common/ranges.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"

static bool do_touch(const struct range *a, const struct range *b)
{
	return a->first <= b->last + (b->last != UINT64_MAX) && b->first <= a->last + (a->last != UINT64_MAX);
}

void ranges_add(struct ranges *r, uint64_t first, uint64_t last)
{
	struct range all = {first, last};
	size_t from = 0, to;

	while (from < r->count && r->items[from].last < first && !do_touch(&r->items[from], &all))
		from++;
	for (to = from; to < r->count && do_touch(&r->items[to], &all); to++) {
		all.first = r->items[to].first < all.first ? r->items[to].first : all.first;
		all.last = r->items[to].last > all.last ? r->items[to].last : all.last;
	}
	if (to == from)
		r->items = grow_or_abort(r->items, r->count, sizeof(*r->items));
	memmove(r->items + from + 1, r->items + to, (r->count - to) * sizeof(*r->items));
	r->items[from] = all;
	r->count += 1 - (to - from);
}

void ranges_free(struct ranges *r)
{
	free(r->items);
	*r = (struct ranges){0};
}

static int take_number(const char **p, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**p))
		return -EINVAL;
	errno = 0;
	*number = strtoull(*p, &end, 10);
	*p = end;
	return -errno;
}

int ranges_parse(const char *text, struct ranges *out)
{
	for (const char *p = text;; p++) {
		uint64_t first, last;
		int rc = take_number(&p, &first);

		last = first;
		if (!rc && *p == '-') {
			p++;
			rc = take_number(&p, &last);
		}
		if (!rc && ((*p && *p != ',') || last < first))
			rc = -EINVAL;
		if (rc)
			return rc;
		ranges_add(out, first, last);
		if (!*p)
			return 0;
	}
}

bool ranges_has(const struct ranges *r, uint64_t number)
{
	for (size_t i = 0; i < r->count; i++)
		if (number >= r->items[i].first && number <= r->items[i].last)
			return true;
	return false;
}

bool ranges_equal(const struct ranges *a, const struct ranges *b)
{
	return a->count == b->count &&
	       !memcmp(a->items ?: (void *)"", b->items ?: (void *)"", a->count * sizeof(*a->items));
}
