#include "knobs/knobs_profile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "knobs/knobs_folder.h"
#include "run/environment.h"

#define CONF_MAX (1 << 20)
#define ID_MAX	 40

bool profile_is_shields(const json_t *knob)
{
	return !strcmp(json_text(knob, "knob"), "shields");
}

/* --- as YAML --- */

/* Does YAML read this text as a plain string in any position? */
static bool is_plain_yaml(const char *text)
{
	if (!isalnum((unsigned char)*text) && *text != '/')
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("._/-", *text))
			return false;
	return true;
}

static void write_yaml_text(const char *text, FILE *out)
{
	json_t *j = is_plain_yaml(text) ? NULL : json_string(text);

	if (j)
		json_dumpf(j, out, JSON_ENCODE_ANY); /* double quotes mean the same in JSON and YAML */
	else
		fputs(text, out);
	json_decref(j);
}

static void write_yaml_value(const json_t *value, FILE *out)
{
	const char *key, *between = "";
	json_t *item;
	size_t i;

	if (json_is_array(value)) {
		fputc('[', out);
		json_array_foreach (value, i, item) {
			fputs(i ? ", " : "", out);
			write_yaml_value(item, out);
		}
		fputc(']', out);
	} else if (json_is_object(value)) {
		fputc('{', out);
		json_object_foreach ((json_t *)value, key, item) {
			fputs(between, out);
			write_yaml_text(key, out);
			fputs(": ", out);
			write_yaml_value(item, out);
			between = ", ";
		}
		fputc('}', out);
	} else {
		write_yaml_text(json_string_value(value), out);
	}
}

/* Knobs of one key (the names of sysctl) become one mapping. */
static json_t *merge_settings(const json_t *knobs, const json_t *ids)
{
	json_t *all = json_object(), *value;
	const json_t *knob;
	const char *key;
	size_t i;

	json_array_foreach (knobs, i, knob) {
		if (ids && !json_has_string(ids, json_text(knob, "id")))
			continue;
		json_object_foreach (json_object_get(knob, "setting"), key, value) {
			json_t *there = json_object_get(all, key);

			if (there)
				json_object_update(there, value);
			else
				json_object_set_new(all, key, json_deep_copy(value));
		}
	}
	return all;
}

static void write_yaml_profile(const char *title, const char *comment, const json_t *settings, FILE *out)
{
	json_t *value;
	const char *key;

	if (comment)
		fputs(comment, out);
	fputs("kbtune: 1\ntitle: ", out);
	write_yaml_text(title, out);
	fputc('\n', out);
	json_object_foreach ((json_t *)settings, key, value) {
		fprintf(out, "%s: ", key);
		write_yaml_value(value, out);
		fputc('\n', out);
	}
}

/* `tuned: own` refers to a file next to the profile. */
static int copy_own_conf(const char *folder, const json_t *knobs, const json_t *ids, struct err *e)
{
	const json_t *knob;
	size_t i, size;
	int rc = 0;

	json_array_foreach (knobs, i, knob) {
		const char *own = json_text(json_object_get(knob, "setting"), "tuned");
		char *from, *to, *text = NULL;

		if (rc || strcmp(own, "own") != 0 || (ids && !json_has_string(ids, json_text(knob, "id"))))
			continue;
		from = fs_path("%s/tuned.conf", json_text(knob, "folder"));
		to = fs_path("%s/tuned.conf", folder);
		rc = fs_read_followed(from, CONF_MAX, &text, &size, e) ?: fs_write(to, text, size, e);
		free(text);
		free(to);
		free(from);
	}
	return rc;
}

int profile_write(const char *folder, const char *title, const char *comment, const json_t *knobs, const json_t *ids,
		  struct err *e)
{
	char *path = fs_path("%s/profile.yaml", folder), *text = NULL;
	json_t *settings = merge_settings(knobs, ids);
	size_t size;
	const mode_t mask = umask(077);
	FILE *out = or_abort(open_memstream(&text, &size));
	int rc;

