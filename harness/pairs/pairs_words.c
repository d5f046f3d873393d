#include "pairs/pairs_words.h"

#include <stdio.h>
#include <string.h>

#include "common/or_abort.h"

#define PLACES 6

char *pairs_words_fill(const char *text, const struct pairs_host *source, const struct pairs_host *sink,
		       const struct pairs_host *host)
{
	const struct {
		const char *place, *word;
	} places[PLACES] = {
	    {"{source}", source->name},
	    {"{sink}", sink->name},
	    {"{source_address}", source->address},
	    {"{sink_address}", sink->address},
	    {"{host}", host ? host->name : "{host}"},
	    {"{address}", host ? host->address : "{address}"},
	};
	char *filled = NULL;
	size_t size, i;
	FILE *out = or_abort(open_memstream(&filled, &size));

	while (*text) {
		for (i = 0; i < PLACES && strncmp(text, places[i].place, strlen(places[i].place)) != 0; i++)
			;
		if (i < PLACES)
			fputs(places[i].word, out);
		else
			fputc(*text, out);
		text += i < PLACES ? strlen(places[i].place) : 1;
	}
	fclose(out);
	return or_abort(filled);
}
