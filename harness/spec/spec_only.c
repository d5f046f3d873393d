#include "spec/spec_only.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"

struct filter {
	const char *text;
	char name[96];
	char key[160];
	json_t *value;
};

static bool filter_read(struct diag *d, const char *text, struct filter *f)
{
	const char *equals = strchr(text, '=');
	char owner[64], why[256], flow[FLOW_NAME_MAX], plain[64];
	const char *name;

	f->text = text;
	f->value = NULL;
	if (!equals || equals == text) {
		diag_add(d, 0, 0, "--only %s: must be KEY=VALUE", text);
		return false;
	}
	snprintf(f->name, sizeof(f->name), "%.*s", (int)(equals - text), text);
	snprintf(f->key, sizeof(f->key), "%s", f->name);
	name = setting_cut_flow(f->name, flow, sizeof(flow));
	if (!strcmp(name, "kernel") || !strcmp(name, "transport")) {
		f->value = json_string(equals + 1);
		return true;
	}
	const struct opt *row = setting_find_anywhere(name, owner, sizeof(owner));

	if (!row) {
		char hint[SUGGESTION_MAX];

		diag_add(d, 0, 0, "--only %s: unknown setting '%s'%s", text, f->name,
			 suggestion(setting_suggest(name), hint, sizeof(hint)));
		return false;
	}
	snprintf(f->key, sizeof(f->key), "%s%s%s", flow, *flow ? "." : "", opt_key(row, plain, sizeof(plain)));
	f->value = opt_parse(row, equals + 1, why, sizeof(why));
	if (!f->value)
		diag_add(d, 0, 0, "--only %s: %s %s", text, f->name, why);
	return f->value != NULL;
}

/* Filters on one key are alternatives; different keys must all match. */
static bool filters_match(const json_t *params, const struct filter *filters, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool any = false;

		for (size_t j = 0; j < count; j++)
			if (!strcmp(filters[i].name, filters[j].name))
				any |= json_equal(json_object_get(params, filters[j].key), filters[j].value);
		if (!any)
			return false;
	}
	return true;
}

/* --set can make points equal. `seen`: a set of the params of those before, as text. */
static bool is_repeated(json_t *seen, const struct point *p)
{
	char *text = or_abort(json_dumps(p->params, JSON_COMPACT | JSON_SORT_KEYS));
	const bool repeated = json_object_get(seen, text);

	json_object_set_new(seen, text, json_true());
	free(text);
	return repeated;
}

static void keep_matching(struct spec *s, const struct filter *filters, size_t count)
{
	const size_t all = s->point_count;
	json_t *seen = or_abort(json_object());

	s->point_count = 0;
	for (size_t i = 0; i < all; i++) {
		struct point p = s->point[i];

		if (!filters_match(p.params, filters, count) || is_repeated(seen, &p)) {
			point_free(&p);
			continue;
		}
		p.id = (unsigned)s->point_count;
		s->point[s->point_count++] = p;
	}
	json_decref(seen);
}

void spec_keep_points(struct spec *s, const struct spec_overrides *o, struct diag *d)
{
	struct filter *filters = calloc(o->only_count + 1, sizeof(*filters));
	const size_t all = s->point_count;
	bool good = true;

	for (size_t i = 0; i < o->only_count; i++)
		good &= filter_read(d, o->only[i], &filters[i]);
	if (good)
		keep_matching(s, filters, o->only_count);
	if (good && d->count == 0 && s->point_count == 0 && !o->set_applies)
		diag_add(d, 0, 0, "none of %zu points matches --only", all);
	for (size_t i = 0; i < o->only_count; i++)
		json_decref(filters[i].value);
	free(filters);
}