	umask(mask | 022); /* kbtune applies it, perhaps as root: nobody else may write to it */
	write_yaml_profile(title, comment, settings, out);
	fclose(out);
	rc = fs_mkdirs(folder, e) ?: fs_write(path, text, size, e) ?: copy_own_conf(folder, knobs, ids, e);
	umask(mask);
	json_decref(settings);
	free(text);
	free(path);
	return rc;
}

/* --- effects on this machine --- */

struct probe {
	struct environment env;
	struct knobs_folder folder; /* of trial profiles */
	const json_t *whole;	    /* the profile's plan */
	json_t *knobs;
	const char *shields; /* the id of the knob that makes them; NULL: there are none */
};

/* The number of values that a plan would change because of a knob. */
static size_t count_plan_changes(const json_t *plan, const char *key)
{
	const json_t *step;
	size_t i, n = 0;

	json_array_foreach (json_object_get(plan, "steps"), i, step)
		n += !strcmp(json_text(step, "knob"), key) &&
		     strcmp(json_text(step, "before"), json_text(step, "after")) != 0;
	return n;
}

/* Does a knob change anything, together with those in `ids`? A negative errno and `e` if kbtune
 * rejects them. */
static int probe_changes(struct probe *p, const json_t *knob, const json_t *ids, struct err *e)
{
	char *path = fs_path("%s/profile.yaml", p->folder.path);
	int rc = profile_write(p->folder.path, "tried", NULL, p->knobs, ids, e) ?: environment_plan(&p->env, path, e);

	if (!rc)
		rc = count_plan_changes(json_object_get(p->env.plans, path), json_text(knob, "knob")) > 0;
	free(path);
	return rc;
}

/* Does a value name a shield? */
static bool names_shield(const json_t *value, const json_t *shields)
{
	const json_t *shield;
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value)) {
		json_array_foreach (shields, i, shield)
			if (!strcmp(json_text(shield, "name"), json_string_value(value)))
				return true;
		return !strcmp(json_string_value(value), "shields");
	}
	json_array_foreach (value, i, item)
		if (names_shield(item, shields))
			return true;
	json_object_foreach ((json_t *)value, key, item) {
		if (names_shield(item, shields))
			return true;
	}
	return false;
}

/* Why a knob has nothing to test: the first reason in the whole profile's plan. */
static json_t *why_untested(const json_t *plan, const char *key)
{
	const json_t *one;
	size_t i;

	if (!strcmp(key, "kernel_arguments")) {
		json_array_foreach (json_object_get(plan, "reboot"), i, one)
			if (!json_is_true(json_object_get(one, "met")))
				return json_string("takes a reboot");
		return json_string("is so already");
	}
	json_array_foreach (json_object_get(plan, "impossible"), i, one)
		if (!strcmp(json_text(one, "knob"), key))
			return json_sprintf("not possible here: %s", json_text(one, "reason"));
	return json_string("changes nothing here: already set");
}

/* Try a knob alone, or otherwise in addition to the shields. */
static int probe_knob(struct probe *p, json_t *knob, struct err *e)
{
	const char *key = json_text(knob, "knob"), *id = json_text(knob, "id");
	const json_t *shields = json_object_get(p->whole, "shields");
	bool named = !profile_is_shields(knob) && names_shield(json_object_get(knob, "setting"), shields), upon = false;
	json_t *alone = json_pack("[s]", id), *both = p->shields ? json_pack("[s, s]", id, p->shields) : NULL;
	int does = strcmp(key, "kernel_arguments") && !named ? probe_changes(p, knob, alone, e) : 0;

	if (!does && both && strcmp(key, "kernel_arguments") && !profile_is_shields(knob)) {
		does = probe_changes(p, knob, both, e);
		upon = does > 0;
	}
	json_object_set_new(knob, "shields", json_boolean(upon));
	json_object_set_new(knob, "tested", json_boolean(does > 0));
	json_object_set_new(knob, "why", does ? json_string("") : why_untested(p->whole, key));
	json_decref(alone);
	json_decref(both);
	return does < 0 ? does : 0;
}

