#include "common/fill.h"

#include <stdio.h>
#include <string.h>

#include "common/or_abort.h"

char *fill_places(const char *text, const struct fill_place *places, size_t count)
{
	char *filled = NULL;
	size_t size, i;
	FILE *out = or_abort(open_memstream(&filled, &size));

	while (*text) {
		for (i = 0; i < count && strncmp(text, places[i].place, strlen(places[i].place)) != 0; i++)
			;
		if (i < count)
			fputs(places[i].word, out);
		else
			fputc(*text, out);
		text += i < count ? strlen(places[i].place) : 1;
	}
	fclose(out);
	return or_abort(filled);
}
