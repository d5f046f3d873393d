#include "measure/import/formats.h"

#include <stdlib.h>
#include <string.h>

#define CSV_COLUMNS_MAX 256

struct csv_columns {
	int latency, rep; /* -1: there is none */
	int count;
	int64_t unit_ns;
};

/* "# boot: 1234" of `kblat export --samples`. */
static int read_remark(struct reading *r, struct err *e)
{
	struct {
		const char *key;
		char *text;
		int64_t *number;
	} keys[] = {{"name", r->name, NULL},	      {"host", r->host, NULL},
		    {"boot", r->boot, NULL},	      {"started_ns", NULL, &r->started_ns},
		    {"limit_ns", NULL, &r->limit_ns}, {"clock_hz", NULL, &r->clock_hz}};
	char key[32], value[READING_NAME_MAX];

	if (sscanf(r->text, "# %31[a-z_]: %127[^\n]", key, value) != 2)
		return 0;
	if (!strcmp(key, "invalid"))
		return reading_refuse(r, e, "its point is not valid:", value);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		uint64_t number;

		if (strcmp(key, keys[i].key) != 0)
			continue;
		if (keys[i].text)
			snprintf(keys[i].text, READING_NAME_MAX, "%s", value);
		else if (reading_count(value, &number))
			*keys[i].number = (int64_t)number;
		else
			return reading_refuse(r, e, "not a number:", value);
	}
	return 0;
}

static int csv_unit(const struct reading *r, const char *name, int64_t *ns, struct err *e)
{
	const int64_t named = reading_unit_of(name), asked = r->unit ? reading_unit_ns(r->unit) : 0;

	if (named && asked && named != asked)
		return reading_refuse(r, e, "--unit contradicts the name of the column", name);
	*ns = named ? named : asked;
	return *ns ? 0 : reading_refuse(r, e, "give --unit ns, us, ms or s for the column", name);
}

static int csv_header(struct reading *r, struct csv_columns *c, struct err *e)
{
	char *at = r->text, *name, *latency = NULL;
	int number = 0, others = 0;

	c->latency = c->rep = -1;
	for (; (name = reading_field(&at)); number++) {
		if (number == CSV_COLUMNS_MAX)
			return reading_refuse(r, e, "it has more than 256 columns", NULL);
		if (!strcmp(name, "rep")) {
			c->rep = number;
			continue;
		}
		others++;
		if (r->column && strcmp(name, r->column) != 0)
			continue;
		if (latency && r->column)
			return reading_refuse(r, e, "two columns have the name", name);
		c->latency = number;
		latency = name;
	}
	c->count = number;
	if (!latency)
		return reading_refuse(r, e, "it has no column", r->column ? r->column : "");
	if (!r->column && others > 1)
		return reading_refuse(r, e, "it has several columns; choose one with --column", NULL);
	return csv_unit(r, latency, &c->unit_ns, e);
}

static int csv_rep(struct reading *r, const char *text, uint64_t *last, struct err *e)
{
	uint64_t rep;

	if (!reading_count(text, &rep))
		return reading_refuse(r, e, "not the number of a repetition:", text);
	if (r->to->reps && rep < *last)
		return reading_refuse(r, e, "the repetitions are not in order: it goes back to", text);
	if (r->to->reps && rep == *last)
		return 0;
	*last = rep;
	return samples_begin(r->to, e);
}

static int csv_sample(struct reading *r, const struct csv_columns *c, uint64_t *last, struct err *e)
{
	char *at = r->text, *field, *latency = NULL;
	int rc = 0, number;

	for (number = 0; !rc && (field = reading_field(&at)); number++) {
		if (number == c->latency)
			latency = field;
		if (number == c->rep)
			rc = csv_rep(r, field, last, e);
	}
	if (rc)
		return rc;
	/* One more may be half of a number ("1,5"), or of a text with a comma. */
	if (!latency || number != c->count)
		return reading_refuse(r, e, "the line has more or fewer columns than the header", NULL);
	if (!r->to->reps)
		rc = samples_begin(r->to, e);
	if (rc)
		return rc;
	return *latency ? reading_take(r, latency, c->unit_ns, e) : reading_lost(r, 1, e);
}

int read_csv(struct reading *r, struct err *e)
{
	struct csv_columns c = {.latency = -1};
	bool has_header = false;
	uint64_t last = 0;
	int rc;

	while ((rc = reading_line(r, e)) > 0) {
		if (*r->text == '#') {
			rc = read_remark(r, e);
		} else if (!has_header) {
			rc = csv_header(r, &c, e);
			has_header = true;
		} else {
			rc = csv_sample(r, &c, &last, e);
		}
		if (rc)
			return rc;
	}
	return rc;
}