/* "sysctl vm.swappiness" -> "sysctl-vm.swappiness": a unique name for the profile. */
static json_t *id_of(const json_t *knobs, const char *name)
{
	char id[ID_MAX + 16];
	const json_t *other;
	size_t i, n = 0;

	for (; n < ID_MAX && name[n]; n++)
		id[n] = (char)(isalnum((unsigned char)name[n]) || strchr("._", name[n]) ? name[n] : '-');
	id[n] = '\0';
	json_array_foreach (knobs, i, other)
		if (!strcmp(json_text(other, "id"), id))
			snprintf(id + n, sizeof(id) - n, "-%zu", json_array_size(knobs));
	return json_string(id);
}

static void take_knobs(struct probe *p)
{
	const json_t *setting;
	size_t i;

	json_array_foreach (json_object_get(p->whole, "settings"), i, setting) {
		json_t *knob = json_object();

		json_object_set_new(knob, "id", id_of(p->knobs, json_text(setting, "name")));
		json_object_update(knob, (json_t *)setting);
		json_array_append_new(p->knobs, knob);
		if (profile_is_shields(knob))
			p->shields = json_text(knob, "id");
	}
}

/* The cost of the shields is a number of CPUs. */
static void count_shields(const json_t *plan, json_t *knobs)
{
	const json_t *shield;
	char *cpus = fs_path("%s", "");
	json_t *knob;
	size_t i;

	json_array_foreach (json_object_get(plan, "shields"), i, shield) {
		char *longer = fs_path("%s%s%s", cpus, *cpus ? "," : "", json_text(shield, "cpus"));

		free(cpus);
		cpus = longer;
	}
	json_array_foreach (knobs, i, knob)
		if (profile_is_shields(knob))
			json_object_set_new(knob, "cost",
					    json_sprintf("CPUs %s of %s, which no other program may use", cpus,
							 json_text(plan, "online_cpus")));
	free(cpus);
}

/* At least two knobs must have an effect; otherwise there is nothing to compare. */
static int check_separable(const char *profile, const json_t *knobs, struct err *e)
{
	const char *only = "";
	const json_t *knob;
	size_t i, n = 0;

	json_array_foreach (knobs, i, knob) {
		if (!json_is_true(json_object_get(knob, "tested")))
			continue;
		n++;
		only = json_text(knob, "name");
	}
	if (n > 1)
		return 0;
	if (!n)
		return err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, profile, NULL,
			       "none of its knobs changes anything on this machine; 'kbtune plan %s' shows why",
			       profile);
	return err_set(e, -EINVAL, STATUS_USAGE, profile, NULL,
		       "its knobs cannot be separated: only %s changes anything here; measure the profile against none "
		       "(environment: [none, %s]) and use kblat compare",
		       only, profile);
}

static int probe_all(struct probe *p, const char *profile, struct err *e)
{
	int rc = environment_plan(&p->env, profile, e);
	json_t *knob;
	size_t i;

	if (rc)
		return rc;
	p->whole = json_object_get(p->env.plans, profile);
	take_knobs(p);
	json_array_foreach (p->knobs, i, knob)
		rc = rc ?: probe_knob(p, knob, e);
	count_shields(p->whole, p->knobs);
	return rc ?: check_separable(profile, p->knobs, e);
}

json_t *profile_knobs(const char *profile, struct err *e)
{
	static volatile sig_atomic_t never;
	struct probe p = {.knobs = json_array()};
	int rc = environment_open(&p.env, &never, e) ?: knobs_folder_make(&p.folder, e);

	if (!rc) {
		rc = probe_all(&p, profile, e);
		knobs_folder_remove(&p.folder);
	}
	environment_close(&p.env);
	if (!rc)
		return p.knobs;
	json_decref(p.knobs);
	return NULL;
}
