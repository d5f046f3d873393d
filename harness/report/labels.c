#include "report/labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/param.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/units.h"

#define LABEL_MAX 160
#define VALUE_MAX 40

/* Settings ----------------------------------------------------------------------------------------------- */

char *label_key(const char *key, char *buf, size_t size)
{
	param_name_unit(key, buf, size);
	for (char *p = buf; *p; p++)
		if (*p == '_')
			*p = ' ';
	return buf;
}

char *label_value(const char *key, const json_t *value, char *buf, size_t size)
{
	char name[VALUE_MAX];

	if (json_is_string(value))
		return text_clean(json_string_value(value), json_string_length(value), buf, size);
	if (json_is_real(value))
		snprintf(buf, size, "%.6g", json_real_value(value));
	else if (json_is_integer(value) || json_is_boolean(value))
		param_value_text(value, param_name_unit(key, name, sizeof(name)), buf, size);
	else
		snprintf(buf, size, "-");
	return buf;
}

/* "rc" says what it is, "auto" and "5" do not. */
static bool needs_name(const json_t *value)
{
	static const char *const bare[] = {"auto", "yes", "no", "on", "off", "none", "default"};
	const char *text = json_string_value(value);

	if (!text || !*text || strspn(text, "0123456789,.:-") == strlen(text))
		return true;
	for (size_t i = 0; i < sizeof(bare) / sizeof(bare[0]); i++)
		if (!strcmp(text, bare[i]))
			return true;
	return false;
}

static void print_setting(FILE *out, const char *key, const json_t *value)
{
	char name[VALUE_MAX], text[VALUE_MAX];

	label_value(key, value, text, sizeof(text));
	if (needs_name(value))
		fprintf(out, "%s ", label_key(key, name, sizeof(name)));
	fputs(text, out);
}

/* Points ------------------------------------------------------------------------------------------------- */

/* What a point is called where nothing, or nothing it has, varies. */
static void print_plain(FILE *out, const struct report_point *p)
{
	static const char *const keys[] = {"kernel", "transport", "size_bytes"};
	const char *separator = "";

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json_t *value = json_object_get(p->params, keys[i]);

		if (!value)
			continue;
		fputs(separator, out);
		print_setting(out, keys[i], value);
		separator = ", ";
	}
	if (!*separator)
		fprintf(out, "point %u", p->id);
}

static char *label_of_point(const struct report *r, const struct report_point *p)
{
	char *label = NULL;
	size_t size, printed = 0;
	FILE *out = or_abort(open_memstream(&label, &size));

	for (size_t i = 0; i < r->varying_count; i++) {
		const json_t *value = json_object_get(p->params, r->varying[i]);

		if (!value || ftell(out) > LABEL_MAX)
			continue;
		fputs(printed++ ? ", " : "", out);
		print_setting(out, r->varying[i], value);
	}
	if (!printed)
		print_plain(out, p);
	fclose(out);
	return or_abort(label);
}

/* What varies -------------------------------------------------------------------------------------------- */

/* Settings that tell two runs' points apart; others that differ between runs only ("repetitions") belong to the run. */
static bool tells_runs_apart(const char *key)
{
	return !strcmp(key, "kernel") || !strcmp(key, "transport");
}

/* A key varies if two points that have it differ in it: a setting that only one transport knows tells nothing apart, nor
 * does one that is but a transport's default. */
static bool key_varies(const struct report *r, const char *key, size_t run)
{
	const json_t *first = NULL;

	if (!param_is_named(r->runs[run].run->resolved, key))
		return false;
	for (size_t i = 0; i < r->count; i++) {
		const json_t *value = json_object_get(r->points[i].params, key);

		if (r->points[i].run != run && !tells_runs_apart(key))
			continue;
		if (value && first && !json_equal(value, first))
			return true;
		first = first ? first : value;
	}
	return false;
}

static bool is_found(const struct report *r, const char *key)
{
	for (size_t i = 0; i < r->varying_count; i++)
		if (!strcmp(r->varying[i], key))
			return true;
	return false;
}

static void find_varying(struct report *r)
{
	const char *key;
	json_t *value;

	for (size_t i = 0; i < r->count; i++) {
		json_object_foreach ((json_t *)r->points[i].params, key, value) {
			if (is_found(r, key) || !key_varies(r, key, r->points[i].run))
				continue;
			r->varying = grow_or_abort(r->varying, r->varying_count, sizeof(*r->varying));
			r->varying[r->varying_count++] = key;
		}
	}
}

/* Runs --------------------------------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool are_on_different_hosts(const struct report *r)
{
	for (size_t i = 0; i < r->run_count; i++)
		for (size_t k = 0; k < i; k++)
			if (!*r->runs[i].hosts || !strcmp(r->runs[i].hosts, r->runs[k].hosts))
				return false;
	return true;
}

static void label_runs(struct report *r)
{
	bool by_host = r->run_count > 1 && are_on_different_hosts(r);

	for (size_t i = 0; i < r->run_count; i++)
		r->runs[i].label = fs_path("%s", by_host ? r->runs[i].hosts : last_part(r->runs[i].run->path));
}

void label_all(struct report *r)
{
	label_runs(r);
	find_varying(r);
	for (size_t i = 0; i < r->count; i++)
		r->points[i].label = label_of_point(r, &r->points[i]);
}
