#include "study/knobs/knobs_profile.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/temporary.h"
#include "measure/run/environment.h"

#define CONF_MAX (1 << 20)
#define ID_MAX	 40

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
static json_t *merge_settings(const struct knobs *k, const bool *has)
{
	json_t *all = json_object(), *value;
	const char *key;

	for (size_t i = 0; i < k->knobs; i++) {
		if (!has[i])
			continue;
		json_object_foreach (k->knob[i].setting, key, value) {
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
static int copy_own_conf(const char *folder, const struct knobs *k, const bool *has, struct err *e)
{
	size_t size;
	int rc = 0;

	for (size_t i = 0; i < k->knobs && !rc; i++) {
		char *from, *to, *text = NULL;

		if (!has[i] || strcmp(json_text(k->knob[i].setting, "tuned"), "own") != 0)
			continue;
		from = fs_path("%s/tuned.conf", k->knob[i].folder);
		to = fs_path("%s/tuned.conf", folder);
		rc = fs_read_followed(from, CONF_MAX, &text, &size, e) ?: fs_write(to, text, size, e);
		free(text);
		free(to);
		free(from);
	}
	return rc;
}

int profile_write(const char *folder, const char *title, const char *comment, const struct knobs *k, const bool *has,
		  struct err *e)
{
	char *path = fs_path("%s/profile.yaml", folder), *text = NULL;
	json_t *settings = merge_settings(k, has);
	size_t size;
	const mode_t mask = umask(077);
	FILE *out = or_abort(open_memstream(&text, &size));
	int rc;

	umask(mask | 022); /* kbtune applies it, perhaps as root: nobody else may write to it */
	write_yaml_profile(title, comment, settings, out);
	fclose(out);
	rc = fs_mkdirs(folder, e) ?: fs_write(path, text, size, e) ?: copy_own_conf(folder, k, has, e);
	umask(mask);
	json_decref(settings);
	free(text);
	free(path);
	return rc;
}

/* --- effects on this machine --- */

struct probe {
	struct environment env;
	struct temporary folder; /* of trial profiles */
	const json_t *whole;	 /* the profile's plan */
	struct knobs *k;
	size_t shields; /* the knob that makes them; k->knobs: there is none */
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

/* Does a knob change anything, alone or together with the shields? A negative errno and `e` if kbtune rejects it. */
static int probe_changes(struct probe *p, size_t knob, bool with_shields, struct err *e)
{
	char *path = fs_path("%s/profile.yaml", p->folder.path);
	bool *has = or_abort(calloc(p->k->knobs + 1, sizeof(*has)));
	int rc;

	has[knob] = true;
	if (with_shields)
		has[p->shields] = true;
	rc = profile_write(p->folder.path, "tried", NULL, p->k, has, e) ?: environment_plan(&p->env, path, e);
	if (!rc)
		rc = count_plan_changes(json_object_get(p->env.plans, path), p->k->knob[knob].key) > 0;
	free(has);
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

/* Why a knob has nothing to test: the first reason in a plan. */
static char *why_untested(const json_t *plan, const char *key)
{
	const json_t *one;
	size_t i;

	if (!strcmp(key, "kernel_arguments")) {
		json_array_foreach (json_object_get(plan, "reboot"), i, one)
			if (!json_is_true(json_object_get(one, "met")))
				return fs_path("takes a reboot");
		return fs_path("is so already");
	}
	json_array_foreach (json_object_get(plan, "impossible"), i, one)
		if (!strcmp(json_text(one, "knob"), key))
			return fs_path("not possible here: %s", json_text(one, "reason"));
	return fs_path("changes nothing here: already set");
}

/* The plan of the profile that was tried last. */
static const json_t *tried_plan(const struct probe *p)
{
	char *path = fs_path("%s/profile.yaml", p->folder.path);
	const json_t *plan = json_object_get(p->env.plans, path);

	free(path);
	return plan;
}

/* Try a knob alone, or otherwise in addition to the shields. */
static int probe_knob(struct probe *p, size_t at, struct err *e)
{
	struct knob *knob = &p->k->knob[at];
	const json_t *shields = json_object_get(p->whole, "shields");
	const bool testable = strcmp(knob->key, "kernel_arguments") != 0;
	const bool named = !knob_is_shields(knob) && names_shield(knob->setting, shields);
	int does = testable && !named ? probe_changes(p, at, false, e) : 0;

	if (!does && testable && p->shields < p->k->knobs && !knob_is_shields(knob)) {
		does = probe_changes(p, at, true, e);
		knob->in_shields = does > 0;
	}
	knob->tested = does > 0;
	knob->why = does ? fs_path("%s", "") : why_untested(testable && !named ? tried_plan(p) : p->whole, knob->key);
	return does < 0 ? does : 0;
}

/* "sysctl vm.swappiness" -> "sysctl-vm.swappiness": a unique name for the profile. */
static char *id_of(const struct knobs *k, const char *name)
{
	char id[ID_MAX + 16];
	size_t n = 0;

	for (; n < ID_MAX && name[n]; n++)
		id[n] = (char)(isalnum((unsigned char)name[n]) || strchr("._", name[n]) ? name[n] : '-');
	id[n] = '\0';
	for (size_t i = 0; i < k->knobs; i++)
		if (!strcmp(k->knob[i].id, id))
			snprintf(id + n, sizeof(id) - n, "-%zu", k->knobs);
	return fs_path("%s", id);
}

static void take_knobs(struct probe *p)
{
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(p->whole, "settings"), i, one) {
		char *id = id_of(p->k, json_text(one, "name"));
		json_t *setting = json_object_get(one, "setting");
		struct knob *knob = knobs_add_knob(p->k);

		*knob = (struct knob){.id = id,
				      .name = fs_path("%s", json_text(one, "name")),
				      .key = fs_path("%s", json_text(one, "knob")),
				      .cost = fs_path("%s", json_text(one, "cost")),
				      .folder = fs_path("%s", json_text(one, "folder")),
				      .setting = setting ? json_incref(setting) : json_object()};
	}
	for (p->shields = 0; p->shields < p->k->knobs && !knob_is_shields(&p->k->knob[p->shields]); p->shields++)
		;
}

/* The cost of the shields is a number of CPUs. */
static void count_shields(const json_t *plan, struct knobs *k)
{
	const json_t *shield;
	char *cpus = fs_path("%s", "");
	size_t i;

	json_array_foreach (json_object_get(plan, "shields"), i, shield) {
		char *longer = fs_path("%s%s%s", cpus, *cpus ? "," : "", json_text(shield, "cpus"));

		free(cpus);
		cpus = longer;
	}
	for (i = 0; i < k->knobs; i++)
		if (knob_is_shields(&k->knob[i])) {
			free(k->knob[i].cost);
			k->knob[i].cost = fs_path("CPUs %s of %s, which no other program may use", cpus,
						  json_text(plan, "online_cpus"));
		}
	free(cpus);
}

/* At least two knobs must have an effect; otherwise there is nothing to compare. */
static int check_separable(const char *profile, const struct knobs *k, struct err *e)
{
	const char *only = "";
	size_t n = 0;

	for (size_t i = 0; i < k->knobs; i++)
		if (k->knob[i].tested) {
			n++;
			only = k->knob[i].name;
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

	if (rc)
		return rc;
	p->whole = json_object_get(p->env.plans, profile);
	take_knobs(p);
	for (size_t i = 0; i < p->k->knobs && !rc; i++)
		rc = probe_knob(p, i, e);
	count_shields(p->whole, p->k);
	return rc ?: check_separable(profile, p->k, e);
}

int profile_knobs(const char *profile, struct knobs *k, struct err *e)
{
	static volatile sig_atomic_t never;
	struct probe p = {.k = k};
	int rc;

	environment_open(&p.env, &never);
	rc = temporary_make(&p.folder, "/dev/shm", "knobs", e);
	if (!rc) {
		rc = probe_all(&p, profile, e);
		temporary_remove(&p.folder);
	}
	environment_close(&p.env);
	return rc;
}
